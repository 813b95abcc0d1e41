package world

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/scenarios"
)

// stormy returns a scenario with four nodes and one storm, and the given keys of the engine.
func stormy(t *testing.T, keys, storm string) *scenarios.Scenario {
	t.Helper()
	text := "duration: 10m\nengine: {nodes: 4, promoter: {every: 5s}" + keys + "}\njobs:\n- {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}\n"
	if storm != "" {
		text += "storms: [{name: s, at: 1m, for: 30s, " + storm + "}]\n"
	}
	sc, problems := scenarios.Load("test.yaml", []byte(text), nil) // warnings are welcome here
	if sc == nil {
		t.Fatalf("%v", problems)
	}
	return sc
}

// TestControls checks the faults of nodes and of the store that storms become.
func TestControls(t *testing.T) {
	const second = time.Second
	at := engine.Time(time.Minute)
	tests := []struct {
		storm string
		want  []fault.Control
	}{
		{"crash: {nodes: [1, 3], restart-after: 5s}", []fault.Control{{Node: 1, At: at, For: 5 * second}, {Node: 3, At: at, For: 5 * second}}},
		{"crash: {nodes: [2], restart-after: 5s}, repeat: {every: 1m, times: 3}", []fault.Control{{Node: 2, At: at, For: 5 * second, Times: 3, Every: time.Minute}}},
		{"rolling: {every: 10s, restart-after: 2s}", []fault.Control{{At: at, For: 2 * second, Times: 3, Every: 10 * second, Rolls: true}}},
		{"rolling: {every: 11s, restart-after: 2s}, repeat: {every: 1m, times: 2}", []fault.Control{
			{At: at, For: 2 * second, Times: 3, Every: 11 * second, Rolls: true},
			{At: at.Add(time.Minute), For: 2 * second, Times: 3, Every: 11 * second, Rolls: true}}},
		{"pause: {nodes: [0]}", []fault.Control{{Kind: fault.Pause, At: at, For: 30 * second}}},
		{"store: {stall: true}, repeat: {every: 1m, times: 9}", []fault.Control{{Kind: fault.StallStore, At: at, For: 30 * second, Times: 9, Every: time.Minute}}},
		{"reaper: {stall: true}", []fault.Control{{Kind: fault.StallReaper, At: at, For: 30 * second}}},
		{"promoter: {stall: true}", []fault.Control{{Kind: fault.StallPromoter, At: at, For: 30 * second}}},
		{"leases: {lose: 1%}", []fault.Control{{Kind: fault.LoseLeases, At: at, For: 30 * second, Share: 0.01}}},
		{"clock: {nodes: [3], skew: 20s}", []fault.Control{{Kind: fault.ShiftClock, Node: 3, At: at, For: 30 * second, Offset: 20 * second}}},
		{"clock: {nodes: [3], jump: -20s}", []fault.Control{{Kind: fault.ShiftClock, Node: 3, At: at, Offset: -20 * second}}},
		{"redrive: {share: 50%, reset: true}", []fault.Control{{Kind: fault.Redrive, At: at, For: 30 * second, Share: 0.5, Reset: true}}},
		{"store: {error: 5%}", nil},
		{"heartbeats: {lose: 5%}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.storm, func(t *testing.T) {
			var cfg sim.Config
			equip(stormy(t, "", tt.storm), &cfg, &sim.Links{}, keyed.Rand{Seed: 1})
			if d := cmp.Diff(tt.want, cfg.Controls, cmp.AllowUnexported(fault.Control{})); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestPickedNodes checks that a storm on a number of nodes hits that many, others under another
// seed, and the same ones for faults as for crashes.
func TestPickedNodes(t *testing.T) {
	seen := map[int32]int{}
	for seed := range uint64(100) {
		var cfg sim.Config
		var links sim.Links
		equip(stormy(t, "", "crash: {nodes: 50%, restart-after: 5s}"), &cfg, &links, keyed.Rand{Seed: seed})
		if len(cfg.Controls) != 2 || cfg.Controls[0].Node >= cfg.Controls[1].Node {
			t.Fatalf("seed %d: %v, want two of four nodes", seed, cfg.Controls)
		}
		seen[cfg.Controls[0].Node]++
		seen[cfg.Controls[1].Node]++
		var again sim.Config
		equip(stormy(t, "", "heartbeats: {lose: 5%, nodes: 50%}"), &again, &links, keyed.Rand{Seed: seed})
		if got := links.Faults[0].Nodes; len(got) != 2 || got[0] != cfg.Controls[0].Node || got[1] != cfg.Controls[1].Node {
			t.Errorf("seed %d: heartbeats of %v, crashes of %v", seed, got, cfg.Controls)
		}
	}
	for node, n := range seen {
		if n < 20 || n > 80 { // false alarm below 1e-8
			t.Errorf("node %d was hit %d times, want about 50", node, n)
		}
	}
}

// TestFaults checks the faults of calls that storms become.
func TestFaults(t *testing.T) {
	window := fault.Window{From: engine.Time(time.Minute), For: 30 * time.Second}
	all := [engine.NumOps]bool{false, true, true, true, true, true, true, true}
	ops := func(some ...engine.Op) (hit [engine.NumOps]bool) {
		for _, op := range some {
			hit[op] = true
		}
		return hit
	}
	tests := []struct {
		storm string
		want  []fault.Fault
	}{
		{"heartbeats: {lose: 20%}", []fault.Fault{{Window: window, Ops: ops(engine.OpExtend), LoseRequest: 0.2}}},
		{"heartbeats: {lose: 20%, nodes: [2]}", []fault.Fault{{Window: window, Ops: ops(engine.OpExtend), LoseRequest: 0.2, Nodes: []int32{2}}}},
		{"heartbeats: {lose: 20%, nodes: [2, 0, 2]}", []fault.Fault{{Window: window, Ops: ops(engine.OpExtend), LoseRequest: 0.2, Nodes: []int32{0, 2}}}},
		{"heartbeats: {lose: 20%, nodes: 0%}", []fault.Fault{{Window: window, Ops: ops(engine.OpExtend), LoseRequest: 0.2, Nodes: []int32{}}}},
		{"calls: {ops: [claim, lead], lose-request: 1%, lose-reply: 2%, duplicate: 3%, error: 4%}",
			[]fault.Fault{{Window: window, Ops: ops(engine.OpClaim, engine.OpLead), LoseRequest: 0.01, LoseReply: 0.02, Duplicate: 0.03, Error: 0.04}}},
		{"calls: {lose-reply: 2%, nodes: [0, 1]}", []fault.Fault{{Window: window, Ops: all, LoseReply: 0.02, Nodes: []int32{0, 1}}}},
		{"store: {error: 5%}, repeat: {every: 1m, times: 2}",
			[]fault.Fault{{Window: fault.Window{From: window.From, For: window.For, Times: 2, Every: time.Minute}, Ops: all, Error: 0.05}}},
		{"store: {partial: 25%}", []fault.Fault{{Window: window, Ops: ops(engine.OpCommit), Partial: 0.25}}},
		{"store: {slow: 10}", nil},
		{"pause: {nodes: [0]}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.storm, func(t *testing.T) {
			var links sim.Links
			equip(stormy(t, "", tt.storm), new(sim.Config), &links, keyed.Rand{Seed: 1})
			if d := cmp.Diff(tt.want, links.Faults); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	var links sim.Links
	equip(stormy(t, "", "calls: {delay: {dist: exponential, mean: 2s}}"), new(sim.Config), &links, keyed.Rand{})
	if d := links.Faults[0].Delay; d == nil || d.Mean() != 2 {
		t.Errorf("the delay is %v", d)
	}
	equip(stormy(t, "", "store: {slow: 10}"), new(sim.Config), &links, keyed.Rand{})
	if d := cmp.Diff([]fault.Slow{{Window: window, Factor: 10}}, links.Slows); d != "" || links.Faults != nil {
		t.Errorf("slow: faults %v (-want +got):\n%s", links.Faults, d)
	}
}

// TestEngineKeys checks the configuration that rare keys become. Each row changes one value of the
// engine or the store.
func TestEngineKeys(t *testing.T) {
	type made struct {
		Engine   engine.Config
		Store    engine.StoreOptions
		Parallel int
		Rows     bool
		Held     bool
		Room     bool
		Scan     [engine.NumOps]sim.RowCosts
	}
	of := func(sc *scenarios.Scenario) made {
		var cfg sim.Config
		links := linksOf(&sc.Engine.Store)
		equip(sc, &cfg, &links, keyed.Rand{})
		return made{engineConfig(&sc.Engine), storeOptions(sc), cfg.Parallel, cfg.CountRows, cfg.Held, cfg.MakesRoom, links.Scan}
	}
	tests := []struct {
		keys   string
		change func(m *made)
	}{
		{"fetch: {error-pause: 0s}", func(m *made) { m.Engine.Fetch.ErrorPause = -1 }},
		{"fetch: {error-pause: 3s}", func(m *made) { m.Engine.Fetch.ErrorPause = 3 * time.Second }},
		{"commit: {backoff: [1s, 2s]}", func(m *made) { m.Engine.Commit.Backoff = []time.Duration{time.Second, 2 * time.Second} }},
		{"lease: {max: 5m}", func(m *made) { m.Engine.Lease.Max = 5 * time.Minute }},
		{"lease: {ttl: 9m, max: 5m}", func(m *made) { m.Engine.Lease.TTL, m.Engine.Lease.Max = 5*time.Minute, 5*time.Minute }},
		{"lease: {of: node}", func(m *made) { m.Engine.Lease.OfNode = true }},
		{"lease: {of: node, max: 5m}", func(m *made) { m.Engine.Lease.OfNode = true }},
		{"lease: {of: node, names: kept}", func(m *made) { m.Engine.Lease.OfNode, m.Engine.Lease.Kept = true, true }},
		{"lease: {of: node, names: kept, heartbeat: 0s}", func(m *made) { m.Engine.Lease.Heartbeat = 0 }},
		{"lease: {check: local}", func(m *made) { m.Engine.Lease.Local = true }},
		{"ack: early", func(m *made) {
			m.Engine.Lease, m.Engine.Reaper.Off = engine.LeaseConfig{TTL: engine.Forever}, true
		}},
		{"ack: early, reaper: {every: 0s}, lease: {late-claim: run}", func(m *made) {
			m.Engine.Lease, m.Engine.Reaper.Off = engine.LeaseConfig{TTL: engine.Forever, RunLate: true}, true
			m.Engine.Reaper.Every = 0
		}},
		{"reaper: {every: 0s, grace: 2s}", func(m *made) {
			m.Engine.Reaper.Every, m.Engine.Reaper.Grace, m.Store.LapseAfter = 0, 2*time.Second, 2*time.Second
		}},
		{"reaper: {max: 3, within: 1h}", func(m *made) { m.Engine.Reaper.BuryAt, m.Store.RecoveriesWithin = 4, time.Hour }},
		{"reaper: {max: 0}", func(m *made) { m.Engine.Reaper.BuryAt = 1 }},
		{"reaper: {after: ready, place: head}", func(m *made) { m.Engine.Reaper.After, m.Engine.Reaper.Stand = engine.Redo, engine.PlaceHead }},
		{"reaper: {after: dead, place: due}", func(m *made) { m.Engine.Reaper.After, m.Engine.Reaper.Stand = engine.Bury, engine.PlaceDue }},
		{"reaper: {place: tail}", func(m *made) { m.Engine.Reaper.Stand = engine.PlaceTail }},
		{"reaper: {place: created}", func(m *made) { m.Engine.Reaper.Stand = engine.PlaceCreated }},
		{"reaper: {guard: none}", func(*made) {}},
		{"reaper: {gap: 1s}", func(m *made) { m.Engine.Reaper.Gap, m.Engine.Reaper.Guard = time.Second, engine.FenceToken }},
		{"reaper: {gap: 1s, guard: state}", func(m *made) { m.Engine.Reaper.Gap, m.Engine.Reaper.Guard = time.Second, engine.FenceState }},
		{"reaper: {gap: 1s, guard: none}", func(m *made) { m.Engine.Reaper.Gap, m.Engine.Reaper.Guard = time.Second, engine.FenceNone }},
		{"reaper: {finds: lease}", func(m *made) { m.Store.Orphans = false }},
		{"max-in-flight: 10", func(m *made) { m.Store.MaxInFlight, m.Room = 10, true }},
		{"waiting: held", func(m *made) { m.Store.Held, m.Held = true, true }},
		{"store: {parallel: 3}", func(m *made) { m.Parallel = 3 }},
		{"store: {scan: {claim: {ahead: 1us, ready: 2us}, promote: {waiting: 3us}, stats: {ended: 4us}}}", func(m *made) {
			m.Rows, m.Store.CountAhead = true, true
			m.Scan[engine.OpClaim] = sim.RowCosts{Ahead: time.Microsecond, Ready: 2 * time.Microsecond}
			m.Scan[engine.OpPromote] = sim.RowCosts{Waiting: 3 * time.Microsecond}
			m.Scan[engine.OpStats] = sim.RowCosts{Ended: 4 * time.Microsecond}
		}},
		{"store: {scan: {commit: {in-flight: 1us}, extend: {ready: 1us}, recover: {waiting: 1us}}}", func(m *made) {
			m.Rows = true
			m.Scan[engine.OpCommit] = sim.RowCosts{InFlight: time.Microsecond}
			m.Scan[engine.OpExtend] = sim.RowCosts{Ready: time.Microsecond}
			m.Scan[engine.OpRecover] = sim.RowCosts{Waiting: time.Microsecond}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.keys, func(t *testing.T) {
			want := of(stormy(t, "", ""))
			tt.change(&want)
			got := of(stormy(t, ", "+tt.keys, ""))
			if d := cmp.Diff(want, got, cmp.AllowUnexported(engine.View{})); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestPromoterKeys checks the intervals that the distributions of a promoter become.
func TestPromoterKeys(t *testing.T) {
	of := func(promoter string) engine.PromoterConfig {
		sc := load(t, "engine: {promoter: "+promoter+"}\njobs:\n- {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}\n")
		return promoterConfig(&sc.Engine.Promoter)
	}
	drawn := of("{every: {dist: uniform, min: 2s, max: 8s}, first: {dist: uniform, min: 10s, max: 14s}, gap: 20ms, order: newest, owner: leader}")
	if drawn.Every != 5*time.Second || drawn.Tick == nil || drawn.First(0.5) != 12*time.Second || drawn.Tick(0.5) != 5*time.Second {
		t.Errorf("drawn: %+v", drawn)
	}
	if drawn.Gap != 20*time.Millisecond || drawn.Order != engine.NewestReady || !drawn.LeaderOnly {
		t.Errorf("drawn: %+v", drawn)
	}
	if c := of("{every: 5s}"); c.Every != 5*time.Second || c.Tick != nil || c.Gap != 0 {
		t.Errorf("constant: %+v", c)
	}
	if c := of("{every: 5s, first: {dist: uniform, min: 10s, max: 14s}}"); c.Every != 5*time.Second || c.Tick != nil || c.First(0.5) != 12*time.Second {
		t.Errorf("constant but the first: %+v", c)
	}
	if c := of("{every: 0s}"); c.Every != 0 || c.Tick != nil {
		t.Errorf("none: %+v", c)
	}
}

// TestStoreRulesOfClasses checks the store options that classes and storms require.
func TestStoreRulesOfClasses(t *testing.T) {
	sc := load(t, `
jobs:
- {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s, max-running: 3}
- {class: image, arrivals: {process: poisson, rate: 1/s}, service: {dist: exponential, mean: 3s}, serial: {keys: 25}}
storms: [{name: s, at: 1m, redrive: {share: 100%}}]
`)
	o := storeOptions(sc)
	if d := cmp.Diff([]int{3, 0}, o.MaxRunning); d != "" {
		t.Errorf("max-running (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]time.Duration{time.Second, 3 * time.Second}, o.Service); d != "" {
		t.Errorf("service (-want +got):\n%s", d)
	}
	if !o.KeepDead || !makesRoom(sc) {
		t.Errorf("keep dead %v, makes room %v, want both", o.KeepDead, makesRoom(sc))
	}
}
