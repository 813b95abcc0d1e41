package results

import (
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine/quantity"
	"qsim/results/measure"
)

// The warm-up that a queue needs, by the formula: 5 ÷ (cμ(1 − √ρ)²).
func TestWarningOfAShortWarmUp(t *testing.T) {
	for _, tt := range []struct {
		name            string
		workers         int
		rate            float64
		service, warmup time.Duration
		want            string // "" for no warning
	}{
		// 5 × 1 s ÷ (4 × (1 − √0.81)²) = 125 s
		{"a second less", 4, 3.24, time.Second, 124 * time.Second, "the warm-up of 2m4s is too short: at a load of 81% on 4 workers the queue takes about 2m05s to settle"},
		{"as long", 4, 3.24, time.Second, 126 * time.Second, ""},
		// 5 × 1 s ÷ (4 × (1 − √0.64)²) = 31.25 s
		{"as long as is advised", 4, 2.56, time.Second, 31200 * time.Millisecond, ""},
		{"a little less than is advised", 4, 2.56, time.Second, 31100 * time.Millisecond, "the warm-up of 31.1s is too short: at a load of 64% on 4 workers the queue takes about 31.2s to settle"},
		{"none, though hardly any is needed", 4, 0.04, time.Second, 0, "the warm-up of 0s is too short: at a load of 1% on 4 workers the queue takes about 1.5s to settle"},
		{"nothing comes by itself", 4, 0, 0, 0, ""},
		{"it never settles", 4, 4, time.Second, time.Second, ""},
	} {
		s := watching()
		s.Workers, s.Rate, s.Service, s.Warmup, s.Duration = tt.workers, tt.rate, tt.service, tt.warmup, time.Hour
		got := warningsOf(t, s, slices.Concat(scattered(0, 12, 0.1), scattered(1, 12, 0.1)))
		var of []string
		for _, text := range got {
			if strings.Contains(text, "warm-up") {
				of = append(of, text)
			}
		}
		if strings.Join(of, "\n") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, of, tt.want)
		}
	}
}

// Policies that retries overload never settle: the warm-up is that of the others, if there are any.
func TestWarningOfAWarmUpUnderOverload(t *testing.T) {
	for _, tt := range []struct {
		busy [2]float64 // by policy
		want string     // start of the warning's last part; "": no warning
	}{
		{[2]float64{1, 1}, ""},
		{[2]float64{1, 0.64}, "at a load, retries and all, of 64% on 4 workers"},
		{[2]float64{0.5, 1}, "at a load of 50% on 4 workers"},
	} {
		s := watching()
		s.Workers, s.Rate, s.Service, s.Warmup, s.Bucket, s.Duration = 4, 2, time.Second, 0, 10*time.Second, 600*time.Second
		runs := slices.Concat(scattered(0, 12, 0.1), scattered(1, 12, 0.1))
		for i := range runs {
			runs[i].Series.Utilization = slices.Repeat([]float64{tt.busy[runs[i].Policy]}, 60)
		}
		_, got, _ := strings.Cut(strings.Join(warningsOf(t, s, runs), "\n"), "warm-up of 0s is too short: ")
		if got, _, _ = strings.Cut(got, " the queue"); got != tt.want {
			t.Errorf("busy %v: %q, want %q", tt.busy, got, tt.want)
		}
	}
}

func warningsOf(t *testing.T, s *measure.Settings, runs []measure.Run) []string {
	t.Helper()
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum.Warnings
}

// Overload is detected without a storm: by the offered load, or by the measured load before the first storm.
func TestWarningOfOverload(t *testing.T) {
	series := func(busy float64, ready func(i int) float64) measure.Series {
		var s measure.Series
		for i := range 60 {
			s.FreshReady, s.RetryReady = append(s.FreshReady, ready(i)/2), append(s.RetryReady, ready(i)/2)
			s.Utilization = append(s.Utilization, busy)
		}
		return s
	}
	grows := func(i int) float64 { return float64(10 * i) }
	for _, tt := range []struct {
		name   string
		rate   float64
		series measure.Series
		storm  time.Duration // start of the storm
		own    time.Duration // that under this policy; 0: the same
		want   bool
	}{
		{"too much comes", 25, measure.Series{}, 40, 0, true},
		{"just enough comes", 15, series(0.8, func(int) float64 { return 5 }), 400, 0, false},
		{"retries are too much", 15, series(1, grows), 400, 0, true},
		{"the backlog grows, but not for want of workers", 15, series(0.9, grows), 400, 0, false},
		{"busy, and no backlog grows", 15, series(1, func(int) float64 { return 40 }), 400, 0, false},
		{"in the storm only", 15, series(1, func(i int) float64 { return max(0, float64(i-30)) }), 300, 0, false},
		{"in its own storm only", 15, series(1, func(i int) float64 { return max(0, float64(10*i-100)) }), 590, 100, false},
		{"before its own storm", 15, series(1, grows), 60, 400, true},
		{"too short to tell", 15, series(1, grows), 60, 0, false},
	} {
		s := watching()
		s.Rate, s.Bucket, s.Duration, s.Storms = tt.rate, 10*time.Second, 600*time.Second, []measure.Window{{Name: "down", From: tt.storm * time.Second, To: tt.storm*time.Second + 1}}
		if tt.own > 0 {
			s.Policies[1].Storms = []measure.Window{{Name: "down", From: tt.own * time.Second, To: tt.own*time.Second + 1}}
		}
		runs := slices.Concat(scattered(0, 12, 0.1), scattered(1, 12, 0.1))
		for i := range runs {
			if runs[i].Policy == 1 && runs[i].Seed <= 10 {
				runs[i].Series = tt.series
			}
		}
		text := strings.Join(warningsOf(t, s, runs), "\n")
		if got := strings.Contains(text, "Weighted: overload without a storm"); got != tt.want {
			t.Errorf("%s: warned %v, want %v:\n%s", tt.name, got, tt.want, text)
		}
		if tt.rate < 20 && strings.Contains(text, "FIFO: overload") {
			t.Errorf("%s: of the wrong policy:\n%s", tt.name, text)
		}
	}
}

// TestWarningOfFreshJobsInStorms checks that a storm in which fresh jobs alone overload the workers is named once, with
// the policies unless it is so under all of them.
func TestWarningOfFreshJobsInStorms(t *testing.T) {
	const flood = "fresh jobs alone overload the workers during flood: each tried once, they bring 140% of the work that " +
		"the workers can do then"
	both := []measure.Overload{{Policy: 0, Storm: "flood", Load: 1.4}, {Policy: 1, Storm: "flood", Load: 1.4}}
	for _, tt := range []struct {
		overloads []measure.Overload
		want      []string
	}{
		{nil, nil},
		{both, []string{flood}},
		{both[1:], []string{"Weighted: " + flood}},
		{append(both, measure.Overload{Policy: 1, Storm: "slow", Load: 1.0149}), []string{flood, "Weighted: fresh jobs alone " +
			"overload the workers during slow: each tried once, they bring 101% of the work that the workers can do then"}},
	} {
		s := watching()
		s.Overloads = tt.overloads
		got := slices.DeleteFunc(warningsOf(t, s, slices.Concat(scattered(0, 12, 0.1), scattered(1, 12, 0.1))),
			func(text string) bool { return !strings.Contains(text, "fresh jobs") })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: %q, want %q", tt.overloads, got, tt.want)
		}
	}
}

// A policy that has jobs of its own is judged by their load, and waits for the warm-up that they need.
func TestWarningOfOwnLoad(t *testing.T) {
	const ms, second = time.Millisecond, time.Second
	for _, tt := range []struct {
		rate    float64
		service time.Duration
		own     float64
		each    time.Duration // service time under the policy
		want    string
	}{
		{3, second, 5, second, "Weighted: overload without a storm: jobs bring 125% of the work that the workers can do"},
		{5, second, 3, second, "FIFO: overload without a storm: jobs bring 125% of the work that the workers can do"},
		{5, second, 0, 1, "FIFO: overload without a storm: jobs bring 125% of the work that the workers can do"},
		{3, second, 0.01, quantity.Longest, "Weighted: overload without a storm: jobs bring more work than any number of workers can do, as the mean service time is infinite"},
		{1, second, 3.24, second, "the warm-up of 1m50s is too short: at a load of 81% on 4 workers the queue takes about 2m05s to settle"},
		{324, 10 * ms, 0.64, 4 * second, "the warm-up of 1m50s is too short: at a load of 64% on 4 workers the queue takes about 2m05s to settle"},
	} {
		s := watching()
		s.Workers, s.Rate, s.Service, s.Warmup, s.Duration = 4, tt.rate, tt.service, 110*second, time.Hour
		s.Policies[1].Rate, s.Policies[1].Service = tt.own, tt.each
		got := slices.DeleteFunc(warningsOf(t, s, slices.Concat(scattered(0, 12, 0.1), scattered(1, 12, 0.1))), func(text string) bool {
			return !strings.Contains(text, "overload") && !strings.Contains(text, "warm-up")
		})
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%v jobs a second of %v and %v of %v: %q, want %q", tt.rate, tt.service, tt.own, tt.each, got, tt.want)
		}
	}
}

// A recovery that did not last is said to have ended at the first return: where, after it and before another storm, fresh
// jobs starve for more than a hundredth of the run, as they did not before the storms.
func TestWarningOfRelapse(t *testing.T) {
	down, up := measure.Window{Name: "down", From: 200 * time.Second, To: 300 * time.Second}, measure.Window{Name: "up", From: 400 * time.Second, To: 500 * time.Second}
	early, both := measure.Window{Name: "early", From: 110 * time.Second, To: 120 * time.Second}, measure.Window{Name: "both", From: 250 * time.Second, To: 300 * time.Second}
	for _, tt := range []struct {
		name     string
		storms   []measure.Window
		back     measure.Value
		from, to int // buckets in which fresh jobs starve, half of the time
		want     bool
		seeds    uint64           // with such a run, of three
		own      []measure.Window // storms of the policy
	}{
		{"again", []measure.Window{down}, measure.Value{Value: 20}, 34, 38, true, 2, nil},
		{"in one seed of three", []measure.Window{down}, measure.Value{Value: 20}, 34, 38, false, 1, nil},
		{"as it was back", []measure.Window{down}, measure.Value{Value: 20}, 32, 34, false, 2, nil},
		{"not for long", []measure.Window{down}, measure.Value{Value: 20}, 34, 35, false, 2, nil},
		{"before it was back", []measure.Window{down}, measure.Value{Value: 80}, 31, 38, false, 2, nil},
		{"never back", []measure.Window{down}, measure.Value{Value: 20, Bound: ">="}, 34, 38, false, 2, nil},
		{"not known", []measure.Window{down}, measure.Value{Null: true}, 34, 38, false, 2, nil},
		{"from the start", []measure.Window{down}, measure.Value{Value: 20}, 5, 38, false, 2, nil},
		{"in the next storm", []measure.Window{down, up}, measure.Value{Value: 20}, 42, 48, false, 2, nil},
		{"before the next storm", []measure.Window{down, up}, measure.Value{Value: 20}, 34, 38, true, 2, nil},
		{"after one that ends with another", []measure.Window{down, both}, measure.Value{Value: 20}, 34, 38, true, 2, nil},
		{"from an earlier storm on", []measure.Window{early, down}, measure.Value{Value: 20}, 12, 37, true, 2, nil},
		{"in its own storm", []measure.Window{down}, measure.Value{Value: 20}, 36, 44, false, 2, []measure.Window{{Name: "down", From: 350 * time.Second, To: 450 * time.Second}}},
	} {
		s := watching()
		s.Bucket, s.Warmup, s.Duration, s.Storms = 10*time.Second, 0, 600*time.Second, tt.storms
		s.Policies[1].Storms = tt.own
		runs := slices.Concat(scattered(0, 3, 0.1), scattered(1, 3, 0.1))
		for i := range runs {
			if runs[i].Policy == 1 && runs[i].Seed <= tt.seeds {
				tt.back.Query = measure.Query{Metric: "recovery.time", After: "down"}
				runs[i].Values = append(runs[i].Values, tt.back)
				runs[i].Series.Starved = make([]float64, 60)
				for b := tt.from; b < tt.to; b++ {
					runs[i].Series.Starved[b] = 0.5
				}
			}
		}
		text := strings.Join(warningsOf(t, s, runs), "\n")
		want := "Weighted: waits are back to normal after down, but fresh jobs starve after that, for 20.0s in 2 of 3 seeds: "
		if got := strings.Contains(text, want); got != tt.want || !tt.want && strings.Contains(text, "starve after") {
			t.Errorf("%s: warned %v, want %v:\n%s", tt.name, got, tt.want, text)
		}
	}
}
