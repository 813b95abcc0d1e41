package engine

import (
	"slices"
	"time"

	"qsim/engine/heap"
)

// committer collects the outcomes of attempts in batches, and sends each batch to the store until it is answered. A
// batch whose answer is lost is sent again under the same BatchID, by which the store recognises it.
type committer struct {
	filling *batch            // batch being filled; nil: none
	flushAt Time              // end of its linger; Never: it is over, and the batch is sent as soon as a call is free
	queue   heap.Heap[*batch] // batches that wait for a call, or pause before their tries start over
	flying  []*batch          // batches sent, or pausing before they are sent again
	spare   []*batch          // closed batches, for reuse of their memory
	open    heap.FIFO[bool]   // for each batch from the first unanswered one on, whether it is open
	lastSeq uint64            // sequence number of the last batch in open
	pending int               // number of outcomes not yet committed
	calls   int               // highest number of batches in flying
	guarded int               // number of pending outcomes with a Guard of their own: a reaper's
	// carriers is, with LeaseConfig.Local, the batch with the outcome of each finished or timed out lease, by slot.
	carriers []*batch
	dated    bool // whether retry delays may run from before the commit, or end at multiples of a grain
}

type batch struct {
	seq      uint64
	id       uint64    // ID of the latest call; 0: none is under way
	againAt  Time      // flying: time at which the call counts as lost, or the pause is over; in queue: when to send it
	tries    int       // times that it was sent since its tries began
	out      int       // number of calls that carry its outcomes and may still be executed
	sent     bool      // the store may have received the batch: its outcomes must not change
	outcomes []Outcome // empty in queue: all have expired
	results  []Result  // by outcome, the answer to the latest try that was partly applied; empty: none was
}

// Before reports whether a queued batch b is sent before batch other: by time, then by sequence number.
func (b *batch) Before(other *batch) bool {
	return b.againAt < other.againAt || b.againAt == other.againAt && b.seq < other.seq
}

// errorPause is the default pause before a failed commit is sent again, if CommitConfig.Backoff is empty.
const errorPause = 100 * time.Millisecond

func (c *committer) init(cfg *Config) {
	c.flushAt, c.calls = Never, cfg.Commit.Calls
	c.dated = slices.ContainsFunc(cfg.Kinds, func(k KindConfig) bool { return k.From != 0 || k.Grain > 0 })
}

// deadline returns the time at which a batch that was sent or paused needs attention: its call counts as lost or it is
// sent again; Never: none. It leaves out flushAt, when the batch being filled (the next to be sent) is due.
func (c *committer) deadline() Time {
	d := Never
	for _, b := range c.flying {
		d = min(d, b.againAt)
	}
	if len(c.flying) < c.calls && len(c.queue) > 0 {
		d = min(d, c.queue[0].againAt)
	}
	return d
}

// full reports whether so many outcomes are uncommitted that the engine may not claim (CommitConfig.Backpressure).
func (c *committer) full(e *Engine) bool {
	return e.cfg.Commit.Backpressure > 0 && c.pending >= e.cfg.Commit.Backpressure
}

// add appends the outcome of an attempt that ran under lease l from heldAt on to the batch being filled: if err is a
// failure, the outcome that the retry policy decides. s is the lease's slot in the lease table, noSlot if it has none.
func (c *committer) add(e *Engine, s Slot, l *Lease, err ErrorKind, heldAt Time) {
	if c.filling == nil {
		c.filling = c.newBatch()
		c.flushAt = e.now.Add(e.cfg.Commit.Linger)
	}
	b := c.filling
	b.outcomes = append(b.outcomes, Outcome{})
	o := &b.outcomes[len(b.outcomes)-1]
	o.slot = s
	if e.outcome(o, l, err, heldAt); o.Guard != FenceDefault {
		c.guarded++
	}
	if e.cfg.Lease.Local && s != noSlot {
		c.carriers = append(c.carriers, make([]*batch, max(0, int(s)+1-len(c.carriers)))...)
		c.carriers[s] = b
	}
	c.pending++
	if len(b.outcomes) >= e.cfg.Commit.Batch {
		c.flush(e)
	} else if e.stopping || e.cfg.Commit.Linger == 0 {
		c.lingered(e)
	}
}

// linger closes the batch of outcomes being filled if it has waited for CommitConfig.Linger.
func (c *committer) linger(e *Engine) {
	if e.now >= c.flushAt {
		c.lingered(e)
	}
}

func (c *committer) tick(e *Engine) {
	c.linger(e)
	gaveUp := false
	for i := 0; i < len(c.flying); i++ {
		b := c.flying[i]
		if e.now < b.againAt {
			continue
		}
		if b.id != 0 {
			e.record(Event{Kind: CallTimedOut, Op: OpCommit, Count: int32(len(b.outcomes))}, noSlot, nil)
			if !c.tryAgain(e, b, 0) {
				i, gaveUp = i-1, true
				continue
			}
		}
		if e.now >= b.againAt {
			c.send(e, b)
		}
	}
	c.launch(e)
	if gaveUp {
		e.fetch.onWorkerFree(e) // backpressure may have ended
	}
}

// lingered ends the wait of the batch being filled for more outcomes: it is sent at once or, if as many commit calls as
// allowed are in flight, goes on filling, so that slow commits do not queue up as many small batches.
func (c *committer) lingered(e *Engine) {
	c.flushAt = Never
	if len(c.flying) < c.calls {
		c.flush(e)
	}
}

// flush closes the filling batch of outcomes, and sends it, or queues it until a call is free.
func (c *committer) flush(e *Engine) {
	if b := c.filling; b != nil {
		c.filling, c.flushAt, b.againAt = nil, Never, e.now
		if len(c.flying) < c.calls && len(c.queue) == 0 { // the usual case
			c.flying = append(c.flying, b)
			c.send(e, b)
			return
		}
		c.queue.Push(b)
		c.launch(e)
	}
}

// launch sends queued batches while fewer than CommitConfig.Calls are in flight, then the filling one if it is due.
func (c *committer) launch(e *Engine) {
	for len(c.flying) < c.calls && len(c.queue) > 0 && c.queue[0].againAt <= e.now {
		if b := c.queue.Pop(); len(b.outcomes) == 0 {
			c.recycle(b)
		} else {
			c.flying = append(c.flying, b)
			c.send(e, b)
		}
	}
	if len(c.flying) < c.calls && c.flushAt == Never {
		c.flush(e)
	}
	if len(c.flying) < c.calls && len(c.queue) > 0 {
		e.arm(c.queue[0].againAt)
	}
}

func (c *committer) send(e *Engine, b *batch) {
	call := e.call(OpCommit)
	call.Batch.ID, call.Batch.Settled, call.Batch.Outcomes = BatchID{e.cfg.Engine, b.seq}, c.settled(), b.outcomes
	b.id, b.againAt = call.ID, e.now.Add(e.cfg.Commit.Timeout)
	e.arm(b.againAt)
	if c.dated && !b.sent {
		b.date(&e.cfg, e.now)
	}
	b.tries++
	b.out++
	b.sent = true
	e.driver.Send(call)
}

// date recomputes the retry delays of a batch as it is sent: the time left until each retry is due, where its delay
// runs from an earlier event (KindConfig.From) or its due time is rounded (KindConfig.Grain).
func (b *batch) date(cfg *Config, now Time) {
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if o.due == 0 {
			o.due = now.Add(o.Delay)
		}
		if grain := Time(cfg.kind(o.Kind).Grain); grain > 0 {
			o.due -= o.due % grain
		}
		left := max(0, o.due.Sub(now))
		o.Passed += o.Delay - left
		o.Delay = left
	}
}

// settled returns the highest sequence number up to which every batch is answered, so that the store may forget them.
// It takes constant time, since tens of thousands of batches may be unanswered.
func (c *committer) settled() uint64 { return c.lastSeq - uint64(c.open.Size()) }

func (c *committer) onCommitted(e *Engine, r *Call) {
	for _, b := range c.flying {
		if b.id != r.ID {
			continue
		}
		b.out--
		if r.Err != nil || slices.ContainsFunc(r.Results, func(r Result) bool { return r.Status == Unapplied }) {
			if r.Err == nil {
				b.results = append(b.results[:0], r.Results...)
			}
			c.tryAgain(e, b, errorPause)
		} else {
			c.land(b)
			for i := range b.outcomes {
				c.settle(e, b.outcomes[i].slot)
			}
			c.close(e, b)
			c.recycle(b)
		}
		c.launch(e)
		e.fetch.onWorkerFree(e) // backpressure may have ended
		return
	}
}

// land removes a batch from flying, the batches that occupy a commit call; the others keep their order.
func (c *committer) land(b *batch) {
	n := 0
	for _, other := range c.flying {
		if other != b {
			c.flying[n] = other
			n++
		}
	}
	c.flying = c.flying[:n]
}

// settle releases the lease in slot s (of the lease table), whose outcome is committed or dropped; if its handler has
// timed out and still runs, once that returns.
func (c *committer) settle(e *Engine, s Slot) {
	if s == noSlot {
		return
	}
	if h := &e.leases.slots[s]; h.phase == timedOut {
		h.settled = true
		e.leases.beats.leave(s)
		return
	}
	e.leases.release(s)
}

// tryAgain schedules the next try of a batch after its call failed, at the earliest after pause. It returns false if
// there are no more tries: the batch is then paused or given up (CommitConfig.Drop).
func (c *committer) tryAgain(e *Engine, b *batch, pause time.Duration) bool {
	if backoff := e.cfg.Commit.Backoff; len(backoff) > 0 {
		pause = backoff[min(b.tries, len(backoff))-1]
	}
	b.id, b.againAt = 0, e.now.Add(pause)
	e.arm(b.againAt)
	if e.cfg.Commit.Tries == 0 || b.tries < e.cfg.Commit.Tries {
		return true
	}
	c.land(b)
	if !e.cfg.Commit.Drop {
		b.tries = 0
		c.queue.Push(b)
		return false
	}
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if len(b.results) == 0 || b.results[i].Status == Unapplied {
			e.record(Event{Kind: GaveUp, Job: o.Job, Token: o.Token, JobKind: o.Kind, Tenant: o.Tenant,
				Delivery: o.Delivery, Error: o.Error}, noSlot, nil)
		}
		c.settle(e, o.slot)
	}
	c.close(e, b)
	c.recycle(b)
	return false
}

// onExpired drops the outcome of the lease in slot s (of the lease table), which has expired by the node's own clock,
// unless its batch has been sent already.
func (c *committer) onExpired(e *Engine, s Slot) {
	h, b := e.leases.get(s), c.carriers[s]
	if b.sent {
		return
	}
	b.outcomes = slices.DeleteFunc(b.outcomes, func(o Outcome) bool { return o.slot == s })
	c.pending--
	e.record(Event{Kind: LeaseLost}, s, h)
	c.settle(e, s)
	if len(b.outcomes) > 0 {
		return
	}
	c.close(e, b)
	if b == c.filling { // else it leaves the queue when its turn comes
		c.filling, c.flushAt = nil, Never
		c.recycle(b)
	}
}

func (c *committer) newBatch() *batch {
	c.lastSeq++
	c.open.Push(true)
	if n := len(c.spare); n > 0 {
		b := c.spare[n-1]
		c.spare = c.spare[:n-1]
		b.seq = c.lastSeq
		return b
	}
	return &batch{seq: c.lastSeq}
}

// close ends a batch of outcomes that is answered, given up, or empty: they are no longer pending.
func (c *committer) close(e *Engine, b *batch) {
	*c.open.At(int(b.seq - c.settled() - 1)) = false
	for c.open.Size() > 0 && !*c.open.At(0) {
		c.open.Pop()
	}
	c.pending -= len(b.outcomes)
	for i := 0; i < len(b.outcomes) && c.guarded > 0; i++ {
		if b.outcomes[i].Guard != FenceDefault {
			c.guarded--
			e.unsettle() // the reaper may have waited for it
		}
	}
}

// recycle keeps the memory of a closed batch for reuse, unless a call may still refer to its outcomes.
func (c *committer) recycle(b *batch) {
	if b.out > 0 {
		return
	}
	b.id, b.tries, b.sent = 0, 0, false
	b.outcomes, b.results = b.outcomes[:0], b.results[:0]
	c.spare = append(c.spare, b)
}
