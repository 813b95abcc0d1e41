package sim

import (
	"context"
	"slices"

	"qsim/engine"
)

// gate is where calls stand that have reached the store and are not served yet: they
// are served in the order in which they came. A call is being served from when it
// takes effect until its answer has arrived.
type gate struct {
	usual    int   // most calls served at once without trouble; 0: no limit
	limits   []int // by troubles that last
	parallel int   // most calls served at once now; 0: no limit
	serving  int
	stalls   int      // troubles that stop the store
	line     []uint32 // messages, from head on
	head     int
}

// shut reports whether a call must wait.
func (g *gate) shut() bool { return g.stalls > 0 || g.parallel > 0 && g.serving >= g.parallel }

func (g *gate) push(ref uint32) {
	if g.head > 64 && g.head*2 > len(g.line) {
		g.line = g.line[:copy(g.line, g.line[g.head:])]
		g.head = 0
	}
	g.line = append(g.line, ref)
}

func (g *gate) pop() uint32 {
	ref := g.line[g.head]
	if g.head++; g.head == len(g.line) {
		g.line, g.head = g.line[:0], 0
	}
	return ref
}

// limit begins a trouble that lets no more than n calls be served at once.
func (g *gate) limit(n int) {
	g.limits = append(g.limits, n)
	g.adjust()
}

// unlimit ends one.
func (g *gate) unlimit(n int) {
	i := slices.Index(g.limits, n)
	g.limits = slices.Delete(g.limits, i, i+1)
	g.adjust()
}

func (g *gate) adjust() {
	g.parallel = g.usual
	for _, n := range g.limits {
		if g.parallel == 0 || n < g.parallel {
			g.parallel = n
		}
	}
}

// reach is a call that comes to the store.
func (s *Sim) reach(ref uint32) {
	if s.gate.shut() {
		s.gate.push(ref)
		return
	}
	s.deliver(ref)
}

// serveNext serves those in line whose turn it is. What one makes due becomes ready before
// the next.
func (s *Sim) serveNext() {
	for s.gate.head < len(s.gate.line) && !s.gate.shut() {
		s.promoteFirst()
		s.deliver(s.gate.pop())
	}
}

// Rows are how many jobs lie in the store when it serves a call.
type Rows struct {
	Ready    int
	Ahead    int // ready ones that a claim goes over, see PassCounter
	Waiting  int
	InFlight int
	Ended    int // done or dead
}

// countRows counts what a call finds, before it takes effect.
func (s *Sim) countRows() {
	st, err := s.store.Stats(context.Background(), 0)
	if err != nil {
		panic("sim: count rows: " + err.Error())
	}
	s.rows = Rows{
		Ready:    st.Ready[engine.Fresh] + st.Ready[engine.Retry],
		Waiting:  st.Waiting[engine.Fresh] + st.Waiting[engine.Retry],
		InFlight: st.InFlight[engine.Fresh] + st.InFlight[engine.Retry],
		Ended:    int(s.total - s.live),
	}
}

// countAhead adds what a claim went over.
func (s *Sim) countAhead() {
	counter, ok := s.store.(PassCounter)
	if !ok {
		panic("sim: the store counts no rows ahead")
	}
	s.rows.Ahead = counter.Passed()
}
