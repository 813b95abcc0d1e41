package spec

import "qsim/engine/fault"

// CrashStorm kills processes at its start, whatever its length.
type CrashStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes        Nodes    `yaml:"nodes" rule:"required"`
	RestartAfter Duration `yaml:"restart-after" rule:"required"` // time that the processes stay down
}

func (t *CrashStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Instant: true, Lasts: max(lasts, t.RestartAfter).Std(),
		Nodes: &t.Nodes, Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std()}}
}

// RollingStorm kills one process after the other, by index, as a deployment does: node 0
// at the start of the window, then the next one, and round again until the window ends.
type RollingStorm struct {
	Every        Duration `yaml:"every"`         // time from one process to the next; more than 0s
	RestartAfter Duration `yaml:"restart-after"` // time that each process stays down
}

func (t *RollingStorm) check(c *stormChecker) {
	c.Required("restart-after")
	if !c.Required("every") || !c.whole.Sound("engine", "nodes") || !c.around.Sound() {
		return
	}
	if c.whole.Positive(t.Every, c.To("every")...); t.Every == 0 {
		return
	}
	kills := float64(c.storm.For) / float64(t.Every) * c.storm.Windows()
	c.Fault(kills > mostRestarts, "every", "one run would kill %.1g processes: at most %d", kills, mostRestarts)
	again := float64(t.RestartAfter) >= float64(t.Every)*float64(c.engine.Nodes) && c.storm.For > t.RestartAfter
	c.Warn(again && kills <= mostRestarts, "restart-after",
		"it is a process's turn again before it is back: %v is not below %d × %v", t.RestartAfter, c.engine.Nodes, t.Every)
}

func (t *RollingStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Lasts: (lasts + t.RestartAfter).Std(),
		Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std(), Every: t.Every.Std(), Rolls: true}}
}

// mostRestarts is the highest number of process kills of one storm.
const mostRestarts = 1_000_000

// StopStorm tells processes to stop at its start, as a deployment does (SIGTERM): they claim no more, hand back what
// they have not begun and finish what they run. The window does not matter.
type StopStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes Nodes `yaml:"nodes" rule:"required"`
	// time after which the processes end in any case, and others replace them
	Grace Duration `yaml:"grace" rule:"required"`
}

func (t *StopStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Instant: true, Lasts: max(lasts, t.Grace).Std(), Nodes: &t.Nodes,
		Control: &fault.Control{Kind: fault.StopNode, For: t.Grace.Std()}}
}

// PauseStorm freezes processes for the window. Afterwards they go on where they stopped.
type PauseStorm struct {
	// which processes: a count, a share, a list by index from 0, or that one where the event happened
	Nodes Nodes `yaml:"nodes" rule:"required"`
}

func (t *PauseStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Follows: true, Nodes: &t.Nodes,
		Control: &fault.Control{Kind: fault.Pause, For: lasts.Std()}}
}

// ClockStorm makes clocks of nodes wrong: by a skew during the window, or by a jump from its start on. Exactly one of
// them is set. It affects only nodes that check leases by their own clock: see Lease.Check.
type ClockStorm struct {
	Nodes Nodes   `yaml:"nodes" rule:"required"` // whose clocks
	Skew  *Offset `yaml:"skew,omitempty"`        // clock error during the storm, forward or back
	Jump  *Offset `yaml:"jump,omitempty"`        // clock error from the start of the storm on, forward or back
}

func (t *ClockStorm) check(c *stormChecker) {
	if !c.Sound() {
		return
	}
	c.Fault(t.Skew == nil && t.Jump == nil, "", "the clocks are not set off").Help =
		"skew: 30s lasts for the window; jump: -30s stays"
	c.Fault(t.Skew != nil && t.Jump != nil, "jump:", "a clock is off by a skew or a jump, not both").Help =
		"make them two storms with windows of their own"
	unread := c.engine.Lease.Check != "local" && c.whole.Sound("engine", "lease", "check")
	c.Warn((t.Skew == nil) != (t.Jump == nil) && unread, ":",
		"no node notices: leases are checked by the store alone").Help =
		"engine.lease.check: local lets the holder compare its own clock"
}

func (t *ClockStorm) effect(lasts Duration) Effect {
	c := &fault.Control{Kind: fault.ShiftClock, For: lasts.Std()}
	if t.Jump != nil {
		c.For, c.Offset = 0, t.Jump.Std()
	} else if t.Skew != nil {
		c.Offset = t.Skew.Std()
	}
	return Effect{Simulated: ofProcess, Follows: true, Instant: t.Jump != nil, Nodes: &t.Nodes, Control: c}
}
