package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestPageTurnsNoText puts characters that reverse the direction of text, which names cannot contain, into the texts
// of a scenario: none reaches the page, where it would disguise text.
func TestPageTurnsNoText(t *testing.T) {
	const turned = "a\u202eb\u2066c\u200fd"
	f := storm()
	s, sum := f.build()
	s.Description = turned
	figures, err := Charts(sum, turned)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Page(sum, figures, turned, []byte("description: "+turned))
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexFunc(page, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }); at >= 0 {
		t.Errorf("the page turns text after %q", page[max(0, at-60):at])
	}
	for _, escape := range []string{`\u202e`, `\u2066`, `\u200f`, "&#x202e", "&#8238"} {
		if strings.Contains(strings.ToLower(string(page)), escape) {
			t.Errorf("the page holds %s", escape)
		}
	}
}
