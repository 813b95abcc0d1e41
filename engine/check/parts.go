package check

// Part is something that is held for an invariant, and that few runs come to: how often it
// was held is counted by itself.
type Part uint8

// The parts.
const (
	Heartbeats  Part = iota // a process asks for its leases as often as it should
	Rooms                   // a claim brings what there is room for
	Explained               // a job waits for as long as workers are busy
	HandBacks               // a process that stops hands back what it has not begun
	Unfenced                // what becomes of a job that has no fence by token
	Releases                // a process holds nothing when nothing is left
	StartUps                // a process that starts looks for expired leases
	Commits                 // what came of an execution is committed in time
	Ranks                   // the most urgent jobs of a class are claimed first
	LateReturns             // jobs that came late are handed back
	Obedience               // an execution that is told to stop ends
	NumParts
)

// String returns what is held.
func (p Part) String() string {
	return [...]string{"heartbeats", "room of claims", "waits that the load explains", "hand-backs", "burials and requeues without a fence", "processes that let go", "looks for leases at a start", "outcomes that are committed in time", "claims by priority", "late claims that are handed back", "executions that are told to stop"}[p]
}

// Parts are how often each part was held against what happened.
func (c *Checker) Parts() [NumParts]int64 { return c.parts }

// hold counts that a part of an invariant is held against what happened.
func (c *Checker) hold(i Invariant, p Part) {
	c.checks[i]++
	c.parts[p]++
}
