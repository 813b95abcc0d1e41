package policies

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
	"qsim/engine/quantity"
)

// Promise lists the guarantees of a policy, for an invariant checker to verify claim by claim. The zero Promise
// guarantees nothing.
type Promise struct {
	Conserving bool           // no worker idles while a job is ready
	Ranked     bool           // within one term, no job is claimed before a ready one of higher priority
	Ordered    bool           // claims go by Order (of the first two within a priority), whatever the class
	Order      engine.Order   //
	Rule       *engine.Rule   // parameters of Order; nil if it has none
	Capped     bool           // each node has at most Cap retries in flight
	Cap        int            //
	Lanes      bool           // each node has at most its other workers' number of fresh jobs in flight
	Ration     bound.Ration   // retries are rationed
	Brakes     []bound.Brake  // jobs are held back after failures
	Interval   time.Duration  // no job is claimed that has been ready for longer than this; see Sheds; 0: not guaranteed
	Buries     int            // unless its claim has buried so many
	Exact      bool           // while both classes are ready, fresh jobs get Share of the claims, to less than one claim
	Share      quantity.Share // without Exact: mean share of the claims that goes to fresh jobs; 0: nothing is guaranteed
	Sheds      time.Duration  // the policy may bury jobs that have been ready for longer than this; 0: it buries none
	Starves    bool           // the policy may leave retries ready for ever, although nothing fails any more
	Law        func() Law     // constructor of the Law for the plans of one node, for what no event shows; nil: none
}

// Law checks the plans of a policy, one after the other, for guarantees that recorded events do not show. It receives
// the same observations as the policy.
type Law interface {
	// Plan describes how a plan for the state v breaks the law, as a sentence without a full stop; "": it does not.
	Plan(v *engine.View, terms []engine.Term) string
	Observe(o *engine.Observation)
}

// law is a Law (plan checker) made of two functions, which share the variables around them as its state.
type law struct {
	plan    func(v *engine.View, terms []engine.Term) string
	observe func(o *engine.Observation) // nil: it learns nothing from observations
}

func (l *law) Plan(v *engine.View, terms []engine.Term) string { return l.plan(v, terms) }

func (l *law) Observe(o *engine.Observation) {
	if l.observe != nil {
		l.observe(o)
	}
}

// ration returns the Law (plan checker) of a policy that claims as fifo, except for a limit on retries. The function
// room returns the least and the most retries that a plan may allow, of which negative numbers count as 0; observe
// updates what these depend on, nil if they are constant.
func ration(room func(v *engine.View) (least, most int64), observe func(o *engine.Observation)) Law {
	return &law{func(v *engine.View, terms []engine.Term) string {
		least, most := room(v)
		idle := int64(v.Idle)
		least, most = max(0, min(least, idle)), max(0, min(most, idle))
		switch fresh, retries := Asked(v, terms); {
		case int64(retries) < least || int64(retries) > most:
			return fmt.Sprintf("a plan for %d jobs has room for %d retries, want %d to %d", v.Idle, retries, least, most)
		case fresh < v.Idle:
			return fmt.Sprintf("a plan for %d jobs has room for %d fresh jobs", v.Idle, fresh)
		}
		return ""
	}, observe}
}

// Asked returns the highest numbers of fresh jobs and of retries that a plan, a list of terms, could claim in an
// engine's state v.
func Asked(v *engine.View, terms []engine.Term) (fresh, retries int) {
	for i := range terms {
		n := min(terms[i].Limit, v.Idle)
		if terms[i].Class != engine.Retry {
			fresh += n
		}
		if terms[i].Class != engine.Fresh {
			retries += n
		}
	}
	return min(fresh, v.Idle), min(retries, v.Idle)
}

// Guarantor is a policy with a list of its guarantees, for an invariant checker to verify.
type Guarantor interface{ Guarantees() Promise }

// Guarantees returns the guarantees of a policy; none if it is no Guarantor.
func Guarantees(p engine.Policy) Promise {
	if g, ok := p.(Guarantor); ok {
		return g.Guarantees()
	}
	return Promise{}
}

// Entitled returns the share of claims, in [0, 1], that a policy of that kind, with parameter values, guarantees to
// fresh jobs while fresh jobs and retries are both ready; 0 for none, or for an invalid policy.
func Entitled(kind string, values map[string]Value) float64 {
	policy, _ := New(kind, values, 1) // no policy at all guarantees nothing
	return Guarantees(policy).Share.Float()
}

// Conserving reports whether a policy of kind k leaves no worker idle while a job is ready, with the defaults of its
// parameters.
func (k *Kind) Conserving() bool {
	policy, _ := New(k.Name, nil, 100)
	return Guarantees(policy).Conserving
}
