package live

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"qsim/engine"
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

// moreCalls is the most store calls of an engine under way besides its commits: one of each other operation, and some
// whose answers are late.
const moreCalls = 16

// Call returns a record to be filled in with the engine's next store call; for engine.Driver.
func (l *loop) Call() *engine.Call {
	if n := len(l.landed); n > 0 {
		l.calling, l.landed = l.landed[n-1], l.landed[:n-1]
	} else {
		l.calling = &flight{}
	}
	return &l.calling.Call
}

// Send has a goroutine make a store call, in turn; for engine.Driver.
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
	l.line.Push(f)
	l.launch()
}

// launch starts the calls in line for which there is room, and those whose timeout is over, which are answered without
// being made: the engine has repeated them since.
func (l *loop) launch() {
	for l.line.Size() > 0 && (l.flying < l.Engine.Commit.Calls+moreCalls || (*l.line.At(0)).until <= l.at) {
		l.flying++
		f := l.line.Pop()
		select {
		case l.handed <- f:
		default:
			go l.callAll(f)
		}
	}
}

// callAll is the body of a goroutine that makes store calls, from f on, until the loop is closed. It serves many, since
// a new goroutine would begin with a small stack, which the clients of databases make grow at every call.
func (l *loop) callAll(f *flight) {
	for more := true; more; f, more = <-l.handed {
		l.call(f)
	}
}

// call makes a store call and puts the answer into the mailbox: an error if the timeout of the call was over before.
func (l *loop) call(f *flight) {
	f.began = l.now()
	ctx, cancel := context.WithTimeout(l.calls, time.Duration(f.until-f.began))
	f.Execute(ctx, l.Store, ctx.Err())
	cancel()
	f.ended = l.now()
	f.check()
	l.box.answer(f)
}

// check turns an answer of the store into an error if it has more or fewer results than the call asked for.
func (f *flight) check() {
	var want, got int
	switch {
	case f.Err != nil: // which says more
	case f.Op == engine.OpCommit:
		want, got = len(f.Batch.Outcomes), len(f.Results)
	case f.Op == engine.OpExtend: // of a node: it has no keys
		want, got = len(f.Keys), len(f.Extensions)
	}
	if got != want {
		f.Err = fmt.Errorf("%v of %d: the store answered for %d", f.Op, want, got)
	}
}

// land passes the answer of a store call to the engine, after logging and recording it.
func (l *loop) land(f *flight) {
	l.flying--
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
	l.launch()
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
