package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestPageTurnsNoText has every text of a scenario hold a character that turns the direction of what follows: none
// reaches the page, in which it would make text read as what it is not.
func TestPageTurnsNoText(t *testing.T) {
	const turned = "a\u202eb\u2066c\u200fd"
	f := with("turned", func(f *fixture) {
		f.labels = []string{turned, "b"}
		f.policies, f.storms[0].Name, f.limits[0].During = 2, turned, turned
	})
	s, sum := f.build()
	s.Scenario, sum.Scenario, s.Description = turned, turned, turned
	sum.Warnings = []string{turned}
	figures, err := Charts(s, sum, turned)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Page(sum, figures, PageOptions{Version: turned, Scenario: []byte("description: " + turned)})
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
