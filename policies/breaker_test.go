package policies

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"qsim/engine"
)

// TestBreaker follows the breaker of the bank, which kinds 0 and 1 call; kind 2 calls
// nothing. Every plan has 9 idle workers.
func TestBreaker(t *testing.T) {
	const (
		everything = "any 9"
		onlyMail   = "100 any 9"
		probe      = "011 any 1, 100 any 9"
	)
	policy := newPolicy(t, "breaker", map[string]string{"failures": "3"}, 100)
	view := engine.View{Idle: 9}
	for n, step := range []struct {
		after   time.Duration
		kind    engine.Kind
		err     engine.ErrorKind
		times   int
		claimed engine.Kinds
		want    string
	}{
		{after: time.Hour, want: everything},
		{kind: 0, err: engine.Timeout, times: 2, want: everything},
		{kind: 2, err: engine.Timeout, times: 9, want: everything}, // not the bank
		{kind: 1, times: 1, want: everything},                      // a success: from the start
		{kind: 1, err: engine.Throttled, times: 2, want: everything},
		{kind: 0, err: engine.Canceled, times: 5, want: everything}, // says nothing of the bank
		{kind: 1, err: engine.LeaseExpired, times: 5, want: everything},
		{kind: 0, err: engine.FirstErrorKind, times: 1, want: onlyMail}, // open
		{after: 30 * time.Second, kind: 0, err: engine.Timeout, times: 4, want: onlyMail},
		{kind: 0, times: 1, want: onlyMail},                                  // it ran before
		{after: 29 * time.Second, want: onlyMail},                            // not yet
		{after: 7 * time.Second, want: probe},                                // a minute, and a tenth of that at the most
		{claimed: 1 << 2, want: probe},                                       // it found none
		{claimed: 1<<2 | 1<<1, want: onlyMail},                               // on its way
		{after: 30 * time.Second, want: onlyMail},                            //
		{after: 36 * time.Second, want: probe},                               // lost: another one
		{claimed: 1 << 0, want: onlyMail},                                    //
		{after: time.Second, kind: 0, err: 9, times: 1, want: onlyMail},      // it failed
		{after: 59 * time.Second, want: onlyMail},                            //
		{after: 7 * time.Second, want: probe},                                //
		{claimed: 1 << 0, want: onlyMail},                                    //
		{after: 50 * time.Second, kind: 0, err: 9, times: 1, want: onlyMail}, // it failed, after a long time
		{after: 59 * time.Second, want: onlyMail},                            // which counts from then
		{after: 7 * time.Second, want: probe},                                //
		{claimed: 1 << 0, want: onlyMail},                                    //
		{after: time.Second, kind: 0, times: 1, want: everything},            // it succeeded: closed
		{kind: 0, err: 9, times: 2, want: everything},                        // and from the start
		{kind: 1, err: 9, times: 1, want: onlyMail},
	} {
		view.Now = view.Now.Add(step.after)
		if step.claimed != 0 {
			policy.Observe(&engine.Observation{Now: view.Now, Kinds: step.claimed, Claimed: [engine.NumClasses]int{2}})
		}
		for range step.times {
			o := engine.Observation{Now: view.Now, Ended: true, Job: step.kind, Error: step.err}
			policy.Observe(&o)
		}
		setPlanNumber(&view, uint64(n))
		if got := spellKinds(policy.Plan(&view, nil)); got != step.want {
			t.Fatalf("step %d: got %q, want %q", n, got, step.want)
		}
	}
}

// spellKinds returns terms as text, with the kinds of those limited to some, the highest first.
func spellKinds(terms []engine.Term) (out string) {
	for _, term := range terms {
		if out != "" {
			out += ", "
		}
		if term.Kinds != 0 {
			out += fmt.Sprintf("%03b ", uint64(term.Kinds))
		}
		out += fmt.Sprint(term.Class, " ", term.Limit)
	}
	return out
}

// Each dependency has its breaker, one is tried by a plan, and with nothing else left
// nothing is claimed.
func TestBreakersOfTwo(t *testing.T) {
	policy := &Breaker{Failures: 1, ProbeAfter: time.Minute, Kinds: []engine.Kinds{1, 2}}
	fail := func(kind engine.Kind, at engine.Time) {
		policy.Observe(&engine.Observation{Now: at + engine.Time(time.Hour), Ended: true, Job: kind, Error: engine.Timeout})
	}
	const minute = engine.Time(time.Minute)
	plan := func(at engine.Time) string {
		return spellKinds(policy.Plan(&engine.View{Now: at + 60*minute, Idle: 4}, nil))
	}
	fail(0, 0)
	if got := plan(0); got != "010 any 4" {
		t.Errorf("one is open: got %q", got)
	}
	fail(1, 1)
	if got := plan(1); got != "" {
		t.Errorf("both are open: got %q", got)
	}
	if got := plan(2 * minute); got != "001 any 1" {
		t.Errorf("one at a time: got %q", got)
	}
	policy.Observe(&engine.Observation{Now: 62 * minute, Kinds: 1, Claimed: [engine.NumClasses]int{engine.Retry: 1}})
	if got := plan(2 * minute); got != "010 any 1" {
		t.Errorf("then the other: got %q", got)
	}
	fail(63, 3*minute) // calls nothing
	fail(64, 3*minute)
	if got := plan(3 * minute); got != "010 any 1" {
		t.Errorf("got %q", got)
	}
	for _, at := range []engine.Time{10 * minute, 20 * minute} { // a try that found its job is no reason to begin with the other
		if got := plan(at); got != "001 any 1" {
			t.Errorf("both are due, at %v: got %q", at, got)
		}
		policy.Observe(&engine.Observation{Now: at + 60*minute, Kinds: 1, Claimed: [engine.NumClasses]int{1}})
	}
}

// TestBreakerHesitates: the bound on what a circuit breaker holds back ends at a century, however many attempts fail.
func TestBreakerHesitates(t *testing.T) {
	hesitates := (&Breaker{Failures: 5, ProbeAfter: 2 * time.Hour}).Guarantees().Hesitates
	for fails, want := range map[int]time.Duration{0: 264 * time.Minute, 1: 528 * time.Minute, 1_000_000: Century} {
		if got := hesitates(fails, 0); got != want {
			t.Errorf("after %d failures %v, want %v", fails, got, want)
		}
	}
}

// The wait until a try is drawn once, from the time to a tenth more, evenly: of 200 breakers that plan every 10 ms the
// mean is within 0.15 s of the middle, six standard deviations.
func TestBreakerDrawsItsWaitOnce(t *testing.T) {
	var sum time.Duration
	for n := range uint64(200) {
		policy := &Breaker{Failures: 1, ProbeAfter: 10 * time.Second, Kinds: []engine.Kinds{1}}
		policy.Observe(&engine.Observation{Now: 7, Ended: true, Error: engine.Timeout})
		view := engine.View{Now: 7, Idle: 1}
		for at := 10 * time.Second; ; at += 10 * time.Millisecond {
			view.Now = engine.Time(at) + 7
			setPlanNumber(&view, n<<20|uint64(at/time.Millisecond))
			if len(policy.Plan(&view, nil)) > 0 {
				sum += at
				break
			}
			if at > 11*time.Second {
				t.Fatalf("breaker %d tries nothing after %v", n, at)
			}
		}
	}
	if mean := sum / 200; mean < 10350*time.Millisecond || mean > 10650*time.Millisecond {
		t.Errorf("a try after %v in the mean, want 10.5 s", mean)
	}
	policy := &Breaker{Failures: 1, ProbeAfter: 9, Kinds: []engine.Kinds{1}} // a tenth of which is nothing
	policy.Observe(&engine.Observation{Now: 7, Ended: true, Error: engine.Timeout})
	if early, due := policy.Plan(&engine.View{Now: 15, Idle: 1}, nil), policy.Plan(&engine.View{Now: 16, Idle: 1}, nil); len(early) != 0 || len(due) != 1 {
		t.Errorf("tries %v just before its time, and %v then", early, due)
	}
}

// While the dependency is down, one call per probe-after goes out and the workers serve the other
// jobs; no job loses an attempt: all are as fresh as they arrived.
func TestBreakerKeepsJobs(t *testing.T) {
	s := newStored(t, newPolicy(t, "breaker", map[string]string{"failures": "2", "probe-after": "10s"}, 100), engine.StoreOptions{})
	s.add(500, engine.NewJob{Kind: 0})
	s.add(500, engine.NewJob{Kind: 2})
	var calls, mails int
	for range 600 {
		s.view.Now = s.view.Now.Add(100 * time.Millisecond)
		for _, l := range s.fetch(1) {
			if l.Kind == 0 {
				calls++
				s.ended(0, engine.Timeout)
			} else {
				mails++
				s.ended(2, engine.NoError)
			}
		}
	}
	// Two before it opened, then in 60 s one every 10 to 11 s.
	if stats, err := s.Stats(t.Context(), 0); err != nil || calls < 7 || calls > 8 || mails != 500 || stats.Ready[engine.Retry] != 0 {
		t.Errorf("%d calls, %d mails, %+v, %v", calls, mails, stats, err)
	}
}

// TestCoDel lets a standing queue build up and vanish. Target 1 s, interval 10 s.
func TestCoDel(t *testing.T) {
	for _, last := range []bool{false, true} {
		policy := &CoDel{Target: time.Second, Interval: 10 * time.Second, Last: last}
		view := engine.View{Idle: 4}
		for n, step := range []struct {
			after time.Duration
			got   int // jobs claimed by the previous plan
			want  time.Duration
		}{
			{0, 0, 10 * time.Second}, // it begins empty
			{9 * time.Second, 4, 10 * time.Second},
			{time.Second, 4, 10 * time.Second},
			{1, 4, time.Second}, // never empty for more than ten seconds
			{time.Minute, 4, time.Second},
			{0, 3, 10 * time.Second}, // a plan brought less than it asked for
			{10 * time.Second, 4, 10 * time.Second},
			{1, 4, time.Second},
		} {
			view.Now = view.Now.Add(step.after)
			if n > 0 {
				policy.Observe(&engine.Observation{Now: view.Now, Claimed: [engine.NumClasses]int{step.got - step.got/2, step.got / 2}})
			}
			terms := policy.Plan(&view, nil)
			want := []engine.Term{{Class: engine.AnyClass, MaxWait: step.want, Shed: 1000, Limit: 4}}
			if last {
				want = []engine.Term{{Class: engine.AnyClass, MaxWait: step.want, Limit: 4}, {Class: engine.AnyClass, Limit: 4}}
			}
			if fmt.Sprint(terms) != fmt.Sprint(want) {
				t.Errorf("last %v, step %d: got %+v, want %+v", last, n, terms, want)
			}
		}
		policy.Observe(&engine.Observation{Now: view.Now, Claimed: [engine.NumClasses]int{4}})
		before := policy.emptyAt
		policy.Observe(&engine.Observation{Now: view.Now + 1}) // an answer to no plan
		if policy.emptyAt != before {
			t.Error("an answer to no plan emptied the queue")
		}
	}
}

// Under twice the load that the workers can handle, claimed jobs have waited for little more than
// target, in both modes; and no job is shed in a burst.
func TestCoDelBoundsTheWait(t *testing.T) {
	for _, then := range []string{"bury", "last"} {
		s := newStored(t, newPolicy(t, "codel", map[string]string{"target": "1s", "interval": "10s", "then": then}, 100), engine.StoreOptions{})
		var shed, served, soon int
		s.add(50, engine.NewJob{}) // a burst
		s.view.Now = s.view.Now.Add(5 * time.Second)
		for range 3000 {
			s.view.Now = s.view.Now.Add(10 * time.Millisecond)
			s.add(2, engine.NewJob{})
			for _, l := range s.fetch(1) {
				switch {
				case l.Shed:
					shed++
				case s.view.Now > 20*engine.Time(time.Second):
					if served++; l.Waited <= time.Second {
						soon++
					}
				}
			}
			if shed > 0 && s.view.Now < 10*engine.Time(time.Second) {
				t.Fatalf("%s: shed in a burst at %v", then, s.view.Now.Seconds())
			}
		}
		if served < 1400 || soon < served || (shed > 2000) != (then == "bury") || then == "last" && shed > 0 {
			t.Errorf("%s: %d served, %d of them soon, %d shed", then, served, soon, shed)
		}
	}
}

// TestBreakerTriesEveryDependency opens the breakers of two dependencies. There is no job
// any more that calls the first: that must not keep the second from being tried.
func TestBreakerTriesEveryDependency(t *testing.T) {
	p := &Breaker{Failures: 1, ProbeAfter: time.Second, Kinds: []engine.Kinds{engine.Kinds(0).With(0), engine.Kinds(0).With(1)}}
	view := engine.View{Idle: 9}
	p.Plan(&view, nil)
	for kind := range engine.Kind(2) {
		p.Observe(&engine.Observation{Ended: true, Job: kind, Error: engine.Timeout})
	}
	view.Now = engine.Time(time.Minute)
	var tried []engine.Kinds
	for range 4 {
		for _, term := range p.Plan(&view, nil) {
			tried = append(tried, term.Kinds)
		}
		p.Observe(&engine.Observation{Now: view.Now})
	}
	want := []engine.Kinds{p.Kinds[0], p.Kinds[1], p.Kinds[0], p.Kinds[1]}
	if !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
}
