package text

import (
	"slices"
	"strings"
	"testing"
)

// TestComparisonOnANarrowTerminal checks that tables have descriptions of metrics, in whole words, not their names.
func TestComparisonOnANarrowTerminal(t *testing.T) {
	for _, width := range []int{60, 80} {
		table := Comparisons(unusual(t), TableOptions{Width: width})
		words := strings.Fields(table)
		for _, want := range strings.Fields("mean time until done attempts per job share of dead jobs second 10.2s") {
			if !slices.Contains(words, want) {
				t.Errorf("%d columns: no word %q in\n%s", width, want, table)
			}
		}
		if strings.Contains(table, "sojourn.mean") {
			t.Errorf("%d columns: the name of a metric in\n%s", width, table)
		}
	}
}

// TestComparisonFormats checks comparisons of odd values in every format: none prints NaN or an infinity.
func TestComparisonFormats(t *testing.T) {
	list := unusual(t)
	for format, wants := range map[Format][]string{
		Text: {"mean time until done   10.2s   10.9s   +660ms ±286ms      +6%   ? unclear; run about 18 seeds", "share of dead jobs         –      6%        –               –   ? unclear",
			"? unclear; old: nothing happened", "3 metrics unclear", "Welch"},
		Markdown: {"| A | mean time until done | 10.2s | 10.9s | +660ms ±286ms | +6% | ? unclear; run about 18 seeds |", "- the seeds differ"},
		CSV:      {"old,new,A,sojourn.mean,s,10.2,,10.86,,0.66"},
	} {
		s := Comparisons(list, TableOptions{Format: format})
		for _, want := range wants {
			if !strings.Contains(s, want) {
				t.Errorf("format %d has no %q:\n%s", format, want, s)
			}
		}
		if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("format %d:\n%s", format, s)
		}
	}
}
