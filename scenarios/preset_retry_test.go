package scenarios

import (
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/policies"
	"qsim/scenarios/spec"
)

// goldenRetry is what a preset's system does by its documentation; delays are seconds, after failures 1 to 6.
type goldenRetry struct {
	preset   string
	means    [6]float64 // mean delays with three or more digits, as published
	digits   float64    // relative error of means
	delay    func(n float64) (low, high float64)
	attempts spec.Attempts
	count    spec.RetryCount
	waits    int    // number of delays until a job is given up, or 25 if it never is
	total    string // their mean sum
}

// exactly, spread, added and full are the ranges of the usual jitters.
func exactly(f func(n float64) float64) func(n float64) (low, high float64) {
	return func(n float64) (low, high float64) { return f(n), f(n) }
}

func spread(down, up float64, f func(n float64) float64) func(n float64) (low, high float64) {
	return func(n float64) (low, high float64) { return f(n) * (1 - down), f(n) * (1 + up) }
}

func added(most func(n float64) float64, f func(n float64) float64) func(n float64) (low, high float64) {
	return func(n float64) (low, high float64) { return f(n), f(n) + most(n) }
}

func full(f func(n float64) float64) func(n float64) (low, high float64) {
	return func(n float64) (low, high float64) { return 0, f(n) }
}

func fourth(less, plus float64) func(n float64) float64 {
	return func(n float64) float64 { return (n-less)*(n-less)*(n-less)*(n-less) + plus }
}

func doubling(first, most float64) func(n float64) float64 {
	return func(n float64) float64 { return math.Min(first*math.Pow(2, n-1), most) }
}

func same(seconds float64) func(n float64) float64 {
	return func(float64) float64 { return seconds }
}

var (
	tenN      = func(n float64) float64 { return 10*n - 1 }
	thirtyN   = func(n float64) float64 { return 29 * n }
	inngest   = func(n float64) float64 { return []float64{15, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200}[int(n)-1] }
	fibonacci = func(n float64) float64 { return 60 * []float64{1, 1, 2, 3, 5, 8}[int(n)-1] }
	capped    = func(base float64, most float64) func(n float64) float64 {
		return func(n float64) float64 { return math.Min(math.Pow(base, n), most) }
	}
)

var goldenRetries = []goldenRetry{
	{"requeue", [6]float64{1, 4, 16, 64, 64, 64}, 0, exactly(func(n float64) float64 { return math.Min(math.Pow(4, n-1), 64) }), 5, "claim", 4, "85s"},
	{"jobqueue", [6]float64{0.25, 0.5, 1, 2, 4, 8}, 0, full(doubling(0.5, 30)), 4, "claim", 3, "1.8s"},
	{"jobqueue-conservative", [6]float64{0.5, 1, 2, 4, 8, 16}, 0, full(doubling(1, 60)), 6, "claim", 5, "15.5s"},
	{"jobqueue-aggressive", [6]float64{0.05, 0.1, 0.2, 0.4, 0.8, 1.6}, 0, full(doubling(0.1, 5)), 3, "claim", 2, "150ms"},
	{"jobqueue-one-shot", [6]float64{}, 0, exactly(same(0)), 1, "claim", 0, "0s"},
	{"sweeper", [6]float64{}, 0, exactly(same(0)), 3, "claim", 2, "0s"},
	{"chronos", [6]float64{60, 120, 240, 480, 960, 1920}, 0, spread(0.2, 0.2, doubling(60, 3600)), 4, "claim", 3, "7m"},
	{"chronos-linear", [6]float64{60, 120, 180, 240, 300, 360}, 0, spread(0.2, 0.2, func(n float64) float64 { return 60 * n }), 4, "claim", 3, "6m"},
	{"chronos-fixed", [6]float64{60, 60, 60, 60, 60, 60}, 0, spread(0.2, 0.2, same(60)), 4, "claim", 3, "3m"},
	{"chronos-fibonacci", [6]float64{60, 60, 120, 180, 300, 480}, 0, spread(0.2, 0.2, fibonacci), 4, "claim", 3, "4m"},
	{"leaseq", [6]float64{0.25, 0.5, 1, 2, 4, 8}, 0, full(doubling(0.5, 30)), 4, "claim", 3, "1.8s"},

	{"river", [6]float64{1, 16, 81, 256, 625, 1296}, 0, spread(0.1, 0.1, fourth(0, 0)), 25, "claim", 24, "20.4d"},
	{"oban", [6]float64{17.85, 19.95, 24.15, 32.55, 49.35, 82.95}, 0, spread(0, 0.1, func(n float64) float64 { return 15 + math.Pow(2, n) }), 20, "claim", 19, "12.7d"},
	{"graphile", [6]float64{2.718, 7.389, 20.09, 54.60, 148.4, 403.4}, 3e-4, exactly(capped(math.E, math.Exp(10))), 25, "claim", 24, "4.0d"},
	{"pg-boss", [6]float64{}, 0, exactly(same(0)), 3, "claim", 2, "0s"},
	{"que", [6]float64{4, 19, 84, 259, 628, 1299}, 0, exactly(fourth(0, 3)), 16, "failure", 15, "2.1d"},
	{"gue", [6]float64{1.6, 2.56, 4.10, 6.55, 10.49, 16.78}, 1e-3, spread(0.2, 0.2, capped(1.6, 3600)), 0, "failure", 25, "10.2h"},
	{"delayed-job", [6]float64{6, 21, 86, 261, 630, 1301}, 0, exactly(fourth(0, 5)), 25, "failure", 24, "20.4d"},
	{"activejob", [6]float64{3.225, 3.225, 3.225, 3.225, 3.225, 3.225}, 0, spread(0, 0.15, same(3)), 5, "failure", 4, "12.9s"},
	{"activejob-polynomial", [6]float64{3.225, 19.35, 89.225, 277.35, 674.025, 1395.35}, 0, spread(0, 0.15, fourth(0, 2)), 5, "failure", 4, "6.5m"},
	{"solid-queue", [6]float64{}, 0, exactly(same(0)), 1, "claim", 0, "0s"},
	{"pgmq", [6]float64{30, 30, 30, 30, 30, 30}, 0, exactly(same(30)), 0, "claim", 25, "12.5m"},

	{"sidekiq", [6]float64{19.5, 25.5, 45.5, 115.5, 295.5, 669.5}, 0, added(tenN, fourth(1, 15)), 26, "failure", 25, "20.4d"},
	{"sidekiq-pro", [6]float64{19.5, 25.5, 45.5, 115.5, 295.5, 669.5}, 0, added(tenN, fourth(1, 15)), 26, "failure", 25, "20.4d"},
	{"asynq", [6]float64{29.5, 45, 74.5, 154, 343.5, 727}, 0, added(thirtyN, fourth(1, 15)), 26, "failure", 25, "20.5d"},
	{"faktory", [6]float64{29.5, 45, 74.5, 154, 343.5, 727}, 0, added(thirtyN, fourth(1, 15)), 26, "failure", 25, "20.5d"},
	{"bullmq", [6]float64{}, 0, exactly(same(0)), 1, "failure", 0, "0s"},
	{"celery", [6]float64{180, 180, 180, 180, 180, 180}, 0, exactly(same(180)), 4, "failure", 3, "9.0m"},
	{"celery-autoretry", [6]float64{0.5, 1, 2, 4, 8, 16}, 0, full(doubling(1, 600)), 4, "failure", 3, "3.5s"},
	{"inngest", [6]float64{30, 45, 75, 135, 315, 615}, 0, added(same(30), inngest), 5, "failure", 4, "4.8m"},

	{"temporal", [6]float64{1, 2, 4, 8, 16, 32}, 0, exactly(doubling(1, 100)), 0, "claim", 25, "32.1m"},
	{"hatchet", [6]float64{2, 4, 8, 16, 32, 64}, 0, exactly(doubling(2, 86400)), 1, "failure", 0, "0s"},

	{"sqs", [6]float64{30, 30, 30, 30, 30, 30}, 0, exactly(same(30)), 0, "claim", 25, "12.5m"},
	{"nats-js", [6]float64{}, 0, exactly(same(0)), 0, "claim", 25, "0s"},
	{"rabbitmq-qq", [6]float64{}, 0, exactly(same(0)), 21, "claim", 20, "0s"},
	{"pubsub", [6]float64{}, 0, exactly(same(0)), 5, "claim", 4, "0s"},
	{"pubsub-backoff", [6]float64{10, 20, 40, 80, 160, 320}, 0, exactly(doubling(10, 600)), 5, "claim", 4, "2.5m"},
	{"aws-sdk-std", [6]float64{1, 2, 4, 8, 10, 10}, 0, full(doubling(2, 20)), 3, "failure", 2, "3s"},
}

// presetPolicy returns the retry settings of a scenario with a preset, and the retry policy that its engine runs.
func presetPolicy(t *testing.T, preset string) (spec.Retry, *policies.Backoff) {
	t.Helper()
	sc := load(t, smallest+"retry: {preset: "+preset+"}\n")
	b, err := sc.RetryPolicy(0)
	if err != nil {
		t.Fatal(err)
	}
	return sc.RetryOf(0), b
}

// TestPresetDelays checks the delays of every retry preset against its system: means, ranges and limits, by the
// formula, at the ends of the range, and drawn.
func TestPresetDelays(t *testing.T) {
	rand := keyed.Rand{Seed: 1}
	for i, tt := range goldenRetries {
		t.Run(tt.preset, func(t *testing.T) {
			retry, b := presetPolicy(t, tt.preset)
			if retry.MaxAttempts != tt.attempts || retry.Count != tt.count {
				t.Errorf("%v attempts by %s, want %v by %s", retry.MaxAttempts, retry.Count, tt.attempts, tt.count)
			}
			endless := *b
			endless.MaxAttempts = 0
			delay := func(n int, u float64) float64 {
				verb, d := endless.Next(&engine.Job{Charged: int32(n), Failures: int32(n) - 1}, engine.Timeout, u)
				if verb != engine.Nack {
					t.Fatalf("failure %d: %v", n, verb)
				}
				return d.Seconds()
			}
			for k, golden := range tt.means {
				n := k + 1
				low, high := tt.delay(float64(n))
				if mean := (low + high) / 2; !near(mean, golden, tt.digits+1e-12) {
					t.Errorf("failure %d: the formula's mean is %v, want %v", n, mean, golden)
				}
				if least, most := delay(n, 1e-15), delay(n, 1-1e-15); !near(least, low, 1e-9) || !near(most, high, 1e-9) {
					t.Errorf("failure %d: delays in [%v, %v], want [%v, %v]", n, least, most, low, high)
				}
				const draws = 4000
				sum := 0.0
				for id := range uint64(draws) {
					d := delay(n, rand.Uniform(keyed.ForJitter, uint64(i*10+n)<<32+id, 1, 0))
					if d < low-1e-9*low-1e-9 || d > high+1e-9*high+1e-9 {
						t.Fatalf("failure %d: %v is not in [%v, %v]", n, d, low, high)
					}
					sum += d
				}
				// The mean of so many uniform draws is off by six standard deviations less
				// than once in 10^8 times; a step of 1 s adds little to that.
				if off := 6 * (high - low + 1e-6) / math.Sqrt(12*draws); math.Abs(sum/draws-(low+high)/2) > off+1e-9*high {
					t.Errorf("failure %d: the mean of %d draws is %v, want %v ± %v", n, draws, sum/draws, (low+high)/2, off)
				}
			}
		})
	}
}

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)+1e-8
}

// TestPresetExhaustion checks, for each preset, for how long a job that always fails is tried on average, and after
// which failure it is given up.
func TestPresetExhaustion(t *testing.T) {
	for _, tt := range goldenRetries {
		t.Run(tt.preset, func(t *testing.T) {
			_, b := presetPolicy(t, tt.preset)
			waits, total := 0, 0.0
			for n := int32(1); n <= 25; n++ {
				j := engine.Job{Delivery: n, Charged: n, Failures: n - 1}
				verb, low := b.Next(&j, engine.Timeout, 1e-15)
				if verb == engine.Bury {
					break
				}
				_, high := b.Next(&j, engine.Timeout, 1-1e-15)
				waits++
				total += (low.Seconds() + high.Seconds()) / 2
			}
			if waits != tt.waits || !sameSpan(total, tt.total) {
				t.Errorf("given up after %d delays of %v s in all, want %d of %s", waits, total, tt.waits, tt.total)
			}
		})
	}
}

// sameSpan reports whether a number of seconds equals the duration in a text, to one unit of its last digit.
func sameSpan(seconds float64, text string) bool {
	unit, scale := text[len(text)-1:], 1.0
	if unit == "d" {
		text, scale = text[:len(text)-1]+"h", 24
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	tenth := map[string]float64{"s": 0.1, "m": 6, "h": 360, "d": 8640}[unit]
	return math.Abs(seconds-span.Seconds()*scale) <= tenth
}

// TestPresetCounts checks, for each preset, whether a crash costs a job an attempt.
func TestPresetCounts(t *testing.T) {
	for _, tt := range goldenRetries {
		t.Run(tt.preset, func(t *testing.T) {
			_, b := presetPolicy(t, tt.preset)
			if b.MaxAttempts < 2 {
				return // one attempt, or as many as it takes
			}
			// All claims but the first crashed, so that only one failure was seen.
			verb, _ := b.Next(&engine.Job{Delivery: int32(b.MaxAttempts), Charged: int32(b.MaxAttempts)}, engine.Timeout, 0.5)
			if want := map[spec.RetryCount]engine.Verb{"claim": engine.Bury, "failure": engine.Nack}[tt.count]; verb != want {
				t.Errorf("claimed %d times, failed once: %v, want %v", b.MaxAttempts, verb, want)
			}
		})
	}
}

// TestObanScales checks that the delays of the preset oban grow as slowly with more than 20 attempts as with 20.
func TestObanScales(t *testing.T) {
	sc := load(t, smallest+"retry: {preset: oban, max-attempts: 60, jitter: none}\n")
	b, err := sc.RetryPolicy(0)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]time.Duration{1: 16, 2: 17, 3: 17, 4: 17, 5: 19, 30: 15 + 1<<10, 59: 15 + 1<<20, 60: 15 + 1<<20} {
		if got := b.Delay(n); got != want*time.Second {
			t.Errorf("failure %d of 60: %v, want %v", n, got, want*time.Second)
		}
	}
}
