package tune

import (
	"context"
	"math"
	"testing"

	"qsim/engine"
	"qsim/results"
)

// planted is an arena whose settings have known means. Noise is common to all settings in
// part, as that of one seed is.
type planted struct {
	mean, slack func(setting int) float64
	noise       float64
	seed        uint64
	runs        int
}

// standard is the standard normal distribution of absolute values: the sign is another draw.
var standard = func() engine.Dist {
	dist, err := engine.Normal(0, 1)
	if err != nil {
		panic(err)
	}
	return dist
}()

func (p *planted) observe(_ context.Context, asks []ask) ([][]observation, error) {
	normal := func(setting, seed int, n uint16) float64 {
		r := engine.Rand{Seed: p.seed}
		v := standard.Sample(r.Uniform(engine.ForChaos, uint64(seed), uint64(setting+1), n))
		if r.Uniform(engine.ForChaos, uint64(seed), uint64(setting+1), n+1) < 0.5 {
			return -v
		}
		return v
	}
	answers := make([][]observation, len(asks))
	for i, a := range asks {
		for seed := a.from; seed < a.to; seed++ {
			p.runs++
			e := p.noise * (normal(-1, seed, 0) + 0.5*normal(a.setting, seed, 2))
			answers[i] = append(answers[i], observation{goal: p.mean(a.setting) + e, slacks: []float64{p.slack(a.setting) + 0.3*e}, open: []bool{false}})
		}
	}
	return answers, nil
}

var one = []results.Objective{{Query: results.Query{Metric: "planted"}, Text: "below 1"}}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// The best of 12 settings lies at 7, twice the indifference below its neighbours, and settings
// below 3, which would be better still, miss the objective. KN promises to be wrong at most
// once in 20 searches: of 60, more than 9 happen with a probability of 1e-3, were it as bad as it
// may be. The seeds are fixed.
func TestKNFindsThePlantedOptimum(t *testing.T) {
	t.Parallel()
	wrong, runs := 0, 0
	for seed := range uint64(60) {
		a := &planted{noise: 1, seed: seed, mean: func(i int) float64 {
			if i < 3 {
				return 0.5
			}
			return 2 + 0.2*math.Abs(float64(i-7))
		}, slack: func(i int) float64 { return map[bool]float64{true: -0.15, false: 0.6}[i < 3] }}
		s := &selection{arena: a, objectives: one, confidence: 0.95, indifference: 0.1, absolute: true, most: 3000, settings: upTo(12)}
		got, err := choose(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got.best < 0 || got.tried[got.best].setting != 7 || !got.decided {
			wrong++
		}
		runs += a.runs
	}
	if wrong > 9 {
		t.Errorf("%d of 60 searches missed the planted optimum", wrong)
	}
	t.Logf("%d wrong, %d runs each; 12 settings with 3000 seeds are 36000", wrong, runs/60)
	if runs/60 > 36000/4 {
		t.Errorf("%d runs a search", runs/60)
	}
}

// Of 500 settings the planted one is found by halving first, in far fewer runs than a grid.
func TestHalvingFindsThePlantedOptimum(t *testing.T) {
	t.Parallel()
	wrong, runs := 0, 0
	for seed := range uint64(20) {
		a := &planted{noise: 0.3, seed: seed, mean: func(i int) float64 { return 1 + math.Abs(float64(i-321))/10 }, slack: func(int) float64 { return 1 }}
		s := &selection{arena: a, objectives: one, confidence: 0.95, indifference: 0.05, absolute: true, most: 200, settings: upTo(500)}
		got, err := choose(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got.best < 0 || math.Abs(float64(got.tried[got.best].setting-321)) > 1 || got.dropped != 468 {
			wrong++
		}
		runs += a.runs
	}
	// Off by more than one setting is worse by more than twice the indifference: at most once in
	// 20 searches, and more than 5 times in 20 with a probability of 3e-4.
	if wrong > 5 {
		t.Errorf("%d of 20 searches missed the planted optimum", wrong)
	}
	if runs/20 > 10_000 {
		t.Errorf("%d runs a search, where a grid with 200 seeds takes 100,000", runs/20)
	}
}

// Settings that are equal are found so, and the first stands for them.
func TestEqualSettings(t *testing.T) {
	t.Parallel()
	a := &planted{noise: 0, mean: func(int) float64 { return 3 }, slack: func(int) float64 { return 1 }}
	got, err := choose(context.Background(), &selection{arena: a, objectives: one, confidence: 0.95, indifference: 0.05, most: 100, settings: upTo(5)})
	if err != nil {
		t.Fatal(err)
	}
	if got.best < 0 || got.tried[got.best].setting != 0 || !got.decided || a.runs > 5*pilotSeeds {
		t.Errorf("got %+v after %d runs", got, a.runs)
	}
}

func TestNoSettingMeetsTheObjective(t *testing.T) {
	t.Parallel()
	a := &planted{noise: 0.1, mean: func(i int) float64 { return float64(i) }, slack: func(int) float64 { return -1 }}
	got, err := choose(context.Background(), &selection{arena: a, objectives: one, confidence: 0.95, indifference: 0.05, most: 100, settings: upTo(5)})
	if err != nil {
		t.Fatal(err)
	}
	if got.best >= 0 || !got.decided || a.runs != 5*pilotSeeds {
		t.Errorf("got %+v after %d runs", got, a.runs)
	}
}

// The threshold lies between 36 and 37 of 64 values, where the slack is 0.1 on either side.
// All verdicts hold together with 95 %: of 200 searches at most 22 miss it, see above.
func TestBisectionFindsTheThreshold(t *testing.T) {
	t.Parallel()
	wrong, runs := 0, 0
	for seed := range uint64(200) {
		a := &planted{noise: 1, seed: seed, mean: func(int) float64 { return 0 }, slack: func(i int) float64 { return (float64(i) - 36.5) / 5 }}
		got, err := bisect(context.Background(), &bisection{arena: a, objectives: one, confidence: 0.95, most: 800, order: upTo(64)})
		if err != nil {
			t.Fatal(err)
		}
		if got.best < 0 || got.tried[got.best].setting != 37 || !got.monotone {
			wrong++
		}
		runs += a.runs
	}
	if wrong > 22 {
		t.Errorf("%d of 200 searches missed the threshold", wrong)
	}
	t.Logf("%d wrong, %d runs each", wrong, runs/200)
}

func TestBisectionAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		first int // that meets the objective
		best  int
	}{{"all do", 0, 0}, {"none does", 99, -1}, {"the last one does", 9, 9}, {"all but the first do", 1, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &planted{noise: 0.01, slack: func(i int) float64 { return map[bool]float64{true: 1, false: -1}[i >= tt.first] }, mean: func(int) float64 { return 0 }}
			got, err := bisect(context.Background(), &bisection{arena: a, objectives: one, confidence: 0.95, most: 50, order: upTo(10)})
			if err != nil {
				t.Fatal(err)
			}
			best := -1
			if got.best >= 0 {
				best = got.tried[got.best].setting
			}
			if best != tt.best || !got.monotone {
				t.Errorf("got %d, monotone %v", best, got.monotone)
			}
		})
	}
}

// Where values contradict each other all of them are looked at, and that is said.
func TestBisectionFindsContradictions(t *testing.T) {
	t.Parallel()
	a := &planted{noise: 0.01, mean: func(int) float64 { return 0 }, slack: func(i int) float64 { return map[bool]float64{true: 1, false: -1}[i != 5 && i >= 4] }}
	got, err := bisect(context.Background(), &bisection{arena: a, objectives: one, confidence: 0.95, most: 50, order: upTo(10)})
	if err != nil {
		t.Fatal(err)
	}
	if got.monotone || got.best < 0 || got.tried[got.best].setting != 4 || len(got.tried) != 10 {
		t.Errorf("got %+v", got)
	}
}
