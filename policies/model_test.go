package policies

import (
	"reflect"
	"slices"
	"time"
	"unsafe"

	"qsim/engine"
	"qsim/engine/keyed"
)

// ready is a model of a store: jobs by ready time, which is their number. It supports no orders by
// tenant or time: it claims the oldest.
type ready struct {
	jobs []job
	next int
	now  engine.Time
	shed int
}

type job struct {
	class engine.Class
	at    int
	since engine.Time
}

// kind of a job: there are three, see testClasses.
func (j job) kind() engine.Kind { return engine.Kind(j.at / 2 % 3) }

// testClasses holds job classes for policies: of two dependencies, the first is called by two
// classes, and the third class calls none.
var testClasses = []Class{{Name: "payments", Calls: "bank"}, {Name: "refunds", Calls: "bank"}, {Name: "mail", Calls: ""}}

func (r *ready) add(class engine.Class, count int) {
	for range count {
		r.jobs = append(r.jobs, job{class, r.next, r.now})
		r.next++
	}
}

func (r *ready) count(class engine.Class) (n int) {
	for _, j := range r.jobs {
		if j.class == class || class == engine.AnyClass {
			n++
		}
	}
	return n
}

// claim carries out a plan as a store does.
func (r *ready) claim(limit int, terms []engine.Term) []job {
	var claimed []job
	for _, term := range terms {
		left := min(term.Limit, limit-len(claimed))
		if term.Order == engine.NewestReady {
			slices.Reverse(r.jobs)
		}
		kept := r.jobs[:0]
		for _, j := range r.jobs {
			late := term.MaxWait > 0 && r.now.Sub(j.since) > term.MaxWait
			matches := (term.Class == engine.AnyClass || term.Class == j.class) && term.Kinds.Has(j.kind())
			switch {
			case matches && late && term.Shed > 0:
				r.shed++
			case matches && !late && left > 0:
				claimed = append(claimed, j)
				left--
			default:
				kept = append(kept, j)
			}
		}
		r.jobs = kept
		if term.Order == engine.NewestReady {
			slices.Reverse(r.jobs)
		}
	}
	return claimed
}

// worker drives a policy like an engine: it plans with the counts of jobs in flight, claims from a
// model store, reports the results, and ends executions.
type worker struct {
	policy engine.Policy
	view   engine.View
	ready  ready
	terms  []engine.Term
	// running are the kinds in flight, by class, first come first.
	running [engine.NumClasses][]engine.Kind
	silent  bool // observations are not passed to the policy
}

func newWorker(policy engine.Policy, workers int) *worker {
	return &worker{policy: policy, view: engine.View{Workers: workers, StatsAge: -1}}
}

// setPlanNumber sets the key of View.Draw, as the engine does at each plan.
func setPlanNumber(v *engine.View, number uint64) {
	field := reflect.ValueOf(v).Elem().FieldByName("number")
	*(*uint64)(unsafe.Pointer(field.UnsafeAddr())) = number
}

func planNumber(v *engine.View) uint64 {
	return reflect.ValueOf(v).Elem().FieldByName("number").Uint()
}

// fetch claims up to batch jobs and returns them.
func (w *worker) fetch(batch int) []job {
	v := &w.view
	v.Idle = min(batch, v.Workers-v.InFlight[engine.Fresh]-v.InFlight[engine.Retry])
	w.terms = w.terms[:0]
	if v.Idle == 0 {
		return nil
	}
	setPlanNumber(v, planNumber(v)+1)
	w.terms = w.policy.Plan(v, w.terms)
	w.ready.now = v.Now
	claimed := w.ready.claim(v.Idle, w.terms)
	var count [engine.NumClasses]int
	var kinds engine.Kinds
	for _, j := range claimed {
		count[j.class]++
		kinds = kinds.With(j.kind())
		w.running[j.class] = append(w.running[j.class], j.kind())
	}
	for class := range engine.NumClasses {
		v.InFlight[class] += count[class]
	}
	w.observe(engine.Observation{Now: v.Now, Claimed: count, Kinds: kinds})
	return claimed
}

// finish ends an execution of class, if there is one.
func (w *worker) finish(class engine.Class, e engine.ErrorKind) {
	if w.view.InFlight[class] > 0 {
		w.view.InFlight[class]--
		ended := w.running[class][0]
		w.running[class] = w.running[class][1:]
		w.observe(engine.Observation{Now: w.view.Now, Ended: true, Class: class, Job: ended, Error: e})
	}
}

func (w *worker) observe(o engine.Observation) {
	if !w.silent {
		w.policy.Observe(&o)
	}
}

// step performs a random action, the same for every policy.
func (w *worker) step(rand keyed.Rand, n uint64) []job {
	draw := func(k uint16, limit int) int { return int(rand.Uniform(keyed.ForChaos, n, 0, k) * float64(limit)) }
	w.view.Now = w.view.Now.Add(time.Duration(draw(0, 50)) * time.Millisecond)
	switch draw(1, 4) {
	case 0:
		most := 14 // a backlog grows, and is worked off, in turns
		if n/500%2 == 1 {
			most = 3
		}
		w.ready.now = w.view.Now
		w.ready.add(engine.Class(draw(2, 2)), draw(3, most))
	case 1, 2:
		class := engine.Class(draw(2, 2))
		for range draw(3, 6) {
			if draw(4, 3) == 0 {
				w.finish(class, engine.Timeout)
			} else {
				w.finish(class, engine.NoError)
			}
		}
	}
	w.view.Store.OldestReady[engine.Fresh] = time.Duration(draw(5, 10_000)) * time.Millisecond
	w.view.StatsAge = time.Duration(draw(6, 3) - 1)
	return w.fetch(1 + draw(7, 12))
}
