package live

import (
	"sync"
	"sync/atomic"

	"qsim/engine"
	"qsim/engine/heap"
)

// mailbox is the queue through which a loop's goroutines get executions to run and return results to the loop.
type mailbox struct {
	mu sync.Mutex

	starts heap.FIFO[*cell] // executions that no worker has taken yet
	parked sync.Cond        // workers without an execution wait here
	idle   int              // number of parked workers
	rising bool             // a worker has been woken and has not taken an execution yet
	hired  int              // number of workers
	busy   int              // number of workers in a handler
	most   int              // highest number of workers
	closed bool

	inbox
	told   atomic.Bool   // copy of inbox.woken, readable without the lock
	asleep bool          // the loop waits for the bell
	bell   chan struct{} // channel with room for one, to wake the loop
}

// inbox holds the inputs to an engine since its loop last looked: ended executions, answers to calls, wakes and a stop.
type inbox struct {
	ended   []ending
	replies []*flight
	woken   bool // there may be new ready jobs
	stopped bool // the loop must stop
}

// ending is the end of an execution, as its worker reports it to the loop.
type ending struct {
	slot engine.Slot
	kind engine.ErrorKind
	ran  engine.Time // run time of the handler
}

func (m *mailbox) init(workers int) {
	m.parked.L, m.most, m.bell = &m.mu, workers, make(chan struct{}, 1)
}

// rouse wakes the loop if it is asleep; its caller holds the lock.
func (m *mailbox) rouse() {
	if !m.asleep {
		return
	}
	m.asleep = false
	select {
	case m.bell <- struct{}{}:
	default: // the bell rings already
	}
}

// wake records in the mailbox that there may be new ready jobs.
func (m *mailbox) wake() {
	if m.told.Load() {
		return // the loop has not handled the last wake yet
	}
	m.put(func(in *inbox) { in.woken = true; m.told.Store(true) })
}

// stop records in the mailbox that the loop must stop its engine.
func (m *mailbox) stop() { m.put(func(in *inbox) { in.stopped = true }) }

// answer puts the record of an answered store call into the mailbox, for the loop.
func (m *mailbox) answer(f *flight) { m.put(func(in *inbox) { in.replies = append(in.replies, f) }) }

func (m *mailbox) put(into func(in *inbox)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	into(&m.inbox)
	m.rouse()
}

// swap exchanges the mailbox's inputs for those of the empty inbox in, and reports whether there are any. If not, the
// loop counts as asleep from then on.
func (m *mailbox) swap(in *inbox) (some bool) {
	m.mu.Lock()
	in.ended, m.ended = m.ended, in.ended[:0]
	in.replies, m.replies = m.replies, in.replies[:0]
	in.woken, m.woken = m.woken, false
	m.told.Store(false)
	in.stopped, m.stopped = m.stopped, false
	some = len(in.ended) > 0 || len(in.replies) > 0 || in.woken || in.stopped
	m.asleep = !some
	m.mu.Unlock()
	return some
}
