package policies

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
	"qsim/engine/quantity"
)

// Promise lists the guarantees of a policy, for the invariant checker to verify claim by claim from the recorded events
// of a run, or by Law from the policy's plans. The zero Promise guarantees nothing.
type Promise struct {
	Conserving bool           // no worker idles while a job is ready
	Ranked     bool           // no job is claimed before a ready one of higher priority in the same term (part of a claim)
	Ordered    bool           // claims go by Order (OldestReady, NewestReady: within a priority), fresh and retry alike
	Order      engine.Order   //
	Rule       *engine.Rule   // parameters of Order; nil if it has none
	Capped     bool           // each node has at most Cap retries in flight
	Cap        int            // most retries in flight if Capped
	Lanes      bool           // and each node has at most (its workers − Cap) fresh jobs in flight
	Ration     bound.Ration   // retries are rationed: how many claims pay for one
	Brakes     []bound.Brake  // jobs are held back after failures: which, and for how long
	Interval   time.Duration  // longest time ready of a claimed job, unless its claim buried Buries; 0: none; see Sheds
	Buries     int            // most late jobs that one claim buries
	Exact      bool           // while both classes are ready, fresh jobs get Share of the claims, to less than one claim
	Share      quantity.Share // share of the claims that goes to fresh jobs, in the mean unless Exact; 0: no guarantee
	Sheds      time.Duration  // the policy may bury jobs that have been ready for longer than this; 0: it buries none
	Starves    bool           // the policy may leave retries ready for ever, although nothing fails any more
	Law        func() Law     // makes a checker of one node's plans, for guarantees that no event shows; nil: none
}

// Law checks the plans of one engine's policy, one after the other, for guarantees that recorded events do not show. It
// receives the same observations as the policy.
type Law interface {
	// Plan checks the plan (terms) made for the state v, and returns the breach of a guarantee, a sentence without full
	// stop; "": none.
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
// updates what room depends on, nil if that is constant.
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

// Asked returns the highest numbers of fresh jobs and of retries that a plan could claim, at most v.Idle each.
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

// Guarantor is a policy that lists its guarantees, for the invariant checker to verify.
type Guarantor interface{ Guarantees() Promise }

// Guarantees returns the guarantees of a policy, for tests to check a run by; none if it is no Guarantor.
func Guarantees(p engine.Policy) Promise {
	if g, ok := p.(Guarantor); ok {
		return g.Guarantees()
	}
	return Promise{}
}

// Entitled returns the share of claims, in [0, 1], that a policy of that kind with those parameter values guarantees to
// fresh jobs while fresh jobs and retries are both ready; 0 for none, or for an invalid policy.
func Entitled(kind string, values map[string]Value) float64 {
	policy, _ := New(kind, values, 1, nil) // no policy at all guarantees nothing
	return Guarantees(policy).Share.Float()
}

// Conserving reports whether policies of kind k, with default parameters, leave no worker idle while a job is ready.
func (k *Kind) Conserving() bool {
	policy, _ := New(k.Name, nil, 100, nil)
	return Guarantees(policy).Conserving
}
