package measure

import (
	"qsim/engine"
	"qsim/results/plain"
)

// machines holds the nodes of a run (each a process with workers), the number of workers, and which nodes are down.
type machines struct {
	perNode     int64   // workers of one node
	all         int64   // workers of all nodes
	free        int64   // workers of the nodes that are up, less the executions; negative if those are more
	idle        int64   // workers without a job: free, or 0
	idleBefore  int64   // the integral of idle is idle times the time, plus this, see idleTime
	down        []bool  // by node, whether it is down
	generations []int64 // by node, how often it died
}

func newMachines(nodes, perNode int) machines {
	all := int64(nodes) * int64(perNode)
	return machines{perNode: int64(perNode), all: all, free: all, idle: all, down: make([]bool, nodes),
		generations: make([]int64, nodes)}
}

// change adds to the number of workers that are free: an execution takes one, and gives it back.
func (m *machines) change(now engine.Time, by int64) {
	m.free += by
	idle := max(m.free, 0)
	m.idleBefore -= (idle - m.idle) * int64(now)
	m.idle = idle
}

// idleTime returns how long workers were idle up to now, in ns, added up over all. It may overflow, but the difference
// between two times may not, see longestSegment.
func (m *machines) idleTime(now engine.Time) int64 { return m.idle*int64(now) + m.idleBefore }

// alive reports whether the process (one life of a node) that held a lease is still running.
func (m *machines) alive(holder engine.EngineID) bool {
	node := int(holder.Node())
	return node < 0 || node >= len(m.generations) || m.generations[node] <= int64(holder.Generation())
}

// turn records that a node goes down or comes up, with its workers.
func (m *machines) turn(now engine.Time, node int, down bool) {
	if node < 0 || node >= len(m.down) {
		return
	}
	if down {
		m.generations[node]++
	}
	if m.down[node] == down {
		return
	}
	m.down[node] = down
	m.change(now, plain.Either(down, -m.perNode, m.perNode))
}

// workerSlot is the place of an execution in a node, which no other has until it ends.
type workerSlot struct {
	node int32
	slot engine.Slot
}

// workersOf returns the workers, 1 or 0, freed by an execution's end: 0 if a timeout had freed its worker.
func (c *Collector) workersOf(in workerSlot) int64 {
	if len(c.freed) == 0 || !c.freed[in] {
		return 1
	}
	delete(c.freed, in)
	return 0
}

// onFreed counts the worker of an execution as free after a timeout, while the handler goes on.
func (c *Collector) onFreed(e *engine.Event) {
	c.freed[workerSlot{e.Node, e.Slot}] = true
	c.machines.change(c.now, 1)
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.change(busyArea, -1)
		}
	}
}
