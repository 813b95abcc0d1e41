package policies

import (
	"fmt"
	"time"

	"qsim/engine"
)

var _ = builtIn(Kind{
	rank: 120, Name: "adaptive-lifo", Cost: CostNothing, State: StateNone,
	Drawn: Drawn{Weight: 1, Params: []string{"older-than: 500ms", "older-than: 5s"}},
	Doc: "Newest first while the oldest ready job has waited longer than a bound, else oldest first: under a " +
		"standing backlog it serves those who may still be waiting for an answer.",
	Params: []Param{
		{Name: "older-than", Type: TypeDuration, Default: "5s", Doc: "how long the oldest must have waited"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		return AdaptiveLIFO{OlderThan: a.Duration("older-than")}, nil
	},
})

// AdaptiveLIFO is the policy adaptive-lifo: ready jobs are claimed newest first while the oldest has waited longer than
// OlderThan, else oldest first. It keeps no state: the age comes from the store's statistics, read every StatsEvery.
type AdaptiveLIFO struct {
	classwise
	OlderThan time.Duration
}

// Plan appends one term (part of a claim): newest first if the oldest job waited longer than OlderThan, else oldest.
func (p AdaptiveLIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	term := engine.Term{Class: engine.AnyClass, Limit: v.Idle}
	oldest := max(v.Store.OldestReady[engine.Fresh], v.Store.OldestReady[engine.Retry])
	if v.StatsAge >= 0 && oldest > p.OlderThan {
		term.Order = engine.NewestReady
	}
	return append(dst, term)
}

// StatsEvery returns the interval between reads of the store's statistics: OlderThan ÷ 10, in [10ms, 1s].
func (p AdaptiveLIFO) StatsEvery() time.Duration {
	return max(10*time.Millisecond, min(p.OlderThan/10, time.Second))
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, and plans ask for the newest
// jobs just when, by the latest statistics, the oldest has waited longer than OlderThan (checked by a Law).
func (p AdaptiveLIFO) Guarantees() Promise {
	return Promise{Conserving: true, Law: func() Law { return Law{Plan: p.breach} }}
}

// breach describes how a plan breaks the guarantee of adaptive-lifo: newest first just when the oldest ready job is
// known to have waited longer than OlderThan. It returns "" if the plan keeps it.
func (p AdaptiveLIFO) breach(v *engine.View, terms []engine.Term) string {
	want := engine.OldestReady
	for _, waited := range v.Store.OldestReady {
		if v.StatsAge >= 0 && waited > p.OlderThan {
			want = engine.NewestReady
		}
	}
	for i := range terms {
		if got := terms[i].Order; got != want {
			return fmt.Sprintf("the oldest jobs have waited %v, and a plan asks for the %v", v.Store.OldestReady, got)
		}
	}
	return ""
}
