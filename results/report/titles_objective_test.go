package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"qsim/results"
	"qsim/results/measure"
)

// mixed returns the fixture of a run with a busy and a quiet class, whose first policy favours quiet jobs: these then
// wait least, and all jobs together longest. The estimates of the queries asked for are 2 s and 993 µs.
func mixed(limits []measure.Objective, asked ...measure.Query) fixture {
	return with("mixed", func(f *fixture) {
		f.policies, f.limits = 2, limits
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			s.Classes, s.StarvedAfter = []string{"quiet", "noisy"}, []time.Duration{time.Second, time.Second}
			for i := range sum.Data {
				for k := range sum.Data[i].Series {
					series := &sum.Data[i].Series[k]
					quiet := make([]float64, len(series.FreshWaitP99))
					for b := range quiet {
						quiet[b] = []float64{3, .004}[i]
						series.FreshWaitP99[b] = []float64{300, 900}[i]
					}
					series.Classes = [][]float64{quiet, series.FreshWaitP99}
				}
			}
			for i := range sum.Policies {
				for _, q := range asked {
					e := *sum.Policies[i].Metric("fresh.wait.p99")
					e.Query, e.Mean, e.Half = q, []float64{2, 993e-6}[i], []float64{.1, 51e-3}[i]
					sum.Policies[i].Filtered = append(sum.Policies[i].Filtered, e)
				}
			}
		}
	})
}

// The titles of the charts of waits, of their distribution and of starvation describe the jobs of the objective, in the
// words of the table, and never a mix of classes that hides a difference in the table.
func TestTitlesAreOfTheObjective(t *testing.T) {
	t.Parallel()
	after := measure.Query{Metric: waitMetric, After: "payments-down", Class: "quiet"}
	worst := measure.Query{Metric: waitMetric, During: "payments-down", Class: "quiet", Tenant: measure.WorstTenant}
	usual := measure.Query{Metric: waitMetric, Class: "quiet"}
	below := func(q measure.Query) []measure.Objective {
		return []measure.Objective{{Query: q, Bound: 1, Text: "below 1s"}}
	}
	const numbers = "2.0s with Shared FIFO, 1ms with Weighted 80/20"
	const neutral = "Fresh p99 wait of all classes together is 18.2s to 54.2s by policy"
	for _, tt := range []struct {
		name                     string
		f                        fixture
		waits, spread, starve, l string
	}{
		{"after the storm", mixed(below(after), after), "Fresh p99 wait of quiet after payments-down is " + numbers, neutral,
			"Fresh jobs of quiet starve", "objective: p99 of quiet ≤ 1s after the storm"},
		{"worst tenant", mixed(below(worst), worst), "Fresh p99 wait of the worst tenant of quiet in payments-down is " + numbers, neutral,
			"Fresh jobs of quiet starve", ""},
		{"no objective", mixed(nil, usual), "Fresh p99 wait of quiet is " + numbers, neutral, "Fresh jobs of quiet starve", ""},
		{"another objective", mixed(below(measure.Query{Metric: "dead.count"})), "In the worst 30s fresh p99 wait of quiet is 3s with Shared FIFO, 4ms with Weighted 80/20",
			neutral, "Fresh jobs starve", ""},
		{"all classes", mixed(below(measure.Query{Metric: waitMetric})), "Fresh p99 wait of all classes is 54.2s with Shared FIFO, 18.2s with Weighted 80/20",
			"30% of fresh jobs of all classes wait", "Fresh jobs starve", "objective: p99 ≤ 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tt.f.drawing(t)
			if got := waitChart(d).Title; got != tt.waits {
				t.Errorf("got %q, want %q", got, tt.waits)
			}
			if got := distributionChart(d).Title; !strings.HasPrefix(got, tt.spread) {
				t.Errorf("got %q, want %q", got, tt.spread)
			}
			if got := stormChart(d).Title; !strings.HasPrefix(got, tt.starve+" for") {
				t.Errorf("got %q, want %q", got, tt.starve)
			}
			label := ""
			for _, l := range d.limits() {
				label = d.limitLabel(l)
			}
			if label != tt.l {
				t.Errorf("got a limit %q, want %q", label, tt.l)
			}
		})
	}
}

// If the waits of the objective's jobs were stored, the chart shows their distribution.
func TestDistributionIsOfTheObjective(t *testing.T) {
	t.Parallel()
	usual := measure.Query{Metric: waitMetric, Class: "quiet"}
	after := measure.Query{Metric: waitMetric, Class: "quiet", After: "payments-down"}
	for _, tt := range []struct {
		name   string
		limits []measure.Objective
		query  measure.Query
		want   string
	}{
		{"no objective", nil, usual, "Fresh p99 wait of quiet is 2.0s with Shared FIFO, 1ms with Weighted 80/20"},
		{"after the storm", []measure.Objective{{Query: after, Bound: 10, Text: "below 10s"}}, after,
			"34% of fresh jobs of quiet enqueued after payments-down wait longer than 10s with Shared FIFO, 0% with Weighted 80/20"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := mixed(tt.limits, tt.query)
			build := f.adjust
			f.adjust = func(s *measure.Settings, sum *results.Summary) {
				build(s, sum)
				for i := range sum.Data {
					h := pooled([]int{34, 0}[i], 0, "").Pooled[0]
					h.Query.Class, h.Query.After = tt.query.Class, tt.query.After
					sum.Data[i].Pooled = append(sum.Data[i].Pooled, h)
				}
			}
			if got := distributionChart(f.drawing(t)).Title; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The title of the chart of tenants is about those of the objective, or else names the class with slow tenants.
func TestTenantsTitle(t *testing.T) {
	t.Parallel()
	worst := measure.Query{Metric: waitMetric, Class: "quiet", Tenant: measure.WorstTenant}
	for _, tt := range []struct {
		limits []measure.Objective
		want   string
	}{
		{[]measure.Objective{{Query: worst, Bound: 1, Text: "below 1s"}}, "Fresh p99 wait of the worst tenant of quiet is 2.0s with Shared FIFO, 1ms with Weighted 80/20"},
		{nil, "Fresh p99 wait of the slowest tenant comes to 40s (noisy/0) with Weighted 80/20, to 20s (quiet/19) with Shared FIFO"},
	} {
		s, sum := func() (*measure.Settings, *results.Summary) { f := mixed(tt.limits, worst); return f.build() }()
		s.Tenants = []string{"", "noisy/0"}
		for k := range 20 {
			s.Tenants = append(s.Tenants, fmt.Sprintf("quiet/%d", k))
		}
		for i := range sum.Data {
			for k := range s.Tenants[1:] {
				w := measure.TenantWait{Jobs: 9, P99: float64(k)}
				if i == 1 && k == 0 {
					w.P99 = 40
				}
				sum.Data[i].TenantWaits = append(sum.Data[i].TenantWaits, w)
			}
		}
		d, err := newDrawing(sum, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		if got := tenantsChart(d).Title; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
