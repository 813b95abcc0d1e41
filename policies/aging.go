package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 150, Name: "aging", Needs: NeedsPlaces, Cost: CostNothing, State: StateNone,
	Drawn: Drawn{Weight: 1, Params: []string{"every: 1s", "every: 30s"}},
	Doc: "A job gains a step of priority for every time that it has waited: priority less wait ÷ every, rounded " +
		"down; among equals the one that has waited longest, fresh or retry. Nothing waits for ever, and urgency " +
		"still counts: a job n steps behind waits as an urgent one after n times every. A cap takes that promise " +
		"away from jobs that are further behind than it.",
	Params: []Param{
		{Name: "every", Type: TypeDuration, Default: "30s", Positive: true,
			Doc: "waiting time that is worth one step of priority"},
		{Name: "cap", Type: TypeNumber, Default: "0", Doc: "most steps that a job may gain; 0: no bound"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		rule := &engine.Rule{Every: a.Duration("every"), Cap: a.Number("cap")}
		return Ordered{Order: engine.Aging, Rule: rule}, nil
	},
})
