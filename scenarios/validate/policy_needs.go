package validate

import (
	"slices"

	"qsim/policies"
	"qsim/scenarios/spec"
)

// checkNeeds warns, if the scenario has no errors, of policies without effect: they act on a feature, such as tenants,
// that the scenario lacks, and so claim as fifo; not of those that an objective expects to miss.
func (c *validator) checkNeeds() {
	if !c.Clean() {
		return
	}
	kinds := policies.Kinds()
	for i := range c.sc.Policies {
		p := &c.sc.Policies[i]
		at := slices.IndexFunc(kinds, func(k policies.Kind) bool { return k.Name == p.Kind })
		seen := c.policy == i || c.policy == NoPolicy && len(p.With) == 0 // the policy is checked with its overrides
		if need := kinds[max(at, 0)].Needs; at >= 0 && seen && !meets(c.sc, need) && !expectedToFail(c.sc, p) {
			c.Warnf(c.Near("policies", i, "kind"), "%s has nothing to do: %s; it acts as fifo", p.Kind, need.Lacks())
		}
	}
}

// meets reports whether sc has the features, such as tenants, without which a kind of policy acts as fifo.
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
		return severalTenants(sc)
	case policies.NeedsPriorities:
		return slices.ContainsFunc(sc.Jobs, func(j spec.JobClass) bool { return j.Priority != sc.Jobs[0].Priority })
	case policies.NeedsClasses:
		return len(sc.Jobs) > 1
	}
	return true
}

// expectedToFail reports whether an objective names the policy and expects a miss: its author does not rely on it.
func expectedToFail(sc *spec.Scenario, p *spec.Policy) bool {
	return slices.ContainsFunc(sc.Objectives, func(o spec.Objective) bool {
		return o.Expect == "missed" && slices.Contains(o.Policies, p.Label)
	})
}

// severalTenants reports whether jobs belong to at least two tenants. A class whose jobs come from a trace may have any
// number.
func severalTenants(sc *spec.Scenario) bool {
	names := map[string]bool{}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		if job.Tenants.Count > 1 || job.Arrivals.Process == "trace" {
			return true
		}
		for _, name := range job.Tenants.Names {
			names[name] = true
		}
		if len(job.Tenants.Names) == 0 {
			names[job.Class+"/"] = true // no name has a slash
		}
	}
	return len(names) > 1
}

// longRun is the assumed limit of a run time, as a multiple of its mean.
const longRun = 20

// mayRetry reports whether a job may be claimed more than once. Any storm but a burst may make attempts fail or leases
// expire, so that the answer is false only where that is certain.
func mayRetry(sc *spec.Scenario) bool {
	if slices.ContainsFunc(sc.Storms, func(s spec.Storm) bool { return s.Effect().Class == "" }) {
		return true
	}
	for i := range sc.Jobs {
		job := &sc.Jobs[i]
		longest := longRun * job.Service.Average().Std()
		if job.Fails.Rate.Num+job.Poison.Num+job.Kills.Num+job.Silences.Num > 0 || job.Calls != "" || longest >= sc.TimeoutOf(i) ||
			sc.Engine.Lease.Heartbeat == 0 && longest >= sc.Engine.Lease.TTL.Std() {
			return true
		}
	}
	return false
}
