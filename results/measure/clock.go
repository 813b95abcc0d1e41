package measure

import (
	"time"

	"qsim/engine"
)

// stretch is the virtual time [from, to): a window of measurements, or a time in which a fresh job was ready and none
// was claimed.
type stretch struct{ from, to engine.Time }

// covers reports whether time t belongs to the stretch.
func (s stretch) covers(t engine.Time) bool { return t >= s.from && t < s.to }

// part returns the length of the part of another stretch that lies in s; 0 or negative: none does.
func (s stretch) part(other stretch) time.Duration {
	return min(s.to, other.to).Sub(max(s.from, other.from))
}

// clock is the time that the views of a run share.
type clock struct {
	now      engine.Time
	alarm    engine.Time // earliest time at which a segment ends or the backlog after a storm must be integrated
	earliest engine.Time // the next boundary of any view
}

// pass counts an event and brings the clock to its time. Most events do no more: a boundary is due once a second or so.
func (c *Collector) pass(at engine.Time) {
	c.events++
	if at >= c.alarm {
		c.onAlarm(at)
	}
	c.now = max(c.now, at)
}

// onAlarm ends the segments of all views with a boundary up to a time, and follows the backlog of all jobs until then.
func (c *Collector) onAlarm(at engine.Time) {
	if at >= c.earliest {
		c.cross(at)
	}
	c.alarm = c.earliest
	v := c.whole
	if s := &v.storms; s.begun {
		if len(s.draining) > 0 && v.ready() <= s.drainLevel {
			v.checkDrains()
		}
		s.integrate(v.ready(), at)
		c.alarm = at + 1 // not for the further events of this instant
	}
}

// cross ends the segments of all views with a boundary up to a time.
func (c *Collector) cross(at engine.Time) {
	c.earliest = engine.Never
	for _, v := range c.views {
		v.cross(at)
		c.earliest = min(c.earliest, v.boundary)
	}
}
