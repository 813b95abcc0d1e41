package measure

import (
	"qsim/engine"
)

// machines holds the nodes of a run (each a process with workers), the number of workers, and which nodes are down.
type machines struct {
	perNode     int64   // workers of one node
	all         int64   // workers of all nodes
	capacity    int64   // workers of the nodes that are up
	busy        int64   // workers with a job
	down        []bool  // by node, whether it is down
	generations []int64 // by node, how often it died
}

func newMachines(nodes, perNode int) machines {
	all := int64(nodes) * int64(perNode)
	return machines{int64(perNode), all, all, 0, make([]bool, nodes), make([]int64, nodes)}
}

// alive reports whether the process (one life of a node) that held a lease is still running.
func (m *machines) alive(holder engine.EngineID) bool {
	node := int(holder.Node())
	return node < 0 || node >= len(m.generations) || m.generations[node] <= int64(holder.Generation())
}

// turn records that a node goes down or comes up, with its workers.
func (m *machines) turn(node int, down bool) {
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
	if down {
		m.capacity -= m.perNode
	} else {
		m.capacity += m.perNode
	}
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
	c.machines.busy--
	for _, v := range c.views {
		v.changeBusy(v.has(e.JobKind, e.Tenant), -1)
	}
}
