package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/sim"
)

// inReady and the constants below are the places of a job, and running: an execution that has begun and not ended.
const (
	inReady = iota
	inWaiting
	inFlight
	isRunning
	numPlaces
)

var placeNames = [numPlaces]string{"ready", "waiting", "in flight", "running"}

// stays sums the time of each job at each place, clipped to a window, and counts the jobs that came and ended, from the
// recorded events of each job alone.
type stays struct {
	from, until engine.Time
	held        bool // waiting jobs are ready
	ignores     engine.EventKind
	at          map[engine.JobID]stay
	runs        map[engine.JobID][]engine.Time // start times of its executions under way
	total       [numPlaces]time.Duration
	enqueued    int
	done, dead  int
}

type stay struct {
	place int
	since engine.Time
}

func newStays(from, until engine.Time, held bool) *stays {
	return &stays{from: from, until: until, held: held, at: map[engine.JobID]stay{}, runs: map[engine.JobID][]engine.Time{}}
}

// count adds a stay.
func (s *stays) count(place int, since, until engine.Time) {
	s.total[place] += max(0, min(until, s.until).Sub(max(since, s.from)))
}

// move ends a job's stay and begins another, at no place if that is negative.
func (s *stays) move(e *engine.Event, place int) {
	if was, ok := s.at[e.Job]; ok {
		s.count(was.place, was.since, e.At)
	}
	delete(s.at, e.Job)
	if place >= 0 {
		s.at[e.Job] = stay{place, e.At}
	}
}

func (s *stays) waits() int {
	if s.held {
		return inReady
	}
	return inWaiting
}

func (s *stays) Record(e *engine.Event) {
	if e.Kind == s.ignores {
		return
	}
	switch e.Kind {
	case engine.Enqueued:
		s.enqueued++
		place := inReady
		if e.Delay > 0 {
			place = s.waits()
		}
		s.move(e, place)
	case engine.Promoted, engine.Returned:
		s.move(e, inReady)
	case engine.Redriven:
		s.dead--
		s.move(e, inReady)
	case engine.Leased:
		s.move(e, inFlight)
	case engine.Nacked:
		s.move(e, s.waits())
	case engine.Acked:
		s.done++
		s.move(e, -1)
	case engine.Buried:
		s.dead++
		s.move(e, -1)
	case engine.Started:
		s.runs[e.Job] = append(s.runs[e.Job], e.At)
	case engine.Finished, engine.Aborted:
		if began := s.runs[e.Job]; len(began) > 0 { // which of several ends does not change their sum
			s.count(isRunning, began[0], e.At)
			s.runs[e.Job] = began[1:]
		}
	}
}

// end ends all stays.
func (s *stays) end(now engine.Time) {
	for _, at := range s.at {
		s.count(at.place, at.since, now)
	}
	for _, began := range s.runs {
		for _, since := range began {
			s.count(isRunning, since, now)
		}
	}
}

// accounts runs w and compares the counts of the store and the handlers at every instant with the recorded events of
// each job: over a window, the integral of the number at a place must be the sum of the times that jobs spent there,
// and at every instant all that came must be somewhere.
func accounts(t testing.TB, w *world, from, until engine.Time, ignores engine.EventKind) string {
	s := newStays(from, until, w.store.Held)
	s.ignores = ignores
	w.recorder, w.silent = s, false
	run := w.start()
	var area [numPlaces]time.Duration
	var now [numPlaces]int
	last := engine.Time(0)
	for more := true; more; {
		more = run.Step()
		span := max(0, min(run.Now(), until).Sub(max(last, from)))
		for place, n := range now {
			area[place] += time.Duration(n) * span
		}
		last = run.Now()
		stats, err := w.memory.Stats(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		both := func(n [engine.NumClasses]int) int { return n[engine.Fresh] + n[engine.Retry] }
		now = [numPlaces]int{both(stats.Ready), both(stats.Waiting), both(stats.InFlight), w.flaky.begun - w.flaky.ended}
		if have := now[inReady] + now[inWaiting] + now[inFlight] + s.done + stats.Dead; have != s.enqueued || stats.Dead != s.dead {
			return fmt.Sprintf("conservation: at %v %d jobs were enqueued and %d have died; there are %+v, and %d are done", time.Duration(last), s.enqueued, s.dead, stats, s.done)
		}
	}
	s.end(run.Now())
	for place, sum := range s.total {
		if area[place] != sum {
			return fmt.Sprintf("Little: %s for %v in all, the integral is %v", placeNames[place], sum, area[place])
		}
	}
	return ""
}

// accountsOf runs the swarm's world of a seed over a window.
func accountsOf(t testing.TB, seed uint64, from, length time.Duration, ignores engine.EventKind) string {
	w := swarmWorld(t, seed)
	w.config.Until = healed.Add(time.Minute)
	return accounts(t, w, engine.Time(from), engine.Time(from+length), ignores)
}

// TestLittleAndConservation holds Little's law, exactly, on every place and over any window, and that no job
// comes from nowhere or is lost, at every instant, in random worlds with every sort of trouble.
func TestLittleAndConservation(t *testing.T) {
	skipIfRaced(t)
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(1, 1<<40).Draw(rt, "seed")
		from := rapid.Int64Range(0, int64(20*time.Second)).Draw(rt, "from")
		length := rapid.Int64Range(1, int64(2*time.Minute)).Draw(rt, "length")
		if problem := accountsOf(t, seed, time.Duration(from), time.Duration(length), 0); problem != "" {
			rt.Fatal(problem)
		}
	})
	for _, ignored := range []engine.EventKind{engine.Enqueued, engine.Promoted, engine.Leased, engine.Acked, engine.Nacked, engine.Buried, engine.Returned,
		engine.Redriven, engine.Started, engine.Finished, engine.Aborted} {
		found := ""
		for seed := uint64(1); seed < 60 && found == ""; seed++ {
			found = accountsOf(t, seed, 0, time.Hour, ignored)
		}
		if found == "" {
			t.Errorf("no account is taken of %v, and nothing is found", ignored)
		}
	}
}

// repeats counts, by job, successful executions and accepted acks.
type repeats struct{ successes, acks map[engine.JobID]int }

func newRepeats() *repeats {
	return &repeats{map[engine.JobID]int{}, map[engine.JobID]int{}}
}

func (r *repeats) Record(e *engine.Event) {
	switch {
	case e.Kind == engine.Finished && e.Error == engine.NoError:
		r.successes[e.Job]++
	case e.Kind == engine.Acked:
		r.acks[e.Job]++
	}
}

// twice returns the number of jobs with more than one.
func twice(n map[engine.JobID]int) (jobs int) {
	for _, k := range n {
		if k > 1 {
			jobs++
		}
	}
	return jobs
}

// lossy returns a world in which commits are lost, doubled and sent again, and nodes freeze, but no
// process dies and no lease ends before its job.
func (c calm) lossy(t testing.TB, ttl time.Duration) *world {
	w := c.remote(t, alike[3].policy)
	w.node.Commit.Timeout = 300 * time.Millisecond
	w.node.Lease.TTL = ttl
	w.node.Reaper.Every = 100 * time.Millisecond
	var commits [engine.NumOps]bool
	commits[engine.OpCommit] = true
	w.links.Faults = []fault.Fault{{Window: fault.Window{For: 20 * time.Second}, Ops: commits, LoseRequest: 0.2, LoseReply: 0.3, Duplicate: 0.3}}
	w.config.Controls = []fault.Control{{Kind: fault.Pause, Node: int32(c.Nodes - 1), At: 5 * second, For: 3 * time.Second}}
	return w
}

// TestNoDuplicatesWithoutExpiry: where no lease expires and no process dies, no job is done twice,
// whatever happens to the commits. With too short leases some are.
func TestNoDuplicatesWithoutExpiry(t *testing.T) {
	skipIfRaced(t)
	duplicates := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := calms.Draw(rt, "world")
		for _, ttl := range []time.Duration{10000 * time.Hour, 800 * time.Millisecond} {
			w, seen := c.lossy(t, ttl), newRepeats()
			w.recorder, w.silent = seen, false
			w.config.Until = 200 * second
			w.start().Run()
			switch n := twice(seen.successes); {
			case ttl < time.Hour:
				duplicates += n
			case n > 0:
				rt.Fatalf("%d jobs succeeded twice", n)
			}
			if n := twice(seen.acks); n > 0 {
				rt.Fatalf("of %d jobs two acks were accepted", n)
			}
		}
	})
	if duplicates == 0 {
		t.Error("no duplicates with leases shorter than many jobs")
	}
}

// lenient is a store that accepts every outcome, even those that its fence refuses.
type lenient struct{ *memstore.Store }

func (s lenient) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	first := len(dst)
	dst, err := s.Store.Commit(ctx, b, dst)
	for i := range dst[first:] {
		if r := &dst[first+i]; r.Status == engine.Stale {
			r.Status = engine.Applied
		}
	}
	return dst, err
}

// TestOneAckIsAccepted: fenced by token, at most one ack of a job is accepted, whatever happens to
// calls, processes, clocks and leases. A store that accepts late outcomes is detected.
func TestOneAckIsAccepted(t *testing.T) {
	skipIfRaced(t)
	run := func(seed uint64, wrap func(*memstore.Store) sim.Store) *repeats {
		w, seen := swarmWorld(t, seed), newRepeats()
		w.store.Fence = engine.FenceToken
		w.recorder, w.wrap = seen, wrap
		w.config.Until = healed.Add(time.Minute)
		w.start().Run()
		return seen
	}
	executions := 0
	rapid.Check(t, func(rt *rapid.T) {
		seen := run(rapid.Uint64Range(1, 1<<40).Draw(rt, "seed"), nil)
		if n := twice(seen.acks); n > 0 {
			rt.Fatalf("of %d jobs two acks were accepted", n)
		}
		executions += twice(seen.successes)
	})
	if executions == 0 {
		t.Error("no job succeeded twice: the fence had nothing to do")
	}
	found := 0
	for seed := uint64(1); seed < 60 && found == 0; seed++ {
		found = twice(run(seed, func(s *memstore.Store) sim.Store { return lenient{s} }).acks)
	}
	if found == 0 {
		t.Error("a store that refuses nothing is not found out")
	}
}
