package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestWriteLink checks that a path becomes a link on a terminal, and control sequences in its name become harmless.
func TestWriteLink(t *testing.T) {
	for _, tt := range []struct{ words, address, want string }{
		{"a/report.html", "file:///b/a/report.html", "\x1b]8;;file:///b/a/report.html\x1b\\a/report.html\x1b]8;;\x1b\\\n"},
		{"a\x1b]8;;evil\x1b\\", "file:///b", "\x1b]8;;file:///b\x1b\\a\ufffd]8;;evil\ufffd\\\x1b]8;;\x1b\\\n"},
		{"a\x1b]8;;evil", "", "a\ufffd]8;;evil\n"},
	} {
		var out bytes.Buffer
		if err := WriteLink(&inert{to: &out}, tt.words, tt.address); err != nil || out.String() != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.words, out.String(), err, tt.want)
		}
	}
}

// TestInert checks what becomes of control sequences on a terminal, written whole and split in two at every place.
func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                         "plain\ttext\n",
		"été 😀 👩‍👧 ±20%\n":                      "été 😀 👩‍👧 ±20%\n",
		"\x1b[31mred\x1b[0m \x1b[1mbold\x1b[0m": "\x1b[31mred\x1b[0m \x1b[1mbold\x1b[0m",
		"\x1b[32m\x1b[33m\x1b[2m.":              "\x1b[32m\x1b[33m\x1b[2m.",
		"\x1b[8mconcealed\x1b[7m\x1b[m.":        "�[8mconcealed�[7m�[m.",
		"\x1b[38;2;1;2;3;48;2;4;5;6m24 bits":    "�[38;2;1;2;3;48;2;4;5;6m24 bits",
		"\x1b]0;title\x07.":                     "�]0;title�.",
		"\x1b[2J\x1b[H\x1bc.":                   "�[2J�[H�c.",
		"lines\r\nend":                          "lines\r\nend",
		"over\rwritten\b\x00\x7f.":              "over�written���.",
		"\u009b31mC1 \u202etxt\u2066.":          "�31mC1 �txt�.",
		"\x1b[" + strings.Repeat("1;", 40):      "�[" + strings.Repeat("1;", 40),
		"no UTF-8: \xff\xc3(.":                  "no UTF-8: ��(.",
		"raw C1: \x9b31m\x9d0;title.":           "raw C1: �31m�0;title.",
		"cut rune \xf0\x9f\x98":                 "cut rune ���",
		"cut colour \x1b[3":                     "cut colour �[3",
		"lone escape \x1b":                      "lone escape �",
		"lone return \r":                        "lone return �",
		"C1 on its own \x9b":                    "C1 on its own �",
		"\x1b\x1b[1m\x1b[1\x1b[0m.":             "�\x1b[1m�[1\x1b[0m.",
		"\x1b[?25lhidden cursor\x1b[>4;2m on":   "�[?25lhidden cursor�[>4;2m on",
	} {
		for cut := range len(text) + 1 {
			var out bytes.Buffer
			w := &inert{to: &out}
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Errorf("%q, cut at %d: got %q, want %q", text, cut, out.String(), want)
			}
		}
	}
}

// TestFilesGetWhatIsWritten checks that writes to files and pipes, which are no terminals, are not filtered.
func TestFilesGetWhatIsWritten(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	for _, f := range []*os.File{file, write} {
		if to := inertOn(f); to != f {
			t.Errorf("%s: written to through %T", f.Name(), to)
		}
	}
}

// TestExecuteFlushes checks that output ending in what may begin a control sequence is written when a command ends.
func TestExecuteFlushes(t *testing.T) {
	newRoot := func() *cobra.Command {
		return &cobra.Command{Use: "says", RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(c.OutOrStdout(), "out \x1b[3")
			fmt.Fprint(c.ErrOrStderr(), "err \x1b")
			return nil
		}}
	}
	var out, err bytes.Buffer
	exit := execute(t.Context(), newRoot(), nil, nil, &inert{to: &out}, &inert{to: &err})
	if exit != ExitMet || out.String() != "out �[3" || err.String() != "err �" {
		t.Errorf("exit %d, %q, %q", exit, out.String(), err.String())
	}
	closed, openError := os.Create(filepath.Join(t.TempDir(), "closed"))
	if openError != nil {
		t.Fatal(openError)
	}
	closed.Close()
	if exit := execute(t.Context(), newRoot(), nil, nil, &inert{to: closed}, &inert{to: &err}); exit != ExitIO {
		t.Errorf("what is held back is lost: exit %d", exit)
	}
}
