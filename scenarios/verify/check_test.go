package verify

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"qsim/results"
	"qsim/scenarios"
)

// check runs a row that is changed first; nothing in these tests needs more jobs than few.
func check(t *testing.T, id string, change func(r *Row)) Result {
	t.Helper()
	for _, row := range Rows() {
		if row.ID != id {
			continue
		}
		if change != nil {
			change(&row)
		}
		result, err := Check(context.Background(), row, Options{MostJobs: 1e5})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	t.Fatalf("there is no row %s", id)
	return Result{}
}

// TestEveryItemIsMeasured holds that no row, and nothing that a row expects, is passed over
// in silence, and that what is built loads.
func TestEveryItemIsMeasured(t *testing.T) {
	for _, row := range Rows() {
		if reason := inexpressible(row.Family()); reason != "" {
			continue
		}
		build := families[row.Family()]
		if build == nil {
			t.Errorf("%s: no family, and no reason for that", row.ID)
			continue
		}
		expected, err := items(row.Expected)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newParams(row.Params)
		if err != nil {
			t.Fatal(err)
		}
		p.expected = expected
		experiments, err := build(p)
		if err != nil || len(p.problems) > 0 {
			t.Errorf("%s: %v %v", row.ID, err, p.problems)
			continue
		}
		asked := make([]*experiment, len(expected))
		for i := range experiments {
			x := &experiments[i]
			x.ask(&row, expected, asked)
			if len(x.answers) == 0 {
				t.Errorf("%s: experiment %d answers nothing", row.ID, i)
			}
			if err := x.prepare(); err != nil && !x.known {
				t.Errorf("%s: experiment %d: %v", row.ID, i, err)
			}
		}
		for i, it := range expected {
			if asked[i] == nil && facts[it.path] == "" && boundOf(it.path) == "" {
				t.Errorf("%s: nothing measures %s", row.ID, it.path)
			}
		}
	}
}

// TestExactRows runs what draws nothing, or has no fluctuation: there is no false alarm.
func TestExactRows(t *testing.T) {
	for _, row := range Rows() {
		if !row.Quick || row.Kind != "exact" && inexpressible(row.Family()) == "" && (raced || row.Kind == "sim") {
			continue
		}
		result, err := Check(context.Background(), row, Options{})
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		want := Met
		if inexpressible(row.Family()) != "" {
			want = LeftOut
		}
		if result.Verdict != want || want == LeftOut && result.Reason == "" {
			t.Errorf("%s: %s %s %+v, want %s", row.ID, result.Verdict, result.Reason, result.Quantities, want)
		}
	}
}

// TestCheckFindsFaults changes what rows expect, or what they are about, a little.
func TestCheckFindsFaults(t *testing.T) {
	expect := func(old, new string) func(r *Row) {
		return func(r *Row) {
			text := strings.Replace(string(r.Expected), old, new, 1)
			if text == string(r.Expected) {
				t.Fatalf("%s does not expect %s", r.ID, old)
			}
			r.Expected = json.RawMessage(text)
		}
	}
	about := func(old, new string) func(r *Row) {
		return func(r *Row) { r.Params = json.RawMessage(strings.Replace(string(r.Params), old, new, 1)) }
	}
	for _, tt := range []struct {
		name, id string
		change   func(r *Row)
		want     Verdict
		repeated bool
	}{
		{name: "as it is", id: "trace.fifo", want: Met},
		{name: "a wait", id: "trace.fifo", change: expect("18.0", "18.001"), want: Missed},
		{name: "an order", id: "trace.wrr", change: expect("FFRFFRFFR", "FRFFRFFRF"), want: Missed},
		{name: "something that there is not", id: "trace.fifo", change: expect("30]", "30, 40]"), want: Missed},
		{name: "a jitter", id: "jitter.1", change: expect("0.5", "0.50001"), want: Missed},
		{name: "another jitter", id: "jitter.1", change: about("full", "equal"), want: Missed},
		{name: "no recovery", id: "hotos21.1", change: expect("16.0", "null"), want: Missed},
		{name: "a recovery", id: "hotos21.5", change: expect("null", "500"), want: Missed},
		{name: "a truth", id: "hotos21.5", change: expect("true", "false"), want: Missed},
		{name: "a longer outage", id: "hotos21.1", change: about("10}", "11}"), want: Missed},
		{name: "a probability", id: "hb_exp.3", change: expect("0.01011", "0.02011"), want: Missed, repeated: true},
		{name: "a lease", id: "hb_exp.3", change: about(`"lease": 60`, `"lease": 50`), want: Missed, repeated: true},
		{name: "a narrow interval that takes too long", id: "hb_exp.1", want: Wide},
		{name: "what nobody measures", id: "trace.fifo", change: func(r *Row) { r.Expected = json.RawMessage(`{"charm": 1}`) }, want: LeftOut},
		{name: "a family that there is not", id: "trace.fifo", change: func(r *Row) { r.ID = "charm.1" }, want: LeftOut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if raced && strings.HasPrefix(tt.id, "h") {
				t.Skip("it takes long under the race detector, and other rows go the same ways")
			}
			result := check(t, tt.id, tt.change)
			if result.Verdict != tt.want {
				t.Errorf("got %s %s, want %s: %+v", result.Verdict, result.Reason, tt.want, result.Quantities)
			}
			repeated := false
			for _, q := range result.Quantities {
				repeated = repeated || q.Repeated
			}
			if repeated != tt.repeated {
				t.Errorf("measured again: %v, want %v", repeated, tt.repeated)
			}
		})
	}
}

// TestCheckRefuses names what is wrong with a row.
func TestCheckRefuses(t *testing.T) {
	for _, tt := range []struct{ name, id, params, want string }{
		{"a missing parameter", "mmc.9", `{"lam": 1}`, "params.mu"},
		{"a word for a number", "mmc.9", `{"lam": "one", "mu": 1, "c": 1}`, "params.lam"},
		{"half a worker", "mmc.9", `{"lam": 1, "mu": 1, "c": 0.5}`, "not a whole number"},
		{"a share above 1", "attempts.9", `{"p": 1.5, "max_attempts": 2}`, "not a share"},
		{"moments of nothing", "feedback_mg1.9", `{"lam": 0.1, "m1": 1, "m2": 0.5, "p": 0}`, "less than the square"},
		{"no object", "mmc.9", `[]`, "read params"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := Row{ID: tt.id, Kind: "sim", Params: json.RawMessage(tt.params), Expected: json.RawMessage(`{"wait_mean": 1}`)}
			_, err := Check(context.Background(), row, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestReadRowsRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", "rows:", "read rows"},
		{"no rows", "{}", "there are none"},
		{"no id", `{"rows": [{"kind": "sim"}]}`, "no id"},
		{"two of one name", `{"rows": [{"id": "a.1", "kind": "sim"}, {"id": "a.1", "kind": "sim"}]}`, "two are called a.1"},
		{"a kind", `{"rows": [{"id": "a.1", "kind": "guess"}]}`, `kind "guess"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadRows(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestAgrees holds a run's metrics against its events, as they are and with one changed.
func TestAgrees(t *testing.T) {
	x := experiment{setup: setup{workers: 2, warmup: 10, window: 200, drain: 100,
		classes: []string{class("job", poisson(1), exponential(1), fails(0.3))}}}
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := x.replicate(context.Background(), 1, 2, 1); err != nil {
		t.Errorf("they differ: %v", err)
	}
	runs, err := scenarios.Run(context.Background(), x.scenario, scenarios.Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := newObserver(&x.plan, nil)
	o.class[0].enqueued, o.class[0].claims = 100, [2]float64{100, 40}
	if err := x.agrees(o, &runs[0]); err == nil {
		t.Error("no disagreement with numbers out of the air")
	}
}

// TestJudge goes through the rule, case by case.
func TestJudge(t *testing.T) {
	// The t-interval of these at 99.9 % is 10 ± 0.087 (t 12.924 of 3, s 0.0135).
	near := []float64{9.99, 10.01, 10, 10.02}
	for _, tt := range []struct {
		name     string
		kind     string
		shape    shape
		expected any
		values   []float64
		nothing  int
		want     Verdict
	}{
		{"inside", "sim", ofMean, 10.0, near, 0, Met},
		{"at the edge, inside", "sim", ofMean, 10.08, near, 0, Met},
		{"outside", "sim", ofMean, 10.11, near, 0, Missed},
		{"too wide", "sim", ofMean, 10.0, []float64{9, 10, 11, 10}, 0, Wide},
		{"wide enough for a tail", "sim", ofTail, 10.0, []float64{9.98, 10.02, 10, 10.04}, 0, Met},
		{"of those some had no value", "sim", ofMean, 10.0, near, 1, Missed},
		{"nothing, as expected", "sim", ofMean, nil, nil, 4, Met},
		{"something, against expectation", "sim", ofMean, nil, near, 0, Missed},
		{"never, and so it is", "sim", ofShare, 0.0, []float64{0, 0, 0}, 0, Met},
		{"never, but it is", "sim", ofShare, 0.0, []float64{0, 0.001, 0}, 0, Missed},
		{"a fluid, 1.9 % off", "model", ofMean, 10.0, []float64{10.19, 10.19}, 0, Met},
		{"a fluid, 2.1 % off", "model", ofMean, 10.0, []float64{10.21, 10.21}, 0, Missed},
		{"exactly", "exact", ofSame, 10.0, []float64{10}, 0, Met},
		{"not exactly", "exact", ofSame, 10.0, []float64{10.0000001}, 0, Missed},
		{"exactly, once", "exact", ofSame, 10.0, []float64{10, 11}, 0, Missed},
		{"the least", "sim", ofLeast, 20.0, []float64{20.3, 20.1}, 0, Met},
		{"less than the least", "sim", ofLeast, 20.0, []float64{20.3, 19.999}, 0, Missed},
		{"far from the least", "sim", ofLeast, 20.0, []float64{20.5, 20.6}, 0, Missed},
		{"more than the most", "sim", ofMost, 20.0, []float64{20.01, 19}, 0, Missed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := answer{item: item{"x", tt.expected}, measure: measure{shape: tt.shape}, kind: tt.kind, values: tt.values, nothing: tt.nothing}
			if got := a.judge(); got != tt.want {
				t.Errorf("got %s, want %s: %v ± %v of %v", got, tt.want, a.centre(), a.half(), a.allowed())
			}
		})
	}
}

// TestHalfWidthIsHonest measures how often the interval of 20 values at 99.9 % misses
// their mean: 4 of 4,000 are expected; more than 13 happen by chance with probability
// 8e-5 (Poisson), and the values are fixed.
func TestHalfWidthIsHonest(t *testing.T) {
	const sets, size = 4000, 20
	missed := 0
	state := uint64(1)
	uniform := func() float64 { // splitmix64
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return (float64((z^z>>31)>>11) + 0.5) / (1 << 53)
	}
	for range sets {
		values := make([]float64, size)
		for i := range values { // Box and Muller
			values[i] = math.Sqrt(-2*math.Log(uniform())) * math.Cos(2*math.Pi*uniform())
		}
		if m := results.MeanOf(values); math.Abs(m) > results.HalfWidth(values, m, confidence) {
			missed++
		}
	}
	if missed > 13 || missed == 0 {
		t.Errorf("missed %d of %d: want about 4", missed, sets)
	}
}
