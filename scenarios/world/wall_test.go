package world

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/engine/unfinished"
	"qsim/scenarios"
)

// slowly is the workload, handlers and recorder of a simulation that uses a Wall in place of real time. A speed below
// one makes all times whole multiples of those of the scenario, so that rounding loses nothing.
type slowly struct {
	*Wall
	next     engine.Recorder // gets the events, with times of the scenario
	digest   sim.Digest
	attempts map[delivery]Attempt
}

func (s *slowly) Next(j *engine.NewJob) (engine.Time, bool) {
	at, next, ok := s.Wall.Next()
	*j = next
	return engine.Time(at), ok
}

func (s *slowly) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	a := s.Wall.Begin(time.Duration(now), node, j)
	s.attempts[delivery{j.ID, j.Delivery}] = a
	return a
}

// Decide ends an attempt at its own end; End must not end it again.
func (s *slowly) Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind {
	who := delivery{j.ID, j.Delivery}
	err := s.Wall.End(time.Duration(now), node, j, s.attempts[who], engine.NoError)
	delete(s.attempts, who)
	return err
}

func (s *slowly) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, _ bool) {
	if a, open := s.attempts[delivery{j.ID, j.Delivery}]; open {
		if err == a.Error {
			err = engine.NoError // its own end
		}
		s.Wall.End(time.Duration(now), node, j, a, err)
	}
}

func (s *slowly) Record(e *engine.Event) {
	own := *e
	own.At, own.Waited, own.Age = s.speed.At(e.At), s.speed.Virtual(e.Waited), s.speed.Virtual(e.Age)
	own.Delay, own.Ran = s.speed.Virtual(e.Delay), s.speed.Virtual(e.Ran)
	s.digest.Add(&own)
	if s.next != nil {
		s.next.Record(&own)
	}
}

// slowNetwork is a network with its delays divided by the speed.
type slowNetwork struct {
	sim.Network
	speed Speed
}

func (n slowNetwork) Request(now engine.Time, c *engine.Call) sim.Fate {
	f := n.Network.Request(n.speed.At(now), c)
	f.Delay = n.speed.Real(f.Delay)
	return f
}

func (n slowNetwork) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *sim.Rows) time.Duration {
	return n.speed.Real(n.Network.Reply(n.speed.At(now), c, r, rows))
}

// simulateWall simulates a policy with the arrivals and attempts of its Wall.
func simulateWall(t *testing.T, sc *scenarios.Scenario, policy int, speed Speed, next engine.Recorder) *slowly {
	t.Helper()
	w, err := OnWallClock(sc, policy, sc.Seed, speed)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := &slowly{Wall: w, next: next, attempts: map[delivery]Attempt{}}
	links := w.setup.world.links
	cfg := sim.Config{
		Nodes:    slices.Repeat([]engine.Config{w.Engine}, w.Nodes),
		Policy:   func(int32) engine.Policy { return w.Policy() },
		Store:    func(clock func() engine.Time) sim.Store { return memstore.NewSingle(clock, w.Options) },
		Handlers: s, Workload: s, Recorder: s,
		Wake: wakeModes[w.setup.world.sc.Engine.Fetch.Wake],
	}
	_, all := w.Length()
	cfg.Until = engine.Time(all)
	equip(w.setup.world.sc, &cfg, &links, keyed.Rand{Seed: sc.Seed})
	cfg.Network = slowNetwork{&links, speed}
	sim.New(cfg).Run()
	return s
}

// wallScenario is a scenario with every kind of duration that a speed converts, in engine, store,
// retry policy and policy.
const wallScenario = `
duration: 90s
warmup: 5s
seeds: 1
engine:
  nodes: 2
  workers: 6
  fetch: {batch: 3, poll: 250ms, cooldown: 20ms, prefetch: 2, wake: %s}
  commit: {batch: 4, linger: 15ms, timeout: 2s}
  lease: {ttl: 3s, heartbeat: 1s, max: 20s}
  reaper: {every: 700ms, grace: 100ms, max: 5, within: 10s}
  timeout: 4s
  phase: together # a part of a period is rounded to a nanosecond
  store: {claim: {dist: exponential, mean: 2ms}, commit: 3ms, per-job: 100us}
%s
retry: {max-attempts: 6, backoff: %s, jitter: %s, deadline: 40s}
dependencies:
  - {name: api, limit: {rate: 6/s}, over: {fail: 50%%, rejects-in: 30ms}}
  - {name: pool, limit: {concurrency: 3}, over: {slow: 2}}
  - {name: row, conflict: {network: 10ms}}
jobs:
  - {class: payments, arrivals: {process: poisson, rate: 5/s}, service: {dist: lognormal, p50: 400ms, p99: 3s}, fails: {rate: 5%%}, calls: api}
  - {class: mail, arrivals: {process: batch, size: 9, every: 10s}, service: {dist: exponential, mean: 1s}, delay: 2s, calls: pool, tenants: {count: 3, skew: 1}}
  - {class: counter, arrivals: {process: constant, rate: 1/s}, service: 100ms, calls: row, timeout: 10s, priority: 1}
storms:
  - {name: down, at: 20s, for: 15s, fail: {hits: [payments], rate: 90%%, error: unavailable, takes: 620ms}}
  - {name: slow, at: 50s, for: 10s, slow: {hits: [mail], factor: 3}}
  - {name: rush, at: 60s, for: 5s, burst: {class: payments, factor: 4}}
  - {name: crowd, at: 70s, burst: {class: counter, count: 40}}
policies:
  - %s
`

// TestSpeedIsExact simulates scenarios at a twentieth of their speed. Whatever is a time
// must be twenty times as long, to the nanosecond, and nothing else may differ: then every
// event is the same once its times are divided again.
func TestSpeedIsExact(t *testing.T) {
	for _, tt := range []struct{ name, wake, promoter, backoff, jitter, policy string }{
		{"fifo", "true", "", "{kind: exponential, first: 500ms, factor: 2, max: 8s}", "full", "{kind: fifo}"},
		{"weighted, polynomial delays", "all", "", "{kind: polynomial, power: 2, plus: 300ms, max: 9s}", `"+2s*n/1s"`, "{kind: weighted, fresh: 70%}"},
		{"separate, a promoter", "true", "  promoter: {every: {dist: empirical, values: [600ms, 1s, 1.4s]}, first: 2s}", "{kind: table, delays: [100ms, 3s]}", `"±20%"`, "{kind: separate, retry-workers: 30%, retry-poll: 1s}"},
		{"cap, pollers", "false", "  place: tail", "{kind: linear, first: 1s, step: 1s}", "decorrelated", "{kind: inflight-cap, retries: 2}"},
		{"budget", "true", "", "{kind: random, delay: {dist: gamma, mean: 2s, cv: 0.5}}", "equal", "{kind: retry-budget, ratio: 20%, min-rate: 1/s, window: 7s}"},
		{"bucket", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: token-bucket, capacity: 20}"},
		{"aimd", "true", "", "{kind: fibonacci, first: 1s}", "none", "{kind: aimd}"},
		{"breaker", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: breaker, failures: 3, probe-after: 3s}"},
		{"adaptive", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: adaptive-lifo, older-than: 2s}"},
		{"codel", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: codel, target: 1s, interval: 5s}"},
		{"aging", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: aging, every: 2s}"},
		{"deadline", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: deadline, budget: {payments: 3s, mail: 10s, counter: 5s}}"},
		{"deficit", "true", "", "{kind: fixed, delay: 2s}", "none", "{kind: tenant-drr, quantum: 400ms}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := loadWall(t, fmt.Sprintf(wallScenario, tt.wake, tt.promoter, tt.backoff, tt.jitter, tt.policy))
			all, err := Run(context.Background(), sc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := simulateWall(t, sc, 0, Speed{Num: 1, Den: 20}, nil)
			if got, want := uint64(s.digest), all[0].Fingerprint; got != want {
				t.Errorf("fingerprint %x at a twentieth of the speed, %x at the scenario's", got, want)
			}
		})
	}
}

func loadWall(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	sc, ds := scenarios.Load("wall.yaml", []byte(text), nil)
	if sc == nil {
		t.Fatalf("%s", render(t, "wall.yaml", []byte(text), ds))
	}
	return sc
}

// TestSpeedOfConfig checks that every duration of an engine's configuration is scaled, also one
// added later.
func TestSpeedOfConfig(t *testing.T) {
	const was, want = 7 * time.Second, 350 * time.Millisecond
	var c engine.Config
	fill(reflect.ValueOf(&c).Elem(), was)
	draw := func(float64) time.Duration { return was }
	c.Fetch.PollTick, c.Promoter.Tick, c.Promoter.First = draw, draw, draw
	c.Commit.Backoff, c.Kinds = []time.Duration{was, was}, []engine.KindConfig{{Timeout: was, Grain: was, Deadline: was}}
	got := onWall(Speed{Num: 20, Den: 1}, c)
	for _, draw := range []func(u float64) time.Duration{got.Fetch.PollTick, got.Promoter.Tick, got.Promoter.First} {
		if tick := draw(0.5); tick != want {
			t.Errorf("a tick is %v, want %v", tick, want)
		}
	}
	visitAll(reflect.ValueOf(&got).Elem(), "Config", func(path string, d time.Duration) {
		if d != want {
			t.Errorf("%s is %v, want %v", path, d, want)
		}
	})
	if c.Commit.Backoff[0] != was || c.Kinds[0].Timeout != was {
		t.Error("the configuration of the scenario has changed")
	}
	var o engine.StoreOptions
	fill(reflect.ValueOf(&o).Elem(), was)
	o.Service = []time.Duration{was}
	o = onWall(Speed{Num: 20, Den: 1}, o)
	visitAll(reflect.ValueOf(&o).Elem(), "StoreOptions", func(path string, d time.Duration) {
		if d != want {
			t.Errorf("%s is %v, want %v", path, d, want)
		}
	})
}

// TestCostOfRows takes no rows of a real store into account: engine.store is the cost of a simulated one, and a store that
// cannot count them would refuse the scenario.
func TestCostOfRows(t *testing.T) {
	sc := loadWall(t, "engine: {store: {scan: {claim: {ahead: 1us}}}}\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]")
	w, err := OnWallClock(sc, 0, 1, Speed{Num: 1, Den: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if !w.setup.Options.CountAhead || w.Options.CountAhead {
		t.Errorf("rows are counted: simulated %v, real %v", w.setup.Options.CountAhead, w.Options.CountAhead)
	}
}

// TestDueJobsOfRealStores wakes nobody for a job that falls due where nodes are to find it by a poll.
func TestDueJobsOfRealStores(t *testing.T) {
	for onDue, want := range map[string]bool{"wake": false, "poll": true} {
		sc := loadWall(t, "engine: {fetch: {on-due: "+onDue+"}}\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]")
		w, err := OnWallClock(sc, 0, 1, Speed{Num: 1, Den: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if got := w.Options.SilentDue; got != want {
			t.Errorf("on-due: %s: silent %v, want %v", onDue, got, want)
		}
	}
}

var durationType = reflect.TypeFor[time.Duration]()

// fill sets every duration in v, at any depth.
func fill(v reflect.Value, to time.Duration) {
	durations(v, "", func(_ string, d reflect.Value) { d.SetInt(int64(to)) })
}

func visitAll(v reflect.Value, path string, visit func(path string, d time.Duration)) {
	durations(v, path, func(path string, d reflect.Value) { visit(path, time.Duration(d.Int())) })
}

func durations(v reflect.Value, path string, visit func(path string, d reflect.Value)) {
	switch {
	case v.Type() == durationType:
		visit(path, v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				durations(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			durations(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

func TestParseSpeed(t *testing.T) {
	for _, tt := range []struct{ text, want, err string }{
		{"20x", "20x", ""}, {"0.5x", "0.5x", ""}, {" 7.5x ", "7.5x", ""}, {"60×", "60x", ""}, {"1x", "1x", ""}, {"1000000x", "1000000x", ""},
		{"20", "", "write 20x"}, {"0x", "", "out of range"}, {"-2x", "", "out of range"}, {"1000001x", "", "out of range"}, {"fast", "", "bad speed"},
		{"", "", "bad speed"}, {"x", "", "bad speed"}, {"1e400x", "", "bad speed"}, {"20kx", "", "bad speed"}, {"0.1234567890123x", "", "too many digits"},
		{"<script>x", "", "bad speed"}, {strings.Repeat("9", 200) + "x", "", "bad speed"},
	} {
		var got Speed
		err := got.UnmarshalText([]byte(tt.text))
		switch {
		case tt.err == "" && (err != nil || got.String() != tt.want):
			t.Errorf("%q: %v, %v, want %s", tt.text, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: %v, want an error with %q", tt.text, err, tt.err)
		}
	}
}

func TestSpeedRounds(t *testing.T) {
	s := Speed{Num: 20, Den: 1}
	for _, tt := range []struct{ virtual, real time.Duration }{
		{0, 0}, {20 * time.Second, time.Second}, {time.Second, 50 * time.Millisecond}, {1, 1}, {-1, -1},
		{engine.Forever, engine.Forever}, {dist.LongestDraw, dist.LongestDraw / 20},
	} {
		if got := s.Real(tt.virtual); got != tt.real {
			t.Errorf("%v takes %v, want %v", tt.virtual, got, tt.real)
		}
	}
	if got := (Speed{Num: 1, Den: 1_000_000}).Real(dist.LongestDraw); got != engine.Forever-1 {
		t.Errorf("a hundred years at a millionth of the speed take %v", got)
	}
	if got := s.Virtual(time.Second); got != 20*time.Second {
		t.Errorf("a second is %v of the scenario", got)
	}
}

// TestWallRefuses checks the errors for keys that only a simulation supports.
func TestWallRefuses(t *testing.T) {
	const head = `
duration: 60s
warmup: 5s
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 5/s}, service: 100ms%s}
policies: [%s]
`
	storm := func(kind string) string {
		return head + "storms: [{name: trouble, at: 20s, for: 5s, " + strings.ReplaceAll(kind, "%", "%%") + "}]\n"
	}
	for _, tt := range []struct {
		name, text, class, policy string
		want                      string // "": it can be run
	}{
		{"nothing", head, "", "{kind: fifo}", ""},
		{"a failing class", storm("fail: {hits: [mail], rate: 50%, error: oops}"), "", "{kind: fifo}", ""},
		{"crash", storm("crash: {nodes: 1, restart-after: 1s}"), "", "{kind: fifo}", "storms.trouble.crash"},
		{"rolling", storm("rolling: {every: 1s, restart-after: 1s}"), "", "{kind: fifo}", "storms.trouble.rolling"},
		{"pause", storm("pause: {nodes: 1}"), "", "{kind: fifo}", "storms.trouble.pause"},
		{"clock", storm("clock: {nodes: 1, skew: 3s}"), "", "{kind: fifo}", "storms.trouble.clock"},
		{"heartbeats", storm("heartbeats: {lose: 10%}"), "", "{kind: fifo}", "storms.trouble.heartbeats"},
		{"calls", storm("calls: {lose-reply: 10%}"), "", "{kind: fifo}", "storms.trouble.calls"},
		{"store", storm("store: {stall: true}"), "", "{kind: fifo}", "storms.trouble.store"},
		{"reaper", storm("reaper: {stall: true}"), "", "{kind: fifo}", "storms.trouble.reaper"},
		{"promoter", "engine: {promoter: {every: 1s}}\n" + storm("promoter: {stall: true}"), "", "{kind: fifo}", "storms.trouble.promoter"},
		{"leases", storm("leases: {lose: 10%}"), "", "{kind: fifo}", "storms.trouble.leases"},
		{"redrive", storm("redrive: {share: 100%}"), "", "{kind: fifo}", "storms.trouble.redrive"},
		{"patience", head, ", patience: {after: 1s, resubmits: 1}", "{kind: fifo}", "jobs.mail.patience"},
		{"kills", head, ", kills: 1%", "{kind: fifo}", "jobs.mail.kills"},
		{"silences", head, ", silences: 1%", "{kind: fifo}", "jobs.mail.silences"},
		{"minutes of the clock", head, "", "{kind: tenant-fair}", "policies.tenant-fair"},
		{"too many workers", "engine: {workers: 30000}\n" + head, "", "{kind: fifo}", "engine.workers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := loadWall(t, fmt.Sprintf(tt.text, tt.class, tt.policy))
			w, err := OnWallClock(sc, 0, 1, Speed{Num: 20, Den: 1})
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Fatalf("error %v, want one of %s", err, tt.want)
			case err == nil:
				w.Close()
			}
		})
	}
}

// witness is a recorder with the events that a driver on the wall clock would have: without promotions (hides), and
// effects of calls recorded up to 40 ms late (late).
type witness struct {
	events []engine.Event
	rand   keyed.Rand
	late   bool
	hides  bool
}

func (w *witness) Record(e *engine.Event) {
	own := *e
	if own.Kind == engine.Promoted && w.hides {
		return
	}
	if w.late && own.Age > 0 {
		own.At = own.At.Add(time.Duration(w.rand.Uniform(keyed.ForFault, uint64(len(w.events)), 0, 0) * 40e6))
	}
	w.events = append(w.events, own)
}

// TestReconcile checks that the events of a run, shuffled and stamped late, give the results of the
// run itself, except those that depend on the start of handlers.
func TestReconcile(t *testing.T) {
	const weighted = "{kind: weighted, fresh: 70%}"
	for _, tt := range []struct{ promoter, policy string }{
		{"", weighted}, {"  promoter: {every: 300ms}", weighted}, {"  waiting: held", weighted}, {"", "{kind: codel, target: 300ms, interval: 300ms, then: bury}"},
		{"", "{kind: fifo, with: {engine.fence: none, engine.lease.ttl: 900ms, engine.lease.heartbeat: 0s}}"},
		{"", "{kind: fifo, with: {engine.fence: state, engine.lease.ttl: 900ms, engine.lease.heartbeat: 0s}}"},
	} {
		promoter := tt.promoter
		sc := loadWall(t, fmt.Sprintf(wallScenario, "true", promoter, "{kind: exponential, first: 500ms, factor: 2, max: 8s}", "full", tt.policy))
		want, err := Run(context.Background(), sc, Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen := &witness{rand: keyed.Rand{Seed: 7}, late: true, hides: !strings.Contains(promoter, "every")}
		s := simulateWall(t, sc, 0, Speed{Num: 1, Den: 1}, seen)
		for i := range seen.events { // a shuffle, always the same
			j := int(seen.rand.Uniform(keyed.ForChaos, uint64(i), 0, 0) * float64(i+1))
			seen.events[i], seen.events[j] = seen.events[j], seen.events[i]
		}
		got, balance := s.Finish(seen.events, 170*time.Second)
		if balance.Enqueued != want[0].Jobs || balance.Done+balance.Dead != balance.Enqueued || balance.Unresolved != 0 {
			t.Errorf("balance %+v of %d jobs", balance, want[0].Jobs)
		}
		compared := 0
		for _, v := range want[0].Values {
			if strings.HasPrefix(v.Metric, "start.wait") || strings.HasPrefix(v.Metric, "starved") || strings.HasPrefix(v.Metric, "claim.gap") || v.Metric == "events" || v.Metric == "recovery.time" || v.Metric == "fresh.deficit" {
				continue // of handlers, of the order of claims of one instant, and of the end of the run
			}
			a, b := v.Value, value(t, &got, v.Query)
			if v.Null != math.IsNaN(b) || !v.Null && math.Abs(a-b) > 1e-3*math.Abs(a)+1e-3 {
				t.Errorf("promoter %q, %s: %s is %v, want %v", promoter, tt.policy, v.Query, b, a)
			}
			compared++
		}
		if compared < 50 {
			t.Errorf("%d metrics were compared", compared)
		}
	}
}

// TestReconcileUnfenced puts the events of a job back into their order whose leases are recovered, and given back by any
// of their holders, at times that answers take: the store's ages alone tell it.
func TestReconcileUnfenced(t *testing.T) {
	for seed := range uint64(5000) {
		drawn := uint64(0)
		below := func(n int) int {
			drawn++
			return int(keyed.Rand{Seed: seed}.Uniform(keyed.ForChaos, drawn, 0, 0) * float64(n))
		}
		us := func(n int) time.Duration { return time.Duration(below(n)) * time.Microsecond }
		const stored = engine.Time(10 * time.Millisecond)
		events := []engine.Event{{Kind: engine.Enqueued, Job: 1, At: stored.Add(us(400) - 200*time.Microsecond)}}
		at, token, held, state := stored, engine.Token(0), []engine.Token(nil), engine.Ready
		add := func(kind engine.EventKind, token engine.Token) {
			at = at.Add(time.Microsecond + us(300))
			events = append(events, engine.Event{Kind: kind, Job: 1, Token: token, From: state, Age: at.Sub(stored), At: at.Add(us(600))})
		}
		for range 6 {
			if state == engine.InFlight && below(2) == 0 {
				i := below(len(held))
				add(engine.Returned, held[i])
				held, state = slices.Delete(held, i, i+1), engine.Ready
				continue
			}
			token++
			held = append(held, token)
			add(map[engine.State]engine.EventKind{engine.Ready: engine.Leased, engine.InFlight: engine.LeaseTaken}[state], token)
			state = engine.InFlight
		}
		var got, want []engine.Token
		for _, e := range events {
			want = append(want, e.Token)
		}
		slices.Reverse(events)
		ordered, _ := reconcile(events, time.Second, engine.StoreOptions{Fence: engine.FenceNone})
		for _, e := range ordered {
			got = append(got, e.Token)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: in the order of tokens %v, want %v", seed, got, want)
		}
	}
}

// TestReconcileClaims puts the jobs of a claim into its order, although the times at which they were enqueued are known
// to half a millisecond only, so that by these the second would have been claimed first: of a claim that takes the oldest
// jobs first, none goes past another.
func TestReconcileClaims(t *testing.T) {
	us := func(n int) engine.Time { return engine.Time(n) * engine.Time(time.Microsecond) }
	leased := func(job engine.JobID, age int) engine.Event {
		return engine.Event{Kind: engine.Leased, Job: job, At: us(9000), Token: 1, Delivery: 1, Age: us(age).Sub(0), Waited: us(age).Sub(0)}
	}
	claim := engine.Event{Kind: engine.Called, Op: engine.OpClaim, At: us(9000)}
	ordered, _ := reconcile([]engine.Event{
		{Kind: engine.Enqueued, Job: 2, At: us(1500)}, {Kind: engine.Enqueued, Job: 1, At: us(1400)}, {Kind: engine.Enqueued, Job: 3, At: us(1600)},
		claim, leased(2, 7200), leased(1, 7100), claim, leased(3, 7300), // the other is a late answer
	}, time.Second, engine.StoreOptions{})
	var got []string
	for _, e := range ordered {
		if e.Job > 0 {
			got = append(got, fmt.Sprintf("%v %d at %v", e.Kind, e.Job, time.Duration(e.At)))
		}
		if e.Count != 0 {
			t.Errorf("%v %d has count %d", e.Kind, e.Job, e.Count)
		}
	}
	want := []string{"enqueued 2 at 1.4ms", "enqueued 1 at 1.500001ms", "enqueued 3 at 1.6ms", "leased 2 at 8.6ms", "leased 1 at 8.600001ms", "leased 3 at 8.9ms"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReconcileSlowEnqueue has a claim of ten jobs tell when one of them was enqueued, whose enqueueing was answered long
// after that, and so when it was given back, due and claimed again, alone.
func TestReconcileSlowEnqueue(t *testing.T) {
	ms := func(n int) engine.Time { return engine.Time(n) * engine.Time(time.Millisecond) }
	age := func(n int) time.Duration { return ms(n).Sub(0) }
	events := []engine.Event{{Kind: engine.Enqueued, Job: 1, At: ms(100)}} // at 5 ms
	claim := []engine.Event{{Kind: engine.Called, Op: engine.OpClaim, At: ms(26)}}
	for job := range engine.JobID(10) {
		if job > 0 {
			events = append(events, engine.Event{Kind: engine.Enqueued, Job: job + 1, At: ms(5)})
		}
		claim = append(claim, engine.Event{Kind: engine.Leased, Job: job + 1, At: ms(26), Token: 1, Delivery: 1, Age: age(20)})
	}
	events = append(append(events, claim...),
		engine.Event{Kind: engine.Nacked, Job: 1, At: ms(47), Token: 1, Delivery: 1, From: engine.InFlight, Age: age(40), Delay: age(5)},
		engine.Event{Kind: engine.Called, Op: engine.OpClaim, At: ms(60)},
		engine.Event{Kind: engine.Leased, Job: 1, At: ms(60), Token: 2, Delivery: 2, Age: age(45)},
		engine.Event{Kind: engine.Leased, Job: 77, At: ms(60), Token: 1, Delivery: 1, Age: age(45)}) // its enqueueing is unknown
	ordered, _ := reconcile(events, time.Second, engine.StoreOptions{})
	var got []string
	for _, e := range ordered {
		if e.Job == 1 {
			got = append(got, fmt.Sprintf("%v at %v", e.Kind, time.Duration(e.At).Round(time.Microsecond)))
		}
		if e.Count != 0 {
			t.Errorf("%v %d has count %d", e.Kind, e.Job, e.Count)
		}
	}
	want := []string{"enqueued at 5.1ms", "leased at 25.1ms", "nacked at 45.1ms", "promoted at 50.1ms", "leased at 50.1ms"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestReconcileSlowEnqueueAtTheEnd has a claim after the end, at 114 ms, tell which of its jobs had been enqueued by then,
// whether it leases them, or buries the first or all of them in place of that.
func TestReconcileSlowEnqueueAtTheEnd(t *testing.T) {
	ms := func(n int) engine.Time { return engine.Time(n) * engine.Time(time.Millisecond) }
	for _, shed := range []int{0, 1, 3} {
		for age, left := range map[int]int{15: 3, 10: 0} { // enqueued at 99 ms, or at 104
			events := []engine.Event{{Kind: engine.Called, Op: engine.OpClaim, At: ms(130)}}
			for job, at := range []int{120, 106 - age, 106 - age} {
				e := engine.Event{Kind: engine.Enqueued, Job: engine.JobID(job + 1), At: ms(at)}
				events = append(events, e)
				e.Kind, e.At, e.Token, e.Delivery, e.Age = engine.Leased, ms(130), 1, 1, ms(age).Sub(0)
				if job < shed {
					e.Kind, e.From, e.Token = engine.Buried, engine.Ready, 0
				}
				events = append(events, e)
			}
			ordered, b := reconcile(events, 100*time.Millisecond, engine.StoreOptions{})
			if len(b.unresolved) != left || len(ordered) != left || b.Dead != int64(shed) {
				t.Errorf("%d shed, an age of %d ms: left are %+v, of %d events", shed, age, b.unresolved, len(ordered))
			}
			for _, e := range events {
				if e.Count != 0 {
					t.Errorf("%d shed: %v %d has count %d", shed, e.Kind, e.Job, e.Count)
				}
			}
		}
	}
}

// TestReconcileLeftovers computes by hand the jobs that a store still holds at the end.
func TestReconcileLeftovers(t *testing.T) {
	ms := func(n int) engine.Time { return engine.Time(n) * engine.Time(time.Millisecond) }
	events := []engine.Event{
		{Kind: engine.Enqueued, Job: 1, At: ms(1)}, // ready
		{Kind: engine.Enqueued, Job: 2, At: ms(1)},
		{Kind: engine.Leased, Job: 2, At: ms(5), Token: 1, Age: 2 * time.Millisecond, Delivery: 1},
		{Kind: engine.Started, Job: 2, At: ms(4), Token: 1, Delivery: 1}, // in flight
		{Kind: engine.Enqueued, Job: 3, At: ms(1)},
		{Kind: engine.Leased, Job: 3, At: ms(2), Token: 1, Age: time.Millisecond, Delivery: 1},
		{Kind: engine.Nacked, Job: 3, At: ms(9), Token: 1, Age: 3 * time.Millisecond, Delay: time.Second, From: engine.InFlight}, // waits
		{Kind: engine.Enqueued, Job: 4, At: ms(1)},
		{Kind: engine.Leased, Job: 4, At: ms(2), Token: 1, Age: time.Millisecond, Delivery: 1},
		{Kind: engine.Nacked, Job: 4, At: ms(9), Token: 1, Age: 3 * time.Millisecond, Delay: 6 * time.Millisecond, From: engine.InFlight}, // due
		{Kind: engine.Enqueued, Job: 5, At: ms(1)},
		{Kind: engine.Leased, Job: 5, At: ms(2), Token: 1, Age: time.Millisecond, Delivery: 1},
		{Kind: engine.Finished, Job: 5, At: ms(4), Token: 1, Delivery: 1},
		{Kind: engine.Acked, Job: 5, At: ms(6), Token: 1, Age: 4 * time.Millisecond, From: engine.InFlight}, // done
		{Kind: engine.Acked, Job: 5, At: ms(8), Token: 1, Age: 4 * time.Millisecond, From: engine.InFlight}, // told again
		{Kind: engine.Finished, Job: 5, At: ms(7), Token: 0, Delivery: 1},                                   // and once more
		{Kind: engine.Enqueued, Job: 6, At: ms(1)},
		{Kind: engine.Leased, Job: 6, At: ms(2), Token: 1, Age: time.Millisecond, Delivery: 1},
		{Kind: engine.Finished, Job: 6, At: ms(4), Token: 1, Delivery: 1},
		{Kind: engine.Acked, Job: 6, At: ms(7), Token: 1, From: engine.InFlight}, // the first answer was lost
		{Kind: engine.Enqueued, Job: 7, At: ms(1)},
		{Kind: engine.Leased, Job: 7, At: ms(2), Token: 1, Age: time.Millisecond, Delivery: 1},
		{Kind: engine.LeaseTaken, Job: 7, At: ms(4), Token: 2, Age: 3 * time.Millisecond, Delivery: 1},
		{Kind: engine.Leased, Job: 7, At: ms(5), Node: 1, Token: 3, Age: 4 * time.Millisecond, Delivery: 2},
		{Kind: engine.Nacked, Job: 7, At: ms(9), Token: 1, Age: 8 * time.Millisecond, From: engine.InFlight}, // without a fence
		{Kind: engine.Acked, Job: 7, At: ms(20), Token: 3, From: engine.Waiting},                             // the first answer was lost
	}
	slices.Reverse(events)
	ordered, b := reconcile(events, 100*time.Millisecond, engine.StoreOptions{Fence: engine.FenceNone})
	if b.Enqueued != 7 || b.Done != 3 || b.Dead != 0 || b.Unresolved != 4 || b.Executions != 3 || b.Duplicates != 1 {
		t.Errorf("balance %+v", b)
	}
	want := []unfinished.Job{
		{ID: 1, State: engine.Ready, Age: 99 * time.Millisecond, Waited: 99 * time.Millisecond},
		{ID: 2, State: engine.InFlight, Class: engine.Retry, Age: 99 * time.Millisecond},
		{ID: 3, State: engine.Waiting, Class: engine.Retry, Age: 99 * time.Millisecond},
		{ID: 4, State: engine.Ready, Class: engine.Retry, Age: 99 * time.Millisecond, Waited: 90 * time.Millisecond},
	}
	if !slices.Equal(b.unresolved, want) {
		t.Errorf("left are %+v", b.unresolved)
	}
	promoted := append(events, engine.Event{Kind: engine.Promoted, Job: 4, At: ms(50)})
	if _, b = reconcile(promoted, 100*time.Millisecond, engine.StoreOptions{Fence: engine.FenceNone, Promoted: true}); !slices.Equal(b.unresolved, want) {
		t.Errorf("with a promoter left are %+v: a wait runs from the due time", b.unresolved)
	}
	var lease, start engine.Time
	for i, e := range ordered {
		if i > 0 && e.At < ordered[i-1].At {
			t.Errorf("%v comes after a later event", e.Kind)
		}
		if e.Job == 2 && e.Kind == engine.Leased {
			lease = e.At
		}
		if e.Job == 2 && e.Kind == engine.Started {
			start = e.At
		}
		if e.Job == 6 && e.Kind == engine.Acked && e.Age != 6*time.Millisecond {
			t.Errorf("job 6 is done at an age of %v", e.Age)
		}
	}
	if lease != ms(3) || start != ms(4) {
		t.Errorf("leased at %v and started at %v", lease, start)
	}
	stopped := append(slices.Clone(events),
		engine.Event{Kind: engine.Returned, Job: 2, At: ms(102), Token: 1, Age: 101 * time.Millisecond, From: engine.InFlight},
		engine.Event{Kind: engine.Acked, Job: 4, At: ms(103), Token: 2, Age: 102 * time.Millisecond, From: engine.InFlight},
		engine.Event{Kind: engine.Enqueued, Job: 8, At: ms(101)})
	if _, b = reconcile(stopped, 100*time.Millisecond, engine.StoreOptions{Fence: engine.FenceNone}); !slices.Equal(b.unresolved, want) ||
		b.Enqueued != 8 || b.Done != 4 || b.Unresolved != 4 {
		t.Errorf("what a stop does after the end: left at the end are %+v, balance %+v", b.unresolved, b)
	}
	if _, b = reconcile(events, 100*time.Millisecond, engine.StoreOptions{Held: true}); b.unresolved[2].State != engine.Ready ||
		b.unresolved[2].Waited != 0 || b.unresolved[3] != want[3] {
		t.Errorf("held, what waits is ready: left are %+v", b.unresolved)
	}
}
