package scenarios

import (
	"time"

	"qsim/engine"
	"qsim/policies"
	"qsim/results"
)

// ClassIndex returns the index in Jobs of the class of that name, which is its
// engine.Kind, or -1.
func (sc *Scenario) ClassIndex(name string) int {
	for i := range sc.Jobs {
		if sc.Jobs[i].Class == name {
			return i
		}
	}
	return -1
}

// PoliciesNamed returns the indexes of the policies that name means: the one with
// that label, or else all of that kind.
func (sc *Scenario) PoliciesNamed(name string) []int {
	var kinds []int
	for i := range sc.Policies {
		if sc.Policies[i].Label == name {
			return []int{i}
		}
		if sc.Policies[i].Kind == name {
			kinds = append(kinds, i)
		}
	}
	return kinds
}

// RetryOf returns what becomes of failed jobs of a class: what all share, with what the
// class says of its own.
func (sc *Scenario) RetryOf(class int) Retry { return sc.retry[class] }

// RetryPolicy returns RetryOf(class) ready for an engine.
func (sc *Scenario) RetryPolicy(class int) (*policies.Backoff, error) {
	return sc.retry[class].retryPolicy(sc.ErrorKind)
}

// TimeoutOf returns the execution timeout of a class; 0 means none.
func (sc *Scenario) TimeoutOf(class int) time.Duration {
	if own := sc.Jobs[class].Timeout; own != nil {
		return own.Std()
	}
	return sc.Engine.Timeout.Std()
}

// ErrorKinds returns the names of error kinds by engine.ErrorKind: the reserved ones,
// then those of the scenario. It is the same for all variants. The caller must not
// change it.
func (sc *Scenario) ErrorKinds() []string { return sc.errorKinds }

// ErrorKind returns the error kind of that name, or NoError if nothing fails so.
func (sc *Scenario) ErrorKind(name string) engine.ErrorKind {
	for kind, n := range sc.errorKinds {
		if n == name && kind > 0 {
			return engine.ErrorKind(kind)
		}
	}
	return engine.NoError
}

// errorNames returns the reserved error kinds and those that sc names, in order of
// appearance.
func (sc *Scenario) errorNames() []string {
	names := append([]string(nil), engine.ReservedErrorKinds[:]...)
	add := func(name string) {
		if !contains(names, name) {
			names = append(names, name)
		}
	}
	add(defaultError)
	for i := range sc.Jobs {
		for _, e := range sc.Jobs[i].Fails.Errors {
			add(e.Kind)
		}
	}
	for i := range sc.Storms {
		if f := sc.Storms[i].Fail; f != nil {
			add(f.Error)
		}
		if o := sc.Storms[i].Outage; o != nil {
			add(o.Error)
		}
	}
	return names
}

// nameErrors numbers the error kinds for sc and all its variants.
func (sc *Scenario) nameErrors() {
	names := sc.errorNames()
	for _, v := range sc.variants {
		if v == nil {
			continue
		}
		for _, name := range v.errorNames() {
			if !contains(names, name) {
				names = append(names, name)
			}
		}
	}
	sc.errorKinds = names
	for _, v := range sc.variants {
		if v != nil {
			v.errorKinds = names
		}
	}
}

// Windows returns the storms in order of their start. That of a crash lasts until the
// processes are back.
func (sc *Scenario) Windows() []results.Window {
	var windows []results.Window
	for i := range sc.Storms {
		s := &sc.Storms[i]
		w := results.Window{Name: s.Name, From: s.At.Std(), To: s.end()}
		k := len(windows)
		for k > 0 && windows[k-1].From > w.From {
			k--
		}
		windows = append(windows[:k], append([]results.Window{w}, windows[k:]...)...)
	}
	return windows
}

// Settings returns what the results package must know of sc.
func (sc *Scenario) Settings() results.Settings {
	s := results.Settings{
		Scenario: sc.Name, Description: sc.Description, ConfigHash: sc.ConfigHash(),
		Duration: sc.Duration.Std(), Drain: sc.Drain.Std(), Warmup: sc.Warmup.Std(), Bucket: bucket(sc.Duration.Std()),
		Nodes: int(sc.Engine.Nodes), Workers: int(sc.Engine.Workers),
		ErrorKinds: sc.errorKinds, Storms: sc.Windows(), Objectives: sc.objectives(), Asked: sc.asked,
		Baseline: sc.PoliciesNamed(sc.Baseline)[0],
		Tenants:  sc.TenantNames(), Patience: sc.patience(), CopyBits: copyBits, Redrives: sc.redrives(),
	}
	for i := range sc.Jobs {
		s.Classes = append(s.Classes, sc.Jobs[i].Class)
	}
	sc.describeLoad(&s)
	for i := range sc.Policies {
		p := &sc.Policies[i]
		seen := sc.Variant(i).Engine
		s.Policies = append(s.Policies, results.PolicyInfo{Kind: p.Kind, Label: p.Label, Entitled: p.Entitled(),
			Nodes: int(seen.Nodes), Workers: int(seen.Workers), Lease: seen.leaseTold()})
	}
	return s
}

// leaseTold is how long a lease lasts from what an event tells of it, 0 if none does: what is acked
// early is held for ever, and a heartbeat of a node prolongs all that it holds without naming it.
func (e *Engine) leaseTold() time.Duration {
	if e.Ack == "early" || e.Lease.Of == "node" && e.Lease.Heartbeat > 0 {
		return 0
	}
	return e.Lease.TTL.Std()
}

// describeLoad sets what s says of the jobs.
func (sc *Scenario) describeLoad(s *results.Settings) {
	var work float64
	s.Idempotent, s.Loads, s.Rate, s.Service = nil, nil, 0, 0
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		s.Idempotent = append(s.Idempotent, job.Idempotent)
		rate := job.Arrivals.MeanRate()
		s.Rate += rate
		mean := job.Service.Dist().Mean()
		work += float64(rate * mean)
		s.Loads = append(s.Loads, results.Load{Rate: rate, Service: time.Duration(min(mean, longest.Seconds()) * float64(time.Second))})
	}
	if s.Rate > 0 {
		s.Service = time.Duration(min(work/s.Rate, longest.Seconds()) * float64(time.Second))
	}
}

// settingsOf returns Settings for what measures policy i, which may override the jobs
// and the windows of storms. The storms stand in the same order as in Settings.
func (sc *Scenario) settingsOf(i int) results.Settings {
	s, seen := sc.Settings(), sc.Variant(i)
	if seen == sc {
		return s
	}
	seen.describeLoad(&s)
	s.Patience, s.Redrives = seen.patience(), seen.redrives()
	for _, w := range seen.Windows() {
		for k := range s.Storms {
			if s.Storms[k].Name == w.Name {
				s.Storms[k] = w
			}
		}
	}
	return s
}

// objectives returns the objectives, one for each policy that they name.
func (sc *Scenario) objectives() []results.Objective {
	var all []results.Objective
	for i := range sc.Objectives {
		o := &sc.Objectives[i]
		r := results.Objective{
			Query:  results.Query{Metric: o.Metric, During: o.During, After: o.After, Class: o.Class, Tenant: o.Tenant},
			Expect: o.Expect == "missed",
		}
		if o.Limit != nil {
			r.Limit = o.Limit.Std()
		}
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

// bucket returns a round step of time that divides a run into 300 to 720 parts.
func bucket(duration time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond} {
		for _, n := range []time.Duration{1, 2, 5, 10, 20, 50, 100, 200, 500} {
			if duration/(n*unit) <= mostBuckets {
				return n * unit
			}
		}
	}
	for _, n := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000} {
		if duration/(n*time.Second) <= mostBuckets {
			return n * time.Second
		}
	}
	return duration / mostBuckets
}

const mostBuckets = 720
