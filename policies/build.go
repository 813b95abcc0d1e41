package policies

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"qsim/engine"
)

func newWeighted(a arguments) (engine.Policy, error) {
	return &Weighted{Fresh: a.of["fresh"].share, NoLending: !a.of["lend"].truth}, nil
}

func newBernoulli(a arguments) (engine.Policy, error) {
	return Bernoulli{Fresh: a.of["fresh"].share, NoLending: !a.of["lend"].truth}, nil
}

func newSeparate(a arguments) (engine.Policy, error) {
	value := a.of["retry-workers"]
	retry := a.count("retry-workers")
	if value.isShare && value.share != Percent(100) {
		retry = min(retry, a.workers-1)
	}
	switch {
	case a.workers == 1:
		return nil, errors.New("one worker cannot be divided: it needs at least 2 workers a node")
	case retry == 0:
		return nil, fmt.Errorf("retry-workers: %v leaves no worker for retries", value)
	case retry >= a.workers:
		return nil, fmt.Errorf("retry-workers: %v of %d workers leaves none for fresh jobs", value, a.workers)
	}
	return &Separate{RetryWorkers: retry, RetryPoll: a.of["retry-poll"].duration}, nil
}

func newInFlightCap(a arguments) (engine.Policy, error) {
	return InFlightCap{Retries: a.count("retries")}, nil
}

func newRetryBudget(a arguments) (engine.Policy, error) {
	window := a.of["window"].duration
	if window == 0 {
		return nil, errors.New("window: 0s is not positive")
	}
	return &RetryBudget{Ratio: a.of["ratio"].share, MinRate: a.of["min-rate"].rate, Window: window}, nil
}

func newTokenBucket(a arguments) (engine.Policy, error) {
	p := &TokenBucket{Capacity: a.of["capacity"].number, Cost: a.of["cost"].number,
		TimeoutCost: a.of["timeout-cost"].number, Refill: a.of["refill"].number}
	switch {
	case p.Cost == 0:
		return nil, errors.New("cost: 0 is not positive")
	case p.TimeoutCost < p.Cost:
		return nil, fmt.Errorf("timeout-cost: %d is less than the cost of %d", p.TimeoutCost, p.Cost)
	case p.Capacity < p.TimeoutCost:
		return nil, fmt.Errorf("capacity: %d is less than the timeout-cost of %d", p.Capacity, p.TimeoutCost)
	}
	return p, nil
}

func newAIMD(a arguments) (engine.Policy, error) {
	p := &AIMD{Min: a.count("min"), Max: a.count("max")}
	switch {
	case p.Min == 0:
		return nil, fmt.Errorf("min: %v is not positive", a.of["min"])
	case p.Max < p.Min:
		return nil, fmt.Errorf("max: %v is less than min, %v, of %d workers", a.of["max"], a.of["min"], a.workers)
	}
	return p, nil
}

func newAdaptiveLIFO(a arguments) (engine.Policy, error) {
	return AdaptiveLIFO{OlderThan: a.of["older-than"].duration}, nil
}

func newBreaker(a arguments) (engine.Policy, error) {
	p := &Breaker{Failures: int(a.of["failures"].number), ProbeAfter: a.of["probe-after"].duration}
	switch {
	case p.Failures == 0:
		return nil, errors.New("failures: 0 is not positive")
	case p.ProbeAfter == 0:
		return nil, errors.New("probe-after: 0s is not positive")
	case len(a.classes) > mostClasses:
		return nil, fmt.Errorf("%d job classes: it can tell %d apart", len(a.classes), mostClasses)
	}
	var names []string
	for kind, c := range a.classes {
		k := engine.Kind(kind)
		at := slices.Index(names, c.Calls)
		switch {
		case c.Calls == "":
			p.Others = p.Others.With(k)
		case at < 0:
			names, p.Kinds = append(names, c.Calls), append(p.Kinds, engine.Kinds(0).With(k))
		default:
			p.Kinds[at] = p.Kinds[at].With(k)
		}
	}
	return p, nil
}

// mostClasses is how many job classes a term can tell apart.
const mostClasses = 64

func newCoDel(a arguments) (engine.Policy, error) {
	p := &CoDel{Target: a.of["target"].duration, Interval: a.of["interval"].duration, Last: a.of["then"].text == "last"}
	switch {
	case p.Target == 0:
		return nil, errors.New("target: 0s is not positive")
	case p.Interval < p.Target:
		return nil, fmt.Errorf("interval: %v is less than the target of %v", p.Interval, p.Target)
	}
	return p, nil
}

func newAging(a arguments) (engine.Policy, error) {
	every := a.of["every"].duration
	if every == 0 {
		return nil, errors.New("every: 0s is not positive")
	}
	return Aging(every, a.of["cap"].number), nil
}

func newDeadline(a arguments) (engine.Policy, error) {
	budgets, err := a.of["budget"].budgets(a.classes)
	if err != nil {
		return nil, err
	}
	return Deadline(budgets...), nil
}

func newTenantDeficit(a arguments) (engine.Policy, error) {
	switch q := a.of["quantum"]; {
	case q.number > 0:
		return TenantDeficitJobs(q.number), nil
	case q.text == meanQuantum:
		return TenantDeficit(meanCost(a.classes)), nil
	default:
		return TenantDeficit(q.duration), nil
	}
}

// meanCost is the mean of what classes cost, each counted once; at least 1ns.
func meanCost(classes []Class) time.Duration {
	var mean, rest time.Duration // divided one by one, which cannot overflow
	for _, c := range classes {
		mean += c.cost() / time.Duration(len(classes))
		rest += c.cost() % time.Duration(len(classes))
	}
	return max(1, mean+rest/time.Duration(len(classes)))
}

func newTenantFair(a arguments) (engine.Policy, error) {
	return TenantFair(a.of["share"].share, int(a.of["at-least"].number)), nil
}

func newQueues(a arguments) (engine.Policy, error) {
	if len(a.classes) > mostClasses {
		return nil, fmt.Errorf("%d job classes: it can tell %d apart", len(a.classes), mostClasses)
	}
	weights, err := a.of["weights"].weights(a.classes)
	if err != nil {
		return nil, err
	}
	return NewQueues(weights), nil
}

func newSplit(a arguments) (engine.Policy, error) {
	return &Split{Priority: a.of["priority"].share}, nil
}
