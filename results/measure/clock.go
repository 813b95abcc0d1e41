package measure

import (
	"time"

	"qsim/engine"
)

// stretch is an interval [from, to) of virtual time, such as a window of measurements or a spell of starvation.
type stretch struct{ from, to engine.Time }

// covers reports whether a time lies in an interval of virtual time, whose end is excluded.
func (s stretch) covers(t engine.Time) bool { return t >= s.from && t < s.to }

// part returns the length of the overlap of two intervals of virtual time; 0 or negative if there is none.
func (s stretch) part(other stretch) time.Duration {
	return min(s.to, other.to).Sub(max(s.from, other.from))
}

// clock is the virtual time that the views of a run (measurements of all jobs, of a class or of a tenant) share.
type clock struct {
	now      engine.Time
	alarm    engine.Time // earliest time at which a segment ends or the backlog after a storm must be integrated
	earliest engine.Time // the next boundary of any view
}

// pass counts an event and advances the clock to its time, first ending the intervals of measurement due by then.
func (c *Collector) pass(at engine.Time) {
	c.events++
	if at >= c.alarm {
		c.onAlarm(at)
	}
	c.now = max(c.now, at)
}

// onAlarm ends the intervals of measurement that are due by a time and, once a storm has begun, integrates the backlog
// of all jobs up to that time.
func (c *Collector) onAlarm(at engine.Time) {
	if at >= c.earliest {
		c.cross(at)
	}
	c.alarm = c.earliest
	if v := c.whole; v.storms.begun {
		v.stormGoesOn(at)
		c.alarm = at + 1 // not for the further events of this instant
	}
}

// cross ends the intervals of measurement that are due by a time, for all jobs and for each class or tenant measured.
func (c *Collector) cross(at engine.Time) {
	c.earliest = engine.Never
	for _, v := range c.views {
		v.cross(at)
		c.earliest = min(c.earliest, v.boundary)
	}
}
