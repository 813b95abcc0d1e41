package measure

import (
	"qsim/engine"
)

func (c *Collector) onLeaseTaken(e *engine.Event) {
	alive := c.alive(e.Holder)
	enqueued := e.At - engine.Time(e.Age)
	for i := range c.sets {
		s := &c.sets[i]
		if !s.has(enqueued, e.JobKind, e.Tenant) {
			continue
		}
		s.leasesExpired++
		if alive {
			s.leasesFalse++
		}
	}
	if j := c.known.find(e.Job); j != nil {
		j.blame(alive)
		j.taken = e.Token
	}
}

// onExtended takes note that a heartbeat has reached the store.
func (c *Collector) onExtended(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.expires = c.expiry(e.At)
	}
}

// onLeaseLost takes note that a holder has given up its lease, and will tell the store nothing
// of what its handler goes on to do.
func (c *Collector) onLeaseLost(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.lost = true
	}
}

// expiry is when a lease ends that begins now, or is prolonged now.
func (c *Collector) expiry(now engine.Time) engine.Time {
	if c.lease > 0 {
		return now.Add(c.lease)
	}
	return engine.Never
}

// alive reports whether that life of an engine has not ended.
func (c *Collector) alive(holder engine.EngineID) bool {
	node := int(holder.Node())
	return node < 0 || node >= len(c.generations) || c.generations[node] <= int64(holder.Generation())
}

func (c *Collector) onNode(node int, down bool) {
	if node < 0 || node >= len(c.nodesDown) {
		return
	}
	if down {
		c.generations[node]++
	}
	if c.nodesDown[node] == down {
		return
	}
	c.nodesDown[node] = down
	if down {
		c.capacity -= c.perNode
	} else {
		c.capacity += c.perNode
	}
}
