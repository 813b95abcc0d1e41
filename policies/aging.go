package policies

import (
	"errors"
	"time"

	"qsim/engine"
)

var agingKind = Kind{
	Name: "aging", Needs: NeedsPriorities, Cost: CostNothing, State: StateNone,
	Drawn: Drawn{Weight: 1, Param: "every", Values: []string{"1s", "30s"}},
	Doc: "A job gains a step of priority for every time that it has waited: priority less wait ÷ every, rounded " +
		"down; among equals the one that has waited longest, fresh or retry. Nothing waits for ever, and urgency " +
		"still counts: a job n steps behind waits as an urgent one after n times every. A cap takes that promise " +
		"away from jobs that are further behind than it.",
	Params: []Param{
		{Name: "every", Type: TypeDuration, Default: "30s", Doc: "waiting time that is worth one step of priority"},
		{Name: "cap", Type: TypeNumber, Default: "0", Doc: "most steps that a job may gain; 0: no bound"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		every := a.Duration("every")
		if every == 0 {
			return nil, errors.New("every: 0s is not positive")
		}
		return Aging(every, a.Number("cap")), nil
	},
}

// Aging returns the policy aging: a job's priority rises by one step for each period every (above 0) of waiting, at
// most limit steps (0: no bound).
func Aging(every time.Duration, limit int64) Ordered {
	return Ordered{Order: engine.Aging, Rule: &engine.Rule{Every: every, Cap: limit}}
}
