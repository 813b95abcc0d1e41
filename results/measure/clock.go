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
	earliest engine.Time // the next boundary of any view
}

// pass counts an event and advances the clock to its time, first ending the intervals of measurement due by then.
func (c *Collector) pass(at engine.Time) {
	c.events++
	if at >= c.earliest {
		c.cross(at)
	}
	c.now = max(c.now, at)
}

// cross ends the intervals of measurement that are due by a time, for all jobs and for each class or tenant measured.
func (c *Collector) cross(at engine.Time) {
	c.earliest = engine.Never
	for _, v := range c.views {
		v.cross(at)
		c.earliest = min(c.earliest, v.boundary)
	}
}
