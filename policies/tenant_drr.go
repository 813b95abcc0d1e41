package policies

import (
	"cmp"
	"time"

	"qsim/engine"
)

// The policy tenant-drr is deficit round robin between tenants (Shreedhar and Varghese). A
// quantum near a job's cost takes a store the fewest turns.
var _ = builtIn(Kind{
	rank: 180, Name: "tenant-drr", Needs: NeedsTenants, Cost: CostTime, State: StateStore,
	Drawn: Drawn{Weight: 1, Params: []string{"quantum: mean", "quantum: 200ms", "quantum: 3"}},
	Doc: "Deficit round robin: at its turn a tenant may spend the quantum, and what it cannot use it keeps while " +
		"it has jobs ready. A job costs the mean service time that its class declares, so tenants with jobs " +
		"ready get equal time, within a quantum and the longest job, over all nodes; with a quantum in jobs, " +
		"turns of so many jobs. Of one tenant the most urgent job goes first.",
	Params: []Param{
		{Name: "quantum", Type: TypeQuantum, Default: "mean",
			Doc: "service time that a tenant may spend at each turn, or a number of jobs; mean: the mean cost of " +
				"a job, over the classes"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		q := a.Value("quantum").(Quantum)
		rule := &engine.Rule{Quantum: int64(cmp.Or(q.Time, meanCost(a.Classes)))}
		if q.Jobs > 0 {
			rule = &engine.Rule{Quantum: q.Jobs, PerJob: true}
		}
		return Ordered{Order: engine.TenantDeficit, Rule: rule}, nil
	},
})

// meanCost returns the mean of the job classes' costs (mean run times), each class counted once; at least 1ns.
func meanCost(classes []Class) time.Duration {
	var mean, rest time.Duration // divided one by one, which cannot overflow
	for _, c := range classes {
		mean += c.cost() / time.Duration(len(classes))
		rest += c.cost() % time.Duration(len(classes))
	}
	return max(1, mean+rest/time.Duration(len(classes)))
}
