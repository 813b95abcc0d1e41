package sim

import (
	"context"
	"slices"

	"qsim/engine"
)

// admission is where calls stand that have reached the store and are not served yet: they
// are served in the order in which they came. A call is being served from when it
// takes effect until its answer has arrived.
type admission struct {
	usual    int   // most calls served at once without trouble; 0: no limit
	limits   []int // by troubles that last
	parallel int   // most calls served at once now; 0: no limit
	serving  int
	stalls   int      // troubles that stop the store
	line     []uint32 // messages, from head on
	head     int
}

// shut reports whether a call must wait.
func (a *admission) shut() bool { return a.stalls > 0 || a.parallel > 0 && a.serving >= a.parallel }

func (a *admission) push(ref uint32) {
	if a.head > 64 && a.head*2 > len(a.line) {
		a.line = a.line[:copy(a.line, a.line[a.head:])]
		a.head = 0
	}
	a.line = append(a.line, ref)
}

func (a *admission) pop() uint32 {
	ref := a.line[a.head]
	if a.head++; a.head == len(a.line) {
		a.line, a.head = a.line[:0], 0
	}
	return ref
}

// limit begins a trouble that lets no more than n calls be served at once.
func (a *admission) limit(n int) {
	a.limits = append(a.limits, n)
	a.adjust()
}

// unlimit ends one.
func (a *admission) unlimit(n int) {
	i := slices.Index(a.limits, n)
	a.limits = slices.Delete(a.limits, i, i+1)
	a.adjust()
}

func (a *admission) adjust() {
	a.parallel = a.usual
	for _, n := range a.limits {
		if a.parallel == 0 || n < a.parallel {
			a.parallel = n
		}
	}
}

// arrive is a call that comes to the store.
func (s *Sim) arrive(ref uint32) {
	if s.admission.shut() {
		s.admission.push(ref)
		return
	}
	s.execute(ref)
}

// serveNext serves those in line whose turn it is. What one makes due becomes ready before
// the next.
func (s *Sim) serveNext() {
	for s.admission.head < len(s.admission.line) && !s.admission.shut() {
		s.promoteFirst()
		s.execute(s.admission.pop())
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
