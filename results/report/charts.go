package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// Charts draws the figures of a run by their names: wait of fresh jobs (never attempted) over time, backlog over time,
// distribution of waits, comparison of the policies, attempts and workers' utilization over time, starvation of fresh
// jobs, and waits by tenant if there are many tenants. sum, which is not changed, needs Settings and Data, or it fails;
// version is that of the program.
func Charts(sum *results.Summary, version string) ([]Figure, error) {
	d, err := newDrawing(sum, version)
	if err != nil {
		return nil, fmt.Errorf("draw charts: %w", err)
	}
	figures := d.figures()
	slices.SortFunc(figures, func(a, b Figure) int { return cmp.Compare(a.Name, b.Name) })
	return figures, nil
}

// Prediction draws charts of a simulated and a measured run of a scenario, to compare the two: waits of fresh jobs over
// time, and the distribution of these waits.
func Prediction(sum *results.Summary, title, version string) ([]Figure, error) {
	d, err := newDrawing(sum, version)
	if err != nil {
		return nil, fmt.Errorf("draw prediction: %w", err)
	}
	if len(d.policies) != 2 {
		return nil, fmt.Errorf("draw prediction: %d runs, want the simulated and the real one", len(d.policies))
	}
	var figures []Figure
	for _, chart := range []struct {
		name, key string
		draw      func(*drawing) *sheet
	}{{"1-prediction-wait", "line = median", waitChart}, {"2-prediction-ccdf", "all pooled", distributionChart}} {
		sheet := chart.draw(d)
		// The finding is how close the two are, and not which of them is better. All rounds are of one seed.
		sheet.Name, sheet.Title = chart.name, clean(title)
		sheet.Footer = sourceLine(d.settings.Scenario, d.version, d.settings.ConfigHash, plain.Plural(d.seeds, "round"),
			chart.key)
		figures = append(figures, sheet.render())
	}
	return figures, nil
}

// figures draws the charts of the sections with the given identifiers, of all if there is none, without those that have
// no data.
func (d *drawing) figures(sections ...string) (figures []Figure) {
	for _, f := range families {
		if f.chart == nil || sections != nil && !slices.Contains(sections, f.ID) {
			continue
		}
		if sheet := f.chart(d); sheet != nil {
			sheet.Name = f.figure
			figures = append(figures, sheet.render())
		}
	}
	return figures
}

const (
	nameLimit  = 40 // most characters of a policy's label in titles
	stormLimit = 30 // most characters of a storm's name in titles
	together   = 8  // most policies that share one plot; more policies have a panel each
	panelLimit = 24 // most panels of a figure
)

// drawing holds the data common to the charts of a run: settings, summary and time series, reduced to the values drawn.
type drawing struct {
	settings *measure.Settings
	summary  *results.Summary
	table    *results.Table
	version  string
	pairs    bool // the policies are pairs: two runs of each, next to each other
	seeds    int
	policies []policy
	// rows names the class of the jobs in each plot of fresh waits: a plot for each class if there are several, since a
	// mix of classes hides their differences; otherwise one, "", for all jobs.
	rows []string
	xs   []float64 // middle of each bucket of time, in s
	from int       // first bucket of time that is not wholly in the warm-up
}

// policy holds the time series of one policy, over all seeds. A NaN is a gap.
type policy struct {
	name  string
	hue   hue
	index int       // index of the policy in the scenario
	band            // p99 waits of all fresh jobs: median over seeds, and its band
	waits []band    // the same by plot, see drawing.rows; that of a class is without edges
	fresh []float64 // jobs ready and never attempted, mean over seeds
	retry []float64
	due   []float64 // all jobs ready: fresh jobs and retries
	later []float64 // jobs scheduled for later (retries in backoff, delayed jobs), mean over seeds

	attempts []float64 // claims per second, mean over seeds; NaN where every seed has ended
	busy     []float64 // utilization of the workers, mean over seeds
	again    []float64 // share of the claims that are retries, mean over seeds
	starved  []float64 // share of the time in which fresh jobs starved, mean over seeds
}

// line returns the style of a policy's curve in a plot where those of all other policies are grey.
func (p *policy) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: p.hue.line, Width: width}
}

// dashed returns the style of a policy's curve among coloured curves of other policies: its dashes tell it apart, too.
func (p *policy) dashed(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: p.hue.line, Width: width, Dashes: p.hue.dashes}
}

// band is a curve over time with the edges of a band around it, which are nil if there is no band.
type band struct {
	median, low, high []float64
	seen              bool // some seed has a value after the warm-up, though the median may have none
}

func newDrawing(sum *results.Summary, version string) (*drawing, error) {
	switch {
	case sum == nil || sum.Settings == nil:
		return nil, fmt.Errorf("settings or summary is missing")
	case len(sum.Policies) == 0:
		return nil, fmt.Errorf("there is no policy")
	case len(sum.Data) != len(sum.Policies):
		return nil, fmt.Errorf("data of %d policies for %d", len(sum.Data), len(sum.Policies))
	case !(sum.Settings.Bucket > 0):
		return nil, fmt.Errorf("bucket %v is not positive", sum.Settings.Bucket)
	}
	s := sum.Settings
	d := &drawing{settings: s, summary: sum, table: results.TableOf(sum), version: clean(version), seeds: len(sum.Seeds)}
	buckets := 0
	for _, data := range sum.Data {
		for _, series := range data.Series {
			buckets = max(buckets, len(series.FreshWaitP99), len(series.FreshReady), len(series.RetryReady))
		}
	}
	bucket := s.Bucket.Seconds()
	for i := range buckets {
		d.xs = append(d.xs, (float64(i)+.5)*bucket)
	}
	if buckets == 1 { // a bucket alone is as wide as it is long, not a point
		d.xs = []float64{0, bucket}
	}
	d.from = min(int(s.Warmup/s.Bucket), buckets)
	for i := range sum.Policies {
		d.policies = append(d.policies, newPolicy(i, clean(sum.Policies[i].Label), sum.Data[i].Series, buckets, d.from))
	}
	d.rows = plain.Map(s.Classes, clean)
	if n := len(d.policies[0].waits); n < 2 || n != len(s.Classes) {
		d.rows = []string{""}
		for i := range d.policies {
			d.policies[i].waits = []band{d.policies[i].band}
		}
	}
	return d, nil
}

func newPolicy(index int, label string, series []measure.Series, buckets, from int) policy {
	p := policy{name: plain.Shorten(label, nameLimit), hue: hueOf(index), index: index}
	mean := func(of func(s *measure.Series, i int) float64) []float64 { return meansOf(series, buckets, of) }
	level := func(of func(s *measure.Series) []float64) []float64 { // of jobs: a run that has ended has none
		return plain.Map(mean(func(s *measure.Series, i int) float64 { return at(of(s), i) }), zeroed)
	}
	p.band = bandOf(series, buckets, from, func(s *measure.Series) []float64 { return s.FreshWaitP99 })
	if len(series) > 0 && !slices.ContainsFunc(series, func(s measure.Series) bool {
		return len(s.Classes) != len(series[0].Classes)
	}) {
		p.waits = make([]band, len(series[0].Classes))
		for k := range p.waits {
			p.waits[k] = bandOf(series, buckets, from, func(s *measure.Series) []float64 { return s.Classes[k] })
			p.waits[k].low, p.waits[k].high = nil, nil
		}
	}
	p.fresh = level(func(s *measure.Series) []float64 { return s.FreshReady })
	p.retry = level(func(s *measure.Series) []float64 { return s.RetryReady })
	p.later = level(func(s *measure.Series) []float64 { return s.Waiting })
	p.attempts = mean(func(s *measure.Series, i int) float64 { return at(s.FreshClaims, i) + at(s.RetryClaims, i) })
	p.busy = mean(func(s *measure.Series, i int) float64 { return at(s.Utilization, i) })
	p.again = mean(func(s *measure.Series, i int) float64 { return at(s.RetryClaims, i) })
	p.due = make([]float64, len(p.fresh))
	for i := range p.due {
		p.due[i] = p.fresh[i] + p.retry[i]
		p.again[i] /= p.attempts[i]
	}
	p.starved = mean(func(s *measure.Series, i int) float64 { return at(s.Starved, i) })[:buckets] // boxes, no curve
	return p
}

// bandOf returns the median of time series over seeds, with the band around it. from is the bucket after the warm-up.
func bandOf(series []measure.Series, buckets, from int, of func(s *measure.Series) []float64) band {
	median, low, high := results.Bands(series, buckets, of)
	return band{drawn(median), drawn(low), drawn(high), results.HasValue(series, from, of)}
}

// meansOf returns, for each bucket of time, the mean over time series: one that has ended counts as 0; NaN if all have.
func meansOf(series []measure.Series, buckets int, of func(s *measure.Series, i int) float64) []float64 {
	means := make([]float64, buckets)
	for i := range means {
		sum, ended := 0.0, true
		for k := range series {
			if v := of(&series[k], i); !math.IsNaN(v) {
				sum, ended = sum+v, false
			}
		}
		if means[i] = sum / float64(len(series)); ended {
			means[i] = math.NaN()
		}
	}
	return drawn(means)
}

// drawn doubles the single value of a series of one bucket, so that its curve has a beginning and an end.
func drawn(values []float64) []float64 {
	if len(values) == 1 {
		return append(values, values[0])
	}
	return values
}

// at returns element i of a series, or NaN if there is none or it is not finite.
func at(values []float64, i int) float64 {
	if i >= len(values) || math.IsInf(values[i], 0) {
		return math.NaN()
	}
	return values[i]
}

// zeroed returns a value for use in sums: 0 in place of NaN and of negative values.
func zeroed(v float64) float64 {
	if v > 0 {
		return v
	}
	return 0
}

// bucket returns the length of a bucket (step) of time as text, such as "30s".
func (d *drawing) bucket() string { return seconds(d.settings.Bucket.Seconds()) }

// peak returns the largest value of a time series after the warm-up; NaN if there is none.
func (d *drawing) peak(values []float64) float64 {
	return plain.ExtentOf(values[min(d.from, len(values)):]...).High
}

// end returns the end of a time axis, in s: that of the arrivals or, if later, of the last bucket of time in which some
// policy has something to show, as seen reports.
func (d *drawing) end(seen func(p *policy, bucket int) bool) float64 {
	end := d.settings.Duration.Seconds()
	for i := range d.policies {
		for k := len(d.xs) - 1; k >= 0 && d.xs[k] > end; k-- {
			if seen(&d.policies[i], k) {
				if end = d.xs[k]; d.xs[0] > 0 { // the middle of a bucket, and not the end of the only one
					end += d.settings.Bucket.Seconds() / 2
				}
			}
		}
	}
	if end <= 0 {
		return d.settings.Bucket.Seconds()
	}
	return end
}

// windows returns the windows to shade on a time axis up to until: the warm-up, which no metric counts, and the storms,
// those of the scenario or those of one policy.
func (d *drawing) windows(until float64, storms []measure.Window) []window {
	var all []window
	if w := d.settings.Warmup.Seconds(); w > 0 {
		all = append(all, window{0, min(w, until), "warm-up", muted})
	}
	for _, s := range storms {
		if from := s.From.Seconds(); from < until {
			all = append(all, window{max(from, 0), min(s.To.Seconds(), until), clean(s.Name), stormInk})
		}
	}
	return all
}
