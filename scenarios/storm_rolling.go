package scenarios

import "qsim/engine/fault"

// RollingStorm kills one process after the other, by index, as a deployment does: node 0
// at the start of the window, then the next one, and round again until the window ends.
type RollingStorm struct {
	Every        Duration `yaml:"every"`         // time from one process to the next; more than 0s
	RestartAfter Duration `yaml:"restart-after"` // time that each process stays down
}

func (t *RollingStorm) check(c *checker, s *Storm, at keyPath) {
	c.required(at.key("restart-after")...)
	if !c.required(at.key("every")...) || !c.sound("engine", "nodes") || !c.sound(at[:2]...) {
		return
	}
	c.positive(t.Every, at.key("every")...)
	times := 1.0
	if s.Repeat != nil {
		times = float64(s.Repeat.Times)
	}
	every := c.near(at.key("every")...)
	switch nodes := float64(c.sc.Engine.Nodes); {
	case t.Every == 0:
	case float64(s.For)/float64(t.Every)*times > mostRestarts:
		c.errorf(every, "one run would kill %.1g processes: at most %d", float64(s.For)/float64(t.Every)*times, mostRestarts)
	case float64(t.RestartAfter) >= float64(t.Every)*nodes && s.For > t.RestartAfter:
		c.warnf(c.given(at.key("restart-after")), "it is a process's turn again before it is back: %v is not below %d × %v", t.RestartAfter, c.sc.Engine.Nodes, t.Every)
	}
}

func (t *RollingStorm) effect(s *Storm) Effect {
	return Effect{Simulated: ofProcess, Lasts: (s.For + t.RestartAfter).Std(),
		Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std(), Every: t.Every.Std(), Rolls: true}}
}

// mostRestarts is the highest number of process kills of one storm.
const mostRestarts = 1_000_000
