package policies

import (
	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 190, Name: "tenant-fair", Needs: NeedsTenants, Cost: CostTime, State: StateStore,
	Drawn: Drawn{Weight: 1, Params: []string{"at-least: 1", "at-least: 3", "at-least: 30"}},
	Doc: "Quiet tenants first, oldest job first; then the noisy tenant with the fewest jobs in flight. Noisy is " +
		"who has more than a share of all jobs in flight, and at least so many, or has used more than a tenth of " +
		"the processing time of the last minutes; who has no job ready or has enqueued nothing for five minutes " +
		"is quiet again (SQS fair queues). Quiet tenants wait as if the noisy ones were not there, but for what " +
		"is running; nothing is reserved, so no worker idles.",
	Params: []Param{
		{Name: "share", Type: TypeShare, Default: "10%",
			Doc: "share of the jobs in flight above which a tenant is noisy"},
		{Name: "at-least", Type: TypeNumber, Default: "30",
			Doc: "jobs in flight below which that does not make it noisy", Amount: true},
	},
	New: func(a Arguments) (engine.Policy, error) {
		num, den := a.Value("share").(quantity.Share).Fraction()
		rule := &engine.Rule{ShareNum: num, ShareDen: den, AtLeast: int(a.Number("at-least"))}
		return Ordered{Order: engine.TenantFair, Rule: rule}, nil
	},
})
