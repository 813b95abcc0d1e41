package live

import (
	"errors"
	"runtime/debug"

	"qsim/engine"
)

// begin queues executions for the workers. Only one worker is woken: each that takes an execution and leaves others
// wakes the next, before it runs its own. So handlers that return at once keep few workers awake, and handlers that
// take their time start as fast as workers get up.
func (l *loop) begin(cells []*cell) {
	m := &l.box
	m.mu.Lock()
	for _, c := range cells {
		m.starts.Push(c)
	}
	l.rise()
	m.mu.Unlock()
}

// rise wakes one more worker, or starts one, if executions wait that none has taken. Its caller holds the lock.
func (l *loop) rise() {
	m := &l.box
	switch {
	case m.rising || m.starts.Size() == 0:
	case m.idle > 0:
		m.rising = true
		m.parked.Signal()
	case m.hired < m.most:
		m.rising = true
		m.hired++
		go l.work()
	}
}

// work is the body of a worker goroutine: it runs executions, one after the other, until the mailbox is closed.
func (l *loop) work() {
	m := &l.box
	returned := false
	defer func() {
		if !returned {
			// The handler ended this goroutine: another takes its place when it is needed.
			m.mu.Lock()
			l.leave()
		}
	}()
	at := l.now() // the end of the previous execution, to save reading the clock
	m.mu.Lock()
	m.rising = false
	for {
		waited := m.starts.Size() == 0
		for m.starts.Size() == 0 {
			if m.closed {
				returned = true
				l.leave()
				return
			}
			m.idle++
			m.parked.Wait()
			m.idle--
			m.rising = false
		}
		c := m.starts.Pop()
		m.busy++
		l.rise()
		m.mu.Unlock()
		if waited {
			at = l.now()
		}
		at = l.execute(c, at)
	}
}

// leave ends a worker: it counts it no more and unlocks the mailbox, which its caller has locked.
func (l *loop) leave() {
	m := &l.box
	m.hired--
	l.rise()
	m.rouse()
	m.mu.Unlock()
}

// execute runs one handler, puts its end into the mailbox and returns the time of it. It returns with the mailbox
// locked, or, if the handler called runtime.Goexit, not at all.
func (l *loop) execute(c *cell, began engine.Time) (ended engine.Time) {
	normal := false
	var err error
	defer func() {
		if !normal {
			err = &PanicError{recover(), debug.Stack()}
		}
		ended = l.now()
		kind := l.judge(c, err)
		m := &l.box
		m.mu.Lock()
		m.busy--
		m.ended = append(m.ended, ending{c.slot, kind, ended - began})
		m.rouse()
		if !normal && err.(*PanicError).Value == nil {
			m.mu.Unlock() // the goroutine ends: see work
		}
	}()
	err = l.Handler(c, &c.job)
	normal = true
	return 0 // the deferred function sets it
}

// judge returns the error kind of a handler's result err, ends its context and reports a failure.
func (l *loop) judge(c *cell, err error) engine.ErrorKind {
	cause := c.end()
	if err == nil {
		return engine.NoError
	}
	if cause == ErrTimeout && l.kind(c.job.Kind).WaitOut && errors.As(err, new(*Error)) {
		cause = nil // the timeout has not ended the attempt
	}
	kind := l.kindOf(err, cause)
	if l.OnFailure != nil {
		l.OnFailure(&c.job, kind, err)
		return kind
	}
	if p, ok := err.(*PanicError); ok {
		l.Logger.Error("live: "+p.Error(), "job", uint64(c.job.ID), "kind", uint16(c.job.Kind),
			"delivery", c.job.Delivery, "stack", string(p.Stack))
	}
	return kind
}

func (l *loop) kindOf(err, cause error) engine.ErrorKind {
	if _, ok := err.(*PanicError); ok {
		return engine.Panicked
	}
	switch cause {
	case ErrTimeout:
		return engine.Timeout
	case ErrLeaseLost:
		return engine.LeaseExpired
	}
	var own *Error
	switch {
	case errors.As(err, &own) && own.Kind != engine.NoError:
		return own.Kind
	case own == nil && cause == ErrStopped:
		return engine.Canceled
	case l.OtherError != engine.NoError:
		return l.OtherError
	}
	return engine.FirstErrorKind
}

// causeOf returns the error that a handler's context has as its cause when the engine cancels it with an error kind.
func causeOf(kind engine.ErrorKind) error {
	if kind == engine.Timeout {
		return ErrTimeout
	}
	return ErrLeaseLost
}
