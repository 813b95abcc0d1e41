package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 20, Name: "lifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that became ready last. Under a backlog new jobs hardly wait, and the oldest wait until it is " +
		"gone.",
	New: always(Ordered{Order: engine.NewestReady}), // worsens the worst waits and improves the common ones
})
