package chaos

import (
	"errors"
	"fmt"
)

// validatePromise reports why jobs of w might not all end although every trouble does,
// without any fault of the engine: such worlds say nothing.
func (w *World) validatePromise() error {
	var errs []error
	need := func(ok bool, format string, arguments ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, arguments...))
		}
	}
	e := &w.Engine
	need(w.Retry.Attempts > 0 || w.Work.Poison == 0, "work poison=%v: jobs that always fail and are tried for ever never end", w.Work.Poison)
	need(w.Retry.Attempts > 0 || w.Timeout == 0 || w.Timeout > w.Work.P50, "world timeout=%v: jobs that take longer, p50=%v, and are tried for ever never end", w.Timeout, w.Work.P50)
	need(!e.Reaper.Off || e.Lease.TTL >= longest, "reaper off=true: leases end after %v, and nobody recovers them", e.Lease.TTL)
	forEver := e.Reaper.Off || e.Lease.OfNode || e.Lease.AckAtStart || w.has(LoseLeases) && !w.Store.Orphans
	need(!forEver || w.Store.MaxInFlight == 0 && len(w.Store.MaxRunning) == 0 && w.Load.Keys == 0, "store: jobs may be in flight for ever, and limits and keys make others wait for them")
	need(w.Load.Keys == 0 || e.Promoter.Gap == 0, "load keys=%d: a job that its promoter loses keeps others waiting", w.Load.Keys)
	for i := range w.Faults {
		f := &w.Faults[i]
		lasts := f.Kind == Skew && f.For == 0
		need(!lasts || !e.Lease.Local, "fault %d: a clock that stays wrong, and leases that go by it", i+1)
		need(f.On != 0 || lasts || f.Kind == Redrive || f.Kind == Burst || f.last() <= w.Heal, "fault %d: it lasts until %v, and all is healed at %v", i+1, f.last(), w.Heal)
	}
	return errors.Join(errs...)
}
