package study

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

// metastable is a scenario that serves 30 requests a second, and whose callers repeat theirs once after a second: from
// an outage of some seconds it recovers below 15 requests a second, and never above (Bronson and others, HotOS 2021:
// half of the capacity), which a run of ten minutes shows nearly exactly.
const metastable = `
name: metastable
duration: 10m
drain: 0s
warmup: 0s
engine:
  workers: 1
  fetch: {batch: 1}
  commit: {batch: 1, linger: 0s, calls: 100}
  lease: {ttl: 1h, heartbeat: 0s}
  reaper: {every: 1h}
  store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s}
jobs:
  - {class: requests, arrivals: {process: constant, rate: 10/s}, service: 33333333ns, patience: {after: 1s, resubmits: 1}}
storms:
  - {name: outage, at: 1m, for: 10s, pause: {nodes: 1}}
policies: [{kind: fifo}]
objectives: [{metric: drain.time, after: outage, above: 0s}]
`

func mapPlan(t *testing.T) *MapPlan {
	t.Helper()
	p := &MapPlan{Source: Source{Name: "m.yaml", Text: []byte(metastable), Sets: []scenarios.Override{{Path: "seeds", Value: "1"}}},
		X: span(t, "12/s..18/s/3/s"), Y: span(t, "8s,12s"), Depth: 2, Edge: math.NaN(), Query: measure.Query{Metric: "drain.time", After: "outage"}}
	p.X.Key, p.Y.Key = "jobs.requests.arrivals.rate", "storms.outage.for"
	p.Progress = func(string, int, int) func() { return func() {} }
	return p
}

// runMap makes the maps of a plan for all policies of its scenario.
func runMap(ctx context.Context, t *testing.T, p *MapPlan) ([]*Map, error) {
	t.Helper()
	sc, err := p.Source.setting(nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Run(ctx, sc)
	if err != nil {
		return nil, err
	}
	return found.Maps, nil
}

// TestMapOfAnInvalidPoint checks that the error for a point whose scenario has a mistake names the mistake's position.
func TestMapOfAnInvalidPoint(t *testing.T) {
	p := mapPlan(t)
	p.Y = span(t, "1m,1h")
	p.Y.Key = "duration"
	p.Source.Text = []byte(strings.Replace(metastable, "warmup: 0s", "warmup: 2m", 1))
	_, err := runMap(t.Context(), t, p)
	if want := "5:9: the warmup (2m) lasts as long as the run (1m)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestMapFindsTheKnownEdge(t *testing.T) {
	p := mapPlan(t)
	maps, err := runMap(context.Background(), t, p)
	if err != nil {
		t.Fatal(err)
	}
	m := maps[0]
	if len(m.Values) >= m.Size() {
		t.Errorf("measured %d points of %d", len(m.Values), m.Size())
	}
	for at, v := range m.Values {
		x := m.X[at.X].Number
		if x < 14.5 && v.Beyond || x > 15 && !v.Beyond || v.Never != v.Beyond {
			t.Errorf("at %s and %s: %+v", m.X[at.X].Text, m.Y[at.Y].Text, v)
		}
	}
	edge := m.panel("").Edge
	if len(edge) == 0 {
		t.Fatal("no edge")
	}
	for _, s := range edge {
		// 12/s is position 0, 3/s are 4 positions.
		if x := 12 + s[0]*3/4; s[0] == s[2] && (x < 14 || x > 15.5) {
			t.Errorf("the edge is at %v/s", x)
		}
	}
	one := mapPlan(t)
	one.Source.Parallel = 1
	again, err := runMap(context.Background(), t, one)
	if err != nil || len(again[0].Values) != len(m.Values) {
		t.Fatalf("on one processor: %v", err)
	}
	for at, v := range m.Values {
		if w := again[0].Values[at]; v.Mean != w.Mean && !(math.IsNaN(v.Mean) && math.IsNaN(w.Mean)) {
			t.Errorf("on one processor %v is %+v, not %+v", at, w, v)
		}
	}
}

// A lower bound below the edge, which lies beyond the run, is no point beyond it, and the table explains the sign.
func TestMapOfBoundsBelowTheEdge(t *testing.T) {
	p := mapPlan(t)
	p.Edge, p.EdgeText, p.Depth = 3600, "1h", 0
	found, err := p.Run(t.Context(), plain.Must(p.Source.setting(nil)))
	if err != nil {
		t.Fatal(err)
	}
	said := found.Table(text.TableOptions{})
	if found.Panels[0].Beyond != 0 || strings.Contains(said, "s ✗") || !strings.Contains(said, "\n≥ = at least") {
		t.Errorf("%v of the map lies beyond:\n%s", found.Panels[0].Beyond, said)
	}
}

func TestMapStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := mapPlan(t)
	var once sync.Once
	p.Progress = func(string, int, int) func() { return func() { once.Do(cancel) } }
	if _, err := runMap(ctx, t, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	p = mapPlan(t)
	p.X = span(t, "0/s,12/s")
	p.X.Key = "engine.workers"
	if _, err := runMap(context.Background(), t, p); err == nil {
		t.Error("a point that is no scenario was measured")
	}
	var wrong *Wrong
	if err := p.Check(t.Context()); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Text("--x", "--y"), "--x:1:") {
		t.Errorf("a point that is no scenario: %v", err)
	}
	p.X, p.Y = span(t, "1..201"), span(t, "1..100")
	p.Y.Key = "other"
	if err := p.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "201 × 100 values make more than 20000 combinations") {
		t.Errorf("a map of 20100 points: %v", err)
	}
	p = mapPlan(t)
	p.Query = measure.Query{Metric: "fresh.wait.p99", During: "nothing"}
	if _, err := runMap(context.Background(), t, p); err == nil {
		t.Error("a metric that is not computed was measured")
	}
}

func TestPointValues(t *testing.T) {
	q := measure.Query{Metric: "recovery.time", After: "s"}
	run := func(value float64, bound string, null bool) measure.Run {
		v := measure.Value{Query: q, Value: value, Bound: bound, Null: null}
		if null {
			v.Reason = "why"
		}
		return measure.Run{Values: []measure.Value{v}}
	}
	for _, tt := range []struct {
		name    string
		edge    float64
		more    bool // a higher value is better
		runs    []measure.Run
		mean    float64
		atLeast bool
		never   bool
		beyond  bool
	}{
		{"all recover", math.NaN(), false, []measure.Run{run(1, "", false), run(3, "", false)}, 2, false, false, false},
		{"most never", math.NaN(), false, []measure.Run{run(9, ">=", false), run(9, ">=", false), run(3, "", false)}, 7, true, true, true},
		{"one never", math.NaN(), false, []measure.Run{run(10, ">=", false), run(5, "", false), run(3, "", false)}, 6, true, false, false},
		{"half never", math.NaN(), false, []measure.Run{run(9, ">=", false), run(3, "", false)}, 6, true, false, false},
		{"none has a value", math.NaN(), false, []measure.Run{run(0, "", true)}, math.NaN(), false, false, false},
		{"above the edge", 2, false, []measure.Run{run(3, "", false)}, 3, false, false, true},
		{"a bound above the edge", 2, false, []measure.Run{run(3, ">=", false)}, 3, true, true, true},
		{"a bound below the edge, which decides nothing", 4, false, []measure.Run{run(3, ">=", false)}, 3, true, false, false},
		{"most bounds below the edge", 4, false, []measure.Run{run(3, ">=", false), run(2, ">=", false), run(1, "", false)}, 2, true, false, false},
		{"a bound below the edge and two values", 4, false, []measure.Run{run(3, ">=", false), run(2, "", false), run(1, "", false)}, 2, true, false, false},
		{"below the edge", 4, false, []measure.Run{run(3, "", false)}, 3, false, false, false},
		{"more is better, above the edge", 2, true, []measure.Run{run(3, "", false)}, 3, false, false, false},
		{"more is better, a bound above the edge", 2, true, []measure.Run{run(3, ">=", false)}, 3, true, false, false},
		{"more is better, a bound below the edge, which decides nothing", 4, true, []measure.Run{run(3, ">=", false)}, 3, true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := MapPlan{Query: q, Edge: tt.edge}
			if tt.more {
				p.Query.Metric = "goodput"
				for i := range tt.runs {
					tt.runs[i].Values[0].Query = p.Query
				}
			}
			v := p.value(tt.runs)
			if v.Never != tt.never || v.Beyond != tt.beyond || v.AtLeast() != tt.atLeast || v.Mean != tt.mean && !(math.IsNaN(v.Mean) && math.IsNaN(tt.mean)) {
				t.Errorf("got %+v", v)
			}
		})
	}
}
