package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios/world"
)

// check returns what Check finds for the row with an ID, changed by change if that is not nil, with up to 100,000 jobs.
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

// TestEveryItemIsMeasured checks that each row has scenarios that load and measure all values expected, or is left out.
func TestEveryItemIsMeasured(t *testing.T) {
	for _, row := range Rows() {
		m, problems := build(row)
		if len(problems) > 0 {
			t.Errorf("%s: %v", row.ID, problems)
			continue
		}
		if (m.leftOut != "") != (wordless[row.Family()] != "") {
			t.Errorf("%s: left out: %q", row.ID, m.leftOut)
		}
		for i := range m.experiments {
			if len(m.experiments[i].answers) == 0 {
				t.Errorf("%s: experiment %d answers nothing", row.ID, i)
			}
		}
	}
}

// TestExactRows checks that rows without random fluctuation are met, and that rows of families left out say why.
func TestExactRows(t *testing.T) {
	for _, row := range Rows() {
		if !row.Quick || row.Kind != "exact" && wordless[row.Family()] == "" && (raced || row.Kind == "sim") {
			continue
		}
		result, err := Check(context.Background(), row, Options{})
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		want := Met
		if wordless[row.Family()] != "" {
			want = LeftOut
		}
		if result.Verdict != want || want == LeftOut && result.Reason == "" {
			t.Errorf("%s: %s %s %+v, want %s", row.ID, result.Verdict, result.Reason, result.Quantities, want)
		}
	}
}

// TestCheckFindsFaults checks that rows are missed once their expected values or parameters are changed a little.
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
		{name: "what is no property of the model", id: "trace.fifo", change: func(r *Row) { r.Expected = json.RawMessage(`{"states": 1}`) }, want: LeftOut},
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

// TestSummarize counts rows by their verdicts: those too wide to decide have failed, and those left out have not.
func TestSummarize(t *testing.T) {
	for verdict, want := range map[Verdict]Summary{
		Met: {Met: 1}, Missed: {Failed: 1, Exit: 1}, Wide: {Failed: 1, Exit: 1}, LeftOut: {LeftOut: 1},
	} {
		got := Summarize([]Result{{Verdict: verdict}})
		if want.Version, want.Rows = 1, got.Rows; !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, want %+v", verdict, *got, want)
		}
	}
}

// TestCheckRefuses checks the errors for rows with unknown or wrong families, parameters and quantities.
func TestCheckRefuses(t *testing.T) {
	const mean = `{"wait_mean": 1}`
	for _, tt := range []struct{ name, id, params, expected, want string }{
		{"a missing parameter", "mmc.9", `{"lam": 1}`, mean, "params.mu"},
		{"a word for a number", "mmc.9", `{"lam": "one", "mu": 1, "c": 1}`, mean, "params.lam"},
		{"half a worker", "mmc.9", `{"lam": 1, "mu": 1, "c": 0.5}`, mean, "not a whole number"},
		{"a share above 1", "attempts.9", `{"p": 1.5, "max_attempts": 2}`, mean, "not a share"},
		{"moments of nothing", "feedback_mg1.9", `{"lam": 0.1, "m1": 1, "m2": 0.5, "p": 0}`, mean, "less than the square"},
		{"no object", "mmc.9", `[]`, mean, "read params"},
		{"a family that there is not", "md2.9", `{"lam": 0.1, "mu": 1, "c": 1}`, mean, "there is no family md2; did you mean md1?"},
		{"a family left out, misspelt", "mmckk.9", `{}`, mean, "did you mean mmck?"},
		{"a family like none", "charmingly.1", `{}`, mean, "there is no family charmingly"},
		{"a quantity that there is not", "mmc.9", `{"lam": 0.1, "mu": 1, "c": 1}`, `{"wiat_mean": 1, "wait_mean": 1}`, "there is no quantity wiat_mean; did you mean wait_mean?"},
		{"a quantity of another family", "mmc.9", `{"lam": 0.1, "mu": 1, "c": 1}`, `{"p_false_reclaim": 1}`, "there is no quantity p_false_reclaim"},
		{"nothing expected", "mmc.9", `{"lam": 0.1, "mu": 1, "c": 1}`, `{}`, "it expects nothing"},
		{"a parameter misspelt that may be missing", "fresh_first.9", `{"lam": 0.4, "p": 0.4, "service": "exp", "mean": 1, "backof_mean": 3}`, `{"fresh_wait_mean": 1}`, "there is no parameter backof_mean; did you mean backoff_mean?"},
		{"an empty list", "trace.fifo.9", `{"arrivals": [], "service": 1}`, mean, "params.arrivals: want a list"},
		{"a word", "fresh_first.9", `{"lam": 0.4, "p": 0.4, "service": "expo", "mean": 1}`, `{"fresh_wait_mean": 1}`, `params.service: "expo"`},
		{"another word", "chain_open.9", `{"lam_f": 0.1, "lam_r": 0.1, "mu": 1, "c": 1, "policy": "lifo"}`, `{"fresh_wait_mean": 1}`, `params.policy: "lifo"`},
		{"all at once", "mmc.9", `{"lam": -1, "mu": "one", "c": 1}`, mean, "params.lam: -1 is not a number of at least 0\nparams.mu: one is"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := Row{ID: tt.id, Kind: "sim", Params: json.RawMessage(tt.params), Expected: json.RawMessage(tt.expected)}
			_, err := Check(context.Background(), row, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestOpenChainTellsPoliciesApart checks that each policy of the open chain gives other waits with the same jobs,
// except for a coin that always falls the same way, which equals a priority.
func TestOpenChainTellsPoliciesApart(t *testing.T) {
	waits := map[string]string{}
	for _, policy := range []string{`"fifo"`, `"fresh_first"`, `"retry_first"`, `"bernoulli", "phi": 0.3`, `"bernoulli", "phi": 0.7`, `"fresh_first", "cap": 1`,
		`"bernoulli", "phi": 0`, `"bernoulli", "phi": 1`} {
		p := &params{}
		if err := json.Unmarshal([]byte(`{"lam_f": 0.6, "lam_r": 0.6, "mu": 1, "c": 2, "policy": `+policy+`}`), &p.values); err != nil {
			t.Fatal(err)
		}
		list, err := openChain(p)
		if err != nil || len(p.problems) > 0 {
			t.Fatalf("%s: %v, %v", policy, err, p.problems)
		}
		x := &list[0]
		x.setup.warmup, x.setup.window, x.setup.drain = 10, 2000, 500
		if err := x.prepare(); err != nil {
			t.Fatalf("%s: %v", policy, err)
		}
		for _, name := range []string{"fresh_wait_mean", "retry_wait_mean"} {
			x.answers = append(x.answers, &answer{item: item{path: name, value: 1.0}, gauge: x.measures[name], kind: "sim"})
		}
		if err := x.replicate(context.Background(), 1, 1, 1); err != nil {
			t.Fatalf("%s: %v", policy, err)
		}
		waits[policy] = fmt.Sprint(x.answers[0].values, x.answers[1].values)
	}
	for _, same := range [][2]string{{`"bernoulli", "phi": 0`, `"retry_first"`}, {`"bernoulli", "phi": 1`, `"fresh_first"`}} {
		if waits[same[0]] != waits[same[1]] {
			t.Errorf("%s: %s, %s: %s", same[0], waits[same[0]], same[1], waits[same[1]])
		}
		delete(waits, same[0])
	}
	seen := map[string]bool{}
	for policy, w := range waits {
		if seen[w] {
			t.Errorf("%s waits as another does: %s", policy, w)
		}
		seen[w] = true
	}
}

func TestReadRowsRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", "rows:", "read rows"},
		{"no rows", "{}", "there are none"},
		{"no id", `{"rows": [{"kind": "sim"}]}`, "no id"},
		{"two of one name", `{"rows": [{"id": "a.1", "kind": "sim"}, {"id": "a.1", "kind": "sim"}]}`, "two are called a.1"},
		{"a kind", `{"rows": [{"id": "a.1", "kind": "guess"}]}`, `kind "guess"`},
		{"an array", "[]", "line 1: a JSON array does not belong there"},
		{"an id that is a number", "{\"rows\": [\n{\"id\": 5}]}", "line 2: a JSON number does not belong there"},
		{"a comma too many", "{\"rows\": [\n{\"id\": \"x\",}]}", "line 2: invalid character '}'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ReadRows(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestAgrees checks that a run's metrics agree with what the observer counts, and that wrong counts are noticed.
func TestAgrees(t *testing.T) {
	x := experiment{setup: setup{workers: 2, warmup: 10, window: 200, drain: 100,
		classes: []string{class("job", poisson(1), exponential(1), fails(0.3))}}}
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := x.replicate(context.Background(), 1, 2, 1); err != nil {
		t.Errorf("they differ: %v", err)
	}
	runs, err := world.Run(context.Background(), x.scenario, world.Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := newObserver(&x.plan, nil)
	o.class[0].n[enqueued], o.class[0].n[claims], o.class[0].n[firsts] = 100, 140, 100
	if err := x.agrees(o, &runs[0]); err == nil {
		t.Error("no disagreement with numbers out of the air")
	}
}

// TestAgreesOnEveryMetric checks that a difference of 1 % from what the observer counts is noticed, for every metric.
func TestAgreesOnEveryMetric(t *testing.T) {
	x := experiment{setup: setup{nodes: 2, workers: 1, warmup: 10, window: 300, drain: 100, retry: noDelay(3),
		classes: []string{class("job", poisson(1), exponential(1), fails(0.3)), class("other", poisson(0.2), "500ms")}}}
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	var seen *observer
	runs, err := world.Run(context.Background(), x.scenario, world.Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		seen = newObserver(&x.plan, cfg.Recorder)
		cfg.Recorder = seen
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen.advance(max(x.plan.to, seen.now) + 1)
	run := &runs[len(runs)-1]
	if err := x.agrees(seen, run); err != nil {
		t.Fatal(err)
	}
	for _, m := range usual {
		if m.metric == "" {
			continue
		}
		changed := 0
		for i := range run.Values {
			v := &run.Values[i]
			if v.Query != (measure.Query{Metric: m.metric}) || v.Null || v.Bound != "" {
				continue
			}
			changed++
			was := v.Value
			v.Value *= 1.01
			var apart disagreement
			if err := x.agrees(seen, run); !errors.As(err, &apart) || !strings.HasPrefix(string(apart), "the metric "+m.metric+" is ") {
				t.Errorf("%s: %v became %v: %v", m.metric, was, v.Value, err)
			}
			v.Value = was
		}
		if changed != 1 {
			t.Errorf("%s is measured %d times", m.metric, changed)
		}
	}
}

// TestMetricsAreMeasured checks that a value is taken from the metric that users read, and for exact rows, bounds and
// metrics without a value from the observer.
func TestMetricsAreMeasured(t *testing.T) {
	const own, read = 1.0, 2.0
	o := newObserver(&observation{classes: 1}, nil)
	o.class[0].n[firstWait], o.class[0].n[firsts] = own, 1
	m := usualGauges["wait_mean"]
	for _, tt := range []struct {
		name, kind string
		value      measure.Value
		counted    []bool
		want       float64
	}{
		{name: "the metric", kind: "sim", value: measure.Value{Value: read}, want: read},
		{name: "of a model", kind: "model", value: measure.Value{Value: read}, want: read},
		{name: "an exact row", kind: "exact", value: measure.Value{Value: read}, want: own},
		{name: "a bound", kind: "sim", value: measure.Value{Value: read, Bound: ">="}, want: own},
		{name: "no value", kind: "sim", value: measure.Value{Value: read, Null: true}, want: own},
		{name: "some classes only", kind: "sim", value: measure.Value{Value: read}, counted: []bool{true}, want: own},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.value.Query, o.counted = measure.Query{Metric: "fresh.wait.mean"}, tt.counted
			a := answer{item: item{"wait_mean", own}, gauge: m, kind: tt.kind}
			a.add(o, &measure.Run{Values: []measure.Value{tt.value}})
			if len(a.values) != 1 || a.values[0] != tt.want {
				t.Errorf("got %v, want %v", a.values, tt.want)
			}
		})
	}
}

// TestJudge checks the verdicts on measured values against expected ones, for every kind of row and shape of value.
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
			a := answer{item: item{"x", tt.expected}, gauge: gauge{shape: tt.shape}, kind: tt.kind, measured: measured{values: tt.values, nothing: tt.nothing}}
			if got := a.judge(); got != tt.want {
				t.Errorf("got %s, want %s: %v ± %v of %v", got, tt.want, a.centre(), a.half(), a.allowed())
			}
		})
	}
}

// TestHalfWidthIsHonest counts how often the 99.9 % interval of 20 normal values misses their mean: 4 of 4,000 times
// are expected, and more than 13 have a probability of 8e-5 (Poisson). The values are always the same.
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

// TestRareProbabilities checks expected shares so close to 0 or 1 that no replication sees another: they are met, and a
// share that should have been seen is missed.
func TestRareProbabilities(t *testing.T) {
	for _, tt := range []struct {
		name, id, params, expected string
		want                       Verdict
	}{
		{"one in 100 million dies", "attempts.9", `{"p": 0.01, "max_attempts": 4}`, `{"p_dead": 1e-8}`, Met},
		{"all but one in 100 million succeed", "three_retries.9", `{"failure": 0.01}`, `{"success": 0.99999999}`, Met},
		{"one in 10,000 should have died", "attempts.9", `{"p": 0.01, "max_attempts": 4}`, `{"p_dead": 1e-4}`, Missed},
		{"one in 1,000 dies, which is not so seldom", "attempts.9", `{"p": 0.1, "max_attempts": 3}`, `{"p_dead": 1e-8}`, Wide},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if raced {
				t.Skip("it takes long under the race detector")
			}
			row := Row{ID: tt.id, Kind: "sim", Params: json.RawMessage(tt.params), Expected: json.RawMessage(tt.expected)}
			result, err := Check(context.Background(), row, Options{MostJobs: 1e6})
			if err != nil || result.Verdict != tt.want {
				t.Errorf("got %s, %v, want %s: %+v", result.Verdict, err, tt.want, result.Quantities)
			}
		})
	}
}

// TestLimitsOfCoins checks that limits within which a window of coins is expected to stay are missed if they are too
// wide, so that all windows keep them, or too narrow.
func TestLimitsOfCoins(t *testing.T) {
	p := &params{values: map[string]any{"claims": 1000.0, "phi": 0.8}}
	if got := noLongerRun(1000, 0.2, 10); math.Abs(got-0.9999837758725728) > 1e-12 { // bern.1
		t.Errorf("no run above 10: %v", got)
	}
	if got := (distuv.Binomial{N: 10, P: 0.25}).CDF(2); math.Abs(got-0.5255928039550781) > 1e-12 { // (3^10+10·3^9+45·3^8)/4^10
		t.Errorf("at most 2 of 10: %v", got)
	}
	for _, tt := range []struct {
		name  string
		limit float64
		keep  float64 // expected share of 100,000 windows within the limit
		want  Verdict
	}{
		{"lo", 757, 0.9996, Met}, {"lo", 756, 0.9997, Missed}, {"lo", 758, 0.9995, Missed}, {"lo", 1, 1, Missed}, {"lo", 757, 0.997, Missed}, {"lo", 756.5, 1, Missed},
		{"hi", 841, 0.9996, Met}, {"hi", 1000, 1, Missed}, {"hi", 840, 0.9995, Missed}, {"hi", 841, 1, Missed},
		{"longest_nonfresh_run_p999", 8, 0.9996, Met}, {"longest_nonfresh_run_p999", 9, 1, Missed}, {"longest_nonfresh_run_p999", 1000, 1, Missed},
	} {
		p.expected = []item{{tt.name, tt.limit}}
		experiments, err := coins(p)
		if err != nil {
			t.Fatal(err)
		}
		a := answer{item: item{tt.name, tt.limit}, gauge: experiments[0].measures[tt.name], kind: "exact", measured: measured{tries: 100_000, values: []float64{tt.keep, tt.keep, tt.keep}}}
		if got := a.judge(); got != tt.want {
			t.Errorf("%s %v, kept by %v: %s, want %s", tt.name, tt.limit, tt.keep, got, tt.want)
		}
	}
}

// TestDuplicatesAreSecondSuccesses checks that only successes after the first of a job in the window are duplicates.
func TestDuplicatesAreSecondSuccesses(t *testing.T) {
	o := newObserver(&observation{from: 0, to: 100, classes: 1}, nil)
	countDuplicates(nil, o)
	play := func(at engine.Time, kind engine.EventKind, job engine.JobID, failed engine.ErrorKind) {
		o.on(o, &engine.Event{At: at, Kind: kind, Job: job, Error: failed})
	}
	play(1, engine.Enqueued, 1, 0)
	play(2, engine.Finished, 1, engine.FirstErrorKind)
	play(3, engine.Finished, 1, engine.NoError) // the first success
	play(4, engine.Finished, 1, engine.FirstErrorKind)
	play(5, engine.Finished, 1, engine.NoError) // a duplicate
	play(6, engine.Finished, 1, engine.NoError) // another
	play(100, engine.Enqueued, 2, 0)            // after the window
	play(101, engine.Finished, 2, engine.NoError)
	play(102, engine.Finished, 2, engine.NoError)
	if got := duplicates(o); got != 2 {
		t.Errorf("%v duplicates, want 2", got)
	}
}

// TestKneeHasTwoSides checks that the knee of a retry budget of a tenth is found at a failure rate of 1/11, and not
// below it, where all retries are paid for, nor above, where not all are.
func TestKneeHasTwoSides(t *testing.T) {
	if raced {
		t.Skip("it takes long under the race detector")
	}
	for _, tt := range []struct {
		knee string
		want Verdict
	}{{"0.0909", Met}, {"0.08", Missed}, {"0.11", Missed}} {
		row := Row{ID: "token_bucket.1", Kind: "model", Params: json.RawMessage(`{"failure": 0.05, "fill": 0.1}`), Expected: json.RawMessage(`{"knee_failure_rate": ` + tt.knee + `}`)}
		m, problems := build(row)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		x := &m.experiments[1]
		if err := x.replicate(context.Background(), 1, 3, 0); err != nil {
			t.Fatal(err)
		}
		if got := x.answers[0].judge(); got != tt.want {
			t.Errorf("a knee at %s: %s, want %s: %v", tt.knee, got, tt.want, x.answers[0].values)
		}
	}
}

// TestLongRowsBriefly runs some of the long rows with a few replications: expected values must lie in intervals of 99.9
// %, narrow enough to find large errors. With some 60 quantities one in 17 such tests would fail by chance, but the
// seeds are fixed. The command verify --full applies the full rule.
func TestLongRowsBriefly(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("it takes long under the race detector")
	}
	const replications = 8
	ids := []string{"feedback.1", "chain_retry.3", "prio_mmc.1", "storm.1", "poll.1", "weighted_sat.1", "lease_logn.1", "hb_fixed.1"}
	seen := 0
	for _, row := range Rows() {
		if !slices.Contains(ids, row.ID) {
			continue
		}
		seen++
		t.Run(row.ID, func(t *testing.T) {
			m, problems := build(row)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			for i := range m.experiments {
				x := &m.experiments[i]
				if row.ID != "storm.1" { // whose storms take what time they take
					x.setup.window /= 3
					if err := x.prepare(); err != nil {
						t.Fatal(err)
					}
				}
				if err := x.replicate(context.Background(), 1, replications, 0); err != nil {
					t.Fatal(err)
				}
				for _, a := range x.answers {
					if misses := briefly(a); misses != "" {
						t.Errorf("%s: %s", a.path, misses)
					}
				}
			}
		})
	}
	if seen != len(ids) {
		t.Errorf("%d of %d rows are there", seen, len(ids))
	}
}

// briefly returns what is wrong with an answer, "" for nothing: its interval must contain the value, and be less than
// half of that wide or a twentieth of a curve's peak.
func briefly(a *answer) string {
	expected, isNumber := a.value.(float64)
	centre, half := a.centre(), a.half()
	switch {
	case a.text != nil || !isNumber:
		if a.judge() != Met {
			return fmt.Sprintf("%v is %v", a.value, a.texts)
		}
	case a.nothing > 0:
		return "a replication has no value"
	case a.shape == atLeast && centre < a.bound-half:
		return fmt.Sprintf("at least %v is %v ± %v", a.bound, centre, half)
	case a.shape != atLeast && math.Abs(centre-expected) > half+a.slack+1e-9:
		return fmt.Sprintf("%v is %v ± %v", expected, centre, half)
	case half > max(expected/2, 0.002, a.peak/20):
		return fmt.Sprintf("%v is %v ± %v, which tells nothing", expected, centre, half)
	}
	return ""
}
