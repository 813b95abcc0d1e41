package chaos

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/policies"
)

// die draws what a world is like.
type die struct {
	rand engine.Rand
	n    uint64
}

// below returns a number in [0, n).
func (d *die) below(n int) int {
	d.n++
	return int(d.rand.Uint64(engine.ForChaos, d.n, 0, 0) % uint64(n))
}

func (d *die) between(least, most int) int { return least + d.below(most-least+1) }

func (d *die) coin() bool { return d.below(2) == 0 }

// seldom reports true one time in n.
func (d *die) seldom(n int) bool { return d.below(n) == 0 }

func (d *die) milliseconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Millisecond
}

// share draws a share of up to a percentage.
func (d *die) share(most int) float64 { return float64(d.between(1, most)) / 100 }

// zeroOr returns 0 or, as often, x.
func zeroOr[T any](d *die, x T) (zero T) {
	if d.coin() {
		return zero
	}
	return x
}

// healing is when the troubles of a drawn world are over, and the latest that one begins.
const (
	healing     = 40 * time.Second
	latestStart = 30 * time.Second
)

// Draw returns the world of a seed.
func Draw(seed uint64) *World {
	d := &die{rand: engine.Rand{Seed: seed}}
	w := &World{Seed: seed, Heal: healing, Nodes: d.between(1, 4), Store: engine.StoreOptions{LapseAfter: -1}.Complete()}
	d.engine(w)
	d.retry(w)
	d.store(w)
	d.policy(w)
	d.load(w)
	d.work(w)
	d.links(w)
	d.reaper(w)
	d.leases(w)
	if d.seldom(8) {
		d.plain(w)
	}
	d.faults(w)
	if d.seldom(8) {
		d.deployed(w)
	}
	d.compatible(w)
	return w
}

func (d *die) engine(w *World) {
	e := &w.Engine
	e.Workers = d.between(1, 8)
	e.CallTimeout = d.milliseconds(200, 1000)
	e.Fetch = engine.FetchConfig{Batch: d.between(1, 10), Poll: d.milliseconds(50, 2000), Prefetch: zeroOr(d, d.between(1, 4)), Cooldown: zeroOr(d, d.milliseconds(1, 50))}
	if d.seldom(3) {
		e.Fetch.Batch = 1
	}
	if d.seldom(4) {
		e.Fetch.ErrorPause = []time.Duration{-1, d.milliseconds(1, 5000)}[d.below(2)]
	}
	e.Commit = engine.CommitConfig{Batch: d.between(1, 8), Linger: zeroOr(d, d.milliseconds(1, 10)), Calls: d.between(1, 3), Timeout: d.milliseconds(200, 2000),
		Tries: zeroOr(d, d.between(1, 3)), GiveUp: engine.GiveUp(d.below(2)), Backpressure: zeroOr(d, d.between(1, 20))}
	if d.coin() {
		e.Commit.Backoff = []time.Duration{d.milliseconds(0, 50), d.milliseconds(50, 500)}
	}
	e.Leader = engine.LeaderConfig{TTL: 3 * time.Second, Renew: time.Second}
	w.Timeout = zeroOr(d, d.milliseconds(300, 3000))
	w.Wake = sim.WakeMode(d.below(3))
	w.Restart = d.milliseconds(100, 5000)
}

func (d *die) retry(w *World) {
	w.Retry = Retry{Attempts: d.between(1, 12), First: d.milliseconds(0, 1000), Factor: float64(d.between(2, 8)) / 2, Max: d.milliseconds(1000, 30000),
		Jitter: policies.JitterKind(d.below(4))}
	if d.seldom(8) {
		w.Retry.Attempts = 0
	}
	if d.seldom(4) {
		w.Retry.Free = engine.ErrorKind(d.between(int(engine.Timeout), int(engine.Throttled)))
	}
	if d.seldom(8) {
		w.Retry.Never = engine.Conflict
	}
}

func (d *die) store(w *World) {
	o := &w.Store
	p := &w.Engine.Promoter
	*p = engine.PromoterConfig{Every: zeroOr(d, d.milliseconds(100, 1000)), Batch: d.between(1, 20), Order: engine.Order(d.below(2)), Owner: engine.Owner(d.below(2))}
	if d.coin() {
		p.Every = 0
	}
	if p.Every > 0 && d.seldom(4) {
		w.Drawn, w.First = d.milliseconds(100, 2000), d.milliseconds(100, 1000)
	}
	if p.Every > 0 && d.seldom(6) {
		p.Gap = d.milliseconds(1, 2000)
	}
	// A fence by token is what most invariants are about.
	o.Fence = engine.FenceToken + engine.Fence(max(0, d.below(6)-3))
	o.Place, o.Promoted = [...]engine.Place{engine.PlaceDue, engine.PlaceTail, engine.PlaceHead, engine.PlaceCreated}[d.below(4)], p.Every > 0
	o.Held = d.seldom(6)
	if d.seldom(4) {
		o.MaxRunning = []int{d.between(1, 8)}
	}
	if d.seldom(4) {
		o.MaxInFlight = d.between(1, 20)
	}
	w.MakesRoom = d.coin()
}

func (d *die) policy(w *World) {
	var names []string // each as often as its weight
	for _, k := range policies.Kinds() {
		names = append(names, slices.Repeat([]string{k.Name}, k.Drawn.Weight)...)
	}
	d.kind(w, names[d.below(len(names))])
}

// kind draws the parameters of a policy; fifo stands for one that needs more workers.
func (d *die) kind(w *World, name string) {
	k, err := policies.Find(name)
	if err != nil {
		panic("chaos: " + err.Error())
	}
	if w.Policy = (Policy{Kind: name}); w.Engine.Workers < k.Drawn.Workers {
		w.Policy.Kind = "fifo"
	}
	if p := k.Drawn.Param; p != "" {
		w.Policy.Params = []Param{{p, k.Drawn.Values[d.below(len(k.Drawn.Values))]}}
	}
}

func (d *die) load(w *World) {
	w.Load = Load{Jobs: d.between(50, 200), Gap: 100 * time.Millisecond, Kinds: d.between(1, 3), Ranked: d.coin(), Tenants: d.between(1, 7),
		Delay: zeroOr(d, d.milliseconds(100, 20000))}
	if d.seldom(3) {
		w.Load.Gap = d.milliseconds(5, 50) // faster than they are worked off
	}
	if d.seldom(4) {
		w.Load.Keys = d.between(1, 30)
	}
}

func (d *die) work(w *World) {
	w.Work = Work{P50: 100 * time.Millisecond, P99: 500 * time.Millisecond, Cap: 2 * time.Second, Fails: zeroOr(d, d.share(30)), Kills: zeroOr(d, 0.01), IgnoresCancel: d.coin(),
		Error: []engine.ErrorKind{engine.FirstErrorKind, engine.FirstErrorKind, engine.Throttled, engine.Conflict}[d.below(4)]}
	if d.seldom(4) {
		w.Work.P50, w.Work.P99 = 400*time.Millisecond, 1500*time.Millisecond
	}
	if w.Retry.Attempts > 0 {
		w.Work.Poison = zeroOr(d, d.share(10))
	}
}

func (d *die) links(w *World) {
	l := &w.Links
	most := 20
	if d.seldom(4) { // calls are shorter then: a store that serves few at once must keep up
		l.Parallel, most = d.between(2, 8), 4
		w.Engine.Fetch.Poll = d.milliseconds(300, 2000)
	}
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		l.Delay[op] = d.milliseconds(1, most)
	}
	if d.coin() {
		l.PerJob = time.Millisecond
	}
	if d.seldom(4) {
		l.PerRow, w.Store.CountAhead = time.Duration(d.between(1, 20))*time.Microsecond, true
	}
	l.Enqueue = zeroOr(d, d.milliseconds(1, 300))
}

func (d *die) reaper(w *World) {
	e := &w.Engine
	// A reaper may take all jobs at once, and must be able to commit what becomes of
	// them before its own leases expire: else it takes them again and again. A commit
	// takes 40 ms and more, and without linger it carries one outcome.
	perCall := e.Commit.Calls
	if e.Commit.Linger > 0 {
		perCall *= e.Commit.Batch
	}
	e.Lease = engine.LeaseConfig{TTL: 15*time.Second/time.Duration(perCall) + d.milliseconds(3000, 20000), LateClaim: engine.LateClaim(d.below(3))}
	e.Lease.Heartbeat = zeroOr(d, e.Lease.TTL/3)
	r := &e.Reaper
	*r = engine.ReaperConfig{Every: zeroOr(d, d.milliseconds(500, 3000)), Batch: d.between(1, 20), Grace: zeroOr(d, d.milliseconds(1, 1000)),
		OnStart: d.coin(), Nothing: d.seldom(4), Owner: engine.Owner(d.below(2))}
	if d.seldom(3) {
		r.BuryAt = int32(d.between(1, 4))
		w.Store.RecoveriesWithin = zeroOr(d, d.milliseconds(1000, 20000))
	}
	r.After, r.Stand = engine.After(max(0, d.between(-2, 2))), engine.Place(d.below(5))
	if r.Every > 0 && d.seldom(3) {
		r.Guard, r.Gap = engine.Fence(d.between(1, 3)), zeroOr(d, d.milliseconds(1, 3000))
	}
	if r.Every == 0 {
		w.Store.LapseAfter = r.Grace
	}
	w.Store.Orphans = d.coin()
}

// leases draws leases of other kinds than usual.
func (d *die) leases(w *World) {
	l := &w.Engine.Lease
	switch d.below(16) {
	case 0:
		l.Max = l.TTL + d.milliseconds(0, 20000)
	case 1, 2: // a node keeps alive what it never heard of
		l.OfNode, l.Kept, l.Heartbeat = true, d.coin(), l.TTL/3
	case 3, 4, 5:
		l.Local = true
	case 6: // the claim is the ack
		*l = engine.LeaseConfig{TTL: engine.Forever, LateClaim: l.LateClaim}
		w.Engine.Reaper.Off, w.Store.LapseAfter = true, -1
	case 7: // the start is
		l.AckAtStart, l.Heartbeat, w.Store.Held = true, 0, true
	}
}

// busyPolicies leave no worker idle while a job is ready.
var busyPolicies = []string{"weighted", "weighted", "weighted", "fifo", "lifo", "fresh-first", "retry-first"}

// plain makes a world of which much is promised: nothing but its workers limits what is in
// flight, and its jobs keep coming when all is healed, now and then faster than they are
// worked off.
func (d *die) plain(w *World) {
	e := &w.Engine
	w.Store.MaxInFlight, w.Store.MaxRunning, w.Store.Held, w.Store.Promoted, w.Load.Keys = 0, nil, false, false, 0
	w.Drawn, w.First, w.Links.Parallel, w.Links.PerRow = 0, 0, 0, 0
	e.Promoter.Every, e.Promoter.Gap, e.Fetch.Cooldown, e.Commit.Backpressure = 0, 0, 0, 0
	w.recovers()
	d.kind(w, busyPolicies[d.below(len(busyPolicies))])
	w.Load.Jobs = d.between(150, 300)
	w.Load.Gap = (healing + d.milliseconds(2000, 15000)) / time.Duration(w.Load.Jobs)
	if d.coin() { // more fails than is worked off: jobs of both classes are ready
		w.Nodes, e.Workers = d.between(1, 2), d.between(1, 3)
		w.Work.P50, w.Work.P99, w.Work.Fails = 300*time.Millisecond, time.Second, float64(d.between(20, 40))/100
	}
}

// recovers makes leases of a world end, so that they are recovered.
func (w *World) recovers() {
	e := &w.Engine
	e.Lease.OfNode, e.Lease.Kept, e.Lease.AckAtStart = false, false, false
	if e.Reaper.Off {
		e.Reaper.Off, e.Lease.TTL, w.Store.LapseAfter = false, 10*time.Second, -1
		if e.Reaper.Every == 0 {
			w.Store.LapseAfter = e.Reaper.Grace
		}
	}
}

// compatible takes back what would leave jobs behind for reasons of its own.
func (d *die) compatible(w *World) {
	e := &w.Engine
	if e.Reaper.Off || e.Lease.OfNode || e.Lease.AckAtStart || w.has(LoseLeases) && !w.Store.Orphans {
		// What is in flight for ever must not keep others waiting.
		w.Store.MaxInFlight, w.Store.MaxRunning, w.Load.Keys = 0, nil, 0
	}
	if e.Promoter.Gap > 0 || w.has(Redrive) {
		w.Load.Keys = 0
	}
	w.Store.KeepDead = w.has(Redrive) || d.seldom(4)
	if w.Load.Keys > 0 && w.Load.Keys < 8 {
		w.Load.Jobs = min(w.Load.Jobs, 100)
	}
	if w.Retry.Attempts == 0 { // jobs that are tried for ever must succeed some time
		w.Timeout = zeroOr(d, max(w.Timeout, time.Second))
		if w.Store.Held { // and must not wait in a process for longer than their lease lasts, every time
			w.Retry.Max = min(w.Retry.Max, e.Lease.TTL/2)
		}
	}
}
