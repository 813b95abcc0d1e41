package policies

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		kind    string
		texts   map[string]string
		workers int
		want    engine.Policy
	}{
		{"fifo", nil, 1, FIFO{}},
		{"lifo", nil, 1, Ordered{Order: engine.NewestReady}},
		{"fresh-first", nil, 1, FreshFirst{}},
		{"retry-first", nil, 1, RetryFirst{}},
		{"weighted", nil, 1, &Weighted{Fresh: quantity.Percent(80)}},
		{"weighted", map[string]string{"fresh": "66.7%", "lend": "false"}, 1, &Weighted{Fresh: quantity.Fraction(667, 1000), NoLending: true}},
		{"bernoulli", map[string]string{"fresh": "50%"}, 1, Bernoulli{Fresh: quantity.Percent(50)}},
		{"separate", nil, 100, &Separate{RetryWorkers: 20}},
		{"separate", nil, 2, &Separate{RetryWorkers: 1}},
		{"separate", map[string]string{"retry-workers": "99.9%"}, 10, &Separate{RetryWorkers: 9}},
		{"separate", map[string]string{"retry-workers": "7", "retry-poll": "1s"}, 10, &Separate{RetryWorkers: 7, RetryPoll: time.Second}},
		{"inflight-cap", nil, 100, InFlightCap{Retries: 20}},
		{"inflight-cap", nil, 1, InFlightCap{Retries: 1}},
		{"inflight-cap", map[string]string{"retries": "0%"}, 100, InFlightCap{}},
		{"inflight-cap", map[string]string{"retries": "128"}, 100, InFlightCap{Retries: 128}},
		{"retry-budget", nil, 1, &RetryBudget{Ratio: quantity.Percent(20), MinRate: quantity.Rate{Num: 10, Den: 1, Per: time.Second}, Window: 10 * time.Second}},
		{"token-bucket", nil, 1, &TokenBucket{Capacity: 500, Cost: 5, TimeoutCost: 10, Refill: 1}},
		{"aimd", nil, 64, &AIMD{Min: 1, Max: 64}},
		{"aimd", map[string]string{"min": "5%", "max": "50%"}, 100, &AIMD{Min: 5, Max: 50}},
		{"aimd", map[string]string{"min": "5", "max": "5"}, 100, &AIMD{Min: 5, Max: 5}},
		{"token-bucket", map[string]string{"capacity": "7", "cost": "7", "timeout-cost": "7"}, 1, &TokenBucket{Capacity: 7, Cost: 7, TimeoutCost: 7, Refill: 1}},
		{"retry-budget", map[string]string{"min-rate": "0.000001/s"}, 1, &RetryBudget{Ratio: quantity.Percent(20), MinRate: quantity.Rate{Num: 1, Den: 1e6, Per: time.Second}, Window: 10 * time.Second}},
		{"adaptive-lifo", nil, 1, AdaptiveLIFO{OlderThan: 5 * time.Second}},
		{"breaker", nil, 1, &Breaker{Failures: 5, ProbeAfter: time.Minute, Kinds: []engine.Kinds{3}, Others: 4}},
		{"codel", nil, 1, &CoDel{Target: 5 * time.Second, Interval: time.Minute}},
		{"codel", map[string]string{"target": "1s", "interval": "1s", "then": "last"}, 1, &CoDel{Target: time.Second, Interval: time.Second, Last: true}},
		{"aging", nil, 1, Ordered{Order: engine.Aging, Rule: &engine.Rule{Every: 30 * time.Second}}},
		{"aging", map[string]string{"every": "1m", "cap": "3"}, 1, Ordered{Order: engine.Aging, Rule: &engine.Rule{Every: time.Minute, Cap: 3}}},
		{"deadline", nil, 1, Ordered{Order: engine.Deadline, Rule: &engine.Rule{Budgets: []time.Duration{30 * time.Second}}}},
		{"deadline", map[string]string{"budget": "{mail: 1m, payments: 5s, refunds: 0s}"}, 1, Ordered{Order: engine.Deadline, Rule: &engine.Rule{Budgets: []time.Duration{5 * time.Second, 0, time.Minute}}}},
		{"tenant-round-robin", nil, 1, Ordered{Order: engine.TenantRoundRobin}},
		{"tenant-drr", nil, 1, Ordered{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 1e9}}},
		{"tenant-drr", map[string]string{"quantum": "2"}, 1, Ordered{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 2, PerJob: true}}},
		{"tenant-fair", nil, 1, Ordered{Order: engine.TenantFair, Rule: &engine.Rule{ShareNum: 1, ShareDen: 10, AtLeast: 30}}},
		{"queues", nil, 1, &Queues{Weights: []int64{1, 1, 1}, left: []int64{0, 0, 0}}},
		{"queues", map[string]string{"weights": "{mail: 10, payments: 3}"}, 1, &Queues{Weights: []int64{3, 1, 10}, left: []int64{0, 0, 0}}},
		{"split", nil, 1, &Split{Priority: quantity.Percent(80)}},
	} {
		if got := newPolicy(t, tt.kind, tt.texts, tt.workers); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %v: got %+v, want %+v", tt.kind, tt.texts, got, tt.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	number, err := ParseValue(TypeNumber, "80")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kind := range Kinds() {
		names = append(names, kind.Name)
	}
	all := strings.Join(names, ", ")
	for _, tt := range []struct {
		kind    string
		values  map[string]Value
		workers int
		want    string
	}{
		{"braker", nil, 1, `unknown policy "braker": want one of ` + all},
		{"", nil, 1, `unknown policy "": want one of ` + all},
		{"fifo", map[string]Value{"fresh": number}, 1, `policy fifo: unknown parameter "fresh": it takes none`},
		{"weighted", map[string]Value{"frsh": number, "fresh": number, "a": number}, 0,
			`policy weighted: 0 workers: want at least 1|fresh: want a share, got number|unknown parameter "a": it takes fresh, lend|unknown parameter "frsh": it takes fresh, lend`},
		{"weighted", map[string]Value{"lend": {}}, 1, `policy weighted: lend: want a bool, got nothing`},
		{"separate", nil, 1, "policy separate: one worker cannot be divided: it needs at least 2 workers a node"},
		{"separate", parse(t, "separate", map[string]string{"retry-workers": "0"}), 9, "policy separate: retry-workers: 0 leaves no worker for retries"},
		{"separate", parse(t, "separate", map[string]string{"retry-workers": "9"}), 9, "policy separate: retry-workers: 9 of 9 workers leaves none for fresh jobs"},
		{"separate", parse(t, "separate", map[string]string{"retry-workers": "100%"}), 9, "policy separate: retry-workers: 100% of 9 workers leaves none for fresh jobs"},
		{"retry-budget", parse(t, "retry-budget", map[string]string{"window": "0s"}), 1, "policy retry-budget: window: 0s is not positive"},
		{"retry-budget", parse(t, "retry-budget", map[string]string{"min-rate": "0.0000001/s"}), 1, "policy retry-budget: min-rate: 0.0000001/s has too many digits (at most 6 after the point)"},
		{"token-bucket", parse(t, "token-bucket", map[string]string{"cost": "0"}), 1, "policy token-bucket: cost: 0 is not positive"},
		{"token-bucket", parse(t, "token-bucket", map[string]string{"timeout-cost": "4"}), 1, "policy token-bucket: timeout-cost: 4 is less than the cost of 5"},
		{"token-bucket", parse(t, "token-bucket", map[string]string{"capacity": "9"}), 1, "policy token-bucket: capacity: 9 is less than the timeout-cost of 10"},
		{"aimd", parse(t, "aimd", map[string]string{"min": "0"}), 9, "policy aimd: min: 0 is not positive"},
		{"aimd", parse(t, "aimd", map[string]string{"min": "60%", "max": "5"}), 10, "policy aimd: max: 5 is less than min, 60%, of 10 workers"},
		{"breaker", parse(t, "breaker", map[string]string{"failures": "0"}), 1, "policy breaker: failures: 0 is not positive"},
		{"breaker", parse(t, "breaker", map[string]string{"probe-after": "0s"}), 1, "policy breaker: probe-after: 0s is not positive"},
		{"codel", parse(t, "codel", map[string]string{"target": "0s"}), 1, "policy codel: target: 0s is not positive"},
		{"codel", parse(t, "codel", map[string]string{"target": "2m"}), 1, "policy codel: interval: 1m0s is less than the target of 2m0s"},
		{"codel", parse(t, "codel", map[string]string{"then": "drop"}), 1, `policy codel: then: "drop" is none of bury, last`},
		{"aging", parse(t, "aging", map[string]string{"every": "0s"}), 1, "policy aging: every: 0s is not positive"},
		{"queues", parse(t, "queues", map[string]string{"weights": "{high: 2, low: 1}"}), 1, "policy queues: weights: there is no job class high|weights: there is no job class low"},
		{"deadline", parse(t, "deadline", map[string]string{"budget": "{high: 2s}"}), 1, "policy deadline: budget: there is no job class high|budget: job class all has none"},
	} {
		policy, err := New(tt.kind, tt.values, tt.workers, nil) // of one class, named all
		if err == nil || policy != nil || strings.ReplaceAll(err.Error(), "\n", "|") != tt.want {
			t.Errorf("%s: got %v, error %v; want %s", tt.kind, policy, err, tt.want)
		}
	}
}

// A term can distinguish 64 classes, and no more.
func TestTooManyClasses(t *testing.T) {
	for _, kind := range []string{"breaker", "queues"} {
		for _, classes := range []int{64, 65} {
			if _, err := New(kind, nil, 1, make([]Class, classes)); (err == nil) != (classes == 64) {
				t.Errorf("%s of %d classes: %v", kind, classes, err)
			}
		}
	}
}

// What is listed is complete: documents, and defaults that New accepts; and the built-in kinds are listed by rank.
func TestKinds(t *testing.T) {
	before := 0
	for _, kind := range kinds[:shipped] {
		if kind.rank <= before {
			t.Errorf("%s of rank %d stands behind one of rank %d", kind.Name, kind.rank, before)
		}
		before = kind.rank
	}
	seen := map[string]bool{}
	for _, kind := range Kinds() {
		if seen[kind.Name] || kind.Name == "" || !strings.HasSuffix(kind.Doc, ".") || kind.Cost == "" || kind.State == "" {
			t.Errorf("kind %+v is listed twice, or lacks a name or a document", kind)
		}
		seen[kind.Name] = true
		values := map[string]Value{}
		for _, param := range kind.Params {
			value, err := ParseValue(param.Type, param.Default)
			if err != nil || param.Doc == "" {
				t.Errorf("%s %s: default %q, %v; document %q", kind.Name, param.Name, param.Default, err, param.Doc)
			}
			values[param.Name] = value
		}
		defaults, err := New(kind.Name, nil, 100, nil)
		given, givenErr := New(kind.Name, values, 100, nil)
		if err != nil || givenErr != nil || !reflect.DeepEqual(defaults, given) {
			t.Errorf("%s: %+v, %v by default, %+v, %v with the defaults given", kind.Name, defaults, err, given, givenErr)
		}
	}
	first := Kinds()
	first[slices.IndexFunc(first, func(k Kind) bool { return len(k.Params) > 0 })].Params[0].Default = "1%"
	if slices.EqualFunc(first, Kinds(), func(a, b Kind) bool { return reflect.DeepEqual(a, b) }) {
		t.Error("the list is the package's own")
	}
}

// TestQueuesOfOneClass checks that a claim of the only class there is asks for jobs as fifo does.
func TestQueuesOfOneClass(t *testing.T) {
	policy, err := New("queues", nil, 1, []Class{{Name: "mail"}})
	if err != nil || policy != (FIFO{}) {
		t.Errorf("got %+v, error %v", policy, err)
	}
}
