package text

import (
	"bytes"
	"strings"
	"testing"
)

// No format prints what is not a number.
func TestComparisonFormats(t *testing.T) {
	list := unusual(t)
	for format, wants := range map[Format][]string{
		Text: {"sojourn.mean    10.2s   10.9s   +660ms ±286ms      +6%   ? unclear; run about 18 seeds", "dead.share          –      6%        –               –   ? unclear",
			"? unclear; old: nothing happened", "3 metrics unclear", "Welch"},
		Markdown: {"| A | sojourn.mean | 10.2s | 10.9s | +660ms ±286ms | +6% | ? unclear; run about 18 seeds |", "- the seeds differ"},
		CSV:      {"old,new,A,sojourn.mean,s,10.2,,10.86,,0.66"},
	} {
		var b bytes.Buffer
		if err := WriteComparisons(&b, list, TableOptions{Format: format}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("format %d has no %q:\n%s", format, want, b.String())
			}
		}
		if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("format %d:\n%s", format, s)
		}
	}
}
