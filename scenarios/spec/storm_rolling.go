package spec

import "qsim/engine/fault"

// RollingStorm kills one process after the other, by index, as a deployment does: node 0
// at the start of the window, then the next one, and round again until the window ends.
type RollingStorm struct {
	Every        Duration `yaml:"every" rule:"positive"`         // time from one process to the next; more than 0s
	RestartAfter Duration `yaml:"restart-after" rule:"required"` // time that each process stays down
}

func (t *RollingStorm) check(c *stormChecker) {
	if t.Every == 0 || !c.Whole().Sound("engine.nodes") || !c.around.Sound() {
		return
	}
	kills := float64(c.storm.For) / float64(t.Every) * c.storm.Windows()
	c.Fault(kills > mostRestarts, "every", "one run would kill %.1g processes: at most %d", kills, mostRestarts)
	again := float64(t.RestartAfter) >= float64(t.Every)*float64(c.sc.Engine.Nodes) && c.storm.For > t.RestartAfter
	c.Warn(again && kills <= mostRestarts, "restart-after",
		"it is a process's turn again before it is back: %v is not below %d × %v", t.RestartAfter, c.sc.Engine.Nodes, t.Every)
}

var _ = builtInStorm(90, "rolling", func(t *RollingStorm, lasts Duration) Effect {
	return Effect{Simulated: ofProcess, Lasts: (lasts + t.RestartAfter).Std(),
		Control: &fault.Control{Kind: fault.Crash, For: t.RestartAfter.Std(), Every: t.Every.Std(), Rolls: true}}
})

// mostRestarts is the highest number of process kills in one run by a storm of the kind rolling.
const mostRestarts = 1_000_000
