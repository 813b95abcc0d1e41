package spec

import "qsim/engine/fault"

// RollingStorm kills one process after the other, by index, as a deployment does: node 0
// at the start of the window, then the next one, and round again until the window ends.
type RollingStorm struct {
	Every        Duration `yaml:"every"`         // time from one process to the next; more than 0s
	RestartAfter Duration `yaml:"restart-after"` // time that each process stays down
}

func (t *RollingStorm) check(c *stormChecker, at keyPath) {
	c.Required(at.key("restart-after")...)
	if !c.Required(at.key("every")...) || !c.Sound("engine", "nodes") || !c.Sound(at[:2]...) {
		return
	}
	c.Positive(t.Every, at.key("every")...)
	kills, nodes := float64(c.storm.For)/float64(t.Every)*c.storm.Windows(), float64(c.engine.Nodes)
	switch {
	case t.Every == 0:
	case kills > mostRestarts:
		c.Errorf(c.Near(at.key("every")...), "one run would kill %.1g processes: at most %d", kills, mostRestarts)
	case float64(t.RestartAfter) >= float64(t.Every)*nodes && c.storm.For > t.RestartAfter:
		c.Warnf(c.Given(at.key("restart-after")), "it is a process's turn again before it is back: %v is not below %d × %v", t.RestartAfter, c.engine.Nodes, t.Every)
	}
}

func (t *RollingStorm) effect(lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Lasts: (lasts + t.RestartAfter).Std(),
		Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std(), Every: t.Every.Std(), Rolls: true}}
}

// mostRestarts is the highest number of process kills of one storm.
const mostRestarts = 1_000_000
