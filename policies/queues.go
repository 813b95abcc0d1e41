package policies

import "qsim/engine"

// Queues treats every job class as a queue and tries them, at each fetch, in an order drawn
// by weight: each next one with a chance of its weight among those that are left (Sidekiq
// and Asynq, which shuffle a list of queues with each as often as its weight says). A fetch
// takes what it can of the first queue, and then of the next. So a class comes first in
// proportion to its weight, and with a batch of one gets that share of the claims in the
// mean while all have jobs ready; larger batches make the same share of larger lumps. No
// class starves. It is work-conserving. It counts claims, whatever they cost. It keeps no
// state; its draws depend on the seed, the engine and the number of the plan alone.
type Queues struct {
	stateless
	Weights []int64 // by job kind: at most 64, each in [1, 10^6]; kinds past the end are never claimed
	left    []int64
}

// NewQueues returns a Queues with weights, of which it keeps a copy.
func NewQueues(weights []int64) *Queues {
	return &Queues{Weights: append([]int64(nil), weights...), left: make([]int64, len(weights))}
}

// Plan appends a term for each kind, in the order that is drawn.
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
