package sim

import (
	"context"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// admission is the queue of calls at the store, first come first served, while Config.Parallel or faults limit how many
// are served at once. A call is being served from when it takes effect until its answer has arrived.
type admission struct {
	limits  []int               // most calls served at once: the lowest applies; none: no limit
	serving int                 // calls being served
	line    heap.FIFO[*message] // queued calls
}

// shut reports whether a call that arrives at the store has to wait, since no more may be served at once.
func (a *admission) shut() bool { return len(a.limits) > 0 && a.serving >= slices.Min(a.limits) }

// limit lets the store serve at most n calls at once, 0 if it stands still, until that time has passed: a fault.
func (s *Sim) limit(n int, lasts time.Duration) {
	a := &s.admission
	a.limits = append(a.limits, n)
	s.after(lasts, func() {
		i := slices.Index(a.limits, n)
		a.limits = slices.Delete(a.limits, i, i+1)
		s.serveNext()
	})
}

// arrive handles a call that reaches the store: it takes effect now or, if too many are being served, waits.
func (s *Sim) arrive(m *message) {
	if s.admission.shut() {
		s.admission.line.Push(m)
		return
	}
	s.execute(m)
}

// serveNext serves waiting calls while the limit allows. Before each of them, jobs that are due become ready.
func (s *Sim) serveNext() {
	for s.admission.line.Size() > 0 && !s.admission.shut() {
		s.promoteFirst()
		s.execute(s.admission.line.Pop())
	}
}

// Rows holds the numbers of jobs in the store, by state, as it serves a call, whose duration may depend on them.
type Rows struct {
	Ready    int
	Ahead    int // ready jobs that a claim passes over, see Store.Passed
	Waiting  int
	InFlight int
	Ended    int // jobs done or dead
}

// RowCosts holds the time by which each job in the store prolongs a store call, by state; the fields are those of Rows.
type RowCosts struct{ Ready, Ahead, Waiting, InFlight, Ended time.Duration }

// of returns the time in nanoseconds that the jobs in the store, counted by r, add to the duration of a call.
func (c *RowCosts) of(r *Rows) float64 {
	return float64(c.Ready)*float64(r.Ready) + float64(c.Ahead)*float64(r.Ahead) + float64(c.Waiting)*float64(r.Waiting) +
		float64(c.InFlight)*float64(r.InFlight) + float64(c.Ended)*float64(r.Ended)
}

// countRows counts the jobs in the store before a call takes effect.
func (s *Sim) countRows() {
	st, err := s.store.Stats(context.Background(), 0)
	if err != nil {
		panic("sim: count rows: " + err.Error())
	}
	s.rows = Rows{
		Ready:    st.Ready[engine.Fresh] + st.Ready[engine.Retry],
		Waiting:  st.Waiting[engine.Fresh] + st.Waiting[engine.Retry],
		InFlight: st.InFlight[engine.Fresh] + st.InFlight[engine.Retry],
		Ended:    int(s.tally.enqueued - s.witness.live),
	}
}
