package policies

import (
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
)

const (
	millisecond = time.Millisecond
	second      = time.Second
	minute      = time.Minute
	hour        = time.Hour
)

func delays(n ...time.Duration) []time.Duration { return n }

func TestBackoffDelays(t *testing.T) {
	for _, tt := range []struct {
		name    string
		backoff Backoff
		want    []time.Duration // delays after failures 1, 2, 3...
	}{
		{"none", Backoff{}, delays(0, 0, 0)},
		{"minutes, exponential", Backoff{Kind: Exponential, First: minute, Factor: 2, Max: hour}, delays(minute, 2*minute, 4*minute, 8*minute, 16*minute, 32*minute, hour, hour)},
		{"minutes, linear", Backoff{Kind: Linear, First: minute, Step: minute, Max: hour}, delays(minute, 2*minute, 3*minute, 4*minute, 5*minute)},
		{"power just over 63 bits", Backoff{Kind: Polynomial, Power: 63}, delays(second, Century, Century, Century)},
		{"minutes, fixed", Backoff{Kind: Fixed, First: minute, Max: hour}, delays(minute, minute, minute, minute, minute)},
		{"minutes, fibonacci", Backoff{Kind: Fibonacci, First: minute, Max: hour}, delays(minute, minute, 2*minute, 3*minute, 5*minute, 8*minute, 13*minute, 21*minute, 34*minute, 55*minute, hour)},
		{"requeue with factor 4", Backoff{Kind: Exponential, First: second, Factor: 4}, delays(second, 4*second, 16*second, 64*second)},
		{"job queue", Backoff{Kind: Exponential, First: 500 * millisecond, Factor: 2, Max: 30 * second}, delays(500*millisecond, second, 2*second, 4*second, 8*second, 16*second, 30*second, 30*second)},
		{"fourth power", Backoff{Kind: Polynomial, Power: 4}, delays(second, 16*second, 81*second, 256*second, 625*second, 1296*second)},
		{"fourth power and 15", Backoff{Kind: Polynomial, Power: 4, Plus: 15 * second}, delays(16*second, 31*second, 96*second, 271*second, 640*second, 1311*second)},
		{"fourth power and 3", Backoff{Kind: Polynomial, Power: 4, Plus: 3 * second, Max: 5 * minute}, delays(4*second, 19*second, 84*second, 259*second, 5*minute)},
		{"fourth power of one less, and 15", Backoff{Kind: Polynomial, Power: 4, Less: 1, Plus: 15 * second}, delays(15*second, 16*second, 31*second, 96*second, 271*second, 640*second)},
		{"square of three less", Backoff{Kind: Polynomial, Power: 2, Less: 3}, delays(0, 0, 0, second, 4*second)},
		{"power 0 of nothing", Backoff{Kind: Polynomial, Less: 9}, delays(second, second)},
		{"doubling and 15", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Plus: 15 * second, Max: minute}, delays(17*second, 19*second, 23*second, 31*second, 47*second, minute)},
		{"scaled, few attempts", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Scale: 20, MaxAttempts: 20}, delays(2*second, 4*second, 8*second)},
		{"scaled, beyond the attempts", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Scale: 2, MaxAttempts: 2}, delays(2*second, 4*second, 8*second)},
		{"scaled, no limit", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Scale: 20}, delays(2*second, 4*second, 8*second)},
		{"scaled to half", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Scale: 20, MaxAttempts: 40}, delays(2*second, 2*second, 4*second, 4*second, 8*second)},
		{"scaled below the first", Backoff{Kind: Exponential, First: 2 * second, Factor: 2, Scale: 20, MaxAttempts: 100}, delays(second, second, 2*second, 2*second, 2*second, 2*second, 2*second, 4*second)},
		{"power 0", Backoff{Kind: Polynomial, Plus: second}, delays(2*second, 2*second)},
		{"fractional factor", Backoff{Kind: Exponential, First: 1600 * millisecond, Factor: 1.6, Max: hour}, delays(1600*millisecond, 2560*millisecond, 4096*millisecond, 6553600*time.Microsecond, 10485760*time.Microsecond)},
		{"doubling", Backoff{Kind: Exponential, First: second, Factor: 2}, delays(second, 2*second, 4*second, 8*second, 16*second, 32*second)},
		{"shrinking", Backoff{Kind: Exponential, First: 8, Factor: 0.5}, delays(8, 4, 2, 1, 1, 0, 0)},
		{"table", Backoff{Kind: Table, Delays: delays(15*second, 30*second, 2*minute), Max: minute}, delays(15*second, 30*second, minute, minute)},
		{"empty table", Backoff{Kind: Table}, delays(0, 0)},
		{"nothing doubled", Backoff{Kind: Exponential, Factor: 1e300}, delays(0, 0, 0)},
		{"random, median", Backoff{Kind: Random, Distribution: uniform{}, Max: 40 * second}, delays(40*second, 40*second)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []time.Duration
			for n := range tt.want {
				got = append(got, tt.backoff.Delay(int64(n)+1))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// uniform is a Quantile of U(0, 100 s).
type uniform struct{}

func (uniform) Duration(u float64) time.Duration { return time.Duration(u * float64(100*second)) }

func TestJitterRanges(t *testing.T) {
	exponential := Backoff{Kind: Exponential, First: 500 * millisecond, Factor: 2, Max: 30 * second}
	hourly := Backoff{Kind: Exponential, First: minute, Factor: 2, Max: hour}
	for _, tt := range []struct {
		jitter   string
		backoff  Backoff
		failures int32
		last     time.Duration
		low      time.Duration // limit as u goes to 0
		high     time.Duration // limit as u goes to 1
	}{
		{"none", exponential, 3, 0, 2 * second, 2 * second},
		{"full", exponential, 1, 0, 0, 500 * millisecond},
		{"full", exponential, 2, 0, 0, second},
		{"full", exponential, 3, 0, 0, 2 * second},
		{"full", exponential, 6, 0, 0, 16 * second},
		{"full", exponential, 7, 0, 0, 30 * second},
		{"equal", exponential, 3, 0, second, 2 * second},
		{"equal", Backoff{Kind: Fixed, First: 3}, 1, 0, 1, 3},
		{"±20%", hourly, 1, 0, 48 * second, 72 * second},
		{"+-20%", hourly, 9, 0, 48 * minute, 72 * minute},
		{"+10%", hourly, 1, 0, minute, 66 * second},
		{"-50%", hourly, 2, 0, minute, 2 * minute},
		{"±100%", hourly, 1, 0, 0, 2 * minute},
		{"+30s", hourly, 1, 0, minute, 90 * second},
		{"+30s", hourly, 3, 0, 4 * minute, 4*minute + 30*second},
		{"+30s*n", hourly, 3, 0, 4 * minute, 4*minute + 90*second},
		{"+30s/1s", hourly, 3, 0, 4 * minute, 4*minute + 29*second},
		{"+10s*n/1s", hourly, 3, 0, 4 * minute, 4*minute + 29*second},
		{"+30s/1s*n", hourly, 3, 0, 4 * minute, 4*minute + 87*second},
		{"+8760h*n", hourly, math.MaxInt32, 0, hour, Century + hour},
		{"+8760h/4380h*n", hourly, math.MaxInt32, 0, hour, Century + hour},
		{"+87600h", Backoff{Kind: Fixed, First: Century}, 1, 0, Century, Century + 87600*time.Hour},
		{"decorrelated", exponential, 1, 0, 500 * millisecond, 1500 * millisecond},
		{"decorrelated", exponential, 2, 1200 * millisecond, 500 * millisecond, 3600 * millisecond},
		{"decorrelated", exponential, 9, 20 * second, 500 * millisecond, 30 * second},
		{"decorrelated", exponential, 2, math.MaxInt64, 500 * millisecond, 30 * second},
		{"decorrelated", Backoff{Kind: Fixed, First: second}, 2, math.MaxInt64, second, Century},
		{"decorrelated", Backoff{Kind: Fixed, First: 1}, 2, math.MaxInt64, 1, Century},
		{"decorrelated", Backoff{Kind: Fixed, First: 1}, 2, 1 << 62, 1, Century},
		{"full", Backoff{Kind: Fixed, First: Century}, 1, 0, 0, Century},
		{"±100%", Backoff{Kind: Fixed, First: Century}, 1, 0, 0, 2 * Century},
		{"none", Backoff{Kind: Random, Distribution: uniform{}}, 1, 0, 0, 100 * second},
		{"none", Backoff{Kind: Random, Distribution: uniform{}, Max: 50 * second}, 1, 0, 0, 50 * second},
	} {
		t.Run(tt.jitter, func(t *testing.T) {
			var err error
			if tt.backoff.Jitter, err = ParseJitter(tt.jitter); err != nil {
				t.Fatal(err)
			}
			j := engine.Job{Delivery: tt.failures, Charged: tt.failures, Failures: tt.failures - 1, LastDelay: tt.last}
			previous := time.Duration(-1)
			for _, u := range []float64{0x1p-54, 0.25, 0.5, 0.75, 1 - 0x1p-53, 1} {
				verb, got := tt.backoff.Next(&j, engine.Timeout, u)
				if verb != engine.Nack || got < tt.low || got > tt.high || got < previous {
					t.Errorf("%d failures, u %v: %v after %v, want a nack in [%v, %v]", tt.failures, u, verb, got, tt.low, tt.high)
				}
				previous = got
			}
			slack := tt.high/1_000_000 + 1
			if _, got := tt.backoff.Next(&j, engine.Timeout, 0x1p-54); got > tt.low+slack {
				t.Errorf("%d failures: the least is %v, want %v", tt.failures, got, tt.low)
			}
			if previous < tt.high-slack {
				t.Errorf("%d failures: the most is %v, want %v", tt.failures, previous, tt.high)
			}
		})
	}
}

// A hundred jobs that fail together come back within 48 to 72 s, evenly.
func TestJitterSpreadsTheHerd(t *testing.T) {
	b := Backoff{Kind: Fixed, First: minute, Jitter: Jitter{Kind: Around, Share: quantity.Percent(20)}}
	rand := keyed.Rand{Seed: 1}
	var slots [4]int
	for id := range uint64(1000) {
		_, d := b.Next(&engine.Job{}, engine.Timeout, rand.Uniform(keyed.ForJitter, id, 1, 0))
		slots[int((d-48*second)/(6*second))]++
	}
	for _, n := range slots { // 250 each, standard deviation 14
		if n < 165 || n > 335 {
			t.Errorf("retries by quarters of the spread: %v", slots)
		}
	}
}

func TestRetryLimits(t *testing.T) {
	const validation, other = engine.FirstErrorKind, engine.FirstErrorKind + 1
	fixed := Backoff{Kind: Fixed, First: minute}
	with := func(change func(b *Backoff)) *Backoff {
		b := fixed
		change(&b)
		return &b
	}
	never := with(func(b *Backoff) { b.Never = []engine.ErrorKind{engine.Conflict, validation} })
	claims := with(func(b *Backoff) { b.MaxAttempts = 4 })
	failures := with(func(b *Backoff) { b.MaxAttempts, b.Count = 4, CountFailure })
	free := with(func(b *Backoff) {
		b.MaxAttempts, b.Free, b.FreeMax = 4, []engine.ErrorKind{engine.Throttled, validation}, 20
	})
	alwaysFree := with(func(b *Backoff) { b.MaxAttempts, b.Free, b.FreeMax = 4, []engine.ErrorKind{engine.Throttled}, -1 })
	freeNever := with(func(b *Backoff) { b.Free = []engine.ErrorKind{engine.Throttled} })
	for _, tt := range []struct {
		name   string
		policy *Backoff
		job    engine.Job
		err    engine.ErrorKind
		want   engine.Verb
		delay  time.Duration
	}{
		{"unlimited", &fixed, engine.Job{Charged: math.MaxInt32, Failures: math.MaxInt32}, other, engine.Nack, minute},
		{"claims left", claims, engine.Job{Charged: 3, Failures: 2}, other, engine.Nack, minute},
		{"last claim", claims, engine.Job{Charged: 4, Failures: 3}, other, engine.Bury, 0},
		{"beyond the last claim", claims, engine.Job{Charged: 5, Failures: 3}, other, engine.Bury, 0},
		{"last claim, fewer failures: crashes count", claims, engine.Job{Charged: 4, Failures: 0}, other, engine.Bury, 0},
		{"claims given back do not count", claims, engine.Job{Delivery: 9, Charged: 3, Failures: 2}, other, engine.Nack, minute},
		{"failures left", failures, engine.Job{Charged: 3, Failures: 2}, other, engine.Nack, minute},
		{"last failure", failures, engine.Job{Charged: 4, Failures: 3}, other, engine.Bury, 0},
		{"crashes do not count", failures, engine.Job{Charged: 400, Failures: 2}, other, engine.Nack, minute},
		{"buries at once", never, engine.Job{Charged: 1}, validation, engine.Bury, 0},
		{"buries at once, reserved kind", never, engine.Job{Charged: 1}, engine.Conflict, engine.Bury, 0},
		{"may be retried", never, engine.Job{Charged: 1}, other, engine.Nack, minute},
		{"free", free, engine.Job{Charged: 1}, engine.Throttled, engine.Snooze, minute},
		{"free, at the last claim", free, engine.Job{Charged: 4, Failures: 3, Snoozes: 19}, validation, engine.Snooze, minute},
		{"no more free ones", free, engine.Job{Charged: 1, Snoozes: 20}, engine.Throttled, engine.Nack, minute},
		{"no more free ones, at the last claim", free, engine.Job{Charged: 4, Snoozes: 20}, engine.Throttled, engine.Bury, 0},
		{"not free", free, engine.Job{Charged: 4}, other, engine.Bury, 0},
		{"free for ever", alwaysFree, engine.Job{Charged: 4, Snoozes: math.MaxInt32}, engine.Throttled, engine.Snooze, minute},
		{"free not once", freeNever, engine.Job{Charged: 1}, engine.Throttled, engine.Nack, minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verb, delay := tt.policy.Next(&tt.job, tt.err, 0.5)
			if verb != tt.want || delay != tt.delay {
				t.Errorf("got %v after %v, want %v after %v", verb, delay, tt.want, tt.delay)
			}
		})
	}
}

// For all parameters and numbers of failures, delays are in range, and without jitter they never
// shrink, except by a factor below 1 or a table.
func TestBackoffNeverOverflows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.OneOf(rapid.Int64Range(0, int64(hour)), rapid.Int64Range(0, math.MaxInt64))
		b := Backoff{
			Kind:   BackoffKind(rapid.IntRange(0, int(Table)).Draw(t, "kind")),
			First:  time.Duration(duration.Draw(t, "first")),
			Factor: rapid.OneOf(rapid.Float64Range(1, 10), rapid.Float64Range(1, math.MaxFloat64)).Draw(t, "factor"),
			Step:   time.Duration(duration.Draw(t, "step")),
			Power:  rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, math.MaxInt32)).Draw(t, "power"),
			Plus:   time.Duration(duration.Draw(t, "plus")),
			Max:    time.Duration(rapid.Int64Range(0, int64(Century)).Draw(t, "max")),
			Delays: delays(time.Duration(duration.Draw(t, "delay"))),
			Less:   rapid.IntRange(0, math.MaxInt32).Draw(t, "less"),
			Scale:  rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, math.MaxInt32)).Draw(t, "scale"),

			MaxAttempts: rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, math.MaxInt32)).Draw(t, "attempts"),
		}
		n := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 1_000_000), rapid.Int64Range(1, math.MaxInt32)).Draw(t, "n")
		limit := b.Max
		if limit == 0 {
			limit = Century
		}
		at, next := b.Delay(n), b.Delay(n+1)
		if at < 0 || at > limit || next < at {
			t.Fatalf("%v: %v after failure %d, %v after the next, limit %v", b.Kind, at, n, next, limit)
		}
		b.Jitter = Jitter{Kind: JitterKind(rapid.IntRange(0, int(Below)).Draw(t, "jitter")), Share: quantity.Percent(rapid.IntRange(0, 100).Draw(t, "percent"))}
		j := engine.Job{Failures: int32(min(n-1, math.MaxInt32)), LastDelay: time.Duration(duration.Draw(t, "last"))}
		b.MaxAttempts = 0
		if at = b.Delay(n) * 2; b.Jitter.Kind < Around {
			at = limit
		}
		if width := time.Duration(duration.Draw(t, "width")); b.Kind != Random && width > 0 && width <= Century && rapid.Bool().Draw(t, "added") {
			b.Jitter = Jitter{Kind: Added, Addend: Addend{width, time.Duration(rapid.Int64Range(0, int64(width)).Draw(t, "step")), Growth(rapid.IntRange(0, 2).Draw(t, "grows"))}}
			at = 2 * Century
		}
		if verb, d := b.Next(&j, engine.Timeout, rapid.Float64Range(0, 1).Draw(t, "u")); verb != engine.Nack || d < 0 || d > at {
			t.Fatalf("%v %v: %v after %v", b.Kind, b.Jitter, verb, d)
		}
	})
}

// Delays are the same on every processor: a digest of many.
func TestBackoffDigest(t *testing.T) {
	digest, rand := fnv.New64a(), keyed.Rand{Seed: 7}
	for kind := Exponential; kind < Table; kind++ {
		for jitter := NoJitter; jitter <= Below; jitter++ {
			b := Backoff{Kind: kind, First: 1234567891, Factor: 1.6180339887, Step: 987654321, Power: 3, Plus: 31415926, Max: 9 * hour,
				Less: 1, Scale: 20, MaxAttempts: 61, Count: CountFailure,
				Jitter: Jitter{Kind: jitter, Share: quantity.Fraction(1, 7)}}
			j := engine.Job{}
			for n := range int32(60) {
				j.Failures = n
				_, j.LastDelay = b.Next(&j, engine.Timeout, rand.Uniform(keyed.ForJitter, uint64(kind), uint64(n), uint16(jitter)))
				for shift := 0; shift < 64; shift += 8 {
					digest.Write([]byte{byte(j.LastDelay >> shift)})
				}
			}
		}
	}
	if got, want := digest.Sum64(), uint64(0x5d70add68136771c); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	var policy engine.RetryPolicy = &Backoff{Kind: Exponential, First: second, Factor: 2, Jitter: Jitter{Kind: Full}, MaxAttempts: 99, Never: []engine.ErrorKind{9}}
	j := engine.Job{Charged: 3, Failures: 2}
	if got := testing.AllocsPerRun(100, func() { policy.Next(&j, engine.Timeout, 0.3) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestBackoffValidate(t *testing.T) {
	full, _ := ParseJitter("full")
	good := []Backoff{{}, {Kind: Exponential, Factor: 2, Jitter: full}, {Kind: Exponential, Factor: math.MaxFloat64, Max: Century, FreeMax: -1},
		{Kind: Random, Distribution: uniform{}}, {Kind: Table, Delays: delays(0)}}
	for _, b := range good {
		if err := b.Validate(); err != nil {
			t.Errorf("%v: %v", b, err)
		}
	}
	for _, tt := range []struct {
		backoff Backoff
		want    string
	}{
		{Backoff{First: -1, Step: -2, Plus: -3, Max: -4, Delays: delays(0, -6)},
			"first: -1ns is negative|step: -2ns is negative|plus: -3ns is negative|max: -4ns is negative|delays[1]: -6ns is negative"},
		{Backoff{Max: Century + 1}, "max: 876600h0m0.000000001s is more than a hundred years"},
		{Backoff{Kind: numBackoffKinds, Count: numCountRules}, "kind: 8 is no backoff|count: 2 is no rule"},
		{Backoff{Kind: Exponential}, "factor: 0 is not a positive number"},
		{Backoff{Kind: Exponential, Factor: math.NaN()}, "factor: NaN is not a positive number"},
		{Backoff{Kind: Exponential, Factor: math.Inf(1)}, "factor: +Inf is not a positive number"},
		{Backoff{Kind: Polynomial, Power: -1, MaxAttempts: -1}, "power: -1 is negative|max-attempts: -1 is negative"},
		{Backoff{Less: -1, Scale: -2}, "less: -1 is negative|scale: -2 is negative"},
		{Backoff{FreeMax: -2}, "free-max: -2 is negative"},
		{Backoff{Kind: Table}, "delays: the table is empty"},
		{Backoff{Kind: Random, Jitter: full}, "delay: random needs a distribution|jitter: full does not go with a random backoff, which is drawn already"},
	} {
		err := tt.backoff.Validate()
		if err == nil || strings.ReplaceAll(err.Error(), "\n", "|") != tt.want {
			t.Errorf("got %v, want %v", err, tt.want)
		}
	}
}

func TestBackoffNames(t *testing.T) {
	for kind := range numBackoffKinds {
		if got, err := ParseBackoffKind(kind.String()); got != kind || err != nil {
			t.Errorf("%v: got %v, %v", kind, got, err)
		}
	}
	for rule := range numCountRules {
		if rule.String() == "" {
			t.Errorf("rule %d has no name", rule)
		}
	}
	for _, text := range []string{"none", "full", "equal", "decorrelated", "±20%", "+10%", "-50%", "±12.5%"} {
		if got, err := ParseJitter(text); got.String() != text || err != nil {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	_, kindErr := ParseBackoffKind("expnential")
	_, jitterErr := ParseJitter("ful")
	_, shareErr := ParseJitter("±300%")
	_, unitErr := ParseJitter("+20")
	_, signErr := ParseJitter("20%")
	_, outErr := ParseJitter("300%")
	_, addendErr := ParseJitter("+0s")
	_, wordErr := ParseJitter("±ful")
	_, emptyErr := ParseJitter("±%")
	if wrong := (*quantity.Error)(nil); !errors.As(jitterErr, &wrong) || wrong.Typed != "ful" || !slices.Contains(wrong.Known, "full") {
		t.Errorf("a misspelled jitter is not compared with those there are: %+v", wrong)
	}
	var j Jitter
	if err := j.UnmarshalText([]byte("±0%")); err != nil || j != (Jitter{}) {
		t.Errorf("±0%%: got %v, %v, want none", j, err)
	}
	if err := j.UnmarshalText([]byte("equal")); err != nil || j.Kind != Equal {
		t.Errorf("equal: got %v, %v", j, err)
	}
	for err, want := range map[error]string{
		kindErr:   `unknown backoff "expnential": want one of [none exponential linear fixed fibonacci polynomial table random]`,
		jitterErr: `bad jitter "ful": want none, full, equal, decorrelated, or a spread such as ±20%, +10%, -50%, +30s`,
		shareErr:  `share "300%" is over 100%`,
		unitErr:   `share 20 has no percent sign: write 20%`,
		signErr:   `jitter "20%" has no sign: write ±20%, +20% or -20%`,
		outErr:    `bad jitter "300%": want none, full, equal, decorrelated, or a spread such as ±20%, +10%, -50%, +30s`,
		addendErr: `bad jitter "+0s": 0s is out of range: want more than 0 and at most ten years`,
		wordErr:   `bad jitter "±ful": want none, full, equal, decorrelated, or a spread such as ±20%, +10%, -50%, +30s`,
		emptyErr:  `bad share "%"`,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
