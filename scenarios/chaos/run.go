package chaos

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// Report is the result of running one world: its first failure (a breach of an invariant, or a panic), and counts.
type Report struct {
	Breach *check.Breach // first breach; nil: every invariant held
	Panic  string        // value and place of a panic of the engine; "": none
	Events int64
	At     engine.Time // the end
	Digest sim.Digest  // digest of all events
	Checks [check.NumInvariants]int64
	Kinds  [engine.NumEventKinds]int64 // events recorded, by kind
	Faults counts                      // storms that made a difference, by kind
	Parts  [check.NumProbes]int64      // number of checks by probe, a part of an invariant

	deadline engine.Time // time by which every job had to end; 0: all had ended before
}

// Failed reports whether the run broke an invariant or the engine panicked.
func (r *Report) Failed() bool { return r.Breach != nil || r.Panic != "" }

// same reports whether two runs failed alike: in the same invariant, or with a panic in the same function, and with
// messages that differ only in numbers, durations and job states.
func (r *Report) same(other *Report) bool {
	if r.Breach != nil && other.Breach != nil {
		return r.Breach.Invariant == other.Breach.Invariant && form(r.Breach.What) == form(other.Breach.What)
	}
	return r.Breach == nil && other.Breach == nil && r.Failed() && other.Failed() && where(r.Panic) == where(other.Panic)
}

var (
	aDuration = regexp.MustCompile(`-?\b[0-9.]+(h|m|s|ms|µs|us|ns)([0-9.]+(m|s|ms|µs|us|ns))*\b`)
	aNumber   = regexp.MustCompile(`\b[0-9a-f]{16}\b|-?[0-9]+`)
	aState    = regexp.MustCompile(`\b(ready|waiting|in-flight|done|dead|fresh|retry)\b`)
)

// form returns the message of a broken invariant with placeholders for durations, numbers and states, and without the
// list of last events: equal for failures that are alike.
func form(what string) string {
	what, _, _ = strings.Cut(what, "; the last")
	return aState.ReplaceAllString(aNumber.ReplaceAllString(aDuration.ReplaceAllString(what, "#"), "#"), "?")
}

// where returns the message of a panic without numbers, and the panicking function: equal for panics that are alike.
func where(panicked string) string {
	cause, stack, _ := strings.Cut(panicked, "\n")
	thrown := false
	for line := range strings.SplitSeq(stack, "\n") {
		end := strings.LastIndexByte(line, '(')
		switch {
		case strings.HasPrefix(line, "panic("):
			thrown = true
		case thrown && end > 0 && strings.HasPrefix(line, "qsim/"):
			return form(cause) + " in " + line[:end]
		}
	}
	return form(cause)
}

// String returns the failure in words, or "every invariant held".
func (r *Report) String() string {
	switch {
	case r.Breach != nil:
		return r.Breach.Error()
	case r.Panic != "":
		return r.Panic
	}
	return "every invariant held"
}

// runner runs worlds with a checker of the invariants in only (all if it is empty).
type runner struct {
	only  check.Set
	plant func(*setup) // a bug that a test plants; nil: none
}

func (r *runner) run(w *World, twice bool) Report {
	report := r.once(w, true, nil)
	if !twice || report.Failed() || !r.only.Has(check.Determinism) {
		return report
	}
	report.Checks[check.Determinism]++
	if again := r.once(w, false, nil); again.Digest != report.Digest {
		what := fmt.Sprintf("without a checker the events have the fingerprint %016x, with it they had %016x",
			uint64(again.Digest), uint64(report.Digest))
		report.Breach = &check.Breach{Invariant: check.Determinism, At: again.At, What: what}
	}
	return report
}

// history runs a world again and returns, as text, the events of the job that breach b names; "" if it names none.
func (r *runner) history(w *World, b *check.Breach) string {
	if b == nil || b.Job == 0 {
		return ""
	}
	h := &check.History{Job: b.Job, Until: b.At}
	r.once(w, true, h)
	return h.String()
}

// looks is the number of simulation steps after which the store's counts are again compared with the recorded events.
const looks = 256

// once runs a world, watched by a checker if checked is true. history, if it is not nil, receives all events.
func (r *runner) once(w *World, checked bool, history *check.History) (report Report) {
	var s *sim.Sim
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case *sim.Endless:
			report.At, report.Events = cause.At, s.Events()
			report.Breach = &check.Breach{Invariant: check.Liveness, At: cause.At, What: cause.Error()}
		default:
			report.Panic = fmt.Sprintf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	set, err := w.setup()
	if err != nil {
		report.Panic = "set up: " + err.Error()
		return report
	}
	set.checked.Only = r.only
	if r.plant != nil {
		r.plant(set)
	}
	checker := check.New(set.checked)
	if checked {
		checker = set.listen()
		set.config.Recorder = checker
		if history != nil {
			set.config.Recorder = engine.RecordJobs(checker, history)
		}
	}
	set.config.Rest = set.Rest()
	s = sim.New(set.config)
	set.sim = s
	set.drive(s, checker, checked)
	report.Breach, report.Checks, report.Kinds = checker.Breach(), checker.Checks(), checker.Events()
	report.Parts = checker.Probes()
	report.Faults, report.deadline = set.storms(), set.due
	report.Events, report.At, report.Digest = s.Events(), s.Now(), s.Digest()
	return report
}

// drive steps a simulation until all jobs and executions have ended, their time is over, or an invariant is broken.
func (s *setup) drive(run *sim.Sim, checker *check.Checker, checked bool) {
	healed, deadline := engine.Time(min(s.Heal+s.Enqueue, world.ForEver)), engine.Never // what is on its way then has come
	// what is due an hour later was forgotten by the store
	late, stuck := time.Duration(0), healed.Add(time.Hour)
	for n := 1; run.Step(); n++ {
		if checker.Breach() != nil {
			return
		}
		if run.Over() && s.letGo(run) {
			break
		}
		if deadline == engine.Never && run.Now() > healed && (run.Store().NextDue() > run.Now() || run.Now() > stuck) {
			var waits time.Duration
			deadline, waits = s.Deadline(run.Now(), s.memory)
			late = s.beyond(run)
			if s.due = deadline; checked {
				checker.Waits(waits + late)
			}
		}
		if run.Now() > deadline && !run.Over() {
			if late == 0 || s.begun == s.ended && s.letGo(run) {
				break
			}
			deadline, late = deadline.Add(late), 0
		}
		if n%looks != 0 || run.Store().NextDue() <= run.Now() { // what is due would become ready by being looked at
			continue
		}
		if checked {
			s.look(run.Store(), checker, n%(4*looks) == 0)
		}
		if run.Now() > engine.Time(s.Heal) && s.resting(run) {
			break
		}
	}
	if !checked {
		return
	}
	if run.Store().NextDue() > run.Now() {
		s.look(run.Store(), checker, true)
	}
	if s.Heal >= world.ForEver && !run.Over() {
		return // its time was over first
	}
	checker.Settle()
	if run.Over() {
		s.released(run, checker)
	}
	if s.begun != s.ended {
		checker.Complain(check.Effects, 0, "%d executions began, %d ended", s.begun, s.ended)
	}
}

// beyond returns for how long, after the storms, processes may still run jobs that the store no longer leases to them:
// executions that a storm made long, and jobs that waited in a process (engine.StoreOptions.Held) and are run one after
// the other although their leases have expired.
func (s *setup) beyond(run *sim.Sim) (late time.Duration) {
	if s.begun > s.ended {
		late = max(0, s.busy.Sub(run.Now()))
	}
	turns := time.Duration(0)
	for node := range int32(s.Nodes) {
		if held, _, _ := run.Holds(node); s.Options.Held {
			turns = max(turns, s.Turns(held))
		}
	}
	return late + turns
}

// letGo reports whether no process in the simulation holds a lease or runs a job any more.
func (s *setup) letGo(run *sim.Sim) bool {
	for node := range int32(s.Nodes) {
		if held, idle, ok := run.Holds(node); ok && (held != 0 || idle != s.Node.Workers) {
			return false
		}
	}
	return true
}

// released gives the checker, at the end of a run, each process's number of leases held and of idle workers.
func (s *setup) released(run *sim.Sim, checker *check.Checker) {
	for node := range int32(s.Nodes) {
		if held, idle, ok := run.Holds(node); ok {
			checker.Released(node, held, idle)
		}
	}
}

// look makes the checker compare the store's counts of jobs by state with the events and, with jobs, every job.
func (s *setup) look(store engine.Store, checker *check.Checker, jobs bool) {
	checker.Balance(plain.Must(store.Stats(context.Background(), 0)))
	if jobs {
		checker.Sweep(s.memory.Each)
	}
}

// resting reports whether the run can end early: nothing has happened for longer than Bounds.Patience, and every job
// left is one that a fault or the policy may leave unfinished.
func (s *setup) resting(run *sim.Sim) bool {
	if left := s.memory.Live(); s.begun != s.still.begun || left != s.still.left {
		s.still = still{run.Now(), s.begun, left}
	}
	if run.Now() <= s.still.since.Add(s.Patience()) || s.begun != s.ended {
		return false
	}
	for j := range s.memory.Each {
		switch {
		case j.State == engine.InFlight && (s.checked.LostInFlight || s.Loses):
		case j.State == engine.Waiting && s.checked.LostWaiting != nil:
		case j.State == engine.Ready && j.Class == engine.Retry && s.checked.Starves:
		default:
			return false
		}
	}
	return true
}

// still holds the number of executions begun and of jobs left, and since when both are the same: see resting.
type still struct {
	since engine.Time
	begun int
	left  int
}
