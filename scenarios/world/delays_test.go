package world

import (
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
	"qsim/policies"
)

// TestDelayBounds holds the bounds that a checker goes by to figures worked out by hand.
func TestDelayBounds(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		b                 policies.Backoff
		n                 int32
		shortest, longest time.Duration
	}{
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Max: 10 * s}, 1, s, s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Max: 10 * s}, 3, 4 * s, 4 * s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Max: 10 * s}, 5, 10 * s, 10 * s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Max: 10 * s}, 1 << 20, 10 * s, 10 * s},
		{policies.Backoff{Kind: policies.Exponential, First: 0, Factor: 2, Plus: s}, 9, s, s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Scale: 5, MaxAttempts: 20}, 12, 4 * s, 4 * s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 3, Jitter: policies.Jitter{Kind: policies.Full}}, 2, 0, 3 * s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 3, Jitter: policies.Jitter{Kind: policies.Equal}}, 3, 4500 * time.Millisecond, 9 * s},
		{policies.Backoff{Kind: policies.Fixed, First: 10 * s, Jitter: policies.Jitter{Kind: policies.Around, Share: quantity.Percent(20)}}, 4, 8 * s, 12 * s},
		{policies.Backoff{Kind: policies.Fixed, First: 10 * s, Jitter: policies.Jitter{Kind: policies.Decorrelated}, Max: 60 * s}, 1, 10 * s, 30 * s},
		{policies.Backoff{Kind: policies.Fixed, First: 10 * s, Jitter: policies.Jitter{Kind: policies.Decorrelated}, Max: 60 * s}, 2, 10 * s, 60 * s},
		{policies.Backoff{Kind: policies.Linear, First: s, Step: 2 * s}, 4, 7 * s, 7 * s},
		{policies.Backoff{Kind: policies.Fibonacci, First: s}, 7, 13 * s, 13 * s},
		{policies.Backoff{Kind: policies.Polynomial, Power: 4, Plus: 15 * s}, 3, 96 * s, 96 * s},
		{policies.Backoff{Kind: policies.Table, Delays: []time.Duration{s, 5 * s}}, 9, 5 * s, 5 * s},
		{policies.Backoff{Kind: policies.NoBackoff}, 9, 0, 0},
	} {
		shortest, longest := delayBounds(&c.b)(c.n, c.n)
		near := func(a, b time.Duration) bool { return (a - b).Abs() <= 200 }
		if !near(shortest, c.shortest) || !near(longest, c.longest) {
			t.Errorf("%+v after failure %d: got %v to %v, want %v to %v", c.b, c.n, shortest, longest, c.shortest, c.longest)
		}
	}
}

// TestDelayBoundsOfMany bounds the delay after one of several failures: the delays of a table rise and fall.
func TestDelayBoundsOfMany(t *testing.T) {
	s := time.Second
	table := policies.Backoff{Kind: policies.Table, Delays: []time.Duration{3 * s, 9 * s, s, 2 * s}}
	for _, c := range []struct {
		b                 policies.Backoff
		least, most       int32
		shortest, longest time.Duration
	}{
		{table, 1, 1 << 20, s, 9 * s},
		{table, 1, 2, 3 * s, 9 * s},
		{table, 3, 9, s, 2 * s},
		{table, 4, 9, 2 * s, 2 * s},
		{policies.Backoff{Kind: policies.Exponential, First: s, Factor: 2, Max: 10 * s}, 2, 1 << 20, 2 * s, 10 * s},
		{policies.Backoff{Kind: policies.Exponential, First: 8 * s, Factor: .5}, 1, 3, 2 * s, 8 * s},
	} {
		shortest, longest := delayBounds(&c.b)(c.least, c.most)
		near := func(a, b time.Duration) bool { return (a - b).Abs() <= 200 }
		if !near(shortest, c.shortest) || !near(longest, c.longest) {
			t.Errorf("%+v after failure %d to %d: got %v to %v, want %v to %v", c.b, c.least, c.most, shortest, longest, c.shortest, c.longest)
		}
	}
}

// TestDelaysKeepTheirBounds draws delays of every kind and jitter: they are within the bounds, and
// those of a policy that counts one failure too many or forgets its maximum are not.
func TestDelaysKeepTheirBounds(t *testing.T) {
	jitters := []string{"none", "full", "equal", "decorrelated", "±20%", "+10%", "-50%", "+30s", "+10s*n", "+30s/1s*n"}
	rand := keyed.Rand{Seed: 1}
	for kind := policies.NoBackoff; kind <= policies.Random; kind++ {
		for _, text := range jitters {
			b := policies.Backoff{Kind: kind, First: 700 * time.Millisecond, Factor: 1.7, Step: 3 * time.Second, Power: 3, Less: 1, Plus: time.Second,
				Delays: []time.Duration{time.Second, 9 * time.Second, 4 * time.Second}, Max: time.Hour}
			var err error
			b.Jitter, err = policies.ParseJitter(text)
			if b.Kind == policies.Random {
				d, _ := dist.Exponential(100)
				b.Distribution, b.Jitter = &d, policies.Jitter{}
			}
			if err != nil || b.Validate() != nil {
				t.Fatal(err, b.Validate())
			}
			last := time.Duration(0)
			bounds := delayBounds(&b)
			for n := int32(1); n < 60; n++ {
				_, d := b.Next(&engine.Job{Failures: n - 1, LastDelay: last}, engine.FirstErrorKind, rand.Uniform(keyed.ForJitter, uint64(n), 0, 0))
				if shortest, longest := bounds(n, n); d < shortest || d > longest {
					t.Errorf("%s, jitter %s: %v after failure %d, want %v to %v", kind, text, d, n, shortest, longest)
				}
				last = d
			}
		}
	}
	b := policies.Backoff{Kind: policies.Exponential, First: time.Second, Factor: 2, Max: 8 * time.Second}
	for name, d := range map[string]time.Duration{"one failure too many": b.Delay(3), "no bound": (&policies.Backoff{Kind: b.Kind, First: b.First, Factor: 2}).Delay(9)} {
		n := map[string]int32{"one failure too many": 2, "no bound": 9}[name]
		if shortest, longest := delayBounds(&b)(n, n); d >= shortest && d <= longest {
			t.Errorf("%s: %v", name, fmt.Sprint(d))
		}
	}
}
