package check

// Probe is a rule that applies in few runs, so that its checks are counted separately, as coverage.
type Probe uint8

// Heartbeats and the constants below are the probes: rules that apply in few runs.
const (
	Heartbeats  Probe = iota // a process asks for its leases as often as it should
	Capacity                 // a claim brings what there is room for
	Explained                // a job waits for as long as workers are busy
	HandBacks                // a process that stops hands back what it has not begun
	Unfenced                 // what becomes of a job that has no fence by token
	Releases                 // a process holds nothing when nothing is left
	StartUps                 // a process that starts looks for expired leases
	Commits                  // what came of an execution is committed in time
	Ranks                    // the most urgent jobs of a class are claimed first
	LateReturns              // jobs that came late are handed back
	Obedience                // an execution that is told to stop ends
	Orders                   // claims go by an order of the policy's own
	Turns                    // tenants are served in their turns
	Wakes                    // a process claims soon after a job has become ready
	NumProbes
	noProbe = NumProbes
)

// String returns a phrase for the rule.
func (p Probe) String() string {
	return [...]string{"heartbeats", "room of claims", "waits that the load explains", "hand-backs", "burials and requeues without a fence",
		"processes that let go", "looks for leases at a start", "outcomes that are committed in time", "claims by priority",
		"late claims that are handed back", "executions that are told to stop", "claims by deadline, age or tenant", "turns of tenants", "claims soon after a job is ready"}[p]
}

// Probes returns, for each rule that is a Probe, how many events it was checked on.
func (c *Checker) Probes() [NumProbes]int64 { return [NumProbes]int64(c.probes[:NumProbes]) }

// hold counts one check of an invariant and of a probe.
func (c *Checker) hold(i Invariant, p Probe) {
	c.checks[i]++
	c.probes[p]++
}
