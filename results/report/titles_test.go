package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// TestTitlesNameTheExtremes computes the findings from the data independently, in a simpler way.
func TestTitlesNameTheExtremes(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures() {
		if f.seeds == 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			s, sum := f.build()
			d, err := newDrawing(sum, "v0.1.0")
			if err != nil {
				t.Fatal(err)
			}
			top, who := -1.0, 0
			for i, data := range sum.Data {
				for b := int(s.Warmup / s.Bucket); b < len(data.Series[0].FreshWaitP99); b++ {
					var values []float64
					for _, series := range data.Series {
						if v := series.FreshWaitP99[b]; v >= 0 && !math.IsInf(v, 1) {
							values = append(values, v)
						}
					}
					slices.Sort(values)
					if n := len(values); n > 0 && 2*n >= len(data.Series) {
						if m := (values[(n-1)/2] + values[n/2]) / 2; m > top {
							top, who = m, i
						}
					}
				}
			}
			title := waitChart(d).Title
			if table := d.tableTitle(d.waitQuery()); table != "" { // the numbers of the table, and no others
				cells := make([]results.TableCell, len(sum.Policies))
				for i := range cells {
					cells[i] = results.CellOf(sum, i, d.waitQuery())
				}
				slices.SortFunc(cells, func(a, b results.TableCell) int { return cmp.Compare(a.Mean, b.Mean) })
				low, high := cells[0].Value, cells[len(cells)-1].Value
				ends := strings.Contains(title, low) && strings.Contains(title, high)
				if !strings.HasPrefix(title, "Fresh p99 wait") || f.never == nil && !ends {
					t.Errorf("title %q does not go from %s to %s", title, low, high)
				}
				return
			}
			if top < 0 {
				if !strings.HasPrefix(title, "No fresh job is claimed") {
					t.Errorf("got title %q of data without a claim", title)
				}
				return
			}
			if !strings.Contains(title, seconds(top)) {
				t.Errorf("title %q does not give the highest median, %s", title, seconds(top))
			}
			name := d.policies[who].name
			if !strings.Contains(title, seconds(top)+" with "+name) && !strings.Contains(title, seconds(top)+" under every") {
				t.Errorf("title %q gives %s not to %s", title, seconds(top), name)
			}
		})
	}
}

// If some jobs were never claimed the table has lower bounds: they rank below known values, and are not ranked among
// themselves.
func TestWaitTitleRanksNoBounds(t *testing.T) {
	t.Parallel()
	bound := func(policies int, bounds ...bool) func(f *fixture) {
		return func(f *fixture) {
			f.policies, f.seeds, f.storms, f.limits = policies, 1, nil, nil
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				for i := range sum.Data {
					sum.Data[i].Series[0].FreshWaitP99[40] = float64(10 * (i + 1))
					e := sum.Policies[i].Metric("fresh.wait.p99")
					switch {
					case i >= len(bounds):
						e.Mean = math.NaN()
					case bounds[i]:
						e.Bound = ">="
					}
				}
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(f *fixture)
		want   string
	}{
		{"none", bound(2, false, false), "Fresh p99 wait is 54.2s with Shared FIFO, 18.2s with Weighted 80/20"},
		{"the longer", bound(2, true, false), "Fresh p99 wait is ≥ 54.2s with Shared FIFO, 18.2s with Weighted 80/20"},
		{"the shorter", bound(2, false, true), "Fresh p99 wait is ≥ 18.2s with Weighted 80/20, 54.2s with Shared FIFO"},
		{"both", bound(2, true, true), "Fresh p99 wait is not known under any policy: jobs were left; at least 54.2s with Shared FIFO"},
		{"alone", bound(1, true), "Fresh p99 wait is ≥ 54.2s with Shared FIFO"},
		{"not in the table", bound(2, true), "In the worst 30s fresh p99 wait is 20s with Weighted 80/20, 10s with Shared FIFO"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := with(tt.name, tt.change)
			if got := waitChart(f.drawing(t)).Title; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A title names the winner that the table marks, and none if it marks none: no policy without a significant difference
// over 20 seeds, however far apart the means are.
func TestTitleNamesTheWinnerOfTheTable(t *testing.T) {
	t.Parallel()
	for want, shown := range map[string]bool{"Fresh p99 wait is 54.2s with Shared FIFO, 18.2s with Weighted 80/20": true,
		"Fresh p99 wait is 18.2s to 54.2s under every policy": false} {
		f := with("two", func(f *fixture) {
			f.policies, f.seeds, f.storms, f.limits = 2, 20, nil, nil
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				sum.Policies[1].Against(measure.Query{Metric: "fresh.wait.p99"}).Shown = shown
			}
		})
		d := f.drawing(t)
		if got := waitChart(d).Title; got != want {
			t.Errorf("shown %v: title %q, want %q", shown, got, want)
		}
		if c := d.table.Find(measure.Query{Metric: "fresh.wait.p99"}); c.Cells[1].Best != shown {
			t.Errorf("shown %v: the table marks Weighted as best: %v", shown, c.Cells[1].Best)
		}
	}
}

// A threshold of starvation is written with two digits, not to the nanosecond.
func TestStarvedAfterIsShort(t *testing.T) {
	t.Parallel()
	d := storm()
	drawing := d.drawing(t)
	drawing.settings.StarvedAfter = []time.Duration{2540756197}
	if got := stormChart(drawing).Subtitle; !strings.Contains(got, "(2.5s)") {
		t.Errorf("subtitle %q", got)
	}
}

func TestBacklogTitle(t *testing.T) {
	tests := []struct {
		name              string
		policies          int
		fresh, retry, all []float64
		want              string
	}{
		{"none", 2, []float64{0, 0}, []float64{0, .2}, []float64{0, .2}, "No backlog forms under any policy"},
		{"one policy without any", 1, []float64{0}, []float64{0}, []float64{0}, "No backlog forms with Shared FIFO"},
		{"little", 2, []float64{12, 3}, []float64{0, 30}, []float64{12, 33}, "Hardly a backlog forms under any policy: at most 33 jobs"},
		{"retries only", 2, []float64{12, 3}, []float64{9000, 12000}, []float64{9000, 12000}, "Retries pile up, to 12k on the mean with Weighted 80/20; fresh jobs do not: at most 12 under any policy"},
		{"differ", 2, []float64{24000, 120}, []float64{20000, 40000}, []float64{44000, 40000}, "Mean fresh backlog peaks at 24k with Shared FIFO, at 120 with Weighted 80/20"},
		{"alike", 2, []float64{24000, 23000}, []float64{40000, 41000}, []float64{44000, 40000}, "Mean fresh backlog peaks at 23k to 24k under every policy"},
		{"retries differ", 2, []float64{328, 328}, []float64{321, 3}, []float64{399, 331}, "Mean retry backlog peaks at 321 with Shared FIFO, at 3 with Weighted 80/20"},
		{"equal", 2, []float64{24000, 24010}, []float64{40000, 40000}, []float64{44000, 40000}, "Mean fresh backlog peaks at 24k under every policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := with(tt.name, func(f *fixture) { f.policies = tt.policies })
			if got := f.drawing(t).backlogTitle(tt.fresh, tt.retry, tt.all); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// pooled returns a histogram of 100 fresh jobs: lost of them were never claimed, long others waited for a minute.
func pooled(long, lost int, during string) results.PolicyData {
	h := measure.NamedHistogram{Query: measure.Query{Metric: "fresh.wait", During: during}}
	for i := range 100 {
		switch {
		case i < lost:
			h.Unresolved.Record(time.Second)
		case i < lost+long:
			h.Ended.Record(time.Minute)
		default:
			h.Ended.Record(100 * time.Millisecond)
		}
	}
	return results.PolicyData{Pooled: []measure.NamedHistogram{h}}
}

func TestDistributionTitle(t *testing.T) {
	rounded := pooled(34, 0, "")
	for range 10 {
		rounded.Pooled[0].Ended.Record(182 * time.Second)
	}
	rounded.Pooled[0].Ended.Record(300 * time.Second)
	middle := rounded.Pooled[0].Ended.Quantile(.99).Seconds() // of the bucket of 182 s, as the metric has it
	limit := []measure.Objective{{Query: measure.Query{Metric: "fresh.wait.p99"}, Bound: 10, Text: "below 10s"}}
	tests := []struct {
		name   string
		limits []measure.Objective
		data   []results.PolicyData
		want   string
	}{
		{"share over a limit", limit, []results.PolicyData{pooled(34, 0, ""), pooled(2, 0, "")}, "34% of fresh jobs wait longer than 10s with Shared FIFO, 2% with Weighted 80/20"},
		{"worst is not the first", limit, []results.PolicyData{pooled(0, 0, ""), pooled(7, 0, "")}, "7% of fresh jobs wait longer than 10s with Weighted 80/20, 0% with Shared FIFO"},
		{"alike", limit, []results.PolicyData{pooled(34, 0, ""), pooled(34, 0, "")}, "34% of fresh jobs wait longer than 10s under every policy"},
		{"nobody", limit, []results.PolicyData{pooled(0, 0, ""), pooled(0, 0, "")}, "No fresh job waits longer than 10s under any policy"},
		{"some lost", limit, []results.PolicyData{pooled(30, 4, ""), pooled(2, 0, "")}, "34% of fresh jobs wait longer than 10s or are never claimed with Shared FIFO, 2% with Weighted 80/20"},
		{"all lost", limit, []results.PolicyData{pooled(0, 100, ""), pooled(0, 100, "")}, "No fresh job is claimed under any policy"},
		{"one policy", limit, []results.PolicyData{pooled(34, 0, "")}, "34% of fresh jobs wait longer than 10s with Shared FIFO"},
		{"no limit", nil, []results.PolicyData{pooled(34, 0, ""), pooled(0, 0, "")}, "Fresh p99 wait is 1m with Shared FIFO, 100ms with Weighted 80/20"},
		{"no limit, alike", nil, []results.PolicyData{pooled(34, 0, ""), pooled(20, 0, "")}, "Fresh p99 wait is 1m under every policy"},
		{"no limit, one loses", nil, []results.PolicyData{pooled(0, 0, ""), pooled(0, 2, "")}, "2% of fresh jobs are never claimed with Weighted 80/20; with Shared FIFO p99 wait is 100ms"},
		{"no limit, both lose", nil, []results.PolicyData{pooled(0, 12, ""), pooled(0, 5, "")}, "12% of fresh jobs are never claimed with Shared FIFO, 5% with Weighted 80/20"},
		{"no limit, the p99 of the table", nil, []results.PolicyData{pooled(0, 5, ""), rounded}, "5% of fresh jobs are never claimed with Shared FIFO; with Weighted 80/20 p99 wait is " + seconds(middle)},
		{"no data", nil, []results.PolicyData{{Pooled: []measure.NamedHistogram{}}, {}}, "There is no fresh job to speak of under any policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := with(tt.name, func(f *fixture) {
				f.policies, f.seeds, f.storms, f.limits = len(tt.data), 1, nil, tt.limits
				f.adjust = func(_ *measure.Settings, sum *results.Summary) {
					sum.Data = tt.data
					for i := range sum.Policies {
						sum.Policies[i].Metrics = nil // the data of these tables are others
					}
				}
			})
			if got := distributionChart(f.drawing(t)).Title; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The comparison chart has the columns of the table: first the objectives' metrics, then the costs.
func TestComparisonShowsTheTable(t *testing.T) {
	t.Parallel()
	f := with("comparison", func(f *fixture) {
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			q := measure.Query{Metric: "recovery.time", After: "payments-down"}
			s.Objectives = append(s.Objectives, measure.Objective{Query: q, Bound: 300, Text: "below 5m"})
			for i := range sum.Policies {
				sum.Policies[i].Find(q).Mean, sum.Policies[i].Find(q).Reason = math.NaN(), "fewer than 20 windows before the storm"
			}
			sum.Policies[1].Find(q).Mean, sum.Policies[1].Find(q).Bound = 70, ">="
		}
	})
	d := f.drawing(t)
	measures := d.measures()
	names := plain.Map(measures, headingOf)
	if got, want := strings.Join(names, "; "), "p99 wait of fresh jobs in payments-down; back to normal after payments-down"; !strings.HasPrefix(got, want) {
		t.Errorf("got panels %q, want %q first", got, want)
	}
	for i, want := range []string{"no value: fewer than 20 windows before the storm", "≥ 1m10s"} {
		if got := valueWords(&measures[1].Cells[i]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !meansApart(measures[0]) || meansApart(measures[1]) {
		t.Error("a logarithmic axis is for what differs twentyfold")
	}
	chart := comparisonChart(d)
	if !strings.HasPrefix(chart.Title, "Shared FIFO: p99 wait of fresh jobs in payments-down") || !strings.Contains(chart.alt, names[1]) {
		t.Errorf("it says %q, %q", chart.Title, chart.alt)
	}
}

func TestFooterSaysWhatItMust(t *testing.T) {
	tests := []struct {
		seeds   int
		partial bool
		want    string
	}{
		{20, false, "retry-storm · 20 seeds · line = median, band = 5th–95th percentile over seeds · qsim v0.1.0 · config 9e41c0d2"},
		{5, true, "retry-storm · 5 seeds (some missing) · line = median, band = range over seeds · qsim v0.1.0 · config 9e41c0d2"},
		{1, false, "retry-storm · 1 seed · line = the one seed · qsim v0.1.0 · config 9e41c0d2"},
	}
	for _, tt := range tests {
		f := with("footer", func(f *fixture) { f.seeds = tt.seeds })
		d := f.drawing(t)
		d.summary.Partial = tt.partial
		if got := d.footer(d.bandMarks()); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestFooterExplainsGaps: the footer explains gaps in the wait chart's lines: no job is claimed in them.
func TestFooterExplainsGaps(t *testing.T) {
	for _, empty := range []bool{false, true} {
		f := with(fmt.Sprint("gaps ", empty), func(f *fixture) {
			f.seeds = 1
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				for i := range sum.Data {
					values := sum.Data[i].Series[0].FreshWaitP99
					for b := range values {
						values[b] = 1
					}
					if empty {
						values[len(values)/2] = math.NaN()
					}
				}
			}
		})
		if got := waitChart(f.drawing(t)).Footer; strings.Contains(got, ", gap = none claimed ·") != empty {
			t.Errorf("empty %v: %q", empty, got)
		}
	}
}

// Claims of fewer than half of the seeds in any bucket leave no line to draw, and are claims nevertheless: the title
// has the table's values if there are any.
func TestRareClaimsAreClaims(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bound func(sum *results.Summary)
		title string
	}{
		{"table", func(*results.Summary) {}, "Fresh p99 wait in payments-down is 2m43s with Shared FIFO, 54.5s with Weighted 80/20"},
		{"no table", nullEverything, "Too few fresh jobs are claimed for a line of their waits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := with(tt.name, func(f *fixture) {
				f.policies, f.seeds = 2, 3
				f.adjust = func(_ *measure.Settings, sum *results.Summary) {
					tt.bound(sum)
					for i := range sum.Data {
						for k := range sum.Data[i].Series {
							for b := range sum.Data[i].Series[k].FreshWaitP99 {
								if k != b%3 {
									sum.Data[i].Series[k].FreshWaitP99[b] = math.NaN()
								}
							}
						}
					}
				}
			})
			s := waitChart(f.drawing(t))
			if s.Title != tt.title {
				t.Errorf("title %q, want %q", s.Title, tt.title)
			}
			if want := "Highest fresh p99 wait: Shared FIFO in too few seeds, Weighted 80/20 in too few seeds."; !strings.HasPrefix(s.alt, want) {
				t.Errorf("%q does not begin with %q", s.alt, want)
			}
			if !strings.Contains(s.Footer, ", gap = none claimed in most seeds ·") {
				t.Errorf("footer %q", s.Footer)
			}
		})
	}
}

// Jobs claimed in the warm-up alone are drawn, but no number counts them: no title says that none is claimed.
func TestClaimsInTheWarmUpAlone(t *testing.T) {
	f := with("early", func(f *fixture) {
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			nullEverything(sum)
			for i := range sum.Data {
				sum.Data[i].Pooled = nil
				for k := range sum.Data[i].Series {
					series := &sum.Data[i].Series[k]
					for b := int(s.Warmup / s.Bucket); b < len(series.FreshWaitP99); b++ {
						series.FreshWaitP99[b], series.FreshClaims[b], series.RetryClaims[b] = math.NaN(), 0, 0
					}
				}
			}
		}
	})
	d := f.drawing(t)
	for want, got := range map[string]string{
		"No fresh job is claimed after the warm-up under any policy": waitChart(d).Title,
		"No job is claimed after the warm-up under any policy":       attemptsChart(d).Title,
		"There is no fresh job enqueued in payments-down to speak of under any policy": d.distributionTitle(nil,
			d.limits()[0], nil, -1, -1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The peaks beside the panels are of all ready jobs, and the title's of fresh ones: where no room is left for both, the
// subtitle tells which.
func TestBacklogTellsOfItsPeaks(t *testing.T) {
	for policies, want := range map[int]bool{2: false, 3: true, 4: false, 5: true} {
		f := with(fmt.Sprint(policies, " peaks"), func(f *fixture) { f.policies = policies })
		if got := backlogChart(f.drawing(t)).Subtitle; strings.HasSuffix(got, "; peak: fresh and retries together") != want {
			t.Errorf("%d policies: %q", policies, got)
		}
	}
}

// ownStorms returns a fixture with two policies: under the second, the storm of the scenario lasts a minute more.
func ownStorms() *fixture {
	f := with("own storms", func(f *fixture) {
		f.policies = 2
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			storm := s.Storms[0]
			s.Policies[1].Storms = []measure.Window{{Name: storm.Name, From: storm.From, To: storm.To + time.Minute}}
			for i := range sum.Policies {
				e := results.Estimate{Query: measure.Query{Metric: "recovery.time", After: storm.Name}, Mean: 5, N: 1}
				sum.Policies[i].Metrics = append(sum.Policies[i].Metrics, e)
			}
		}
	})
	return &f
}

// The mark of a recovery lies after the storm as it is under that policy, which may have it later than the scenario.
func TestRecoveryAfterTheOwnStorm(t *testing.T) {
	d := ownStorms().drawing(t)
	back := d.backToNormal(d.policies)
	if later := back[1].at[0] - back[0].at[0]; later != 60 {
		t.Errorf("recovered %v s later, want a minute: %v", later, back)
	}
}

// The panel of a policy shades the storm as it is under that policy.
func TestPanelsShadeTheOwnStorm(t *testing.T) {
	shade := regexp.MustCompile(`fill="` + hex(stormInk) + `" fill-opacity="0.071" d="M[^l]*l(\S+) 0`)
	var wide []float64
	for _, m := range shade.FindAllSubmatch(backlogChart(ownStorms().drawing(t)).render().inline(), -1) {
		w, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		wide = append(wide, w)
	}
	if len(wide) != 2 || math.Abs(wide[1]/wide[0]-1.2) > .01 {
		t.Errorf("shades %v wide, want the second wider by a fifth: six minutes for five", wide)
	}
}

// A plot of all policies shades, and the page names, the storm as it is under each of them, be it the scenario's or not.
func TestCommonPlotsShadeEveryStorm(t *testing.T) {
	want := []measure.Window{{Name: "payments-down", From: 10 * time.Minute, To: 15 * time.Minute}, {Name: "payments-down", From: 10 * time.Minute, To: 16 * time.Minute}}
	for _, scenario := range [][]measure.Window{want[:1], {{Name: "payments-down", From: time.Minute, To: 2 * time.Minute}}} {
		f := ownStorms()
		adjust := f.adjust
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			adjust(s, sum)
			s.Storms, s.Policies[0].Storms = scenario, want[:1]
		}
		d := f.drawing(t)
		if got, want := strings.Join((&page{summary: d.summary}).scene()[1:], " "), "payments-down 10m–15m payments-down 10m–16m 10 seeds"; got != want {
			t.Errorf("got the scene %q, want %q", got, want)
		}
		var live []measure.Window
		for _, s := range d.live().Storms {
			live = append(live, measure.Window{Name: s.Name, From: time.Duration(s.From * 1e9), To: time.Duration(s.To * 1e9)})
		}
		if !slices.Equal(live, want) {
			t.Errorf("got the storms %v in the data, want %v", live, want)
		}
		for _, chart := range []*sheet{waitChart(d), stormChart(d), attemptsChart(d)} {
			svg := string(chart.render().inline())
			if got := strings.Count(svg, `fill="`+hex(stormInk)+`" fill-opacity="0.071"`); got != 2*chart.panels.n || !strings.Contains(chart.alt, "from 10m to 16m") {
				t.Errorf("%s: %d shades of storms in %d plots: %s", chart.Title, got, chart.panels.n, chart.alt)
			}
		}
	}
}

// The comparison chart explains its dots and whiskers, and with several policies the baseline's line besides.
func TestFooterOfTheComparison(t *testing.T) {
	for _, tt := range []struct {
		policies, seeds int
		want            string
	}{
		{1, 10, "· dot = estimate, whisker = its interval ·"},
		{2, 10, "· dot = estimate, whisker = its interval; dotted line = baseline ·"},
		{1, 1, "· dot = the one seed ·"}, // which has no interval
		{2, 1, "· dot = the one seed; dotted line = baseline; hollow = "},
	} {
		f := with("footer", func(f *fixture) { f.policies, f.seeds = tt.policies, tt.seeds })
		if got := comparisonChart(f.drawing(t)).Footer; !strings.Contains(got, tt.want) {
			t.Errorf("%d policies, %d seeds: got %q, want %q in it", tt.policies, tt.seeds, got, tt.want)
		}
	}
}

// Storms, the warm-up and objectives are named by every chart that shows them, above it or in its text, and
// in its description for screen readers.
func TestShadesAreExplained(t *testing.T) {
	t.Parallel()
	many := func(f *fixture) { f.policies = 9 }
	for _, tt := range []struct {
		f              fixture
		waits, shades  string
		spoken, absent string
	}{
		{with("shades", many), "; shaded: payments-down (red) and warm-up (grey); dashed: objective: p99 ≤ 10s in the storm", "; shaded: payments-down (red) and warm-up (grey)", " Storm: payments-down from 10m to 15m.", "Shaded"},
		{with("no shades", func(f *fixture) { many(f); f.storms, f.limits, f.warmup = nil, nil, 0 }), "", "", " There is no storm.", "haded"},
		{with("two storms", func(f *fixture) {
			many(f)
			f.storms = append(f.storms, measure.Window{Name: "again", From: 20 * time.Minute, To: 21 * time.Minute})
			f.warmup = 0
		}), "; shaded: 2 storms (red); dashed: objectives", "; shaded: 2 storms (red)", " Storms: payments-down from 10m to 15m and again from 20m to 21m.", "grey)"},
		{with("one storm of two sides", func(f *fixture) {
			many(f)
			f.storms = append(f.storms, measure.Window{Name: f.storms[0].Name, From: 20 * time.Minute, To: 21 * time.Minute})
			f.limits, f.warmup = nil, 0
		}), "; shaded: payments-down (red)", "; shaded: payments-down (red)", " Storms: payments-down from 10m to 15m and payments-down from 20m to 21m.", "grey)"},
	} {
		t.Run(tt.f.name, func(t *testing.T) {
			if tt.f.name == "two storms" {
				tt.f.limits = append(tt.f.limits, measure.Objective{Query: measure.Query{Metric: waitMetric}, Bound: 20})
			}
			d := tt.f.drawing(t)
			wait, attempts := waitChart(d), attemptsChart(d)
			if !strings.HasSuffix(wait.Subtitle, "in grey"+tt.waits) || !strings.HasSuffix(attempts.Subtitle, "in grey"+tt.shades) {
				t.Errorf("%q\n%q", wait.Subtitle, attempts.Subtitle)
			}
			for _, s := range []*sheet{wait, attempts, distributionChart(d), comparisonChart(d)} {
				if !strings.HasSuffix(s.alt, tt.spoken) || strings.Contains(s.Title+s.alt+s.Subtitle, tt.absent) {
					t.Errorf("%s: %s %s", s.Name, s.Subtitle, s.alt)
				}
			}
		})
	}
}

// The limit is on the axis even if all jobs waited longer: drawn at the axis's end it would look like another value.
func TestDistributionShowsTheLimit(t *testing.T) {
	t.Parallel()
	late := distribution{waits: []float64{25, 40, 58}, shares: []float64{1, .5, .1}}
	for _, seconds := range []float64{.001, 1, 10, 30, 600} {
		if from, to := distributionRange([]distribution{late}, limit{Bound: seconds}); from > seconds || to < seconds || to < 58 {
			t.Errorf("an axis from %v to %v for waits of 25 s and more, and a limit of %v", from, to, seconds)
		}
	}
}

// Classes have a plot each, with the curves of all policies, instead of one plot for all.
func TestWaitsByClass(t *testing.T) {
	t.Parallel()
	f := with("two classes", func(f *fixture) {
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			s.Classes = []string{"payments", "mail"}
			for i := range sum.Data {
				for k := range sum.Data[i].Series {
					series := &sum.Data[i].Series[k]
					series.Classes = [][]float64{series.FreshWaitP99, make([]float64, len(series.FreshWaitP99))}
				}
			}
		}
	})
	chart := waitChart(f.drawing(t))
	figure := chart.render()
	inline := string(figure.inline())
	if chart.panels.n != 2 || !strings.Contains(inline, ">payments<") || !strings.Contains(inline, ">mail<") || strings.Count(inline, `data-row="`) != 2 {
		t.Errorf("%d plots: %.300s", chart.panels.n, inline)
	}
	if !strings.Contains(figure.legend, "payments-down") || !strings.Contains(chart.Footer, "line = median over seeds") {
		t.Errorf("it says %q, %q", figure.legend, chart.Footer)
	}
	if n := strings.Count(inline, `class="band"`); n > 0 {
		t.Errorf("%d bands that nobody measured", n)
	}
}

// Curves share no name where a logarithmic axis shows them apart, far below the peak that they share.
func TestWaitsFarBelowThePeakAreNotTwins(t *testing.T) {
	t.Parallel()
	f := with("three heights", func(f *fixture) {
		f.policies = 3
		f.adjust = func(_ *measure.Settings, sum *results.Summary) {
			for i := range sum.Data {
				for k := range sum.Data[i].Series {
					waits := sum.Data[i].Series[k].FreshWaitP99
					for j := range waits {
						if waits[j] = []float64{2, .2, .02}[i]; j < len(waits)/4 {
							waits[j] = 1000
						}
					}
				}
			}
		}
	})
	if inline := string(waitChart(f.drawing(t)).render().inline()); strings.Contains(inline, " = ") {
		t.Errorf("a wait of 0.2 s shares its name with one of 20 ms: %s", inline[strings.Index(inline, " = ")-80:][:200])
	}
}

// A panel has its policy's whole name, even if its curve equals another's: a remark beside it names that one if there
// is room.
func TestPanelsOfTwinsKeepTheirNames(t *testing.T) {
	t.Parallel()
	f := with("twins", func(f *fixture) { f.policies = 3 })
	d := f.drawing(t)
	for width, want := range map[vg.Length][]string{400: {"Weighted 86", "peak 611, = Weighted 50"}, 130: {"Weighted 86", "peak 611"}} {
		var r recorder.Canvas
		heading{"Weighted 86", d.backlogWords(250, 611, "Weighted 50")}.Plot(draw.NewCanvas(&r, width, 20), nil)
		var got []string
		for _, action := range r.Actions {
			if text, ok := action.(*recorder.FillString); ok {
				got = append(got, text.String)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v wide: got %q, want %q", width, got, want)
		}
	}
}
