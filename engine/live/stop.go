package live

import (
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// reportEvery is the interval at which a stop logs the work it waits for, and mostNamed the most jobs named each time.
const (
	reportEvery = time.Second
	mostNamed   = 10
)

// report logs the work that a stop still waits for, if any, and schedules the next report.
func (l *loop) report() {
	l.reportAt = l.at.Add(reportEvery)
	running, oldest := 0, l.at
	var named []uint64
	for _, c := range l.cells {
		if c == nil {
			continue
		}
		if running++; running <= mostNamed {
			named = append(named, uint64(c.job.ID))
		}
		oldest = min(oldest, c.began)
	}
	if held := l.engine.Held(); held > 0 || l.owed > 0 {
		what, until := "cancel", l.cancelAt
		if until == engine.Never {
			what, until = "abandon", l.endAt
		}
		l.Logger.Info("live: stopping: waiting for executions, outcomes to be stored, and answers to claims", "node", l.node,
			"executions", running, "jobs", named, "longest", l.at.Sub(oldest), "outcomes", held-running, "claims", l.owed,
			what+"-in", until.Sub(l.at))
	}
}

// close ends the goroutines of the loop, and waits for those that can end until Config.CancelWithin has passed.
func (l *loop) close() {
	m := &l.box
	m.mu.Lock()
	m.closed, m.starts = true, heap.FIFO[*cell]{} // what no worker has taken is abandoned
	m.mu.Unlock()
	m.parked.Broadcast()
	close(l.handed)
	l.hangUp()
	l.timer.Reset(l.CancelWithin)
	for ended, late := false, false; !ended; {
		workers, busy := l.workers()
		some := m.swap(&l.in)
		l.at = l.now()
		l.flying -= len(l.in.replies)
		ended = late || l.flying == 0 && workers == busy // all but abandoned handlers
		for _, f := range l.in.replies {
			if f.Err == nil || f.Op == engine.OpCommit {
				l.note(f) // what the store did is true, although the engine need not know any more
			}
		}
		if some || ended {
			continue
		}
		select {
		case <-m.bell:
		case <-l.timer.C:
			late = true
		}
	}
}

// workers returns the number of the loop's workers, and of those in a handler.
func (l *loop) workers() (all, busy int) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	return l.box.hired, l.box.busy
}
