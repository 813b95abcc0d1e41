package policies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/quantity"
)

// variant is a kind of policy with parameters, as texts.
type variant struct {
	kind   string
	values map[string]string
}

// variants lists the policies that every rule below is tried on: each kind with its defaults, and those with other
// parameters.
func variants() (all []variant) {
	for _, kind := range Kinds() {
		all = append(all, variant{kind.Name, nil})
	}
	return append(all, others...)
}

var others = []variant{
	{"weighted", map[string]string{"fresh": "0%"}},
	{"weighted", map[string]string{"fresh": "100%"}},
	{"weighted", map[string]string{"fresh": "66.6667%"}},
	{"weighted", map[string]string{"fresh": "35%", "lend": "false"}},
	{"bernoulli", map[string]string{"fresh": "50%", "lend": "false"}},
	{"separate", map[string]string{"retry-workers": "1", "retry-poll": "1s"}},
	{"inflight-cap", map[string]string{"retries": "0"}},
	{"inflight-cap", map[string]string{"retries": "100%"}},
	{"retry-budget", map[string]string{"ratio": "0%", "min-rate": "3/s", "window": "2s"}},
	{"breaker", map[string]string{"failures": "2", "probe-after": "300ms"}},
	{"codel", map[string]string{"target": "100ms", "interval": "1s"}},
	{"codel", map[string]string{"target": "100ms", "interval": "1s", "then": "last"}},
	{"deadline", map[string]string{"budget": "{payments: 5s, refunds: 1s, mail: 1m}"}},
	{"tenant-drr", map[string]string{"quantum": "3"}},
	{"queues", map[string]string{"weights": "{payments: 5, mail: 2}"}},
	{"split", map[string]string{"priority": "33%"}},
}

func newPolicy(t testing.TB, kind string, texts map[string]string, workers int) engine.Policy {
	t.Helper()
	policy, err := New(kind, parse(t, kind, texts), workers, testClasses)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func parse(t testing.TB, name string, texts map[string]string) map[string]Value {
	t.Helper()
	values := map[string]Value{}
	for _, kind := range Kinds() {
		for _, param := range kind.Params {
			text, given := texts[param.Name]
			if kind.Name != name || !given {
				continue
			}
			value, err := parseText(param.Type, text)
			if err != nil {
				t.Fatal(err)
			}
			values[param.Name] = value
		}
	}
	if len(values) != len(texts) {
		t.Fatalf("%s has not all of the parameters %v", name, texts)
	}
	return values
}

// parseText reads a parameter, of a type that takes them also a mapping in braces.
func parseText(typ, text string) (Value, error) {
	body, braced := strings.CutPrefix(text, "{")
	if !braced || !TakesMapping(typ) {
		return ParseValue(typ, text)
	}
	var entries []Entry
	for entry := range strings.SplitSeq(strings.TrimSuffix(body, "}"), ",") {
		if class, value, found := strings.Cut(entry, ":"); found {
			entries = append(entries, Entry{strings.TrimSpace(class), strings.TrimSpace(value)})
		}
	}
	return ParseMapping(typ, entries)
}

const (
	testWorkers = 20
	testSteps   = 3000
)

// Every policy keeps within the plan's bounds, is a deterministic function of its inputs, claims
// all ready jobs if it is work-conserving, and leaves some at least once if it is not.
func TestConformance(t *testing.T) {
	for _, variant := range variants() {
		t.Run(fmt.Sprint(variant.kind, variant.values), func(t *testing.T) {
			t.Parallel()
			first := newWorker(newPolicy(t, variant.kind, variant.values, testWorkers), testWorkers)
			second := newWorker(newPolicy(t, variant.kind, variant.values, testWorkers), testWorkers)
			k, err := Find(variant.kind)
			if err != nil {
				t.Fatal(err)
			}
			_, second.silent = second.policy.(interface{ Unobservant() }) // it does not matter that it is told nothing
			conserving, left, choices := k.Conserving() && variant.values["lend"] != "false", 0, 0
			for n := range uint64(testSteps) {
				claimed := first.step(keyed.Rand{Seed: 1}, n)
				if _, byClass := second.policy.(interface{ ByClass() }); byClass { // not missed if not asked, so not seen if asked
					v := second.view
					for _, term := range second.policy.Plan(&v, nil) {
						if term.Kinds > 0 || term.Tenant > 0 || term.PerTenant > 0 || term.MaxWait > 0 {
							t.Fatalf("step %d: %+v selects by more than its class", n, term)
						}
					}
				}
				if again := second.step(keyed.Rand{Seed: 1}, n); !slices.Equal(claimed, again) || !reflect.DeepEqual(first.terms, second.terms) {
					t.Fatalf("step %d: two policies told the same differ: %v %v, %v %v", n, first.terms, claimed, second.terms, again)
				}
				v := &first.view
				if first.ready.count(engine.Fresh) > 0 && first.ready.count(engine.Retry) > 0 {
					choices++
				}
				for _, term := range first.terms {
					if term.Limit <= 0 || term.Limit > v.Idle || term.Class > engine.AnyClass || term.Order > engine.TenantFair {
						t.Fatalf("step %d: term %+v for %d idle workers", n, term, v.Idle)
					}
				}
				if len(claimed) < v.Idle && first.ready.count(engine.AnyClass) > 0 {
					left++
				}
			}
			if choices < testSteps/20 {
				t.Errorf("both classes were left ready %d times only: nothing was chosen", choices)
			}
			if conserving && left > 0 {
				t.Errorf("left ready jobs %d times, though it is work-conserving", left)
			}
			g := Guarantees(first.policy)
			loose := g.Capped && g.Cap >= testWorkers // a cap that need not bind here
			if !conserving && left == 0 && !loose {
				t.Errorf("never left a ready job, though it is not work-conserving")
			}
		})
	}
}

// Planning and observing are on the hot path of the simulation.
func TestNoAllocations(t *testing.T) {
	for _, variant := range variants() {
		policy := newPolicy(t, variant.kind, variant.values, testWorkers)
		view := engine.View{Workers: testWorkers, Idle: 7, InFlight: [engine.NumClasses]int{3, 2}}
		terms := make([]engine.Term, 0, 8)
		var o engine.Observation
		got := testing.AllocsPerRun(100, func() {
			view.Now = view.Now.Add(1e8)
			terms = policy.Plan(&view, terms[:0])
			for class := range engine.NumClasses {
				o = engine.Observation{Now: view.Now, Class: class, Claimed: [engine.NumClasses]int{1, 1}}
				policy.Observe(&o)
				o.Ended = true
				policy.Observe(&o)
				o.Error = engine.Timeout
				policy.Observe(&o)
			}
		})
		if got != 0 {
			t.Errorf("%s %v: %v allocations a plan", variant.kind, variant.values, got)
		}
	}
}

// backlogged returns a worker that never runs out of jobs of either class.
func backlogged(policy engine.Policy, workers int) *worker {
	w := newWorker(policy, workers)
	w.ready.add(engine.Fresh, 400)
	w.ready.add(engine.Retry, 400)
	return w
}

// The guaranteed share of claims holds to less than one claim, for every batch size, at every
// moment; that makes a share safe at batch 1.
func TestSharesHold(t *testing.T) {
	for batch := 1; batch <= 100; batch++ {
		for _, share := range []quantity.Share{quantity.Percent(0), quantity.Percent(80), quantity.Fraction(2, 3), quantity.Fraction(1, 97), quantity.Percent(100)} {
			for _, noLending := range []bool{false, true} {
				w := backlogged(&Weighted{Fresh: share, NoLending: noLending}, 1000)
				num, den := share.Fraction()
				fresh, total := int64(0), int64(0)
				for total+int64(batch) <= 400 {
					for _, j := range w.fetch(batch) {
						total++
						if j.class == engine.Fresh {
							fresh++
						}
					}
					if ahead := fresh*den - total*num; ahead < 0 || ahead >= den {
						t.Fatalf("batch %d, share %v: %d of %d claims were fresh", batch, share, fresh, total)
					}
				}
			}
		}
	}
}

// A cap is never exceeded and always used, and lanes are full, for every batch size.
func TestCapsHold(t *testing.T) {
	const workers = 100
	for batch := 1; batch <= 100; batch++ {
		for _, limit := range []int{1, 20, 99} {
			for name, policy := range map[string]engine.Policy{
				"inflight-cap": InFlightCap{Retries: limit},
				"separate":     &Separate{RetryWorkers: limit},
				"aimd":         &AIMD{Min: limit, Max: limit},
			} {
				w := newWorker(policy, workers)
				for range 400 {
					w.ready.add(engine.Retry, 1)
					w.ready.add(engine.Fresh, 1)
				}
				for n := range 300 {
					w.fetch(batch)
					if got := w.view.InFlight[engine.Retry]; got > limit {
						t.Fatalf("%s, batch %d: %d retries in flight of %d", name, batch, got, limit)
					}
					if n%2 == 0 {
						w.finish(engine.Fresh, engine.NoError)
					}
				}
				if got := w.view.InFlight; got[engine.Retry] != limit || got[engine.Fresh] < workers-limit-1 {
					t.Errorf("%s, batch %d: in flight %v with a limit of %d", name, batch, got, limit)
				}
			}
		}
	}
}

// Policies that mean the same do the same: compared by the jobs that they claim, in
// order, in a random life.
func TestTwins(t *testing.T) {
	for name, twins := range map[string][2]engine.Policy{
		"weighted 100% and fresh-first":    {&Weighted{Fresh: quantity.Percent(100)}, FreshFirst{}},
		"weighted 0% and retry-first":      {&Weighted{}, RetryFirst{}},
		"bernoulli 100% and fresh-first":   {Bernoulli{Fresh: quantity.Percent(100)}, FreshFirst{}},
		"bernoulli 0% and retry-first":     {Bernoulli{}, RetryFirst{}},
		"cap at the workers and fifo":      {InFlightCap{Retries: testWorkers}, FIFO{}},
		"cap over the workers and fifo":    {InFlightCap{Retries: 10 * testWorkers}, FIFO{}},
		"aimd that cannot fall and fifo":   {&AIMD{Min: testWorkers, Max: testWorkers}, FIFO{}},
		"adaptive-lifo, no bound and fifo": {AdaptiveLIFO{OlderThan: engine.Forever}, FIFO{}},
		"adaptive-lifo, bound 0 and lifo":  {AdaptiveLIFO{OlderThan: -1}, alwaysStats{}},
		"a rich budget and fifo":           {&RetryBudget{MinRate: quantity.Rate{Num: 1e6, Den: 1, Per: 1e9}, Window: 1e9}, FIFO{}},
		"a breaker without dependencies":   {&Breaker{Failures: 1, ProbeAfter: 1}, FIFO{}},
		"a breaker that hardly opens":      {&Breaker{Failures: 1 << 30, ProbeAfter: 1, Kinds: []engine.Kinds{7}}, FIFO{}},
		"codel that never is late":         {&CoDel{Target: engine.Forever, Interval: engine.Forever}, FIFO{}},
		"codel, last and never late":       {&CoDel{Target: engine.Forever, Interval: engine.Forever, Last: true}, FIFO{}},
		"queues of one class":              {NewQueues([]int64{1}), kindZero{}},
		"a rich bucket and fifo":           {&TokenBucket{Capacity: 1e9, Cost: 1, TimeoutCost: 1}, FIFO{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := newWorker(twins[0], testWorkers), newWorker(twins[1], testWorkers)
			total := 0
			for n := range uint64(testSteps) {
				a, b := one.step(keyed.Rand{Seed: 2}, n), other.step(keyed.Rand{Seed: 2}, n)
				if total += len(a); !slices.Equal(a, b) {
					t.Fatalf("step %d: claimed %v and %v", n, a, b)
				}
			}
			if total < testSteps/4 {
				t.Errorf("only %d claims were compared", total)
			}
		})
	}
}

// alwaysStats is LIFO from the first statistics on.
type alwaysStats struct{ stateless }

func (alwaysStats) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.StatsAge < 0 {
		return FIFO{}.Plan(v, dst)
	}
	return Ordered{Order: engine.NewestReady}.Plan(v, dst)
}

// kindZero is FIFO of the jobs of kind 0.
type kindZero struct{ stateless }

func (kindZero) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Kinds: 1, Limit: v.Idle})
}

// TestNewSharesNothing: New makes a separate policy for every engine, and one that keeps state on a node is a pointer.
func TestNewSharesNothing(t *testing.T) {
	pointers := 0
	for _, kind := range Kinds() {
		one, other := newPolicy(t, kind.Name, nil, testWorkers), newPolicy(t, kind.Name, nil, testWorkers)
		pointer := reflect.TypeOf(one).Kind() == reflect.Pointer
		if pointer && one == other || kind.State == StateNode && !pointer {
			t.Errorf("%s: one value for two engines", kind.Name)
		}
		if pointer {
			pointers++
		}
	}
	if pointers < 9 {
		t.Errorf("%d kinds of policies are pointers", pointers)
	}
}

func TestEntitled(t *testing.T) {
	for kind, want := range map[string]float64{"fresh-first": 1, "retry-first": 0, "weighted": 0.8, "bernoulli": 0.8, "fifo": 0} {
		if got := Entitled(kind, nil); got != want {
			t.Errorf("%s: entitled to %v, want %v", kind, got, want)
		}
	}
	if got := Entitled("weighted", parse(t, "weighted", map[string]string{"fresh": "35%"})); got != 0.35 {
		t.Errorf("weighted 35%%: entitled to %v", got)
	}
	if got := Entitled("weighted", map[string]Value{"frsh": {}}) + Entitled("nonsense", nil); got != 0 {
		t.Errorf("nonsense is entitled to %v", got)
	}
}
