package policies

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// Ordered is a policy that claims all jobs, fresh or retry, in one order, which only some stores support. It is
// work-conserving. It keeps no state: the store keeps the order's state for all engines, so parameters apply to the
// whole fleet.
type Ordered struct {
	classwise
	Order engine.Order
	Rule  *engine.Rule // parameters of the order, shared by all plans; nil: none
}

// Plan appends one term for all ready jobs, in the policy's order.
func (p Ordered) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: p.Order, Rule: p.Rule, Limit: v.Idle})
}

// Guarantees returns the guarantee that no worker idles while a job is ready, and that claims go by the order.
func (p Ordered) Guarantees() Promise {
	return Promise{Conserving: true, Ordered: true, Order: p.Order, Rule: p.Rule}
}

var fifoKind = Kind{
	Name: "fifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither " +
		"class anything: a storm of retries delays fresh jobs until it is worked off.",
	New: always(FIFO{}),
}

// FIFO is the policy fifo: the job that has been ready longest is claimed first. It keeps no state.
type FIFO struct{ classwise }

// Plan appends one term for all ready jobs.
func (FIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Guarantees returns the guarantee of claims in the order of readiness within a priority, and of no idle worker while a
// job is ready.
func (FIFO) Guarantees() Promise {
	return Promise{Ranked: true, Ordered: true, Order: engine.OldestReady, Conserving: true}
}

// stateless provides the Observe method of a policy, or of a Law, that learns nothing from its claims.
type stateless struct{}

func (stateless) Observe(*engine.Observation) {}

// classwise marks a stateless policy whose terms select jobs by their priority class alone, see engine.Policy.
type classwise struct{ stateless }

func (classwise) ByClass() {}

var lifoKind = Kind{
	Name: "lifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that became ready last. Under a backlog new jobs hardly wait, and the oldest wait until it is " +
		"gone.",
	New: always(LIFO{}),
}

// LIFO is the policy lifo, newest first: it worsens the worst waits and improves the common ones. It keeps no state.
type LIFO struct{ classwise }

// Plan appends one term for all ready jobs, newest first.
func (LIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: v.Idle})
}

// Guarantees returns the guarantee of claims newest first within a priority, and of no idle worker while a job is
// ready.
func (LIFO) Guarantees() Promise {
	return Promise{Ranked: true, Ordered: true, Order: engine.NewestReady, Conserving: true}
}

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
		return Ordered{Order: engine.Aging, Rule: &engine.Rule{Every: every, Cap: a.Number("cap")}}, nil
	},
}

// deadlineKind is Jackson's rule, except that running jobs are not preempted.
var deadlineKind = Kind{
	Name: "deadline", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job whose deadline comes first: the time of its enqueuing and the budget of its class; a retry " +
		"keeps its deadline. Of all orders it keeps the latest job least late. Under overload it serves those " +
		"first that are too late already, so that few deadlines are met. Priorities do not matter, and nothing " +
		"is given up.",
	Params: []Param{
		{Name: "budget", Type: TypeBudget, Default: "30s",
			Doc: "time from enqueuing to the deadline, for all or by class: {payments: 5s, mail: 1m}; then every " +
				"class must have one"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		budgets, err := classBudgets(a.Value("budget"), a.Classes)
		return Ordered{Order: engine.Deadline, Rule: &engine.Rule{Budgets: budgets}}, err
	},
}

// classBudgets returns the budget of each class from a parameter: one for all, or a mapping that names all classes.
func classBudgets(value any, classes []Class) ([]time.Duration, error) {
	named, isMapping := value.(ByClass)
	if !isMapping {
		return []time.Duration{value.(quantity.Duration).Std()}, nil
	}
	byKind, given := make([]time.Duration, len(classes)), make([]bool, len(classes))
	problems := named.each("budget", classes, func(i int, value any) {
		byKind[i], given[i] = value.(quantity.Duration).Std(), true
	})
	for i, c := range classes {
		if !given[i] {
			problems = errors.Join(problems, fmt.Errorf("budget: job class %s has none", c.Name))
		}
	}
	return byKind, problems
}

var tenantRoundRobinKind = Kind{
	Name: "tenant-round-robin", Needs: NeedsTenants, Cost: CostJobs, State: StateStore, Drawn: Drawn{Weight: 1},
	Doc: "One job of each tenant in turn: equal numbers of claims, within one, for all tenants who have jobs " +
		"ready, over all nodes. Who joins waits for one job of each other, however large their backlogs are. Of " +
		"one tenant the most urgent job goes first, fresh or retry; no tenant gains by urgency, nor by dear jobs " +
		"losing.",
	New: always(Ordered{Order: engine.TenantRoundRobin}),
}

// tenantDRRKind is the deficit round robin of Shreedhar and Varghese. A quantum near a job's cost takes a store the
// fewest turns.
var tenantDRRKind = Kind{
	Name: "tenant-drr", Needs: NeedsTenants, Cost: CostTime, State: StateStore,
	Drawn: Drawn{Weight: 1, Param: "quantum", Values: []string{"mean", "200ms", "3"}},
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
}

// meanCost returns the mean of the classes' costs, each counted once; at least 1ns.
func meanCost(classes []Class) time.Duration {
	var mean, rest time.Duration // divided one by one, which cannot overflow
	for _, c := range classes {
		mean += c.cost() / time.Duration(len(classes))
		rest += c.cost() % time.Duration(len(classes))
	}
	return max(1, mean+rest/time.Duration(len(classes)))
}

var tenantFairKind = Kind{
	Name: "tenant-fair", Needs: NeedsTenants, Cost: CostTime, State: StateStore,
	Drawn: Drawn{Weight: 1, Param: "at-least", Values: []string{"1", "3", "30"}},
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
}
