package policies

import (
	"fmt"
	"math/bits"
	"slices"

	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 200, Name: "queues", Needs: NeedsClasses, Cost: CostJobs, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "Every job class is a queue, tried at each fetch in an order drawn by weight, and a fetch takes what it " +
		"can of each (Sidekiq, Asynq). With a batch of one, classes that have jobs ready get claims in " +
		"proportion to their weights, in the mean; no class starves. Of one class the jobs go as in fifo.",
	Params: []Param{
		{Name: "weights", Type: TypeWeights, Default: "{}",
			Doc: "by class, {high: 10, low: 5}; a class that is not named has 1"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		if len(a.Classes) > mostClasses {
			return nil, fmt.Errorf("%d job classes: it can tell %d apart", len(a.Classes), mostClasses)
		}
		weights, err := classWeights(a.Value("weights").(ByClass), a.Classes)
		if err != nil {
			return nil, err
		}
		if len(weights) == 1 {
			return FIFO{}, nil // a claim by kind is followed by another, as it might leave jobs of other kinds
		}
		return NewQueues(weights), nil
	},
})

// Queues is the policy queues, with one queue for each job class: each claim goes through all queues, and the next is
// drawn by weight among those left, like Sidekiq and Asynq, which shuffle a list that contains each queue as often as
// its weight. It keeps no state; its draws depend on the seed, the engine and the number of the plan alone.
type Queues struct {
	stateless
	Weights []int64 // weights by job kind: at most 64, each in [1, 10^6]; kinds past the end are never claimed
	left    []int64 // scratch memory of Plan: weights of the kinds not drawn yet, 0 for the others
}

// NewQueues returns the policy queues with a copy of the weights, one for each job class, by job kind.
func NewQueues(weights []int64) *Queues {
	return &Queues{Weights: append([]int64(nil), weights...), left: make([]int64, len(weights))}
}

// Plan appends a term (part of a claim) for each job kind, that is each queue, in an order drawn by weight.
func (p *Queues) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	total := int64(0)
	for _, w := range p.Weights {
		total += w
	}
	copy(p.left, p.Weights)
	for n := range p.left {
		at := int64(v.Draw(uint16(n)) * float64(total))
		for kind, w := range p.left {
			if at -= w; w == 0 || at >= 0 {
				continue
			}
			dst = append(dst, engine.Term{Class: engine.AnyClass, Kinds: engine.Kinds(0).With(engine.Kind(kind)), Limit: v.Idle})
			total -= w
			p.left[kind] = 0
			break
		}
	}
	return dst
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, a plan has a term for every
// class, and each class comes first in proportion to its weight, in the mean. A Law verifies the last two.
func (p *Queues) Guarantees() Promise {
	return Promise{Conserving: true, Law: func() Law {
		plans, total, first := 0, int64(0), make([]int, len(p.Weights)) // first: by class, plans with that class first
		for _, w := range p.Weights {
			total += w
		}
		return Law{Plan: func(v *engine.View, terms []engine.Term) string {
			tried := engine.Kinds(0)
			for i := range terms {
				tried |= terms[i].Kinds
				if terms[i].Limit < v.Idle || bits.OnesCount64(uint64(tried)) != i+1 {
					return fmt.Sprintf("a plan for %d jobs is %+v", v.Idle, terms)
				}
			}
			if len(terms) != len(p.Weights) {
				return fmt.Sprintf("a plan tries %d of %d classes", len(terms), len(p.Weights))
			}
			plans++
			first[bits.TrailingZeros64(uint64(terms[0].Kinds))]++
			for kind, n := range first {
				if isUnlikely(n, plans, float64(p.Weights[kind])/float64(total)) {
					return fmt.Sprintf("class %d came first in %d of %d plans, and has %d/%d of the weights",
						kind, n, plans, p.Weights[kind], total)
				}
			}
			return ""
		}}
	}}
}

// classWeights returns the weight of each class: its value in named, else 1. The error names unknown classes.
func classWeights(named ByClass, classes []Class) ([]int64, error) {
	byKind := slices.Repeat([]int64{1}, len(classes))
	err := named.each("weights", classes, func(i int, value any) { byKind[i] = int64(value.(quantity.Count)) })
	return byKind, err
}
