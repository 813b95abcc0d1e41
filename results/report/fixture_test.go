package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"qsim/results"
	"qsim/results/measure"
)

// fixture describes a made-up summary. Waits and backlogs rise in the storms and fall after them,
// by a factor that differs between policies.
type fixture struct {
	name     string
	policies int
	labels   []string // labels of the first policies; the others are called "Policy N"
	seeds    int
	duration time.Duration
	bucket   time.Duration
	warmup   time.Duration
	storms   []measure.Window
	limits   []measure.Objective

	factor func(policy int) float64 // factor of the storm's effect under a policy; nil: 300, 100, 33...
	wait   float64                  // p99 wait of fresh jobs without a storm, in s
	never  func(policy int) float64 // share of fresh jobs never claimed
	adjust func(s *measure.Settings, sum *results.Summary)
}

// noise returns a pseudo-random number in (−1, 1) that depends on its arguments only.
func noise(a, b, c int) float64 {
	h := uint64(a+1)*0x9e3779b97f4a7c15 ^ uint64(b+1)*0xbf58476d1ce4e5b9 ^ uint64(c+1)*0x94d049bb133111eb
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return float64(h>>11)/(1<<52) - 1
}

// strength returns the strength of the storms at t s: it rises from 0 to 1 in each, then falls as slowly.
func (f *fixture) strength(t float64) float64 {
	most := 0.0
	for _, s := range f.storms {
		from, to := s.From.Seconds(), s.To.Seconds()
		switch {
		case t >= from && t < to:
			most = math.Max(most, (t-from)/(to-from))
		case t >= to:
			most = math.Max(most, 1-(t-to)/(to-from))
		}
	}
	return most
}

func (f *fixture) policyFactor(policy int) float64 {
	if f.factor != nil {
		return f.factor(policy)
	}
	return 300 / math.Pow(3, float64(policy%6))
}

func (f *fixture) build() (*measure.Settings, *results.Summary) {
	s := &measure.Settings{Scenario: "retry-storm", ConfigHash: "9e41c0d2", Duration: f.duration, Drain: f.duration, Warmup: f.warmup, Bucket: f.bucket,
		Nodes: 1, Workers: 100, Storms: f.storms, Objectives: f.limits}
	sum := &results.Summary{Scenario: s.Scenario, ConfigHash: s.ConfigHash, Duration: f.duration.Seconds(), Settings: s}
	for k := range f.seeds {
		sum.Seeds = append(sum.Seeds, uint64(k+1))
	}
	for i := range f.policies {
		label := fmt.Sprintf("Policy %d", i+1)
		if i < len(f.labels) {
			label = f.labels[i]
		}
		s.Policies = append(s.Policies, measure.PolicyInfo{Kind: "fifo", Label: label})
		sum.Policies = append(sum.Policies, f.policySummary(i, label))
		sum.Data = append(sum.Data, f.policyData(i))
	}
	if f.adjust != nil {
		f.adjust(s, sum)
	}
	return s, sum
}

func (f *fixture) policyData(policy int) results.PolicyData {
	var data results.PolicyData
	buckets := int(f.duration / f.bucket)
	for k := range f.seeds {
		var series measure.Series
		for i := range buckets {
			t := (float64(i) + .5) * f.bucket.Seconds()
			storm := f.strength(t) * f.policyFactor(policy)
			series.FreshWaitP99 = append(series.FreshWaitP99, f.wait*(1+storm*10)*math.Exp(.4*noise(policy, k, i)))
			series.FreshReady = append(series.FreshReady, storm*70)
			series.RetryReady = append(series.RetryReady, f.strength(t)*20000+30*storm)
			series.Waiting = append(series.Waiting, f.strength(t)*9000)
			series.FreshClaims = append(series.FreshClaims, 80/(1+storm/30))
			series.RetryClaims = append(series.RetryClaims, 2+60*f.strength(t)*f.strength(t))
			series.Utilization = append(series.Utilization, .55+.4*f.strength(t)/float64(1+policy))
			series.Starved = append(series.Starved, math.Max(0, math.Min(storm/90-.3+.2*noise(policy, k, i), 1)))
		}
		data.Series = append(data.Series, series)
	}
	data.Pooled = append(data.Pooled, f.histogram(policy, ""))
	for _, s := range f.storms {
		data.Pooled = append(data.Pooled, f.histogram(policy, s.Name))
	}
	return data
}

func (f *fixture) histogram(policy int, during string) measure.NamedHistogram {
	h := measure.NamedHistogram{Query: measure.Query{Metric: "fresh.wait", During: during}}
	const n = 2000
	lost := 0.0
	if f.never != nil {
		lost = f.never(policy)
	}
	for i := range n {
		u := (float64(i) + .5) / n
		wait := -math.Log(1-u) * f.wait / 5
		if u > .7 || during != "" {
			wait *= 1 + f.policyFactor(policy)*u
		}
		if u > 1-lost {
			h.Unresolved.Record(f.duration / 2)
			continue
		}
		h.Ended.Record(time.Duration(wait * float64(time.Second)))
	}
	return h
}

// policySummary returns a policy's summary with the estimates that charts use.
func (f *fixture) policySummary(policy int, label string) results.PolicySummary {
	p := results.PolicySummary{Kind: "fifo", Label: label, Baseline: policy == 0}
	add := func(q measure.Query, unit string, mean, base float64, filtered bool) {
		half := mean * .05
		e := results.Estimate{Query: q, Unit: unit, Mean: mean, Low: mean - half, High: mean + half, Half: half, N: f.seeds}
		if f.seeds < 2 {
			e.Low, e.High = math.NaN(), math.NaN()
		}
		if filtered {
			p.Filtered = append(p.Filtered, e)
		} else {
			p.Metrics = append(p.Metrics, e)
		}
		if policy > 0 {
			shown := f.seeds > 1 && math.Abs(mean-base) > .04*base
			p.Versus = append(p.Versus, results.Contrast{Query: q, Difference: mean - base, Shown: shown})
		}
	}
	wait := func(policy int) float64 { return f.wait * (1 + f.policyFactor(policy)) }
	add(measure.Query{Metric: "fresh.wait.p99"}, "s", wait(policy), wait(0), false)
	add(measure.Query{Metric: "sojourn.p99"}, "s", 2*wait(policy), 2*wait(0), false)
	add(measure.Query{Metric: "duplicates.per10k"}, "executions", 4.4/(1+.1*float64(policy)), 4.4, false)
	add(measure.Query{Metric: "attempts.mean"}, "1", 1.2+.01*float64(policy), 1.2, false)
	for _, s := range f.storms {
		length := (s.To - s.From).Seconds()
		add(measure.Query{Metric: "fresh.wait.p99", During: s.Name}, "s", 3*wait(policy), 3*wait(0), true)
		add(measure.Query{Metric: "recovery.time", After: s.Name}, "s", length*(1+.2*float64(policy)), length, true)
	}
	return p
}

// storm returns the fixture of a run with one storm under four policies, which other fixtures vary.
func storm() fixture {
	return fixture{name: "storm", policies: 4, labels: []string{"Shared FIFO", "Weighted 80/20", "Separate queue", "In-flight cap 20%"}, seeds: 10,
		duration: 30 * time.Minute, bucket: 30 * time.Second, warmup: 2 * time.Minute, wait: .18,
		storms: []measure.Window{{Name: "payments-down", From: 10 * time.Minute, To: 15 * time.Minute}},
		limits: []measure.Objective{{Query: measure.Query{Metric: "fresh.wait.p99", During: "payments-down"}, Bound: 10, Text: "below 10s"}}}
}

func with(name string, change func(f *fixture)) fixture {
	f := storm()
	f.name = name
	change(&f)
	return f
}

// nasty holds policy labels that are hard to draw.
var nasty = []string{strings.Repeat("very long label ", 13), "🔥 emoji 🧯👩‍🚒", `<script>alert("x")</script> & 'y'`, "\x00\x1b[31mcontrol\u202Ereversed\xff", "", "日本語のラベル", "line\nbreak", strings.Repeat("W", 200)}

// fixtures returns a fixture for each kind of data that charts must cope with.
func fixtures() []fixture {
	noStorm := func(f *fixture) { f.storms, f.limits = nil, nil }
	series := func(change func(s *measure.Series)) func(*measure.Settings, *results.Summary) {
		return func(_ *measure.Settings, sum *results.Summary) {
			for i := range sum.Data {
				for k := range sum.Data[i].Series {
					change(&sum.Data[i].Series[k])
				}
			}
		}
	}
	return []fixture{
		storm(),
		with("one policy", func(f *fixture) { f.policies = 1 }),
		with("two policies", func(f *fixture) { f.policies = 2 }),
		with("three policies", func(f *fixture) { f.policies = 3 }),
		with("six policies", func(f *fixture) { f.policies = 6 }),
		with("eight policies", func(f *fixture) { f.policies = 8 }),
		with("nine policies", func(f *fixture) { f.policies = 9 }),
		with("26 policies", func(f *fixture) { f.policies, f.seeds, f.bucket = 26, 3, 2*time.Minute }),
		with("nasty labels", func(f *fixture) {
			f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 8, nasty, nasty[2], nasty[2]
		}),
		with("nasty long", func(f *fixture) {
			f.policies, f.labels, f.storms[0].Name, f.limits[0].During = 2, []string{nasty[7], nasty[0]}, nasty[0], nasty[0]
		}),
		with("no storm", noStorm),
		with("no difference", func(f *fixture) { f.factor = func(int) float64 { return 20 } }),
		with("baseline best", func(f *fixture) { f.factor = func(i int) float64 { return 10 * float64(i+1) } }),
		with("all zero", func(f *fixture) {
			noStorm(f)
			f.wait, f.factor = 0, func(int) float64 { return 0 }
		}),
		with("all censored", func(f *fixture) {
			f.never = func(int) float64 { return 1 }
			f.adjust = func(s *measure.Settings, sum *results.Summary) {
				series(func(s *measure.Series) {
					for i := range s.FreshWaitP99 {
						s.FreshWaitP99[i] = math.NaN()
					}
				})(s, sum)
				nullEverything(sum)
			}
		}),
		with("some censored", func(f *fixture) {
			f.never = func(i int) float64 { return .12 * float64(i%3) }
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				for i := range sum.Policies {
					for k := range sum.Policies[i].Filtered {
						if i%3 > 0 {
							sum.Policies[i].Filtered[k].Bound = ">="
						}
					}
				}
			}
		}),
		with("one seed", func(f *fixture) { f.seeds = 1 }),
		with("three seeds", func(f *fixture) { f.seeds = 3 }),
		with("single bucket", func(f *fixture) { f.bucket = f.duration }),
		with("one second", func(f *fixture) {
			f.duration, f.bucket, f.warmup, f.wait = time.Second, 5*time.Millisecond, 0, .001
			f.storms[0].From, f.storms[0].To = 300*time.Millisecond, 500*time.Millisecond
		}),
		with("thirty days", func(f *fixture) {
			f.duration, f.bucket, f.warmup, f.wait = 30*24*time.Hour, 2*time.Hour, 24*time.Hour, 40
			f.storms[0].From, f.storms[0].To = 10*24*time.Hour, 10*24*time.Hour+10*time.Minute
		}),
		with("many storms", func(f *fixture) {
			f.storms = nil
			for i := range 12 {
				at := time.Duration(4+2*i) * time.Minute
				f.storms = append(f.storms, measure.Window{Name: fmt.Sprintf("dependency-%d-down", i), From: at, To: at + 20*time.Second})
			}
			f.storms[0].To = 25 * time.Minute
			f.limits[0].During = "dependency-3-down"
		}),
		with("two storms", func(f *fixture) {
			f.storms = append(f.storms, measure.Window{Name: "worker-crash", From: 14 * time.Minute, To: 16 * time.Minute})
			f.limits = append(f.limits, measure.Objective{Query: measure.Query{Metric: "fresh.wait.p99"}, Bound: 8, Text: "below 8s"},
				measure.Objective{Query: measure.Query{Metric: "fresh.wait.p99"}, Bound: 120, Text: "below 2m"})
		}),
		with("gaps", func(f *fixture) {
			f.adjust = series(func(s *measure.Series) {
				for i := range s.FreshWaitP99 {
					if i%90 > 60 || i%90 == 30 || i%90 == 32 {
						s.FreshWaitP99[i] = math.NaN()
					}
				}
				s.FreshWaitP99[5], s.FreshReady[7] = math.Inf(1), math.NaN()
			})
		}),
		with("one starves", func(f *fixture) {
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				for k := range sum.Data[1].Series {
					for i := range sum.Data[1].Series[k].FreshWaitP99 {
						sum.Data[1].Series[k].FreshWaitP99[i] = math.NaN()
					}
				}
			}
		}),
		with("no data", func(f *fixture) {
			f.seeds = 0
			f.adjust = func(_ *measure.Settings, sum *results.Summary) {
				nullEverything(sum)
				for i := range sum.Data {
					sum.Data[i] = results.PolicyData{}
				}
			}
		}),
		with("huge", func(f *fixture) { f.wait, f.factor = 1e7, func(i int) float64 { return 1e4 / float64(i+1) } }),
	}
}

func nullEverything(sum *results.Summary) {
	for i := range sum.Policies {
		p := &sum.Policies[i]
		p.Versus = nil
		for _, list := range [][]results.Estimate{p.Metrics, p.Filtered} {
			for k := range list {
				list[k].Mean, list[k].Low, list[k].High, list[k].N = math.NaN(), math.NaN(), math.NaN(), 0
				list[k].Reason = "no fresh job enqueued in the storm was claimed before the run ended"
			}
		}
	}
}
