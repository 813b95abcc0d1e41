package policies

import (
	"time"

	"qsim/engine"
)

// AdaptiveLIFO claims the oldest ready job first while the oldest has waited at most
// OlderThan, and the newest first while it has waited longer: under a standing backlog
// it serves those who may still be waiting for an answer, and what is at the bottom
// waits until the backlog is gone. It promises neither class anything. It is
// work-conserving. It keeps no state but reads the store's statistics, which are as
// old as StatsEvery says and common to all engines.
type AdaptiveLIFO struct {
	stateless
	OlderThan time.Duration
}

// Plan appends one term for everything. Before the first statistics it is oldest first.
func (p AdaptiveLIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	term := engine.Term{Class: engine.AnyClass, Limit: v.Idle}
	oldest := max(v.Store.OldestReady[engine.Fresh], v.Store.OldestReady[engine.Retry])
	if v.StatsAge >= 0 && oldest > p.OlderThan {
		term.Order = engine.NewestReady
	}
	return append(dst, term)
}

// StatsEvery is a tenth of OlderThan, in [10ms, 1s].
func (p AdaptiveLIFO) StatsEvery() time.Duration {
	return max(10*time.Millisecond, min(p.OlderThan/10, time.Second))
}
