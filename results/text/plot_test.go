package text

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"qsim/results"
	"qsim/results/measure"
)

// plotted returns a summary with these p99 waits of fresh jobs, by policy, seed and bucket of ten seconds, and a storm.
func plotted(labels []string, waits ...[][]float64) *results.Summary {
	s := &results.Summary{Scenario: "s", Seeds: []uint64{1}, Settings: &measure.Settings{Duration: 10 * time.Minute, Bucket: 10 * time.Second,
		Storms: []measure.Window{{Name: "down", From: 5 * time.Minute, To: 6 * time.Minute}}}}
	for i, label := range labels {
		s.Settings.Policies = append(s.Settings.Policies, measure.PolicyInfo{Label: label})
		s.Policies = append(s.Policies, results.PolicySummary{Label: label})
		var data results.PolicyData
		for _, line := range waits[i] {
			data.Series = append(data.Series, measure.Series{FreshWaitP99: line})
		}
		s.Data = append(s.Data, data)
	}
	return s
}

// line returns 60 buckets of a series: v, and peak from bucket 30 to 35, when plotted has its storm.
func line(v, peak float64) []float64 {
	values := make([]float64, 60)
	for i := range values {
		if values[i] = v; i >= 30 && i < 36 {
			values[i] = peak
		}
	}
	return values
}

func TestPlotInASCII(t *testing.T) {
	s := plotted([]string{"fifo", "capped µ"}, [][]float64{line(.01, 100)}, [][]float64{line(.01, .1)})
	want := `fresh p99 wait per 10s of virtual time, log scale

        fifo   peak 1m40s
   100s +                        :''''.
    10s +                        :    :
     1s +                        :    :
        |                        :    :
  100ms +                        :    :
   10ms +........................'    :..................
        +------------------------#####-------------------

        capped u   peak 100ms
   100s +
    10s +
     1s +
        |
  100ms +                        :''''.
   10ms +........................'    :..................
        +------------------------#####-------------------
         0                       5m                    10m
        # down 5m-6m
`
	got := Plot(s, TableOptions{Width: 58}, true)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, r := range got {
		if r > '~' {
			t.Errorf("%q is no ASCII", r)
		}
	}
}

// TestPlotShowsTheStorm checks that the plot has its peak above the mark of the storm, in Unicode and in ASCII.
func TestPlotShowsTheStorm(t *testing.T) {
	s := plotted([]string{"fifo"}, [][]float64{line(.01, 100)})
	for _, ascii := range []bool{true, false} {
		lines := strings.Split(Plot(s, TableOptions{Width: 80}, ascii), "\n")
		top, base := []rune(lines[3]), []rune(lines[9])
		storm := '▓'
		if ascii {
			storm = '#'
		}
		first := strings.IndexFunc(string(top[9:]), func(r rune) bool { return r != ' ' })
		from := strings.IndexRune(string(base), storm)
		column := utf8.RuneCountInString(string(base)[:from]) - 9
		if first < column-1 || first > column+1 || len(top) > 9+column+10 {
			t.Errorf("ascii %v: the peak begins in column %d, the storm in column %d:\n%s", ascii, first, column, strings.Join(lines, "\n"))
		}
	}
}

// TestPlotCountsItsStorms checks that the legend counts the storms it does not name, of those that begin in the plot.
func TestPlotCountsItsStorms(t *testing.T) {
	s := plotted([]string{"fifo"}, [][]float64{line(.01, 100)})
	s.Settings.Storms = nil
	for i := range 12 { // of which 9 begin before the end, at 10m
		at := time.Duration(i+1) * 65 * time.Second
		s.Settings.Storms = append(s.Settings.Storms, measure.Window{Name: "down", From: at, To: at + time.Second})
	}
	if got := Plot(s, TableOptions{}, false); !strings.HasSuffix(got, "\n        and 1 storm more\n") {
		t.Errorf("got the legend\n%s", got)
	}
}

func TestPlotOfOddData(t *testing.T) {
	nan := math.NaN()
	silent := make([]float64, 60)
	for i := range silent {
		silent[i] = nan
	}
	many := make([]string, 20)
	var waits [][][]float64
	for i := range many {
		many[i] = fmt.Sprintf("policy %d with a name of 日本語 and 🎉 that goes on and on and on and on", i)
		waits = append(waits, [][]float64{line(float64(i), 1e12), line(nan, 3)})
	}
	early := plotted([]string{"a"}, [][]float64{append([]float64{60}, silent...)})
	early.Settings.Warmup = time.Minute
	for _, tt := range []struct {
		name string
		s    *results.Summary
		want string
	}{
		{"a wait of a minute in the warm-up alone", early, "100s"},
		{"all zero", plotted([]string{"a"}, [][]float64{line(0, 0)}), "never waits"},
		{"nothing claimed", plotted([]string{"a"}, [][]float64{silent}), "no fresh job is claimed"},
		{"no series", plotted([]string{"a"}, nil), "no fresh job is claimed"},
		{"seldom", plotted([]string{"a"}, [][]float64{{1, nan, nan}, {nan, 1, nan}, {nan, nan, 50}}), "claims in too few seeds"},
		{"one bucket", plotted([]string{"a"}, [][]float64{{.5}}), "peak 500ms"},
		{"goes on", plotted([]string{"a"}, [][]float64{append(line(.1, 1), line(.1, 1)...)}), "20m"},
		{"infinite", plotted([]string{"a"}, [][]float64{{math.Inf(1), 2}}), "peak 2.0s"},
		{"a minority", plotted([]string{"a"}, [][]float64{{1, nan}, {1, nan}, {1, 50}}), "peak 1.0s"},
		{"many", plotted(many, waits...), "policy 19 with"},
		{"tiny", plotted([]string{"a"}, [][]float64{{1e-9, 2e-9}}), "peak 2ns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, width := range []int{0, 40, 80, 200} {
				for _, ascii := range []bool{true, false} {
					got := Plot(tt.s, TableOptions{Width: width}, ascii)
					if !strings.Contains(got, tt.want) {
						t.Errorf("%q is missing in\n%s", tt.want, got)
					}
					if width == 0 {
						width = 80
					}
					for line := range strings.Lines(got) {
						if n := columns(strings.TrimSuffix(line, "\n")); n > max(width, 60) {
							t.Errorf("width %d: a line of %d columns: %s", width, n, line)
						}
					}
					if strings.Contains(got, "\x1b") {
						t.Error("it is coloured")
					}
				}
			}
			if !strings.Contains(Plot(tt.s, TableOptions{Color: true}, false), "\x1b[") {
				t.Error("it is not coloured")
			}
		})
	}
	defer func() {
		if recover() != "text: a summary without series has no plot" {
			t.Error("a summary without series was drawn")
		}
	}()
	Plot(&results.Summary{}, TableOptions{}, false)
}

// TestPlotOfAnyWidth checks that a plot fills the width of the terminal, within a least and a greatest width.
func TestPlotOfAnyWidth(t *testing.T) {
	for width, want := range map[int]int{-1: plotWidth, 1: leastPlot, 20: leastPlot, leastPlot - 1: leastPlot, leastPlot: leastPlot, 57: 57, 1 << 40: mostPlot} {
		text := Plot(plotted([]string{"fifo"}, [][]float64{line(.01, 100)}), TableOptions{Width: width}, false)
		most := 0
		for _, l := range strings.Split(text, "\n") {
			most = max(most, utf8.RuneCountInString(l))
		}
		if most > want || most < want-3 {
			t.Errorf("in %d columns it is %d wide, want %d:\n%s", width, most, want, text)
		}
	}
}
