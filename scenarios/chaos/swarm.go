package chaos

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// Options are the options of Swarm: which seeds it runs, for how long, and which invariants it checks.
type Options struct {
	First    uint64        // seed
	Seeds    uint64        // number of seeds, from First on; 0: until Time is over
	Time     time.Duration // no seed begins later; 0: no bound
	Parallel int           // highest number of simulations at once; 0: one per core that Go uses
	// Progress is called with the number of finished seeds, from one goroutine at a time.
	Progress func(ended uint64)

	only  check.Set    // the invariants that a test holds; none: all
	plant func(*setup) // a bug that a test plants
	quick bool         // failures are not shrunk
}

// Failure is a seed whose world failed, with the smallest world found that fails in the same way.
type Failure struct {
	Drawn   *World // world drawn from the seed
	World   *World // the smallest that was found to fail alike
	Report  Report // result of World
	History string // events of the job in the report's breach
}

// Result is the result of a swarm: sums over the runs of all its seeds, and the failures.
type Result struct {
	Seeds  uint64 // number of finished seeds
	Events int64
	Kinds  [engine.NumEventKinds]int64
	Checks [check.NumInvariants]int64
	Faults counts                     // number of faults with an effect, by kind
	Parts  [check.NumProbes]int64     // number of seeds in which each part of an invariant was checked
	Held   [check.NumInvariants]int64 // number of seeds in which each invariant was checked
	// Fingerprint is that of all events of all seeds, in whatever order they ran: equal on any processor.
	Fingerprint uint64
	Failures    []Failure // failures by seed
}

// FaultCounts returns the kinds of storms and, in the same order, how often storms of each had an effect: one on nodes
// or the store counts each time that it acts, any other once in a run.
func (r *Result) FaultCounts() (kinds []string, counts []int64) {
	for k, kind := range scenarios.Troubles() {
		kinds, counts = append(kinds, kind), append(counts, r.Faults[k])
	}
	return kinds, counts
}

// CheckCounts returns the numbers ("I-1") of the invariants, and how often each was checked.
func (r *Result) CheckCounts() (numbers []string, counts []int64) {
	for i := check.Conservation; i < check.NumInvariants; i++ {
		numbers, counts = append(numbers, i.String()), append(counts, r.Checks[i])
	}
	return numbers, counts
}

// twiceEvery is n if every n-th seed is run again, without a checker, to compare the events of both runs.
const twiceEvery = 16

// Swarm runs one world for each seed until one fails, and shrinks that. First come the seeds in rare, whose worlds
// reach unusual combinations of events and faults. The error is ctx.Err(). The result does not depend on Parallel,
// unless a limit of time or a failure ends the swarm.
func Swarm(ctx context.Context, o Options) (*Result, error) {
	s := &swarm{options: o, caller: ctx, runner: runner{only: o.only, plant: o.plant}}
	begin := ctx // no seed begins when it is done
	if o.Time > 0 {
		var cancel context.CancelFunc
		begin, cancel = context.WithTimeout(ctx, o.Time)
		defer cancel()
	}
	n := int(min(cmp.Or(o.Seeds, math.MaxInt), math.MaxInt64-o.First+1)) // higher seeds are not those of a scenario
	seed := o.order()
	one := func(_ context.Context, i int) error { return s.one(seed(i)) }
	_ = pool.Each(begin, pool.Width(o.Parallel), n, one) // the error of begin, if any
	slices.SortFunc(s.result.Failures, func(a, b Failure) int { return cmp.Compare(a.Drawn.Seed(), b.Drawn.Seed()) })
	return &s.result, ctx.Err()
}

type swarm struct {
	options Options
	runner  runner
	caller  context.Context // nothing goes on when it is done

	mutex  sync.Mutex
	failed bool
	result Result
}

// one runs the world of one seed, and shrinks it if it fails; after a failed seed it only returns pool.ErrEnough.
func (s *swarm) one(seed uint64) error {
	s.mutex.Lock()
	over := s.failed // the world may still be shrunk
	s.mutex.Unlock()
	if over {
		return pool.ErrEnough
	}
	w := Draw(seed)
	twice := seed%twiceEvery == 0
	report := s.runner.run(w, twice)
	s.count(w, &report)
	if !report.Failed() {
		return nil
	}
	f := Failure{Drawn: w, World: w, Report: report}
	if !s.options.quick { // --time bounds when seeds begin, not how long this takes
		f.World, f.Report = s.runner.shrink(w, report, twice, func() bool { return s.caller.Err() != nil })
	}
	f.History = s.runner.history(f.World, f.Report.Breach)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.result.Failures = append(s.result.Failures, f)
	return nil
}

// count adds the report of one seed's run to the result of the swarm, before any shrinking.
func (s *swarm) count(w *World, report *Report) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r := &s.result
	r.Seeds++
	r.Events += report.Events
	// The factor is of the golden ratio: seeds do not cancel each other out.
	r.Fingerprint += (uint64(report.Digest) ^ w.Seed()) * 0x9e3779b97f4a7c15
	for k, n := range report.Kinds {
		r.Kinds[k] += n
	}
	for i, n := range report.Checks {
		r.Checks[i] += n
		r.Held[i] += min(n, 1)
	}
	for i, n := range report.Parts {
		r.Parts[i] += min(n, 1)
	}
	for k, n := range report.Faults {
		r.Faults[k] += n
	}
	s.failed = s.failed || report.Failed()
	if s.options.Progress != nil {
		s.options.Progress(r.Seeds)
	}
}

// Replay runs one world with the checks of Swarm, and returns its failure, unshrunk, or nil.
func Replay(w *World) *Failure {
	var r runner
	f := &Failure{Drawn: w, World: w, Report: r.run(w, true)}
	if !f.Report.Failed() {
		return nil
	}
	f.History = r.history(w, f.Report.Breach)
	return f
}

// String returns a failure as text for users: the invariant, the history of its job, and a command that repeats it.
func (f *Failure) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %s\n", f.Drawn.Seed(), f.Report.String())
	if f.History != "" {
		fmt.Fprintf(&text, "\nWhat happened to job %d:\n%s", f.Report.Breach.Job, f.History)
	}
	if f.World != f.Drawn {
		fmt.Fprintf(&text, "\nThe seed draws %s. So it breaks with %s:\n", f.Drawn.Size(), f.World.Size())
	} else {
		text.WriteString("\nTo see it again:\n")
	}
	fmt.Fprintf(&text, "\n# A scenario as any other: qsim run, trace and explain take it too.\n"+
		"qsim chaos --replay - <<'END'\n%sEND\n", f.World.Text)
	return text.String()
}
