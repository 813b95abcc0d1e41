package world

import (
	"cmp"
	"math"
	"slices"
	"time"

	"qsim/engine/fault"
	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
	"qsim/scenarios/spec"
)

// Windows returns the windows of the storms that begin at a known time, in order of their start. The window of a crash
// lasts until the processes are up again.
func Windows(sc *scenarios.Scenario) []measure.Window {
	var windows []measure.Window
	for i := range sc.Storms {
		if s := &sc.Storms[i]; s.On == "" {
			windows = append(windows, measure.Window{Name: s.Name, From: s.At.Std(), To: s.End()})
		}
	}
	slices.SortStableFunc(windows, func(a, b measure.Window) int { return cmp.Compare(a.From, b.From) })
	return windows
}

// Settings describes a scenario (classes, storms, policies, objectives) for the packages that measure and report.
func Settings(sc *scenarios.Scenario) measure.Settings {
	s := measure.Settings{
		Scenario: sc.Name, Description: sc.Description, ConfigHash: sc.ConfigHash(),
		Duration: sc.Duration.Std(), Drain: sc.Drain.Std(), Warmup: sc.Warmup.Std(),
		Bucket: bucket(max(sc.Duration.Std(), sc.Drain.Std()/100)), Nodes: int(sc.Engine.Nodes),
		Workers: int(sc.Engine.Workers), Storms: Windows(sc), Objectives: objectivesOf(sc), Asked: sc.Asked(),
		Baseline: sc.PoliciesNamed(sc.Baseline)[0],
		Tenants:  sc.TenantNames(), CopyBits: spec.CopyBits,
	}
	for i := range sc.Jobs {
		s.Classes = append(s.Classes, sc.Jobs[i].Class)
		s.StarvedAfter = append(s.StarvedAfter, sc.Jobs[i].StarvesAfter())
	}
	describeJobs(sc, &s)
	for i := range sc.Policies {
		p := &sc.Policies[i]
		seen := sc.Variant(i).Engine
		info := measure.PolicyInfo{Kind: p.Kind, Label: p.Label, Entitled: p.Entitled(),
			Nodes: int(seen.Nodes), Workers: int(seen.Workers), Lease: leaseTold(&seen)}
		if own := stormsOf(s.Storms, sc, i); !slices.Equal(own, s.Storms) {
			info.Storms = own
		}
		var own measure.Settings
		if describeJobs(sc.Variant(i), &own); own.Rate != s.Rate || own.Service != s.Service {
			info.Rate, info.Service = own.Rate, max(own.Service, 1) // not both 0, where no job comes by itself
		}
		s.Policies = append(s.Policies, info)
		for k := range sc.Storms {
			if with, without := estimate.FreshLoad(sc.Variant(i), k); with > surely && without <= surely {
				s.Overloads = append(s.Overloads, measure.Overload{Policy: i, Storm: sc.Storms[k].Name, Load: with})
			}
		}
	}
	return s
}

// surely is the least estimated load of workers that counts as above 1: estimate.FreshLoad is off by up to 0.1 %.
const surely = 1.005

// stormsOf returns the windows of storms under policy i, which may override those of the scenario, in the same order.
func stormsOf(windows []measure.Window, sc *scenarios.Scenario, i int) []measure.Window {
	own := slices.Clone(windows)
	for _, w := range Windows(sc.Variant(i)) {
		for k := range own {
			if own[k].Name == w.Name {
				own[k] = w
			}
		}
	}
	return own
}

// leaseTold returns the lease TTL for measurements that follow each lease by its claim and heartbeats; 0 where they
// cannot: a job acked early is held without end, and one heartbeat may extend all leases of a node.
func leaseTold(e *scenarios.Engine) time.Duration {
	if e.Ack.Value() || e.Lease.OfNode() {
		return 0
	}
	return e.Lease.Lasts().Std()
}

// describeJobs fills in the settings about jobs: duplicate guards, errors that bury, loads, patience and redrives.
func describeJobs(sc *scenarios.Scenario, s *measure.Settings) {
	var work float64
	s.Guards, s.Burials, s.Loads, s.Rate, s.Service = nil, nil, nil, 0, 0
	s.Patience, s.Redrives, s.Held = patienceOf(sc), sc.Does(fault.Redrive), sc.Engine.Waiting.Value()
	s.Promoted = sc.Engine.Promoter.On() && !s.Held
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		s.Guards = append(s.Guards, job.Guard.Value())
		s.Burials = append(s.Burials, spec.KindsOf(sc.RetryOf(i).Never, sc.ErrorKind))
		rate := job.Arrivals.MeanRate()
		s.Rate += rate
		mean := estimate.Service(sc, i)
		if rate > 0 { // 0 × ∞ is no number
			work += float64(rate * mean)
		}
		s.Loads = append(s.Loads, measure.Load{Rate: rate, Service: ofSeconds(mean)})
	}
	if s.Rate > 0 {
		s.Service = ofSeconds(work / s.Rate)
	}
}

// ofSeconds returns a number of seconds as a duration: quantity.Longest if it is infinite, and else less.
func ofSeconds(n float64) time.Duration {
	if math.IsInf(n, 1) {
		return quantity.Longest
	}
	return min(time.Duration(min(n, quantity.Longest.Seconds())*float64(time.Second)), quantity.Longest-1)
}

// settingsOf returns a copy of the settings s for policy i, which may override the jobs and the windows of storms of
// the scenario. The storms keep their order.
func settingsOf(s measure.Settings, sc *scenarios.Scenario, i int) measure.Settings {
	if seen := sc.Variant(i); seen != sc {
		describeJobs(seen, &s)
		s.Storms = s.StormsOf(i)
	}
	return s
}

// objectivesOf returns the objectives for measurement; one that names several policies becomes one for each.
func objectivesOf(sc *scenarios.Scenario) []measure.Objective {
	var all []measure.Objective
	for i := range sc.Objectives {
		o := &sc.Objectives[i]
		r := measure.Objective{Query: o.Query(), Expect: o.Expect.Value(), Line: o.Line()}
		bound, word := o.Below, "below "
		if o.Above != nil {
			bound, word, r.Above = o.Above, "above ", true
		}
		r.Bound, r.Text = bound.Value, word+bound.Text
		names := o.Policies
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			r.Policy = name
			all = append(all, r)
		}
	}
	return all
}

// bucket returns a round width of the time buckets of time series, which divides the duration of a run, or a
// hundredth of its drain if that is longer, into 300 to 720 parts: a simulation holds at most 73,000 buckets.
func bucket(duration time.Duration) time.Duration {
	thousandths, sixtieths := []time.Duration{1, 2, 5, 10, 20, 50, 100, 200, 500}, []time.Duration{1, 2, 5, 10, 15, 30}
	for _, width := range []struct {
		unit    time.Duration
		numbers []time.Duration
	}{
		{time.Nanosecond, thousandths}, {time.Microsecond, thousandths}, {time.Millisecond, thousandths},
		{time.Second, sixtieths}, {time.Minute, sixtieths},
		{time.Hour, []time.Duration{1, 2, 4, 6, 12}}, {24 * time.Hour, []time.Duration{1, 2, 5, 10}},
	} {
		for _, n := range width.numbers {
			if duration/(n*width.unit) <= mostBuckets {
				return n * width.unit
			}
		}
	}
	return duration / mostBuckets
}

const mostBuckets = 720
