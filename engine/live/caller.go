package live

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// flight is the record of one call to the store, from the engine's request to its answer, with the times of both.
type flight struct {
	engine.Call
	asked engine.Time // time at which the engine asked for it
	until engine.Time // time from which the call counts as lost
	began engine.Time // time at which the call was made
	ended engine.Time // time of the store's answer
}

// owes reports whether the answer to a call may bring jobs, for which a stopping loop must wait to return them.
func (f *flight) owes() bool {
	return f.Op == engine.OpClaim || f.Op == engine.OpRecover || f.Op == engine.OpPromote
}

// callers is the pool of goroutines that call the store for one loop. Further calls wait in a queue; a call whose
// timeout is over before its turn is not made.
type callers struct {
	mu     sync.Mutex
	line   heap.FIFO[*flight] // calls that no goroutine has taken yet
	parked sync.Cond          // where idle goroutines wait
	idle   int                // goroutines that wait for a call
	hired  int                // goroutines in all
	most   int                // most goroutines
	closed bool
}

// moreCalls is the most store calls of an engine under way besides its commits: one of each other operation, and some
// whose answers are late.
const moreCalls = 16

func (k *callers) init(commits int) { k.parked.L, k.most = &k.mu, commits+moreCalls }

// Call returns a record to be filled in with the engine's next store call; for engine.Driver.
func (l *loop) Call() *engine.Call {
	if n := len(l.landed); n > 0 {
		l.calling, l.landed = l.landed[n-1], l.landed[:n-1]
	} else {
		l.calling = &flight{}
	}
	return &l.calling.Call
}

// Send passes a store call to a goroutine that makes it, or queues it if all are busy; for engine.Driver.
func (l *loop) Send(c *engine.Call) {
	f := l.calling
	timeout := l.Engine.CallTimeout
	if c.Op == engine.OpCommit {
		timeout = l.Engine.Commit.Timeout
	}
	f.asked, f.until = l.at, l.at.Add(timeout)
	if f.owes() {
		l.owed++
	}
	k := &l.callers
	k.mu.Lock()
	k.line.Push(f)
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

// expire answers the queued calls whose timeout was over before they were made: the engine has repeated them since. Its
// caller holds the lock, and has just queued a call whose timeout is not over.
func (l *loop) expire() {
	for k := &l.callers; (*k.line.At(0)).until <= l.at; {
		f := k.line.Pop()
		l.perform(f)
		l.box.answer(f)
	}
}

// call is the body of a goroutine that makes queued store calls, one after the other, until the loop is closed.
func (l *loop) call() {
	k := &l.callers
	k.mu.Lock()
	for {
		for k.line.Size() == 0 {
			if k.closed {
				k.hired--
				k.mu.Unlock()
				l.box.answer(nil)
				return
			}
			k.idle++
			k.parked.Wait()
		}
		f := k.line.Pop()
		k.mu.Unlock()
		l.perform(f)
		l.box.answer(f)
		k.mu.Lock()
	}
}

// perform makes a store call, unless its timeout is over: the answer is then an error.
func (l *loop) perform(f *flight) {
	f.began = l.now()
	ctx, cancel := context.WithTimeout(l.calls, time.Duration(f.until-f.began))
	f.Execute(ctx, l.Store, ctx.Err())
	cancel()
	f.ended = l.now()
	f.check()
}

// check turns an answer of the store into an error if it has more or fewer results than the call asked for.
func (f *flight) check() {
	var want, got int
	switch {
	case f.Err != nil: // which says more
	case f.Op == engine.OpCommit:
		want, got = len(f.Batch.Outcomes), len(f.Results)
	case f.Op == engine.OpExtend: // of a node: it has no keys
		want, got = len(f.Keys), len(f.Current)
	}
	if got != want {
		f.Err = fmt.Errorf("%v of %d: the store answered for %d", f.Op, want, got)
	}
}

// land passes the answer of a store call to the engine, after logging and recording it.
func (l *loop) land(f *flight) {
	if f.owes() {
		l.owed--
	}
	if f.Err != nil {
		l.complain(f)
		if f.Op == engine.OpClaim {
			l.deaf = l.at.Add(cmp.Or(l.Engine.Fetch.ErrorPause, l.Engine.Fetch.Poll))
		}
	}
	l.note(f)
	l.engine.Handle(l.at, &f.Call)
	l.landed = append(l.landed, f)
}

// note passes an answered store call to Config.OnCall, if set, and its events to the recorder.
func (l *loop) note(f *flight) {
	if l.OnCall != nil {
		l.OnCall(l.node, &f.Call, &f.Reply, f.asked, f.began, f.ended)
	}
	f.Record(l.at, l.recorder, &l.scratch)
}

// complain logs the error with which the store answered a call, at most once a second for each operation.
func (l *loop) complain(f *flight) {
	op := f.Op
	if l.at < l.quiet[op] {
		return
	}
	l.quiet[op] = l.at.Add(time.Second)
	l.Logger.Warn("live: store: "+f.Err.Error(), "op", op.String(), "node", l.node)
}
