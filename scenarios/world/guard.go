package world

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
)

// guard runs the optional invariant checker of a simulation: nothing happens without one.
type guard struct {
	checker *check.Checker // nil: the simulation is not checked
	policy  func() engine.Policy
	until   engine.Time
	steps   int // number of events so far
	next    int // number of events at which the store is audited next
}

func (w *world) guard(seed uint64) *guard {
	if !w.checked {
		return &guard{}
	}
	return &guard{until: engine.Time(w.sc.Longest()), policy: w.policy, checker: check.New(w.rules(seed))}
}

// watch attaches the checker of invariants, if there is one, to a simulation that has not begun.
func (g *guard) watch(cfg *sim.Config) {
	if g.checker != nil {
		cfg.Recorder = engine.RecordJobs(cfg.Recorder, g.checker)
		cfg.Policy = Watch(cfg.Policy, g.policy, g.checker, false)
		befell := cfg.Befell
		cfg.Befell = func(control int, node int32, at engine.Time) {
			if befell(control, node, at); cfg.Controls[control].Kind == fault.StopNode {
				g.checker.Stopped(node, at)
			}
		}
	}
}

// stepsBetweenBalances is the least number of events between two audits, which compare the store with recorded events.
const stepsBetweenBalances = 1 << 10

// run processes up to the given number of events of a simulation, and reports whether it goes on: false if no events
// are left or an invariant broke.
func (g *guard) run(s *sim.Sim, events int) bool {
	if g.checker == nil {
		return s.Steps(events)
	}
	for events > 0 {
		n := min(events, max(1, g.next-g.steps))
		if !s.Steps(n) {
			return false
		}
		if g.steps += n; g.steps >= g.next && s.Store().NextDue() > s.Now() { // otherwise the audit would make the job ready
			// Every job of the store is looked at: seldom enough to cost little.
			g.next = g.steps + max(stepsBetweenBalances, 16*s.Store().(*memstore.Store).Live())
			g.audit(s)
		}
		if g.broken() {
			return false
		}
		events -= n
	}
	return true
}

// broken reports whether an invariant has broken. The simulation may have gone on for a while since.
func (g *guard) broken() bool { return g.checker != nil && g.checker.Breach() != nil }

// audit has the checker compare the content of the store with the recorded events; it notes a breach.
func (g *guard) audit(s *sim.Sim) {
	store := s.Store().(*memstore.Store)
	g.checker.Balance(plain.Must(store.Stats(context.Background(), 0)))
	g.checker.Sweep(store.Each)
}

// settle compares the totals in the results of a run with the recorded events, and reports whether an invariant broke.
// It compares claims and deaths only if whole is set. A run that ended before its limit must have ended every job.
func (g *guard) settle(s *sim.Sim, have measure.Totals, whole bool) bool {
	if g.checker == nil {
		return false
	}
	if s.Store().NextDue() > s.Now() {
		g.audit(s)
	}
	if s.Now() < g.until {
		g.checker.Settle()
	}
	events := g.checker.Events()
	want := measure.Totals{Jobs: events[engine.Enqueued], Acked: events[engine.Acked], Fenced: events[engine.Fenced],
		Claims: events[engine.Leased], Deaths: events[engine.Buried]}
	if !whole {
		want.Claims, want.Deaths = have.Claims, have.Deaths
	}
	g.checker.Recounted()
	if have != want {
		g.checker.Complain(check.Recount, 0, "the results count %d jobs, %d done, %d commits refused, %d claims and "+
			"%d deaths; recorded were %d, %d, %d, %d and %d", have.Jobs, have.Acked, have.Fenced, have.Claims, have.Deaths,
			want.Jobs, want.Acked, want.Fenced, want.Claims, want.Deaths)
	}
	return g.checker.Breach() != nil
}

// countsAll reports whether results count every claim and death: results leave out jobs enqueued before the end of the
// warm-up or after the end of arrivals.
func countsAll(sc *scenarios.Scenario) bool {
	return sc.Warmup == 0 && longestDraw(&sc.Engine.Store.Enqueue) == 0 &&
		!slices.ContainsFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.Patience != nil })
}

// breached returns the error for a broken invariant, with the history of its job, recorded by running the seed again.
func (w *world) breached(seed uint64, g *guard) error {
	b := g.checker.Breach()
	err := &Broken{Policy: w.sc.Policies[w.index].Label, Seed: seed, At: b.At.Sub(0), Cause: b}
	if b.Job == 0 {
		return err
	}
	workload, problem := newWorkload(w.sc, keyed.Rand{Seed: seed})
	if problem != nil {
		return err
	}
	defer workload.Close()
	history := &check.History{Job: b.Job, Until: b.At}
	s, _ := w.start(seed, workload, func(cfg *sim.Config) { cfg.Recorder = engine.RecordJobs(cfg.Recorder, history) })
	defer func() {
		_ = recover() // from what went wrong at the same instant, later: of one job the history may lack its end
		err.History = history.String()
	}()
	for s.Now() <= b.At && s.Step() {
	}
	return err
}

// Broken is the error of a simulation that panicked or in which a checker found a breach: the engine, a store or a
// policy has broken an invariant. The same policy and seed break it again.
type Broken struct {
	Policy string // label of the policy
	Seed   uint64
	At     time.Duration // virtual time of the breach
	Cause  any           // argument of panic, such as a *sim.Endless, or the *check.Breach
	Stack  []byte        // stack of the simulation; nil: a checker found the breach, or the clock stood still
	// History lists the events of the job in a checker's breach, one per line.
	History string
}

// Error returns the policy, the seed, the time and the cause.
func (b *Broken) Error() string {
	return fmt.Sprintf("policy %q, seed %d, at %v: %v", b.Policy, b.Seed, b.At, b.Cause)
}

// broken returns the error for a simulation that panicked; s is nil if the panic came before the simulation existed.
// The deferred function that recovers must call it, for the stack.
func broken(label string, seed uint64, s *sim.Sim, cause any) *Broken {
	b := &Broken{Policy: label, Seed: seed, Cause: cause}
	if _, ok := cause.(*sim.Endless); !ok {
		b.Stack = debug.Stack()
	}
	if s != nil {
		b.At = time.Duration(s.Now())
	}
	return b
}
