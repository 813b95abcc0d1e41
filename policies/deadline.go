package policies

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// The policy deadline is earliest deadline first (Jackson's rule), without preemption of jobs.
var _ = builtIn(Kind{
	rank: 160, Name: "deadline", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
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
})

// classBudgets returns the budget (time from enqueuing to the deadline) of each class, from the parameter's value: one
// duration for all classes, or a ByClass, whose error names unknown classes and those left out.
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
