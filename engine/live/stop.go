package live

// close sends the goroutines of the loop home and waits for those that come.
func (l *loop) close() {
	m, k := &l.box, &l.callers
	m.mu.Lock()
	m.closed, m.starts = true, line[*cell]{} // what no worker has taken is abandoned
	m.mu.Unlock()
	m.parked.Broadcast()
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.parked.Broadcast()
	l.hangUp()
	l.timer.Reset(l.CancelWithin)
	for !l.gone() {
		if l.box.swap(&l.in) {
			continue
		}
		select {
		case <-l.box.bell:
		case <-l.timer.C:
			return
		}
	}
}

// gone reports whether all goroutines have ended but those of handlers that were
// abandoned.
func (l *loop) gone() bool {
	l.callers.mu.Lock()
	calling := l.callers.hired
	l.callers.mu.Unlock()
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	return calling == 0 && l.box.hired == l.box.busy
}

// left is what the loop could not bring to an end.
func (l *loop) left() AbandonedError {
	l.callers.mu.Lock()
	calling := l.callers.hired
	l.callers.mu.Unlock()
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	return AbandonedError{Jobs: l.engine.Held(), Handlers: l.box.busy, Calls: calling}
}
