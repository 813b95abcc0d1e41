package policies

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

func TestAsked(t *testing.T) {
	terms := []engine.Term{ask(engine.Fresh, 2), ask(engine.Retry, 9), ask(engine.AnyClass, 1)}
	for _, tt := range []struct{ idle, fresh, retries int }{{8, 3, 8}, {20, 3, 10}, {1, 1, 1}} {
		if fresh, retries := Asked(&engine.View{Idle: tt.idle}, terms); fresh != tt.fresh || retries != tt.retries {
			t.Errorf("%d idle workers: got %d fresh jobs and %d retries, want %d and %d", tt.idle, fresh, retries,
				tt.fresh, tt.retries)
		}
	}
}

func TestCoDelLaw(t *testing.T) {
	const second = time.Second
	wait := func(most time.Duration, shed int32, limit int) engine.Term {
		return engine.Term{Class: engine.AnyClass, MaxWait: most, Shed: shed, Limit: limit}
	}
	burst, standing := []engine.Term{wait(5*second, 1000, 4)}, []engine.Term{wait(second, 1000, 4)}
	judge(t, &CoDel{Target: second, Interval: 5 * second}, []judged{
		{at: 10 * second, idle: 4, plan: burst}, // it begins with an empty queue
		{at: 10 * second, idle: 4, plan: standing, breaks: true},
		{at: 10 * second, idle: 4, plan: []engine.Term{wait(5*second, 1000, 3)}, breaks: true},
		{at: 10 * second, idle: 4, plan: []engine.Term{wait(5*second, 1000, 5)}},
		{at: 10 * second, idle: 4, plan: []engine.Term{wait(5*second, 0, 4)}, breaks: true},
		{at: 10 * second, idle: 4, plan: append(burst, wait(0, 0, 4)), breaks: true},
		{at: 9 * second, idle: 4, plan: burst}, // a clock that was set back changes nothing
		{at: 15 * second, idle: 4, plan: burst},
		{at: 15*second + 1, idle: 4, plan: burst, breaks: true},
		{at: 15*second + 1, idle: 4, plan: standing},
		{at: 16 * second, idle: 4, seen: took(2, 2, 0), plan: standing},
		{at: 17 * second, idle: 4, seen: ended(1, 0, 0), plan: standing},
		{at: 17 * second, idle: 4, seen: took(1, 2, 0), plan: burst}, // the queue was empty
		{at: 22 * second, idle: 4, plan: burst},
		{at: 22*second + 1, idle: 4, plan: standing},
	})
	last := []engine.Term{wait(5*second, 0, 4), wait(0, 0, 4)}
	judge(t, &CoDel{Target: second, Interval: 5 * second, Last: true}, []judged{
		{idle: 4, plan: last},
		{idle: 4, plan: last[:1], breaks: true},
		{idle: 4, plan: append(burst, last[1]), breaks: true},
		{idle: 4, plan: []engine.Term{last[0], wait(1, 0, 4)}, breaks: true},
		{idle: 4, plan: []engine.Term{last[0], wait(0, 0, 3)}, breaks: true},
		{idle: 4, plan: []engine.Term{last[0], wait(0, 0, 5)}},
		{at: 5*second + 1, idle: 4, plan: []engine.Term{wait(second, 0, 4), last[1]}},
	})
}

func TestAdaptiveLIFOLaw(t *testing.T) {
	law := AdaptiveLIFO{OlderThan: time.Second}.Guarantees().Law()
	for _, tt := range []struct {
		name         string
		age          time.Duration // age of the statistics
		fresh, retry time.Duration // waits of the oldest fresh job and retry
		right, wrong engine.Order
	}{
		{"as long as the bound", 0, time.Second, time.Second, engine.OldestReady, engine.NewestReady},
		{"a fresh job for longer", 0, time.Second + 1, 0, engine.NewestReady, engine.OldestReady},
		{"a retry for longer", 1, 0, time.Second + 1, engine.NewestReady, engine.OldestReady},
		{"no statistics yet", -1, time.Minute, time.Minute, engine.OldestReady, engine.NewestReady},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := engine.View{Idle: 1, StatsAge: tt.age}
			v.Store.OldestReady = [engine.NumClasses]time.Duration{tt.fresh, tt.retry}
			if wrong := law.Plan(&v, []engine.Term{{Order: tt.right}}); wrong != "" {
				t.Errorf("%v: got %q", tt.right, wrong)
			}
			if law.Plan(&v, []engine.Term{{Order: tt.right}, {Order: tt.wrong}}) == "" {
				t.Errorf("%v is accepted", tt.wrong)
			}
		})
	}
}

func TestSplitLaw(t *testing.T) {
	plan := func(urgent, oldest int) []engine.Term {
		return []engine.Term{ask(engine.AnyClass, urgent), {Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: oldest}}
	}
	judge(t, &Split{Priority: quantity.Fraction(4, 5)}, []judged{
		{idle: 5, plan: plan(4, 1)},
		{idle: 5, plan: plan(5, 0), breaks: true}, // a whole job ahead
		{idle: 5, plan: plan(3, 2), breaks: true}, // and behind
		{idle: 5, plan: plan(4, 0), breaks: true},
		{idle: 5, plan: plan(4, 2), breaks: true},
		{idle: 1, plan: plan(0, 1)}, // four fifths behind, and then
		{idle: 1, seen: took(1, 0, 0), plan: plan(0, 1), breaks: true},
		{idle: 1, plan: plan(1, 0)}, // three fifths
		{idle: 1, seen: took(0, 1, 0), plan: plan(0, 1), breaks: true},
		{idle: 1, plan: plan(1, 0)},
		{idle: 1, seen: took(0, 0, 0), plan: plan(0, 1)}, // the queue was empty: nothing is owed
		{idle: 2, plan: plan(2, 0)},
		{idle: 3, seen: append(took(1, 1, 0), took(0, 0, 0)...), plan: plan(3, 0), breaks: true}, // a plan has one answer
		{idle: 1, plan: plan(1, 0)},                                                              // three fifths ahead
		{idle: 1, seen: took(1, 0, 0), plan: plan(1, 0)},                                         // four
		{idle: 1, seen: took(1, 0, 0), plan: plan(1, 0), breaks: true},
		{idle: 1, plan: plan(0, 1)},
	})
}

// plans returns how many plans in a row a law accepts, all of them alike.
func plans(law Law, idle int, terms ...engine.Term) (n int) {
	for ; n < 1000 && law.Plan(&engine.View{Idle: idle}, terms) == ""; n++ {
	}
	return n
}

func TestQueuesLaw(t *testing.T) {
	queue := func(set engine.Kinds, limit int) engine.Term { return engine.Term{Kinds: set, Limit: limit} }
	policy := NewQueues([]int64{3, 1})
	for _, tt := range []struct {
		name  string
		terms []engine.Term
		want  int // plans
	}{
		// A class that comes first each time, although its share of the weights is s, is eight standard deviations off
		// after n plans where (1-s)n > 2 + 8√(s(1-s)n).
		{"always the first class", []engine.Term{queue(1, 4), queue(2, 4)}, 207},
		{"always the second class", []engine.Term{queue(2, 5), queue(1, 4)}, 26},
		{"too few of a class", []engine.Term{queue(1, 4), queue(2, 3)}, 0},
		{"a class twice", []engine.Term{queue(1, 4), queue(1, 4)}, 0},
		{"two classes at once", []engine.Term{queue(3, 4), queue(2, 4)}, 0},
		{"a class is left out", []engine.Term{queue(1, 4)}, 0},
		{"a class too many", []engine.Term{queue(1, 4), queue(2, 4), queue(4, 4)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plans(policy.Guarantees().Law(), 4, tt.terms...); got != tt.want {
				t.Errorf("%d plans are accepted, want %d", got, tt.want)
			}
		})
	}
}

func TestBernoulliLaw(t *testing.T) {
	policy := Bernoulli{Fresh: quantity.Percent(50)}
	for _, tt := range []struct {
		name         string
		idle         int
		fresh, retry int
		want         int // plans
	}{
		{"half", 100, 50, 50, 1000},
		{"eight standard deviations and two more than half", 100, 92, 8, 1},
		{"one further", 100, 93, 7, 0},
		{"as many fewer", 100, 8, 92, 1},
		{"one fewer", 100, 7, 93, 0},
		{"the coins of all plans count", 1, 1, 0, 71}, // n/2 > 2 + 4√n
		{"no more coins than a plan has", 200_000, 1 << 15, 1 << 15, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plans(policy.Guarantees().Law(), tt.idle, ask(engine.Fresh, tt.fresh), ask(engine.Retry, tt.retry), ask(engine.AnyClass, tt.idle))
			if got != tt.want {
				t.Errorf("%d plans are accepted, want %d", got, tt.want)
			}
		})
	}
}

func TestIsUnlikely(t *testing.T) {
	for _, tt := range []struct {
		n           int
		chance      float64
		least, most int // bounds of the numbers that are not unlikely
	}{{100, 0.5, 8, 92}, {100, 0, 0, 2}, {100, 1, 98, 100}, {10_000, 0.1, 758, 1242}} {
		for fell := range tt.n + 1 {
			want := fell < tt.least || fell > tt.most
			if isUnlikely(fell, tt.n, tt.chance) != want {
				t.Errorf("%d of %d at %v: unlikely %v, want %v", fell, tt.n, tt.chance, !want, want)
			}
		}
	}
}
