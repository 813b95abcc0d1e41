package live

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"qsim/engine"
)

// flight is a call to the store and its answer. Flights are reused.
type flight struct {
	call     engine.Call
	reply    engine.Reply
	terms    []engine.Term
	outcomes []engine.Outcome
	leases   []engine.LeaseKey
	jobs     []engine.JobID
	until    engine.Time // it counts as lost from then on
	began    engine.Time
	ended    engine.Time
}

// take copies a call, whose slices are the engine's.
func (f *flight) take(c *engine.Call, until engine.Time) {
	f.call, f.until = *c, until
	f.terms = append(f.terms[:0], c.Plan.Terms...)
	f.outcomes = append(f.outcomes[:0], c.Batch.Outcomes...)
	f.leases = append(f.leases[:0], c.Leases...)
	f.jobs = append(f.jobs[:0], c.Jobs...)
	f.call.Plan.Terms, f.call.Batch.Outcomes, f.call.Leases, f.call.Jobs = f.terms, f.outcomes, f.leases, f.jobs
}

// owes reports whether the answer may bring work that must be handed back.
func (f *flight) owes() bool {
	switch f.call.Op {
	case engine.OpClaim, engine.OpRecover, engine.OpPromote:
		return true
	}
	return false
}

// callers are the goroutines that call the store for one loop. Calls beyond their
// number wait in line; one whose time is over before its turn is not made.
type callers struct {
	mu     sync.Mutex
	line   line[*flight]
	parked sync.Cond
	idle   int
	hired  int
	most   int
	closed bool
}

// moreCalls is how many calls to the store an engine may have under way besides its
// commits: one of each other op, and some whose answers are late.
const moreCalls = 16

func (k *callers) init(commits int) { k.parked.L, k.most = &k.mu, commits+moreCalls }

// send has a call made.
func (l *loop) send(c *engine.Call) {
	var f *flight
	if n := len(l.landed); n > 0 {
		f, l.landed = l.landed[n-1], l.landed[:n-1]
	} else {
		f = &flight{}
	}
	timeout := l.Engine.CallTimeout
	if c.Op == engine.OpCommit {
		timeout = l.Engine.Commit.Timeout
	}
	f.take(c, l.at.Add(timeout))
	if f.owes() {
		l.owed++
	}
	k := &l.callers
	k.mu.Lock()
	k.line.push(f)
	switch {
	case k.idle > 0:
		k.idle--
		k.parked.Signal()
	case k.hired < k.most:
		k.hired++
		go l.call()
	default:
		l.expire()
	}
	k.mu.Unlock()
}

// expire answers the calls whose time is over before their turn came: the engine has
// asked again since. It holds the lock.
func (l *loop) expire() {
	for k := &l.callers; !k.line.empty() && k.line.items[k.line.head].until <= l.at; {
		f := k.line.pop()
		l.perform(f)
		l.box.answer(f)
	}
}

// call makes calls until there are to be no more.
func (l *loop) call() {
	k := &l.callers
	k.mu.Lock()
	for {
		for k.line.empty() {
			if k.closed {
				k.hired--
				k.mu.Unlock()
				l.box.answer(nil)
				return
			}
			k.idle++
			k.parked.Wait()
		}
		f := k.line.pop()
		k.mu.Unlock()
		l.perform(f)
		l.box.answer(f)
		k.mu.Lock()
	}
}

// perform makes a call, unless its time is over.
func (l *loop) perform(f *flight) {
	f.began = l.now()
	ctx, cancel := context.WithTimeout(l.calls, time.Duration(f.until-f.began))
	f.call.Execute(ctx, l.Store, &f.reply, ctx.Err())
	cancel()
	f.ended = l.now()
	f.check()
}

// check makes an error of an answer that does not fit its call.
func (f *flight) check() {
	r, want := &f.reply, 0
	var got int
	switch {
	case r.Err != nil:
		return
	case f.call.Op == engine.OpCommit:
		want, got = len(f.outcomes), len(r.Results)
	case f.call.Op == engine.OpExtend && !f.call.Node:
		want, got = len(f.leases), len(r.Current)
	}
	if got != want {
		r.Err = fmt.Errorf("%v of %d: the store answered for %d", f.call.Op, want, got)
	}
}

// land takes the answer to a call.
func (l *loop) land(f *flight) {
	if f.owes() {
		l.owed--
	}
	if l.OnCall != nil {
		l.OnCall(l.node, &f.call, &f.reply, f.began, f.ended)
	}
	if f.reply.Err != nil {
		l.complain(f)
		if f.call.Op == engine.OpClaim {
			l.deaf = l.at.Add(cmp.Or(l.Engine.Fetch.ErrorPause, l.Engine.Fetch.Poll))
		}
	}
	if l.recorder != nil {
		f.call.Record(l.at, &f.reply, l.recorder, &l.scratch)
	}
	l.engine.Handle(l.at, &f.reply)
	l.landed = append(l.landed, f)
}

// complain logs an error of the store, but not the same all the time.
func (l *loop) complain(f *flight) {
	op := f.call.Op
	if l.at < l.quiet[op] {
		return
	}
	l.quiet[op] = l.at.Add(time.Second)
	l.log.Warn("live: store: "+f.reply.Err.Error(), "op", op.String(), "node", l.node)
}
