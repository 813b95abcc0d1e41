package policies

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/quantity"
)

// observed is the outcome of the jobs of an observation.
type observed int

const (
	claimed observed = iota
	succeeded
	failed
)

// The script of a policy driven by observations: each line is an event, and the number of retries
// that a plan may claim after it.
type line struct {
	at    time.Duration
	kind  observed
	class engine.Class
	err   engine.ErrorKind
	count int // claimed: jobs; else: how often it happens
	want  int // room for retries, of 1000 idle workers
}

func play(t *testing.T, policy engine.Policy, script []line) {
	t.Helper()
	law := Guarantees(policy).Law()
	for n, l := range script {
		o := engine.Observation{Now: engine.Time(l.at), Ended: l.kind != claimed, Class: l.class, Error: l.err}
		if l.kind == claimed {
			o.Claimed[l.class], l.count = l.count, 1
		}
		for range l.count {
			policy.Observe(&o)
			law.Observe(&o)
		}
		view := engine.View{Now: o.Now, Workers: 1000, Idle: 1000}
		want := fmt.Sprintf("any %d, fresh %d", l.want, 1000-l.want)
		if l.want == 0 {
			want = "fresh 1000"
		}
		if got := spell(policy.Plan(&view, nil)); got != want {
			t.Errorf("line %d: got %q, want %q", n, got, want)
		}
		if _, some := policy.(*RetryBudget); some {
			continue // its law leaves it some room
		}
		if least, most := roomByLaw(law, view); least != l.want || most != l.want {
			t.Errorf("line %d: from %d to %d retries are legal, want %d", n, least, most, l.want)
		}
	}
}

func TestRetryBudget(t *testing.T) {
	const second = time.Second
	play(t, &RetryBudget{Ratio: quantity.Percent(20), MinRate: quantity.Rate{Num: 10, Den: 1, Per: time.Second}, Window: 10 * second}, []line{
		{at: 0, want: 100}, // the reserve: 10/s for 10 s
		{0, claimed, engine.Fresh, 0, 4, 100},
		{0, claimed, engine.Fresh, 0, 1, 101},
		{0, succeeded, engine.Fresh, 0, 9, 101},
		{0, claimed, engine.Retry, 0, 0, 101},
		{5 * second, claimed, engine.Retry, 0, 101, 0},
		{5 * second, claimed, engine.Fresh, 0, 10, 2},
		{9 * second, claimed, engine.Fresh, 0, 0, 2},
		{10*second - 1, 0, 0, 0, 0, 2},
		{10 * second, 0, 0, 0, 0, 1},   // the first five deposits are forgotten
		{3 * second, 0, 0, 0, 0, 1},    // a clock that is set back changes nothing
		{15 * second, 0, 0, 0, 0, 100}, // and so is what was spent
		{500 * second, claimed, engine.Retry, 0, 100, 0},
		{510 * second, 0, 0, 0, 0, 100},
	})
	play(t, &RetryBudget{MinRate: quantity.Rate{Num: 3, Den: 1, Per: time.Second}, Window: second}, []line{
		{at: 0, want: 3},
		{0, claimed, engine.Fresh, 0, 100, 3}, // deposits nothing
		{0, claimed, engine.Retry, 0, 2, 1},
	})
	play(t, &RetryBudget{MinRate: quantity.Rate{Num: 10, Den: 1, Per: time.Second}, Window: 10 * second}, []line{
		{700 * time.Millisecond, claimed, engine.Retry, 0, 100, 0}, // windows begin with the first look
		{10500 * time.Millisecond, 0, 0, 0, 0, 0},
		{10700 * time.Millisecond, 0, 0, 0, 0, 100},
	})
	play(t, &RetryBudget{MinRate: quantity.Rate{Num: 1, Den: 1, Per: 1}, Window: 5}, []line{
		{0, claimed, engine.Retry, 0, 5, 0}, // a window of less than ten nanoseconds has slices of one
		{9, 0, 0, 0, 0, 0},
		{10, 0, 0, 0, 0, 5},
	})
	play(t, &RetryBudget{Ratio: quantity.Percent(50), Window: second}, []line{
		{at: 0, want: 0},
		{0, claimed, engine.Fresh, 0, 3, 1},
		{second / 2, claimed, engine.Retry, 0, 1, 0}, // half a retry is left
		{second, 0, 0, 0, 0, 0},                      // the deposit is forgotten before what it paid for: below nothing
		{3 * second / 2, 0, 0, 0, 0, 0},
	})
}

// Over a window, retries are at most ratio of the first claims plus the least rate, in
// a life in which retries are always ready.
func TestRetryBudgetBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ratio, least := rapid.IntRange(0, 100).Draw(t, "percent"), rapid.Int64Range(0, 5).Draw(t, "least rate")
		const window = 10 * time.Second
		policy := &RetryBudget{Ratio: quantity.Percent(ratio), MinRate: quantity.Rate{Num: least, Den: 1, Per: time.Second}, Window: window}
		w := newWorker(policy, 50)
		type claim struct {
			slice engine.Time
			count [engine.NumClasses]int
		}
		var history []claim
		w.ready.add(engine.Retry, 300)
		policy.Plan(&engine.View{Idle: 1}, nil) // the windows begin at 0
		for range rapid.IntRange(1, 60).Draw(t, "claims") {
			w.view.Now = w.view.Now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			w.ready.add(engine.Fresh, rapid.IntRange(0, 5).Draw(t, "fresh"))
			w.view.InFlight = [engine.NumClasses]int{}
			now := claim{slice: w.view.Now / engine.Time(window/budgetSlices)}
			for _, j := range w.fetch(10) {
				now.count[j.class]++
			}
			history = append(history, now)
			var sum [engine.NumClasses]int
			for _, past := range history {
				if now.slice-past.slice < budgetSlices {
					sum[engine.Fresh] += past.count[engine.Fresh]
					sum[engine.Retry] += past.count[engine.Retry]
				}
			}
			if now.count[engine.Retry] > 0 && 100*sum[engine.Retry] > ratio*sum[engine.Fresh]+100*10*int(least) {
				t.Fatalf("%d retries and %d first claims in a window", sum[engine.Retry], sum[engine.Fresh])
			}
		}
	})
}

func TestTokenBucket(t *testing.T) {
	policy := &TokenBucket{Capacity: 500, Cost: 5, TimeoutCost: 10, Refill: 1}
	play(t, policy, []line{
		{at: 0, want: 100},
		{0, succeeded, engine.Fresh, 0, 9, 100}, // full is full
		{0, claimed, engine.Fresh, 0, 50, 100},  // fresh jobs cost nothing
		{0, failed, engine.Fresh, engine.Timeout, 50, 100},
		{0, claimed, engine.Retry, 0, 10, 90},
		{0, succeeded, engine.Retry, 0, 10, 100},
		{0, claimed, engine.Retry, 0, 20, 80},
		{0, failed, engine.Retry, engine.Throttled, 10, 80},
		{0, failed, engine.Retry, engine.Timeout, 10, 70},
		{0, succeeded, engine.Fresh, 0, 4, 70},
		{0, succeeded, engine.Fresh, 0, 1, 71},
		{0, claimed, engine.Retry, 0, 71, 0},
		{0, failed, engine.Retry, engine.Timeout, 71, 0}, // never below empty
		{0, succeeded, engine.Fresh, 0, 5, 1},
	})
}

func TestAIMD(t *testing.T) {
	play(t, &AIMD{Min: 2, Max: 20}, []line{
		{at: 0, want: 20},
		{0, succeeded, engine.Retry, 0, 60, 20}, // never above max
		{0, failed, engine.Fresh, engine.Timeout, 9, 20},
		{0, failed, engine.Retry, engine.Timeout, 1, 18},
		{0, failed, engine.Retry, engine.Throttled, 1, 16}, // 16.2
		{0, claimed, engine.Retry, 0, 9, 16},
		{0, succeeded, engine.Fresh, 0, 99, 16},
		{0, succeeded, engine.Retry, 0, 16, 16},
		{0, succeeded, engine.Retry, 0, 1, 17},  // 17.2, the 17th success
		{0, succeeded, engine.Retry, 0, 18, 18}, // 18.2
		{0, failed, engine.Retry, engine.Timeout, 50, 2},
		{0, succeeded, engine.Retry, 0, 2, 3},
		{0, succeeded, engine.Retry, 0, 3, 4},
		{0, succeeded, engine.Retry, 0, 3, 4},
		{0, succeeded, engine.Retry, 0, 1, 5},
	})
	play(t, &AIMD{Min: 2, Max: 20}, []line{{0, failed, engine.Retry, engine.Timeout, 1, 18}}) // before any plan
	view := engine.View{Workers: 100, Idle: 10, InFlight: [engine.NumClasses]int{60, 18}}
	if got := spell((&AIMD{Min: 1, Max: 20}).Plan(&view, nil)); got != "any 2, fresh 8" {
		t.Errorf("got %q", got)
	}
}

// TestBudgetHesitates: the bound on what a retry budget holds back has a wait for each attempt, and ends at a century.
func TestBudgetHesitates(t *testing.T) {
	for _, tt := range []struct {
		perSecond, fails, jobs int
		window, want           time.Duration
	}{
		{10, 5, 5, 10 * time.Second, 3 * time.Minute},
		{2, 600, 200, 10 * time.Second, 420 * time.Second},
		{2, 0, 0, time.Hour, 2*time.Hour + 500*time.Millisecond},
		{1, 5, 5, Century, Century},
		{0, 0, 0, time.Hour, Century}, // no retry is paid for
	} {
		rate := quantity.Rate{Num: int64(tt.perSecond), Den: 1, Per: time.Second}
		budget := &RetryBudget{Ratio: quantity.Percent(20), MinRate: rate, Window: tt.window}
		if got := budget.Guarantees().Hesitates(tt.fails, tt.jobs); got != tt.want {
			t.Errorf("%d/s in %v, %d failures of %d jobs: %v, want %v", tt.perSecond, tt.window, tt.fails, tt.jobs, got, tt.want)
		}
	}
}
