package policies

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/quantity"
)

// sequence claims count jobs one batch at a time and returns their classes as text: F or R.
func (w *worker) sequence(count, batch int) string {
	var classes strings.Builder
	for range count {
		for _, j := range w.fetch(batch) {
			classes.WriteByte("FR"[j.class])
		}
	}
	return classes.String()
}

func TestWeightedSequence(t *testing.T) {
	for _, tt := range []struct {
		name  string
		share quantity.Share
		count int
		batch int
		want  string
	}{
		{"two to one", quantity.Fraction(2, 3), 9, 1, "FFRFFRFFR"},
		{"four to one", quantity.Percent(80), 10, 1, "FFFFRFFFFR"},
		{"one to two", quantity.Fraction(1, 3), 9, 1, "FRRFRRFRR"},
		{"one to four", quantity.Percent(20), 10, 1, "FRRRRFRRRR"},
		{"in twos", quantity.Fraction(2, 3), 3, 2, "FFFRFR"},
		{"all", quantity.Percent(100), 3, 1, "FFF"},
		{"none", quantity.Share{}, 3, 1, "RRR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := backlogged(&Weighted{Fresh: tt.share}, 100)
			if got := w.sequence(tt.count, tt.batch); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A class that was found empty is owed nothing afterwards, and neither is the one that
// it lent to: the sequence begins anew.
func TestWeightedForgetsWhatCouldNotBeUsed(t *testing.T) {
	for _, noLending := range []bool{false, true} {
		w := newWorker(&Weighted{Fresh: quantity.Percent(20), NoLending: noLending}, 100)
		w.ready.add(engine.Fresh, 50)
		got := w.sequence(20, 1)
		w.ready.add(engine.Retry, 50)
		got += " " + w.sequence(10, 1)
		want := "FFFFFFFFFFFFFFFFFFFF FRRRRFRRRR"
		if noLending { // every second claim is the retries' and finds none
			want = "FFFFFFFFFF FRRRRFRRRR"
		}
		if got != want {
			t.Errorf("no lending %v: got %s, want %s", noLending, got, want)
		}
	}
}

// The same if fresh jobs were found lacking, where nothing is lent.
func TestWeightedForgetsFreshThatWereLacking(t *testing.T) {
	w := newWorker(&Weighted{Fresh: quantity.Percent(50), NoLending: true}, 100)
	w.ready.add(engine.Retry, 10)
	got := w.sequence(1, 3)
	w.ready.add(engine.Fresh, 10)
	if got += " " + w.sequence(2, 3); got != "R FFRFRR" {
		t.Errorf("got %s, want R FFRFRR", got)
	}
}

// A claim that was lost, or refused, changes nothing.
func TestWeightedAfterLostClaim(t *testing.T) {
	policy := &Weighted{Fresh: quantity.Fraction(2, 3)}
	w := backlogged(policy, 100)
	got := w.sequence(2, 1)
	for range 5 {
		policy.Plan(&engine.View{Workers: 100, Idle: 1}, nil)
	}
	policy.Observe(&engine.Observation{Ended: true})
	if got += w.sequence(3, 1); got != "FFRFF" {
		t.Errorf("got %s, want FFRFF", got)
	}
	before := policy.carry.owed
	policy.Observe(&engine.Observation{Claimed: [engine.NumClasses]int{7, 7}}) // no plan was made
	if policy.carry.owed != before || before == 0 {
		t.Errorf("an answer to no plan changed the carry from %d to %d", before, policy.carry.owed)
	}
}

// Weighted against the rule in rational numbers: ⌈carry + k·share⌉, carry in (-1, 1),
// forgotten when a class is found empty.
func TestWeightedRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Int64Range(1, 1_000_000_000).Draw(t, "den")
		num := rapid.Int64Range(0, den).Draw(t, "num")
		policy := &Weighted{Fresh: quantity.Fraction(num, den)}
		share, carry, one := big.NewRat(num, den), new(big.Rat), big.NewRat(1, 1)
		for range rapid.IntRange(1, 50).Draw(t, "plans") {
			k := rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 1<<30)).Draw(t, "k")
			due := new(big.Rat).Add(carry, new(big.Rat).Mul(share, big.NewRat(int64(k), 1)))
			fresh := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(due.Num()), due.Denom())) // ⌈due⌉: Div rounds down
			policy.Plan(&engine.View{Workers: k, Idle: k}, nil)
			if int64(policy.carry.first) != fresh.Int64() {
				t.Fatalf("of %d claims %d are for fresh jobs, want %d", k, policy.carry.first, fresh)
			}
			carry.Sub(due, new(big.Rat).SetInt(fresh))
			if carry.Cmp(one) >= 0 || new(big.Rat).Neg(carry).Cmp(one) >= 0 {
				t.Fatalf("carry %v is not in (-1, 1)", carry)
			}
			got := [engine.NumClasses]int{policy.carry.first, k - policy.carry.first}
			if rapid.Bool().Draw(t, "retries ran out") && got[engine.Retry] > 0 {
				got = [engine.NumClasses]int{k - got[engine.Retry] + 1, got[engine.Retry] - 1}
				carry.SetInt64(0)
			}
			if rapid.Bool().Draw(t, "executions end before the answer") {
				policy.Observe(&engine.Observation{Ended: true, Class: engine.Fresh})
				policy.Observe(&engine.Observation{Ended: true, Class: engine.Retry})
			}
			policy.Observe(&engine.Observation{Claimed: got})
		}
	})
}

// A fair number of coins: 20,000 claims at 80 % are within six standard deviations
// (false alarms < 2e-9 per run), for single claims and for large ones.
func TestBernoulliShare(t *testing.T) {
	for _, batch := range []int{1, 10, 100} {
		const claims = 20_000
		policy, view := Bernoulli{Fresh: quantity.Percent(80)}, engine.View{Workers: 100, Idle: batch}
		fresh := 0
		for number := range uint64(claims / batch) {
			setPlanNumber(&view, number)
			for _, term := range policy.Plan(&view, nil) {
				if term.Class == engine.Fresh {
					fresh += term.Limit
				}
			}
		}
		if off := math.Abs(float64(fresh) - 0.8*claims); off > 6*math.Sqrt(claims*0.8*0.2) {
			t.Errorf("batch %d: %d of %d coins fell for fresh jobs", batch, fresh, claims)
		}
	}
}

func TestBernoulliTossesSoManyCoins(t *testing.T) {
	view := engine.View{Workers: 100_000, Idle: 100_000}
	terms := Bernoulli{Fresh: quantity.Percent(100)}.Plan(&view, nil)
	want := []engine.Term{{Class: engine.Fresh, Limit: 65_536}, {Class: engine.AnyClass, Limit: 100_000}}
	if len(terms) != 2 || terms[0] != want[0] || terms[1] != want[1] {
		t.Errorf("got %v, want %v", terms, want)
	}
}

func TestPlans(t *testing.T) {
	for _, tt := range []struct {
		name     string
		policy   engine.Policy
		idle     int
		inFlight [engine.NumClasses]int
		want     string
	}{
		{"cap far off", InFlightCap{Retries: 20}, 10, [2]int{50, 10}, "any 10"},
		{"cap in reach", InFlightCap{Retries: 20}, 10, [2]int{50, 14}, "any 6, fresh 4"},
		{"cap reached", InFlightCap{Retries: 20}, 10, [2]int{50, 20}, "fresh 10"},
		{"cap exceeded by late claims", InFlightCap{Retries: 20}, 10, [2]int{50, 25}, "fresh 10"},
		{"lanes free", &Separate{RetryWorkers: 20}, 100, [2]int{0, 0}, "fresh 80, retry 20"},
		{"lanes part full", &Separate{RetryWorkers: 20}, 50, [2]int{40, 10}, "fresh 40, retry 10"},
		{"fresh lane full", &Separate{RetryWorkers: 20}, 20, [2]int{80, 0}, "retry 20"},
		{"retry lane full", &Separate{RetryWorkers: 20}, 80, [2]int{0, 20}, "fresh 80"},
		{"both lanes full", &Separate{RetryWorkers: 20}, 5, [2]int{80, 20}, ""},
		{"lanes over full", &Separate{RetryWorkers: 20}, 5, [2]int{90, 30}, ""},
		{"all of nothing", &Weighted{Fresh: quantity.Percent(100)}, 3, [2]int{}, "fresh 3, any 3"},
		{"no lending", &Weighted{Fresh: quantity.Percent(50), NoLending: true}, 3, [2]int{}, "fresh 2, retry 1"},
		{"a share without lending that rounds to all", &Weighted{Fresh: quantity.Percent(80), NoLending: true}, 4, [2]int{}, "fresh 4"},
		{"a share without lending that leaves one", &Weighted{Fresh: quantity.Percent(80), NoLending: true}, 5, [2]int{}, "fresh 4, retry 1"},
		{"newest", Ordered{Order: engine.NewestReady}, 3, [2]int{}, "any 3 newest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			view := engine.View{Workers: 100, Idle: tt.idle, InFlight: tt.inFlight}
			if got := spell(tt.policy.Plan(&view, nil)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// spell writes terms as "fresh 3, any 5 newest".
func spell(terms []engine.Term) string {
	var words []string
	for _, term := range terms {
		word := term.Class.String() + " " + big.NewInt(int64(term.Limit)).String()
		if term.Order != engine.OldestReady {
			word += " " + term.Order.String()
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// A capped fetch takes jobs in their ready order while it may: the cap is no priority.
func TestCapKeepsReadyOrder(t *testing.T) {
	w := newWorker(InFlightCap{Retries: 2}, 10)
	for _, class := range []engine.Class{engine.Fresh, engine.Retry, engine.Retry, engine.Retry, engine.Fresh} {
		w.ready.add(class, 1)
	}
	if got := w.sequence(3, 10); got != "FRFR" {
		t.Errorf("got %s, want FRFR: the oldest two, the fresh, then the retry there is room for", got)
	}
}

// While a batch is too small for both lanes they take turns, but only when a plan was
// carried out.
func TestSeparateTakesTurns(t *testing.T) {
	policy := &Separate{RetryWorkers: 5}
	w := backlogged(policy, 10)
	if got := w.sequence(10, 1); got != "FRFRFRFRFR" {
		t.Errorf("got %s, want FRFRFRFRFR", got)
	}
	w = backlogged(&Separate{RetryWorkers: 2}, 10)
	if got := w.sequence(12, 1); got != "FRFRFFFFFF" {
		t.Errorf("got %s, want FRFRFFFFFF", got)
	}
	policy = &Separate{RetryWorkers: 5}
	for range 3 {
		if got := spell(policy.Plan(&engine.View{Workers: 10, Idle: 1}, nil)); got != "fresh 1, retry 1" {
			t.Errorf("a plan without an answer was a turn: %s", got)
		}
		policy.Observe(&engine.Observation{Ended: true, Class: engine.Retry})
	}
	policy = &Separate{RetryWorkers: 5}
	w = backlogged(policy, 10)
	for _, want := range []string{"F", "R", "F"} {
		if got := w.sequence(1, 1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		policy.Observe(&engine.Observation{}) // an answer to no plan
	}
	w = backlogged(&Separate{RetryWorkers: 5}, 10)
	if got := w.sequence(1, 1) + w.sequence(1, 9); got != "FFFFFRRRRR" {
		t.Errorf("got %s: there is room for both lanes, and fresh jobs are claimed first", got)
	}
}

func TestSeparateRetryPoll(t *testing.T) {
	policy := &Separate{RetryWorkers: 5, RetryPoll: time.Second}
	w := backlogged(policy, 10)
	at := func(now time.Duration) string {
		w.view.Now = engine.Time(now)
		w.finish(engine.Retry, engine.NoError)
		w.finish(engine.Fresh, engine.NoError)
		return w.sequence(1, 10)
	}
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{
		{0, "FFFFFRRRRR"},
		{0, "F"},
		{time.Second / 2, "F"},
		{time.Second - 1, "F"},
		{time.Second, "FRRRR"},
		{time.Second + 1, "F"},
		{time.Second / 4, "FRR"}, // the clock was set back
		{time.Second, "F"},
		{5 * time.Second / 4, "FRR"},
	} {
		if got := at(tt.at); got != tt.want {
			t.Errorf("at %v: got %s, want %s", tt.at, got, tt.want)
		}
	}
	lost := &Separate{RetryWorkers: 5, RetryPoll: time.Second}
	for range 2 {
		if got := spell(lost.Plan(&engine.View{Workers: 10, Idle: 10}, nil)); got != "fresh 5, retry 5" {
			t.Errorf("a plan without an answer was a look for retries: %s", got)
		}
		lost.Observe(&engine.Observation{Ended: true, Class: engine.Retry})
	}
	lost.Plan(&engine.View{Workers: 10, Idle: 5, InFlight: [engine.NumClasses]int{engine.Retry: 5}}, nil)
	lost.Observe(&engine.Observation{})
	if got := spell(lost.Plan(&engine.View{Workers: 10, Idle: 10}, nil)); got != "fresh 5, retry 5" {
		t.Errorf("a plan without room for retries was a look for them: %s", got)
	}
}

func TestAdaptiveLIFO(t *testing.T) {
	policy := AdaptiveLIFO{OlderThan: 5 * time.Second}
	for _, tt := range []struct {
		name     string
		statsAge time.Duration
		oldest   [engine.NumClasses]time.Duration
		want     string
	}{
		{"no statistics", -1, [2]time.Duration{time.Hour, time.Hour}, "any 4"},
		{"young", time.Second, [2]time.Duration{5 * time.Second, time.Second}, "any 4"},
		{"old fresh job", 0, [2]time.Duration{5*time.Second + 1, 0}, "any 4 newest"},
		{"old retry", 0, [2]time.Duration{0, 6 * time.Second}, "any 4 newest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			view := engine.View{Workers: 9, Idle: 4, StatsAge: tt.statsAge, Store: engine.Stats{OldestReady: tt.oldest}}
			if got := spell(policy.Plan(&view, nil)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	var _ engine.StatsReader = policy
	for older, want := range map[time.Duration]time.Duration{0: 10 * time.Millisecond, 5 * time.Second: time.Second / 2, time.Hour: time.Second} {
		if got := (AdaptiveLIFO{OlderThan: older}).StatsEvery(); got != want {
			t.Errorf("older than %v: statistics every %v, want %v", older, got, want)
		}
	}
}

// A process that starts late has not seen a standing queue.
func TestCoDelStartsInABurst(t *testing.T) {
	p := &CoDel{Target: 5 * time.Second, Interval: time.Minute}
	terms := p.Plan(&engine.View{Now: engine.Time(time.Hour), Idle: 3, Workers: 3}, nil)
	if terms[0].MaxWait != time.Minute {
		t.Errorf("the first plan lets jobs wait for %v, want the interval", terms[0].MaxWait)
	}
	if terms = p.Plan(&engine.View{Now: engine.Time(time.Hour + 2*time.Minute), Idle: 3, Workers: 3}, nil); terms[0].MaxWait != 5*time.Second {
		t.Errorf("when nothing was found empty for longer: %v, want the target", terms[0].MaxWait)
	}
}

// The default quantum of tenant-drr is the mean cost over the classes.
func TestMeanQuantum(t *testing.T) {
	for _, tt := range []struct {
		classes []Class
		want    int64
	}{
		{nil, 1e9},
		{[]Class{{Name: "a", Cost: 10 * time.Millisecond}}, 10e6},
		{[]Class{{Name: "a", Cost: 10 * time.Millisecond}, {Name: "b", Cost: 30 * time.Millisecond}}, 20e6},
		{[]Class{{Name: "a"}, {Name: "b", Cost: 3 * time.Second}}, 2e9}, // one that declares none counts as a second
		{[]Class{{Name: "a", Cost: 5}, {Name: "b", Cost: 6}, {Name: "c", Cost: 5}}, 5},
		{[]Class{{Name: "a", Cost: 1}, {Name: "b", Cost: 1}, {Name: "c", Cost: 1}}, 1},
		{[]Class{{Name: "a", Cost: math.MaxInt64}, {Name: "b", Cost: math.MaxInt64}}, math.MaxInt64},
	} {
		p, err := New("tenant-drr", nil, 4, tt.classes)
		if err != nil {
			t.Fatal(err)
		}
		if rule := p.Plan(&engine.View{Idle: 1, Workers: 4}, nil)[0].Rule; rule.Quantum != tt.want || rule.PerJob {
			t.Errorf("%v: quantum %d, want %d of service", tt.classes, rule.Quantum, tt.want)
		}
	}
}
