package check

import "qsim/engine"

// Probe is a rule that applies in few runs, so that its checks are counted separately, as coverage.
type Probe uint8

// Heartbeats and the constants below are the probes, rules that apply in few runs, with what each checks.
const (
	Heartbeats  Probe = iota // a process sends heartbeats at the configured interval
	Capacity                 // a claim takes as many jobs as its node has capacity for
	Explained                // a job waits no longer than busy workers explain
	HandBacks                // a process that stops hands back the jobs it has not started
	Unfenced                 // outcomes of jobs without a fence by token
	Releases                 // an engine holds no lease when no work is left
	StartUps                 // a process that starts recovers expired leases
	Commits                  // outcomes are committed in time
	Ranks                    // the most urgent jobs of a class are claimed first
	LateReturns              // jobs of late answers are handed back
	Obedience                // a cancelled execution ends
	Orders                   // claims follow an order of the policy's own
	Turns                    // tenants are served in turn
	Wakes                    // a process claims soon after a job has become ready
	HeldBack                 // a process begins no more than a ration or a brake allows
	NumProbes
	noProbe   = NumProbes     // a rule that applies in most runs
	uncounted = NumProbes + 1 // a rule whose checks are not counted: it applies to every such event, or with another rule
)

// String returns a noun phrase for what the probe (a rule that applies in few runs) checks, for reports.
func (p Probe) String() string {
	return [...]string{"heartbeats", "room of claims", "waits that the load explains", "hand-backs",
		"burials and requeues without a fence", "processes that let go", "looks for leases at a start",
		"outcomes that are committed in time", "claims by priority", "late claims that are handed back",
		"executions that are told to stop", "claims by deadline, age or tenant", "turns of tenants",
		"claims soon after a job is ready", "jobs that a ration or a brake holds back"}[p]
}

// Probes returns how many events each Probe was checked on; one that has 0 has not been tested by the run.
func (c *Checker) Probes() [NumProbes]int64 {
	_, probes := c.counted()
	return [NumProbes]int64(probes[:NumProbes])
}

// counted returns how many events each invariant and each probe (a rule that applies in few runs) was checked on.
func (c *Checker) counted() (checks [NumInvariants]int64, probes [uncounted]int64) {
	c.caughtUp()
	checks, probes = c.checks, c.probes
	for k, n := range c.events {
		if c.kinds[k].stored || k == int(engine.Enqueued) {
			checks[NoLoss] += n // see goesOn and followEnqueued
		}
	}
	for k := range c.kinds {
		for r := c.kinds[k].asked; r != nil; r = r.next {
			if r.probe != uncounted {
				checks[r.invariant] += r.applied
				probes[r.probe] += r.applied
			}
		}
	}
	return checks, probes
}

// hold counts one check, both for its invariant and for its probe (a rule that applies in few runs).
func (c *Checker) hold(i Invariant, p Probe) {
	c.checks[i]++
	c.probes[p]++
}
