package validate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkPolicies() {
	sc := c.sc
	if len(sc.Policies) == 0 && c.Sound("policies") {
		c.Errorf(c.Place("policies"), "there are no policies").Help = "leave the key out for fifo alone"
		return
	}
	for i := range sc.Policies {
		p, in := &sc.Policies[i], c.In("policies", i)
		bad := checks.BadLabel(p.Label)
		in.Fault(bad != "" && p.Kind != "" && in.Sound(), "label kind", "bad label %s: %s", quantity.Quote(p.Label), bad)
		if in.Has("kind") && in.Sound("kind") {
			c.checkPolicy(in, i, p)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Params)) {
			if !in.Has("kind") && plain.Nearest(p.Params[name].Value, kindNames()) != "" {
				c.AddUnknown(in.In(name).Place(":"), reference.UnknownKey(name, []string{"kind"}))
			}
		}
	}
	if sc.Baseline != "" && len(sc.PoliciesNamed(sc.Baseline)) == 0 && c.Sound("baseline") {
		c.Known("policy", c.Place("baseline"), sc.Baseline, c.policyNames())
	}
}

// kindNames returns the names of all kinds of policies.
func kindNames() []string {
	return plain.Map(policies.Kinds(), func(k policies.Kind) string { return k.Name })
}

// policyNames returns the names by which a baseline or an objective may mean policies: labels and kinds.
func (c *validator) policyNames() []checks.NameAt {
	var names []checks.NameAt
	for i := range c.sc.Policies {
		p, in := &c.sc.Policies[i], c.In("policies", i)
		names = append(names, checks.NameAt{Name: p.Kind, At: in.Node("kind")})
		if p.Kind != p.Label {
			names = append(names, checks.NameAt{Name: p.Label, At: in.Node("label")})
		}
	}
	return names
}

func (c *validator) checkPolicy(in checks.Section, i int, p *spec.Policy) {
	kind, err := policies.Find(p.Kind)
	if err != nil {
		names := kindNames()
		c.Add(in.Place("kind"), reference.UnknownWord("policy", p.Kind, names, "want "+quantity.OrList(names)))
		return
	}
	sound := true
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		at := slices.IndexFunc(kind.Params, func(parameter policies.Param) bool { return parameter.Name == name })
		if at < 0 {
			c.Add(in.In(name).Place(":"), unknownParameter(kind, name))
			sound = false
		} else if err := p.ReadParameter(name, kind.Params[at].Type); err != nil {
			bad := in.In(name).Fault(true, "", "%s: %v", name, err)
			if own := (*quantity.Error)(nil); errors.As(err, &own) {
				bad.Help = own.Help
			}
			sound = false
		}
	}
	if c.seen(i, p) && sound && c.sc.Engine.Workers >= 1 && c.Sound("engine.workers") {
		if _, err := c.sc.PolicyMaker(i); err != nil {
			c.impossiblePolicy(in, p, err)
		}
	}
}

// seen reports whether policy i is checked in this pass: that with its `with:` applied or, if it has none, the first.
func (c *validator) seen(i int, p *spec.Policy) bool {
	return c.policy == i || c.policy == NoPolicy && len(p.With) == 0
}

// impossiblePolicy adds the errors of err, one a line, by which the constructor refused a policy's parameters, each at
// the parameter that it names.
func (c *validator) impossiblePolicy(in checks.Section, p *spec.Policy, err error) {
	for message := range strings.SplitSeq(strings.TrimPrefix(err.Error(), "policy "+p.Kind+": "), "\n") {
		at := in.Place("kind")
		if name, _, found := strings.Cut(message, ":"); found {
			if node := in.In(name).Node(""); node != nil {
				at = node
			}
		}
		c.Errorf(at, "%s", message).Note = fmt.Sprintf("of policy %s with %d workers a node", p.Kind, c.sc.Engine.Workers)
	}
}

func unknownParameter(kind *policies.Kind, name string) *quantity.Error {
	own := plain.Map(kind.Params, func(p policies.Param) string { return p.Name })
	e := reference.UnknownKey(name, append([]string{"kind", "label", "with"}, own...))
	e.Message = fmt.Sprintf("policy %s has no parameter %s", kind.Name, quantity.Quote(name))
	if strings.HasPrefix(e.Help, "known keys") {
		e.Help = "it takes " + cmp.Or(strings.Join(own, ", "), "none")
	}
	return e
}

func (c *validator) checkObjectives() {
	for i := range c.sc.Objectives {
		o, in := &c.sc.Objectives[i], c.In("objectives", i)
		c.sc.CheckQuery(in, o.Query(), o.Limit != nil)
		if info, found := measure.Lookup(o.Metric); found {
			checkBound(in, "below", &info, o.Below)
			checkBound(in, "above", &info, o.Above)
		}
		node := in.Node("policies")
		for k, name := range o.Policies {
			if node != nil && len(node.Content) == len(o.Policies) && len(c.sc.PoliciesNamed(name)) == 0 {
				c.Known("policy", node.Content[k], name, c.policyNames())
			}
		}
		in.Fault(in.Has("below") && in.Has("above"), "above:", "an objective is below or above something, not both").Help =
			"make it two objectives"
		in.Fault(o.Below == nil && o.Above == nil && in.Sound(), "", "the objective has no bound").Help =
			"write below: or above:"
	}
}

// checkBound adds an error if the bound at an objective's key, below or above, has not the metric's unit; nil: none.
func checkBound(in checks.Section, key string, metric *measure.MetricInfo, b *spec.Bound) {
	if b == nil || !in.Sound(key) {
		return
	}
	want, good := "a plain number such as 100", b.Unit == ""
	switch metric.Unit {
	case "s":
		want, good = fmt.Sprintf("a duration: write %ss or %[1]sms", b.Text), b.Unit == "s"
		if b.Unit != "" {
			want = "a duration such as 10s"
		}
	case "1":
		want, good = "a number or a share such as 5%", b.Unit == "" || b.Unit == "%"
	case "1/s":
		want, good = "a rate such as 80/s", b.Unit == "/s"
	}
	in.Fault(!good, key, "%s wants %s", metric.Name, want)
}

// checkNeeds warns of a policy that acts on something the scenario lacks, such as tenants, and so claims jobs as fifo
// does. It does not if the scenario has errors, or if an objective expects the policy to miss; nor of shares that are
// not lent, since the claims of the retries then stay unused.
func (c *validator) checkNeeds() {
	if !c.Clean() {
		return
	}
	for i := range c.sc.Policies {
		p := &c.sc.Policies[i]
		kind, err := policies.Find(p.Kind)
		lend := p.Params["lend"]
		if err == nil && c.seen(i, p) && !meets(c.sc, kind.Needs) && !expectedToFail(c.sc, p) && lend.Value != "false" {
			c.In("policies", i).Warn(true, "kind", "%s has nothing to do: %s; it acts as fifo", p.Kind, kind.Needs.Lacks())
		}
	}
}

// meets reports whether a scenario has what a kind of policy needs, such as tenants, to act otherwise than fifo.
func meets(sc *spec.Scenario, need policies.Need) bool {
	if len(sc.Jobs) == 0 { // no jobs is an error of its own
		return true
	}
	switch need {
	case policies.NeedsRetries:
		return mayRetry(sc)
	case policies.NeedsDependency:
		return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Calls != "" })
	case policies.NeedsTenants:
		traced := func(j spec.JobClass) bool { return j.Arrivals.Process == "trace" } // which may name several
		return sc.Tenants() > 1 || slices.ContainsFunc(sc.Jobs, traced)
	case policies.NeedsPriorities, policies.NeedsPlaces:
		return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Priority != sc.Jobs[0].Priority }) ||
			need == policies.NeedsPlaces && misplaces(sc)
	case policies.NeedsClasses:
		return len(sc.Jobs) > 1
	}
	return true
}

// misplaces reports whether retries or recovered jobs may become ready at another place in line than by their due time,
// so that a policy that orders jobs by their waits differs from fifo.
func misplaces(sc *spec.Scenario) bool {
	return mayRetry(sc) && (sc.Engine.Place.Value() != engine.PlaceDue ||
		sc.Engine.Reaper.Place.Value() != engine.PlaceDefault)
}

// expectedToFail reports whether an objective with expect: missed names the policy: its lack of effect is no surprise.
func expectedToFail(sc *spec.Scenario, p *spec.Policy) bool {
	return slices.ContainsFunc(sc.Objectives, func(o spec.Objective) bool {
		return o.Expect == "missed" && slices.Contains(o.Policies, p.Label)
	})
}

// longRun times the mean, or the quantile at mostRun if longer, stands for a job's longest run time in mayRetry.
const (
	longRun = 20
	mostRun = 1 - 1e-9
)

// endsAtOnce reports whether a job's first attempt that fails, or whose lease expires, is its last, in every class.
func endsAtOnce(sc *spec.Scenario) bool {
	once := !sc.Engine.Reaper.Counts.Value()
	for i := range sc.Jobs {
		retry := sc.RetryOf(i)
		once = once && retry.MaxAttempts == 1 && len(retry.Free) == 0
	}
	return once
}

// mayRetry reports whether some job may be claimed twice: false only if no attempt can fail and no lease can expire, or
// if the job then ends.
func mayRetry(sc *spec.Scenario) bool {
	once := endsAtOnce(sc)
	if slices.ContainsFunc(sc.Storms, func(s spec.Storm) bool {
		x := s.Effect()
		failsOnly := x.Control == nil && x.Fault == nil && x.Store == 0
		return x.Class == "" && !(once && failsOnly)
	}) {
		return true
	}
	l := &sc.Engine.Lease
	lapses := l.Lasts() // time after which leases end under jobs that run on; 0: never
	if l.Heartbeat > 0 && l.Heartbeat < l.TTL {
		lapses = plain.Either(l.OfNode(), 0, l.Max)
	}
	if answersLate(&sc.Engine) {
		return true
	}
	if once {
		return false
	}
	held := 1 + float64(sc.Engine.Fetch.Prefetch) // runs in the time of a lease: those of jobs prefetched before it too
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		longest := max(longRun*job.Service.Average().Std().Seconds(), job.Service.Dist().Sample(mostRun))
		reach := func(end spec.Duration, runs float64) bool { return end > 0 && runs*longest >= end.Std().Seconds() }
		fails := job.Fails.Rate.Num+job.Poison.Num+job.Kills.Num+job.Silences.Num > 0 || job.Calls != ""
		if fails || reach(lapses, held) || reach(spec.Duration(sc.TimeoutOf(i)), 1) {
			return true
		}
	}
	return false
}

// answersLate reports whether the answer to a claim may come after its timeout, so that its jobs are handed back:
// always where calls wait for each other, or for rows.
func answersLate(e *spec.Engine) bool {
	s, jobs := &e.Store, min(e.Fetch.Batch, e.Workers+e.Fetch.Prefetch)
	longest := 2*s.Claim.Dist().Sample(mostRun) + float64(jobs)*s.PerJob.Dist().Sample(mostRun)
	return s.Parallel > 0 || s.Scan.Claim != (spec.RowCosts{}) || longest >= e.CallTimeout.Std().Seconds()
}
