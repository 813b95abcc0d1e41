package policies

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qsim/engine"
)

// Param is a parameter of a kind of policy.
type Param struct {
	Name    string // as scenarios spell it
	Type    string // one of the Type constants
	Default string // as ParseValue reads it
	Doc     string // a phrase
}

// Kind is a kind of policy that scenarios may name.
type Kind struct {
	Name           string
	Doc            string  // one paragraph
	WorkConserving bool    // with the default parameters
	Params         []Param // in the order in which they are listed
}

// kind is a Kind with what it takes to make one. Both functions get a value for every
// parameter.
type kind struct {
	Kind
	build    func(values arguments) (engine.Policy, error)
	entitled func(values arguments) float64 // nil: 0
}

// arguments are the values of all parameters of a kind, and the workers of the engine.
type arguments struct {
	of      map[string]Value
	workers int
}

func (a arguments) count(name string) int { return a.of[name].of(a.workers) }

// always makes a policy without parameters.
func always(p engine.Policy) func(arguments) (engine.Policy, error) {
	return func(arguments) (engine.Policy, error) { return p, nil }
}

// share is what weighted and bernoulli promise fresh jobs.
func share(a arguments) float64 { return a.of["fresh"].share.Float() }

func everything(arguments) float64 { return 1 }

var (
	freshShare = Param{"fresh", TypeShare, "80%", "share of the claims that go to fresh jobs while both classes are ready"}
	lend       = Param{"lend", TypeBool, "true", "lend what a class leaves of its share to the other; false leaves it unclaimed until the next fetch"}
)

var kinds = []kind{
	{Kind{"fifo", "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither class anything: a storm of retries delays fresh jobs until it is worked off.", true, nil},
		always(FIFO{}), nil},
	{Kind{"lifo", "The job that became ready last. Under a backlog new jobs hardly wait, and the oldest wait until it is gone.", true, nil},
		always(LIFO{}), nil},
	{Kind{"fresh-first", "Retries only when no fresh job is ready. Fresh jobs wait as if there were no retries in the queue; retries may starve.", true, nil},
		always(FreshFirst{}), everything},
	{Kind{"retry-first", "Fresh jobs only when no retry is ready, as brokers do that put redeliveries first. Fresh jobs starve in a storm of retries.", true, nil},
		always(RetryFirst{}), nil},
	{Kind{"weighted", "A fixed share of all claims for fresh jobs while both classes are ready, exact over any number of claims because fractions are carried to the next; what a class leaves is lent to the other.",
		true, []Param{freshShare, lend}}, newWeighted, share},
	{Kind{"bernoulli", "As weighted, with a coin tossed for every claim: the share is right in the mean, with runs of bad luck.",
		true, []Param{freshShare, lend}}, newBernoulli, share},
	{Kind{"separate", "Retries have workers of their own and fresh jobs the others, as with a second queue. Neither can crowd out the other; a lane idles while the other has a backlog.",
		false, []Param{
			{"retry-workers", TypeCountOrShare, "20%", "workers of each node for retries; at least one, and one must be left for fresh jobs"},
			{"retry-poll", TypeDuration, "0s", "least time between two looks for retries: a slower fetch of their own; 0s: none"},
		}}, newSeparate, nil},
	{Kind{"inflight-cap", "As fifo, with at most so many retries in flight in each node, prefetched and running; fresh jobs take the rest. Workers idle rather than run a further retry. A cap that no node can reach changes nothing.",
		false, []Param{
			{"retries", TypeCountOrShare, "20%", "most retries in flight in each node: a count, or a share of its workers (at least one unless 0%); 0 never runs a retry"},
		}}, newInFlightCap, nil},
	{Kind{"retry-budget", "As fifo, with retries paid from a budget in each node: every first claim deposits a fraction of a retry, every retry spends one, both are forgotten after the window (Finagle). Workers idle rather than overspend.",
		false, []Param{
			{"ratio", TypeShare, "20%", "retries that a first claim pays for"},
			{"min-rate", TypeRate, "10/s", "retries allowed besides, whatever the first claims; with 0/s, retries left when fresh jobs stop never run"},
			{"window", TypeDuration, "10s", "how long deposits and spending are remembered"},
		}}, newRetryBudget, nil},
	{Kind{"token-bucket", "As fifo, with retries paid from a bucket of tokens in each node that starts full: a retry takes its cost and gives it back if it succeeds; first attempts that succeed refill it (AWS SDKs). Blips are free, outages stop retries. If no fresh job succeeds any more, an empty bucket stays empty.",
		false, []Param{
			{"capacity", TypeNumber, "500", "tokens in a full bucket"},
			{"cost", TypeNumber, "5", "tokens that a retry takes"},
			{"timeout-cost", TypeNumber, "10", "tokens that a retry has cost if it fails by timeout"},
			{"refill", TypeNumber, "1", "tokens that a first attempt adds if it succeeds"},
		}}, newTokenBucket, nil},
	{Kind{"aimd", "As inflight-cap, with a cap in each node that starts at max, falls to nine tenths at every retry that fails and rises by one whenever as many retries as the cap have succeeded.",
		false, []Param{
			{"min", TypeCountOrShare, "1", "lowest cap: a count of at least 1, or a share of the workers of a node"},
			{"max", TypeCountOrShare, "100%", "highest cap"},
		}}, newAIMD, nil},
	{Kind{"adaptive-lifo", "Newest first while the oldest ready job has waited longer than a bound, else oldest first: under a standing backlog it serves those who may still be waiting for an answer.",
		true, []Param{
			{"older-than", TypeDuration, "5s", "how long the oldest must have waited"},
		}}, newAdaptiveLIFO, nil},
}

// Kinds returns the kinds that New makes, in the order in which they are listed.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].Kind
		all[i].Params = slices.Clone(all[i].Params)
	}
	return all
}

// New makes a policy for one engine with that many workers. Parameters that values
// lacks have their defaults. Policies keep state, so every engine needs one of its
// own. An error names every parameter that is unknown, of the wrong type or out of
// range.
func New(kind string, values map[string]Value, workers int) (engine.Policy, error) {
	k, err := find(kind)
	if err != nil {
		return nil, err
	}
	a, err := k.arguments(values, workers)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	policy, err := k.build(a)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	return policy, nil
}

// Entitled returns the share of claims, in [0, 1], that a policy promises to fresh jobs
// while both classes are ready; 0 for one that promises none and for one that New
// refuses to make.
func Entitled(kind string, values map[string]Value) float64 {
	k, err := find(kind)
	if err != nil || k.entitled == nil {
		return 0
	}
	a, err := k.arguments(values, 1)
	if err != nil {
		return 0
	}
	return k.entitled(a)
}

func find(name string) (*kind, error) {
	var names []string
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i], nil
		}
		names = append(names, kinds[i].Name)
	}
	return nil, fmt.Errorf("unknown policy %q: want one of %s", name, strings.Join(names, ", "))
}

// arguments completes values with the defaults of k.
func (k *kind) arguments(values map[string]Value, workers int) (arguments, error) {
	a := arguments{make(map[string]Value, len(k.Params)), workers}
	var problems []error
	if workers < 1 {
		problems = append(problems, fmt.Errorf("%d workers: want at least 1", workers))
	}
	names := make([]string, len(k.Params))
	for i, p := range k.Params {
		names[i] = p.Name
		v, given := values[p.Name]
		if !given {
			var err error
			if v, err = ParseValue(p.Type, p.Default); err != nil {
				panic("policies: default of " + k.Name + " " + p.Name + ": " + err.Error())
			}
		}
		if v.typ != p.Type {
			problems = append(problems, fmt.Errorf("%s: want a %s, got %s", p.Name, p.Type, cmp.Or(v.typ, "nothing")))
		}
		a.of[p.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(names, name) {
			continue
		}
		takes := "none"
		if len(names) > 0 {
			takes = strings.Join(names, ", ")
		}
		problems = append(problems, fmt.Errorf("unknown parameter %q: it takes %s", name, takes))
	}
	return a, errors.Join(problems...)
}

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
