package chaos

// Entry is a known production fault, with the scenario keys that simulate it.
type Entry struct {
	ID    string // "F1"
	Where string // component that the fault hits
	What  string
	Texts []string // each of one line or several, of a key and its value
}

// Catalogue lists known production faults. It leaves out a failover that loses the latest writes, since no invariant
// can hold for a store that loses confirmed writes.
var Catalogue = []Entry{
	{"F1", "worker", "crash after the claim, before the start", []string{"storms: [{name: storm, on: leased, nth: 5, crash: {nodes: that, restart-after: 2s}}]"}},
	{"F2", "worker", "crash in the middle of a run", []string{"storms: [{name: storm, on: started, nth: 5, at: 50ms, crash: {nodes: that, restart-after: 2s}}]"}},
	{"F3", "worker", "crash after the effect, before the ack", []string{"storms: [{name: storm, on: finished, nth: 5, crash: {nodes: that, restart-after: 2s}}]"}},
	{"F4", "worker", "crash of processes, rolling deploy", []string{"storms: [{name: storm, at: 5s, crash: {nodes: 100%, restart-after: 2s}}]", "storms: [{name: storm, at: 5s, for: 8s, rolling: {every: 2s, restart-after: 500ms}}]"}},
	{"F5", "worker", "a pause beyond the lease: a zombie", []string{"storms: [{name: storm, at: 3s, for: 30s, pause: {nodes: [1]}}]"}},
	{"F6", "worker", "hangs, and does not listen", []string{"storms: [{name: storm, at: 2s, for: 5s, hang: {rate: 20%, extra: 20s}}]"}},
	{"F7", "worker", "poison that kills processes", []string{"storms: [{name: storm, at: 2s, for: 10s, kill: {rate: 10%}}]"}},
	{"F8", "worker", "slow", []string{"storms: [{name: storm, at: 2s, for: 10s, slow: {factor: 10}}]"}},
	{"F9", "worker", "clean stop that hands back what is held", []string{"engine.fetch.prefetch: 4\nstorms: [{name: storm, at: 5s, stop: {nodes: [1], grace: 3s}}]"}},
	{"F10", "messages", "ack lost", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], lose-request: 50%}}]"}},
	{"F11", "messages", "ack delayed past the lease", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], delay: 20s}}]"}},
	{"F12", "messages", "acks doubled and out of order", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], duplicate: 50%, delay: {dist: exponential, mean: 500ms}}}]"}},
	{"F13", "messages", "ack applied, answer lost", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], lose-reply: 50%}}]"}},
	{"F14", "messages", "heartbeats lost, late, or once only", []string{"storms: [{name: storm, at: 2s, for: 20s, heartbeats: {lose: 70%}}]",
		"storms: [{name: storm, at: 2s, for: 20s, calls: {ops: [extend], delay: 10s}}]", "storms: [{name: storm, at: 8s, for: 30s, heartbeats: {lose: 100%}}]"}},
	{"F15", "messages", "answer to a claim lost", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [claim], lose-reply: 50%}}]"}},
	{"F16", "store", "stall", []string{"storms: [{name: storm, at: 5s, for: 10s, store: {stall: true}}]"}},
	{"F17", "store", "errors", []string{"storms: [{name: storm, at: 2s, for: 10s, store: {error: 30%}}]"}},
	{"F18", "store", "timed out, applied later", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], delay: 5s}}]"}},
	{"F19", "store", "part of a batch", []string{"storms: [{name: storm, at: 2s, for: 10s, store: {partial: 50%}}]"}},
	{"F20", "store", "disconnect, restart", []string{"storms: [{name: storm, at: 5s, for: 5s, calls: {lose-request: 100%}}]"}},
	{"F21", "store", "lease records lost", []string{"engine.reaper.finds: in-flight\nstorms: [{name: storm, at: 5s, repeat: {every: 2s, times: 3}, leases: {lose: 50%}}]"}},
	{"F22", "store", "calls cost more as rows lie about", []string{"engine.store.scan.claim: {ready: 200us, waiting: 200us, in-flight: 200us, ended: 200us}", "storms: [{name: storm, at: 2s, for: 10s, store: {slow: 20}}]"}},
	{"F23", "store", "pool exhausted", []string{"storms: [{name: storm, at: 2s, for: 15s, store: {parallel: 1}}]"}},
	{"F24", "store", "deadlocks, serialization failures", []string{"storms: [{name: storm, at: 2s, for: 10s, calls: {ops: [claim, commit], error: 20%}}]"}},
	{"F25", "maintenance", "reaper stalls", []string{"storms: [{name: storm, at: 4s, crash: {nodes: [1], restart-after: 1s}}, {name: storm-2, at: 5s, for: 30s, reaper: {stall: true}}]"}},
	{"F26", "maintenance", "two reapers, leaders that overlap", []string{"engine.reaper.owner: leader\nstorms: [{name: storm, at: 2s, crash: {nodes: [1], restart-after: 1s}}, {name: storm-2, at: 5s, for: 8s, pause: {nodes: [0]}}]"}},
	{"F27", "maintenance", "reaper reads, and writes later", []string{"engine.reaper.guard: token\nengine.reaper.gap: 2s\nstorms: [{name: storm, at: 4s, crash: {nodes: [1], restart-after: 1s}}]"}},
	{"F28", "maintenance", "promoter stalls, or dies between removing and inserting", []string{"engine.promoter.every: 500ms\nstorms: [{name: storm, at: 5s, for: 10s, promoter: {stall: true}}]",
		"engine.promoter.every: 500ms\nengine.promoter.gap: 500ms\nstorms: [{name: storm, on: called, op: promote, nth: 20, at: 10ms, crash: {nodes: that, restart-after: 1s}}]"}},
	{"F29", "maintenance", "starting up with many expired leases", []string{"engine.reaper.on-start: true\nengine.reaper.batch: 5\nstorms: [{name: storm, at: 8s, crash: {nodes: 100%, restart-after: 25s}}]"}},
	{"F30", "clock", "skew", []string{"engine.lease.check: local\nstorms: [{name: storm, at: 5s, for: 20s, clock: {nodes: [1], skew: 30s}}]"}},
	{"F31", "clock", "jumps", []string{"engine.lease.check: local\nstorms: [{name: storm, at: 5s, for: 1s, repeat: {every: 5s, times: 3}, clock: {nodes: [1], skew: -30s}}]"}},
	{"F32", "clock", "the wall clock leaves the monotonic one", []string{"engine.lease.check: local\nengine.reaper.every: 1s\nstorms: [{name: storm, at: 5s, for: 500ms, repeat: {every: 3s, times: 5}, clock: {nodes: 100%, skew: 5s}}]"}},
	{"F33", "load", "burst", []string{"storms: [{name: storm, at: 5s, burst: {class: a, count: 200}}]"}},
	{"F34", "load", "outage downstream", []string{"storms: [{name: storm, at: 5s, for: 15s, fail: {rate: 97%}}]"}},
	{"F35", "load", "failures by overload", []string{"storms: [{name: storm, at: 2s, for: 20s, limit: {dependency: api, factor: 0.003}}]"}},
	{"F36", "load", "noisy tenant", []string{"jobs.a.tenants: {names: [acme, bolt, coil]}\njobs.b.tenants: {names: [acme]}\nstorms: [{name: storm, at: 5s, burst: {class: b, count: 300}}]"}},
	{"F37", "load", "all due at one instant", []string{"jobs.b.delay: 10s\nstorms: [{name: storm, at: 5s, burst: {class: b, count: 300}}]"}},
	{"F38", "load", "redrive of all dead jobs", []string{"storms: [{name: storm, at: 1s, for: 15s, fail: {rate: 100%}}, {name: storm-2, at: 20s, redrive: {share: 100%, reset: true}}]"}},
	{"F39", "committer", "crash with a batch that has not been sent", []string{"engine.commit.linger: 50ms\nstorms: [{name: storm, on: finished, nth: 10, at: 1ms, crash: {nodes: that, restart-after: 1s}}]"}},
	{"F40", "committer", "backlog, backpressure", []string{"engine.commit.backpressure: 5\nstorms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], delay: 2s}}]"}},
	{"F41", "committer", "gives up", []string{"engine.commit.tries: 2\nengine.commit.give-up: drop\nstorms: [{name: storm, at: 2s, for: 10s, calls: {ops: [commit], error: 60%}}]"}},
}
