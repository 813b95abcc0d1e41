package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 170, Name: "tenant-round-robin", Needs: NeedsTenants, Cost: CostJobs, State: StateStore, Drawn: Drawn{Weight: 1},
	Doc: "One job of each tenant in turn: equal numbers of claims, within one, for all tenants who have jobs " +
		"ready, over all nodes. Who joins waits for one job of each other, however large their backlogs are. Of " +
		"one tenant the most urgent job goes first, fresh or retry; no tenant gains by urgency, nor by dear jobs " +
		"losing.",
	New: always(Ordered{Order: engine.TenantRoundRobin}),
})
