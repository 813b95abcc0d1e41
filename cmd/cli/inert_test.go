package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestInert writes what terminals carry out, whole and in every two pieces.
func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                       "plain\ttext\n",
		"été 😀 👩‍👧 ±20%\n":                    "été 😀 👩‍👧 ±20%\n",
		"\x1b[1;31mred\x1b[0m\x1b[m":          "\x1b[1;31mred\x1b[0m\x1b[m",
		"\x1b]0;title\x07.":                   "�]0;title�.",
		"\x1b[2J\x1b[H\x1bc.":                 "�[2J�[H�c.",
		"lines\r\nend":                        "lines\r\nend",
		"over\rwritten\b\x00\x7f.":            "over�written���.",
		"\u009b31mC1 \u202etxt\u2066.":        "�31mC1 �txt�.",
		"\x1b[" + strings.Repeat("1;", 40):    "�[" + strings.Repeat("1;", 40),
		"no UTF-8: \xff\xc3(.":                "no UTF-8: \xff\xc3(.",
		"\x1b\x1b[1m\x1b[1\x1b[0m.":           "�\x1b[1m�[1\x1b[0m.",
		"\x1b[?25lhidden cursor\x1b[>4;2m on": "�[?25lhidden cursor�[>4;2m on",
	} {
		for cut := range len(text) {
			var out bytes.Buffer
			w := &inert{to: &out}
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if out.String() != want {
				t.Errorf("%q, cut at %d: got %q, want %q", text, cut, out.String(), want)
			}
		}
	}
}
