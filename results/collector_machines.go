package results

import "qsim/engine"

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
