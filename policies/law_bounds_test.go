package policies

import (
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// judged is a line of the script of a law: observations of its policy, and then a plan that breaks the law or not.
// Most plans come in pairs: one at the bound of the legal plans, and the nearest illegal one.
type judged struct {
	at     time.Duration
	seen   []engine.Observation // observations at that time
	idle   int                  // number of idle workers, of 10
	busy   [engine.NumClasses]int
	plan   []engine.Term
	breaks bool
}

func judge(t *testing.T, policy engine.Policy, script []judged) {
	t.Helper()
	law := Guarantees(policy).Law()
	for n, line := range script {
		for _, o := range line.seen {
			o.Now = engine.Time(line.at)
			law.Observe(&o)
		}
		v := engine.View{Now: engine.Time(line.at), Workers: 10, Idle: line.idle, InFlight: line.busy}
		if wrong := law.Plan(&v, line.plan); wrong != "" != line.breaks {
			t.Errorf("line %d: got %q, breaks the law: %v", n, wrong, line.breaks)
		}
	}
}

// took is the answer to a plan: how many fresh jobs and retries it brought, and of which kinds both were.
func took(fresh, retries int, kinds engine.Kinds) []engine.Observation {
	return []engine.Observation{{Claimed: [engine.NumClasses]int{fresh, retries}, Kinds: kinds}}
}

// ended returns the observations of that many ended executions of a kind.
func ended(times int, kind engine.Kind, err engine.ErrorKind) []engine.Observation {
	return slices.Repeat([]engine.Observation{{Ended: true, Job: kind, Error: err}}, times)
}

func ask(class engine.Class, limit int) engine.Term { return engine.Term{Class: class, Limit: limit} }

// roomByLaw returns the fewest and the most retries for which a law lets a plan have room.
func roomByLaw(law Law, v engine.View) (least, most int) {
	least, most = -1, -1
	for n := range v.Idle + 1 {
		if law.Plan(&v, []engine.Term{ask(engine.Retry, n), ask(engine.Fresh, v.Idle)}) != "" {
			continue
		}
		if least < 0 {
			least = n
		}
		most = n
	}
	return least, most
}

func TestRationLaw(t *testing.T) {
	four, all := ask(engine.Retry, 4), ask(engine.AnyClass, 9)
	judge(t, InFlightCap{Retries: 5}, []judged{
		{idle: 9, busy: [2]int{0, 1}, plan: []engine.Term{four, ask(engine.Fresh, 9)}},
		{idle: 9, busy: [2]int{0, 1}, plan: []engine.Term{four, ask(engine.Fresh, 8)}, breaks: true},
		{idle: 9, busy: [2]int{0, 1}, plan: []engine.Term{ask(engine.AnyClass, 4), ask(engine.Fresh, 5)}},
		{idle: 9, busy: [2]int{0, 1}, plan: []engine.Term{all}, breaks: true},
		{idle: 9, busy: [2]int{0, 1}, plan: []engine.Term{ask(engine.Retry, 5), all}, breaks: true},
		{idle: 9, busy: [2]int{0, 6}, plan: []engine.Term{ask(engine.Fresh, 9)}}, // below nothing is nothing
		{idle: 9, busy: [2]int{0, 6}, plan: []engine.Term{ask(engine.Retry, 1), ask(engine.Fresh, 9)}, breaks: true},
		{idle: 3, busy: [2]int{6, 1}, plan: []engine.Term{all, all}}, // more than is idle is all that is idle
		{idle: 3, busy: [2]int{6, 1}, plan: []engine.Term{ask(engine.Retry, 2), ask(engine.Fresh, 3)}, breaks: true},
	})
}

func TestRetryBudgetLaw(t *testing.T) {
	const second = time.Second
	policy := RetryBudget{Ratio: quantity.Percent(20), MinRate: quantity.Rate{Num: 1, Den: 1, Per: second}, Window: 10 * second}
	law := policy.Guarantees().Law()
	for n, l := range []struct {
		at             time.Duration
		fresh, retries int // claimed
		least, most    int // bounds of the claims with 100 idle workers
	}{
		{0, 0, 0, 10, 10}, // the reserve: 1/s for 10 s
		{second, 5, 0, 11, 11},
		{second, 0, 4, 7, 7},
		{10 * second, 0, 0, 7, 7},    // all of nine tenths of a window is remembered
		{10*second + 1, 0, 0, 6, 11}, // of what is older, the claims may be, or the deposits
		{11*second - 1, 0, 0, 6, 11}, //
		{11 * second, 0, 0, 10, 10},  // and nothing that is older than a window
		{12 * second, 4, 0, 10, 10},  // four fifths of a retry
		{12 * second, 1, 0, 11, 11},  //
		{12 * second, 0, 30, 0, 0},   // overspent
		{12 * second, 100, 0, 1, 1},  //
		{13 * second, 50, 6, 5, 5},   //
		{21 * second, 0, 0, 5, 5},    //
		{21*second + 1, 0, 0, 0, 35}, // of two ages
		{22 * second, 0, 0, 14, 14},  //
	} {
		for _, o := range append(took(l.fresh, l.retries, 0), engine.Observation{Ended: true, Class: engine.Retry}) {
			o.Now = engine.Time(l.at)
			law.Observe(&o)
		}
		least, most := roomByLaw(law, engine.View{Now: engine.Time(l.at), Idle: 100})
		if least != l.least || most != l.most {
			t.Errorf("line %d: from %d to %d retries are legal, want %d to %d", n, least, most, l.least, l.most)
		}
	}
}

func TestSeparateLaw(t *testing.T) {
	fresh, retry := ask(engine.Fresh, 5), ask(engine.Retry, 4)
	six := ask(engine.Fresh, 6)
	freshFirst, retryFirst := []engine.Term{fresh, retry}, []engine.Term{retry, fresh}
	judge(t, &Separate{RetryWorkers: 4}, []judged{
		{idle: 10, plan: []engine.Term{six, retry}},
		{idle: 10, plan: []engine.Term{fresh, retry}, breaks: true},
		{idle: 10, plan: []engine.Term{ask(engine.Fresh, 7), retry}, breaks: true},
		{idle: 10, plan: []engine.Term{six, ask(engine.Retry, 3)}, breaks: true},
		{idle: 10, plan: []engine.Term{six, ask(engine.Retry, 5)}, breaks: true},
		{idle: 3, busy: [2]int{4, 3}, plan: []engine.Term{ask(engine.Fresh, 2), ask(engine.Retry, 1)}},
		{idle: 3, busy: [2]int{4, 3}, plan: []engine.Term{ask(engine.Fresh, 1), ask(engine.Retry, 2)}, breaks: true},
		{idle: 2, busy: [2]int{8, 0}, plan: []engine.Term{ask(engine.Retry, 2)}}, // a lane with more than its workers
		{idle: 5, plan: freshFirst},                                           // this one cannot fill both lanes
		{idle: 5, plan: freshFirst},                                           // nor this one, but the other was not answered
		{idle: 5, seen: ended(1, 0, 0), plan: freshFirst},                     // which is not the end of an execution
		{idle: 5, seen: took(5, 0, 0), plan: freshFirst, breaks: true},        //
		{idle: 5, plan: retryFirst},                                           //
		{idle: 5, plan: retryFirst},                                           //
		{idle: 5, seen: took(1, 4, 0), plan: retryFirst, breaks: true},        //
		{idle: 10, plan: []engine.Term{retry, six}},                           // one that fills both asks as it likes,
		{idle: 5, plan: freshFirst},                                           //
		{idle: 10, plan: []engine.Term{six, retry}},                           // and takes the place of one that has no answer
		{idle: 5, seen: took(6, 4, 0), plan: retryFirst, breaks: true},        //
		{idle: 5, plan: freshFirst},                                           //
		{idle: 5, seen: took(0, 0, 0), plan: freshFirst, breaks: true},        // an answer without jobs is one
		{idle: 5, seen: ended(1, 0, 0), plan: retryFirst},                     //
		{idle: 4, seen: took(4, 0, 0), plan: []engine.Term{ask(0, 4), retry}}, // the smaller plan has rooms of its own
	})
	judge(t, &Separate{RetryWorkers: 4, RetryPoll: time.Second}, []judged{
		{idle: 10, plan: []engine.Term{six}}, // retries are not looked for each time
		{idle: 10, plan: []engine.Term{six, retry}},
		{idle: 10, plan: []engine.Term{six, ask(engine.Retry, 5)}, breaks: true},
		{idle: 10, plan: []engine.Term{fresh, retry}, breaks: true},
	})
}

func TestBreakerLaw(t *testing.T) {
	const second = time.Second
	kinds := func(set engine.Kinds, limit int) engine.Term { return engine.Term{Kinds: set, Limit: limit} }
	// The bank is called by kinds 0 and 1, the post by kind 2, and kind 3 calls nothing.
	const bank, post, none = 1<<0 | 1<<1, 1 << 2, 1 << 3
	policy := Breaker{Failures: 2, ProbeAfter: 10 * second, Kinds: []engine.Kinds{bank, post}, Others: none}
	all := []engine.Term{kinds(0, 4)}
	without, try := []engine.Term{kinds(post|none, 4)}, []engine.Term{kinds(bank, 1), kinds(post|none, 4)}
	judge(t, &policy, []judged{
		{idle: 4, plan: all},
		{idle: 4, plan: []engine.Term{kinds(0, 3)}, breaks: true},
		{idle: 4, plan: []engine.Term{kinds(bank, 3), kinds(post, 4)}, breaks: true},
		{idle: 4, plan: []engine.Term{kinds(bank, 1), kinds(1<<1, 3), kinds(post, 4)}}, // in parts
		{idle: 4, plan: without, breaks: true},
		{idle: 4, seen: ended(1, 0, engine.Timeout), plan: all},
		{idle: 4, seen: ended(1, 1, engine.NoError), plan: all}, // a success: from the start
		{idle: 4, seen: ended(1, 0, engine.Timeout), plan: all},
		{idle: 4, seen: ended(3, 0, engine.Canceled), plan: all}, // says nothing of the bank
		{idle: 4, seen: ended(3, 0, engine.LeaseExpired), plan: all},
		{idle: 4, seen: ended(3, 3, engine.Timeout), plan: all},  // calls nothing
		{idle: 4, seen: ended(3, 64, engine.Timeout), plan: all}, //
		{idle: 4, seen: took(2, 2, bank), plan: all},             // a claim is no try while it is closed
		{at: second, idle: 4, seen: ended(1, 1, engine.Timeout), plan: without},
		{at: second, idle: 4, plan: all, breaks: true},
		{at: second, idle: 4, seen: ended(1, 0, engine.NoError), plan: without}, // it began before
		{at: second, idle: 4, seen: ended(1, 0, engine.Timeout), plan: without},
		{at: 11*second - 1, idle: 4, plan: try, breaks: true},
		{at: 11 * second, idle: 4, plan: try},
		{at: 11 * second, idle: 4, plan: []engine.Term{kinds(bank, 2), kinds(post|none, 4)}, breaks: true},
		{at: 12 * second, idle: 4, plan: without}, // up to a tenth more
		{at: 12*second + 1, idle: 4, plan: without, breaks: true},
		{at: 12*second + 1, idle: 4, plan: try},
		{at: 13 * second, idle: 4, seen: took(4, 0, post|none), plan: try}, // it found none
		{at: 13 * second, idle: 4, seen: took(4, 1, bank), plan: without},  // on its way
		{at: 23*second - 1, idle: 4, plan: try, breaks: true},
		{at: 23 * second, idle: 4, plan: try}, // lost: another one
		{at: 24 * second, idle: 4, plan: without, seen: took(1, 0, bank)},
		{at: 34 * second, idle: 4, plan: without, seen: took(1, 0, bank)}, // the plan before tried nothing
		{at: 34 * second, idle: 4, plan: without, seen: ended(1, 0, 9)},   // it failed, and the time begins anew
		{at: 44*second - 1, idle: 4, plan: try, breaks: true},
		{at: 44*second - 1, idle: 4, plan: without, seen: ended(1, 0, engine.NoError)}, // which no try was
		{at: 44 * second, idle: 4, plan: try},
		{at: 45 * second, idle: 4, plan: without, seen: took(1, 0, bank)},
		{at: 45 * second, idle: 4, plan: all, seen: ended(1, 1, engine.NoError)},
		{at: 45 * second, idle: 4, plan: all, seen: ended(1, 1, 9)}, // and from the start
		{at: 45 * second, idle: 4, plan: without, seen: ended(1, 1, 9)},
	})
	one, other := kinds(bank, 1), kinds(post, 1)
	judge(t, &policy, []judged{
		{seen: append(ended(2, 0, 9), ended(2, 2, 9)...), idle: 4, plan: []engine.Term{kinds(none, 4)}},
		{idle: 4}, // a plan need not ask for what calls nothing
		{at: 10 * second, idle: 4, plan: []engine.Term{one}},
		{at: 10 * second, idle: 4, plan: []engine.Term{other}},
		{at: 10 * second, idle: 4, plan: []engine.Term{one, other}, breaks: true},
		{at: 11*second + 1, idle: 4, plan: []engine.Term{other}},
		{at: 11*second + 1, idle: 4, breaks: true},
		{at: 11*second + 1, idle: 4, plan: []engine.Term{one}},
		{at: 12 * second, idle: 1, plan: []engine.Term{one}, seen: took(0, 0, 0)},
		{at: 12 * second, idle: 1, plan: []engine.Term{other}, seen: took(1, 0, bank)},
		{at: 12 * second, idle: 1, plan: []engine.Term{other, one}, seen: ended(1, 1, engine.NoError)}, // the bank is closed
	})
}
