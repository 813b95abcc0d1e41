package check

import (
	"time"

	"qsim/engine"
)

// load is what workers have done: a job that waits is explained by what they do meanwhile.
type load struct {
	idle   int     // workers that run nothing, of processes that run and were not told to stop
	idled  float64 // nanoseconds, of all of them, up to at
	at     engine.Time
	begun  int64   // executions
	calm   float64 // idled at Rules.Calm
	before int64   // begun then
}

// spend counts the time up to now.
func (l *load) spend(now engine.Time) {
	l.idled += float64(now-l.at) * float64(l.idle)
	l.at = now
}

// idles counts the idle workers of a node anew after an event.
func (c *Checker) idles(n *node) {
	if !c.d.explained {
		return
	}
	idle := 0
	if n.up && !n.frozen && n.stopped == engine.Never {
		idle = max(0, c.rules.Node.Workers-n.busy)
	}
	if idle != n.idles {
		c.load.spend(c.now)
		c.load.idle += idle - n.idles
		n.idles = idle
	}
}

// explained checks that workers are not idle for longer, while a job is ready, than it takes
// them to find the next one each time.
func (c *Checker) explained(j *job) {
	if !c.d.explained || c.now < c.rules.Calm {
		return
	}
	l := &c.load
	l.spend(c.now)
	idled, begun := l.idled-j.idled, l.begun-j.others
	if j.since < c.rules.Calm {
		idled, begun = l.idled-l.calm, l.begun-l.before
	}
	c.hold(Starvation, Explained)
	all := c.rules.Nodes * c.rules.Node.Workers
	if most := float64(c.rules.Idle)*float64(all) + float64(c.rules.Between)*float64(begun+int64(all)); idled > most {
		c.Complain(Starvation, j.id, "it has waited for %v, in which %d executions began and workers were idle for %v in all", c.now.Sub(max(j.since, c.rules.Calm)), begun, time.Duration(idled))
	}
}
