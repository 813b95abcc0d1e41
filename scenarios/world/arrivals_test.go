package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/scenarios"
)

// arriving returns a scenario of one class, mail, with the given arrivals, and more keys (YAML lines) below it.
func arriving(t *testing.T, duration, arrivals, more string) *scenarios.Scenario {
	t.Helper()
	sc, ds := scenarios.Load("test.yaml", []byte("warmup: 0s\nduration: "+duration+"\njobs:\n  - {class: mail, service: 1us, arrivals: {"+arrivals+"}}\n"+more), nil)
	if sc == nil {
		t.Fatalf("%s", render(t, "test.yaml", nil, ds))
	}
	return sc
}

// times returns the arrival times of all jobs of a scenario under a seed, in seconds.
func times(t *testing.T, sc *scenarios.Scenario, seed uint64) []float64 {
	t.Helper()
	w, err := newWorkload(sc, keyed.Rand{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	last := engine.Time(0)
	seen := map[engine.JobID]bool{}
	for {
		var j engine.NewJob
		at, ok := w.Next(&j)
		if !ok {
			break
		}
		if at < last || at >= engine.Time(sc.Duration) || seen[j.ID] {
			t.Fatalf("job %x at %v after one at %v; seen before: %v", j.ID, at, last, seen[j.ID])
		}
		last, seen[j.ID] = at, true
		all = append(all, at.Seconds())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// distance returns the Kolmogorov-Smirnov distance between gaps and cdf, times the square root of their number: it is
// over 2.7 in one of 10^6 samples.
func distance(gaps []float64, cdf func(float64) float64) float64 {
	gaps = slices.Sorted(slices.Values(gaps))
	n, worst := float64(len(gaps)), 0.0
	for i, gap := range gaps {
		p := cdf(gap)
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	return worst * math.Sqrt(n)
}

const mostDistance = 2.7

// On the scale of the expected number of arrivals, the gaps of a process are those of a process of
// rate 1, however its rate varies: exponential, or gamma.
func TestArrivalsOnTheirOwnScale(t *testing.T) {
	skipIfRaced(t)
	exponential := func(x float64) float64 { return 1 - math.Exp(-x) }
	gamma := func(cv float64) func(float64) float64 {
		return distuv.Gamma{Alpha: 1 / (cv * cv), Beta: 1 / (cv * cv)}.CDF
	}
	const storm = "storms: [{name: b, at: 20m, for: 10m, burst: {class: mail, factor: 3}, repeat: {every: 25m, times: 3}}]\n"
	extra := func(at float64) float64 { // seconds of the storms that have passed
		sum := 0.0
		for _, from := range []float64{1200, 2700, 4200} {
			sum += min(max(at-from, 0), 600)
		}
		return sum
	}
	for _, tt := range []struct {
		name, arrivals, more string
		expected             func(at float64) float64 // arrivals until at, in seconds
		cdf                  func(float64) float64
	}{
		{"poisson", "process: poisson, rate: 5/s", "", func(at float64) float64 { return 5 * at }, exponential},
		{"poisson from a start", "process: poisson, rate: 5/s, start: 10m", "", func(at float64) float64 { return 5 * (at - 600) }, exponential},
		{"poisson with bursts", "process: poisson, rate: 5/s", storm, func(at float64) float64 { return 5 * (at + 2*extra(at)) }, exponential},
		{"gamma, regular", "process: gamma, rate: 5/s, cv: 0.3", "", func(at float64) float64 { return 5 * at }, gamma(0.3)},
		{"gamma, clumped", "process: gamma, rate: 5/s, cv: 1.5", storm, func(at float64) float64 { return 5 * (at + 2*extra(at)) }, gamma(1.5)},
		{"ramp up", "process: ramp, from: 0/s, to: 10/s", "", func(at float64) float64 { return 5 * at * at / 7200 }, exponential},
		{"ramp down", "process: ramp, from: 10/s, to: 2/s, stop: 1h", "", func(at float64) float64 { return 10*at - 4*at*at/3600 }, exponential},
		{"diurnal", "process: diurnal, mean: 5/s, swing: 100%, period: 1h", "", func(at float64) float64 {
			return 5 * (at + 3600/(2*math.Pi)*(1-math.Cos(2*math.Pi*at/3600)))
		}, exponential},
		{"diurnal, started late", "process: diurnal, mean: 5/s, swing: 60%, period: 20m, start: 5m", "", func(at float64) float64 {
			return 5 * (at - 300 + 0.6*1200/(2*math.Pi)*(1-math.Cos(2*math.Pi*(at-300)/1200)))
		}, exponential},
		{"on-off", "process: on-off, rate: 15/s, on: 1m, off: 2m", "", func(at float64) float64 {
			return 15 * (60*math.Floor(at/180) + min(math.Mod(at, 180), 60))
		}, exponential},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var gaps []float64
			for seed := uint64(1); seed <= 3; seed++ {
				before := 0.0
				for _, at := range times(t, arriving(t, "2h", tt.arrivals, tt.more), seed) {
					now := tt.expected(at)
					gaps = append(gaps, now-before)
					before = now
				}
			}
			if len(gaps) < 10_000 {
				t.Fatalf("only %d arrivals", len(gaps))
			}
			if d := distance(gaps, tt.cdf); d > mostDistance {
				t.Errorf("the gaps of %d arrivals are %.2f off, want at most %v", len(gaps), d, mostDistance)
			}
		})
	}
}

// Counts agree with the rate: those of a Poisson process within 5 standard deviations, those of a
// process whose gaps have the coefficient of variation cv within 5·cv of them.
func TestArrivalRates(t *testing.T) {
	skipIfRaced(t)
	for _, tt := range []struct {
		arrivals string
		want, cv float64 // expected count in 10 h, and its coefficient of variation
	}{
		{"process: poisson, rate: 120/m", 72_000, 1},
		{"process: poisson, rate: 0/s", 0, 1},
		{"process: constant, rate: 2/s", 72_000, 0},
		{"process: gamma, rate: 2/s, cv: 0.2", 72_000, 0.2},
		{"process: gamma, rate: 2/s, cv: 0.0001", 72_000, 0.001},
		{"process: gamma, rate: 2/s, cv: 4", 72_000, 4},
		{"process: ramp, from: 0/s, to: 4/s", 72_000, 1},
		{"process: ramp, from: 4/s, to: 0/s, start: 5h", 36_000, 1},
		{"process: diurnal, mean: 2/s, swing: 50%, period: 2h", 72_000, 1},
		{"process: diurnal, mean: 2/s, swing: 0%, period: 2h", 72_000, 1},
		{"process: batch, size: 100, every: 1m", 60_000, 0},
		{"process: batch, size: 100, every: 1m, start: 1h, stop: 2h", 6_000, 0},
	} {
		t.Run(tt.arrivals, func(t *testing.T) {
			n := float64(len(times(t, arriving(t, "10h", tt.arrivals, ""), 1)))
			if off := math.Abs(n - tt.want); off > 5*tt.cv*math.Sqrt(tt.want)+1 {
				t.Errorf("%v arrivals, want about %v", n, tt.want)
			}
		})
	}
}

// With exponential phases of mean 1 and 2 minutes and a rate of 3/s while on, the rate is
// 1/s, and the variance of the counts is that of a Poisson number plus that of the time on.
func TestOnOffInTheLongRun(t *testing.T) {
	skipIfRaced(t)
	sc := arriving(t, "10h", "process: on-off, rate: 3/s, on: {dist: exponential, mean: 1m}, off: {dist: exponential, mean: 2m}", "")
	const seeds, span = 40, 36_000.0
	sum, squares := 0.0, 0.0
	for seed := uint64(1); seed <= seeds; seed++ {
		n := float64(len(times(t, sc, seed)))
		sum += n
		squares += n * n
	}
	mean := sum / seeds
	deviation := math.Sqrt((squares - sum*mean) / (seeds - 1))
	// The time on within a long t has the variance t·2·p(1-p)·τ, where p = 1/3 is the share
	// of it and 1/τ = 1/60 + 1/120 how fast it is forgotten which phase it was.
	want := math.Sqrt(span*1 + 3*3*span*2*(1.0/3)*(2.0/3)*40)
	if off := math.Abs(mean - span); off > 5*want/math.Sqrt(seeds) {
		t.Errorf("%v arrivals on the average, want %v", mean, span)
	}
	if ratio := deviation / want; ratio < 0.5 || ratio > 1.6 { // 5 deviations of an estimate from 40 seeds
		t.Errorf("the counts deviate by %.0f, want %.0f", deviation, want)
	}
}

func TestArrivalsExactly(t *testing.T) {
	seconds := func(all ...float64) string { return fmt.Sprint(all) }
	for _, tt := range []struct{ name, arrivals, more, want string }{
		{"constant", "process: constant, rate: 1/s, start: 2s, stop: 6s", "", seconds(2, 3, 4, 5)},
		{"constant with a burst", "process: constant, rate: 1/s, stop: 6s", "storms: [{name: b, at: 2s, for: 2s, burst: {class: mail, factor: 2}}]", seconds(0, 1, 2, 2.5, 3, 3.5, 4, 5)},
		{"constant with a lull", "process: constant, rate: 1/s, stop: 7s", "storms: [{name: b, at: 2s, for: 4s, burst: {class: mail, factor: 0.5}}]", seconds(0, 1, 2, 4, 6)},
		{"two bursts at once", "process: constant, rate: 1/s, stop: 4s", "storms: [{name: a, at: 1s, for: 3s, burst: {class: mail, factor: 2}}, {name: b, at: 2s, for: 1s, burst: {class: mail, factor: 2}}]",
			seconds(0, 1, 1.5, 2, 2.25, 2.5, 2.75, 3, 3.5)},
		{"batch", "process: batch, size: 2, every: 3s, start: 1s", "", seconds(1, 1, 4, 4, 7, 7)},
		{"batch with a burst", "process: batch, size: 2, every: 3s", "storms: [{name: b, at: 3s, for: 1s, burst: {class: mail, factor: 1.5}}, {name: c, at: 6s, for: 1s, burst: {class: mail, factor: 0.1}}]",
			seconds(0, 0, 3, 3, 3, 9, 9)},
		{"count bursts", "process: constant, rate: 0/s", "storms: [{name: b, at: 2s, burst: {class: mail, count: 2}, repeat: {every: 3s, times: 9}}, {name: c, at: 5s, burst: {class: mail, count: 1}}]",
			seconds(2, 2, 5, 5, 5, 8, 8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := seconds(times(t, arriving(t, "10s", tt.arrivals, tt.more), 1)...); got != tt.want {
				t.Errorf("jobs at %v\n  want at %v", got, tt.want)
			}
		})
	}
}

// What a class draws does not depend on the other classes, nor on storms that it has not seen yet.
func TestArrivalsAreTheirOwn(t *testing.T) {
	alone := times(t, arriving(t, "10m", "process: poisson, rate: 5/s", ""), 7)
	stormy := times(t, arriving(t, "10m", "process: poisson, rate: 5/s", "storms: [{name: b, at: 5m, for: 1m, burst: {class: mail, factor: 5}}]"), 7)
	for i, at := range alone {
		if at >= 300 {
			break
		}
		if stormy[i] != at {
			t.Fatalf("arrival %d is at %v, and %v before a storm", i, at, stormy[i])
		}
	}
	if len(stormy) < len(alone)+1000 {
		t.Errorf("%d arrivals with the storm, %d without", len(stormy), len(alone))
	}
}

func TestSine(t *testing.T) {
	for i := -2000; i <= 2000; i++ {
		turn := float64(i) / 997
		if got, want := sine(turn), math.Sin(2*math.Pi*turn); math.Abs(got-want) > 1e-14 {
			t.Fatalf("sine(%v) = %v, want %v", turn, got, want)
		}
	}
	if sine(0) != 0 || sine(1e15) != 0 {
		t.Error("whole turns are not exact")
	}
}

// Each tenant has its share, separately in every class; serial keys of two classes differ.
func TestTenantsAndKeys(t *testing.T) {
	text := `
duration: 10h
jobs:
  - {class: mail, service: 1us, arrivals: {process: poisson, rate: 2/s}, tenants: {count: 5, skew: 1}, serial: {keys: 3}}
  - {class: calls, service: 1us, arrivals: {process: poisson, rate: 1/s}, tenants: {names: [a, b]}, serial: {keys: 2}}
  - {class: sums, service: 1us, arrivals: {process: poisson, rate: 1/s}}
`
	sc := load(t, text)
	w, err := newWorkload(sc, keyed.Rand{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	tenants, keys, total := map[string]float64{}, map[uint32]float64{}, make([]float64, 3)
	for {
		var j engine.NewJob
		_, ok := w.Next(&j)
		if !ok {
			break
		}
		tenants[sc.TenantNames()[j.Tenant]]++
		if j.Serial != 0 {
			keys[j.Serial]++
		}
		total[j.Kind]++
	}
	share := func(name string, got, of, want float64) {
		if off := math.Abs(got/of - want); off > 5*math.Sqrt(want*(1-want)/of) {
			t.Errorf("%s has %.4f, want %.4f", name, got/of, want)
		}
	}
	harmonic := 1 + 1.0/2 + 1.0/3 + 1.0/4 + 1.0/5
	for i := range 5 {
		share(fmt.Sprintf("tenant %d", i), tenants[fmt.Sprintf("mail/%d", i)], total[0], 1/harmonic/float64(i+1))
	}
	share("a", tenants["a"], total[1], 0.5)
	if tenants["sums/0"] != total[2] {
		t.Errorf("tenants of sums: %v", tenants)
	}
	for key := uint32(1); key <= 3; key++ {
		share(fmt.Sprintf("key %d", key), keys[key], total[0], 1.0/3)
	}
	for key := uint32(4); key <= 5; key++ {
		share(fmt.Sprintf("key %d", key), keys[key], total[1], 1.0/2)
	}
	if len(keys) != 5 || strings.Contains(fmt.Sprint(tenants), ":0") && len(tenants) != 8 {
		t.Errorf("keys %v, tenants %v", keys, tenants)
	}
}
