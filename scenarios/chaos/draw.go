package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/engine/keyed"
	"qsim/policies"
)

// Draw returns the world (random scenario) of a seed: the same at every call.
func Draw(seed uint64) *World {
	d := &die{rand: keyed.Rand{Seed: seed}}
	p := &plan{seed: seed, keys: map[string]string{}}
	d.as("engine").engine(p)
	d.as("leases").leases(p)
	d.as("retry").retry(p)
	d.as("store").store(p)
	d.as("policy").policy(p)
	d.as("load").load(p)
	plain, special := d.as("plain"), d.as("special")
	isPlain := plain.seldom(8)
	if isPlain {
		plain.plain(p)
	}
	d.as("storms").storms(p)
	switch {
	case special.seldom(5):
		special.deployed(p)
	case isPlain && special.seldom(3):
		special.stopped(p)
	case special.seldom(16):
		special.instant(p)
	}
	d.as("compatible").compatible(p)
	text := p.text()
	w, err := Parse("world", text)
	if err != nil {
		panic(fmt.Sprintf("chaos: seed %d: %v\n%s", seed, err, text))
	}
	return w
}

func (d *die) engine(p *plan) {
	p.nodes, p.workers, p.prefetch = d.between(1, 4), d.between(1, 8), zeroOr(d, d.between(1, 4))
	p.poll = d.milliseconds(50, 2000)
	d.keys(p, `
		1/4 engine.fetch.poll: drawn
		engine.call-timeout: <200ms..1s>
		engine.fetch.batch: <1..10>
		1/3 engine.fetch.batch: 1
		engine.fetch.cooldown: <0?1ms..50ms>
		engine.fetch.cooldown-from: <claim|signal>
		engine.fetch.wake: <true|all|false>
		engine.fetch.error-pause: `+p.poll.String()+`
		1/4 engine.fetch.error-pause: <0?1ms..5s>
		engine.commit.batch: <1..8>
		engine.commit.linger: <0?1ms..10ms>
		engine.commit.calls: <1..3>
		engine.commit.timeout: <200ms..2s>
		engine.commit.tries: <0?1..3>
		engine.commit.give-up: <requeue|drop>
		engine.commit.backpressure: <0?1..<1..8>>
		1/4 engine.commit.eager: true
		1/2 engine.commit.backoff: [<0ms..50ms>, <50ms..500ms>]
		engine.leader.ttl: 3s
		engine.leader.renew: 1s
		engine.timeout: <0?300ms..3s>`)
	p.set("engine.restart", d.restart(5000))
	d.keys(p, `
		engine.phase: <together|drawn>
		engine.on-timeout: <fail|fail|free|wait>
		engine.fetch.on-due: <wake|wake|poll>`)
}

// restart returns for how long, most ms at the most, a process is down: one time in three so briefly that replies to
// its former life are still on their way.
func (d *die) restart(most int) time.Duration {
	if d.seldom(3) {
		return d.milliseconds(1, 30)
	}
	return d.milliseconds(100, most)
}

// leases draws the keys of a world for leases, heartbeats, fencing and the reaper.
func (d *die) leases(p *plan) {
	// A reaper may take all jobs at once, and must be able to commit what becomes of them before its own leases expire:
	// else it takes them again and again. A commit takes 40 ms and more, and without linger it carries one outcome.
	outcomes := number(p.keys["engine.commit.calls"])
	if p.has("engine.commit.linger") {
		outcomes *= number(p.keys["engine.commit.batch"])
	}
	p.ttl = 15*time.Second/time.Duration(outcomes) + d.milliseconds(3000, 20000)
	beat := p.third()
	if d.seldom(4) { // one may be due while the answer to the one before is under way
		beat = d.milliseconds(100, 1000)
	}
	p.set("engine.lease.heartbeat", zeroOr(d, beat))
	d.keys(p, "engine.lease.late-claim: <return|run|ignore>")
	d.keys(p, `
		engine.fence: <token|token|token|token|state|none>
		engine.reaper.every: <0?500ms..3s>
		engine.reaper.batch: <1..20>
		engine.reaper.grace: <0?1ms..1s>
		engine.reaper.on-start: <true|false>
		engine.reaper.counts: <failure|failure|failure|nothing>
		engine.reaper.owner: <every|leader>
		1/3 engine.reaper.max: <0..3>; engine.reaper.within: <0?1s..20s>
		engine.reaper.after: <retry|retry|retry|ready|dead>
		engine.reaper.place: <retry|head|due|tail|created>`)
	if p.has("engine.reaper.every") {
		d.keys(p, "1/2 engine.reaper.gap: <1ms..3s>; engine.reaper.guard: <token|state|none>")
	}
	d.keys(p, `
		engine.reaper.finds: <in-flight|lease>
		1/6 engine.waiting: held`)
	switch d.below(16) {
	case 0:
		p.set("engine.lease.max", p.ttl+d.milliseconds(0, 20000))
	case 1, 2: // a node keeps alive what it never heard of
		d.keys(p, "engine.lease.of: node; engine.lease.names: <new|kept>")
		p.set("engine.lease.heartbeat", p.third())
	case 3, 4, 5:
		p.set("engine.lease.check", "local")
	case 6: // the claim is the ack
		p.set("engine.ack", "early")
		p.drop("engine.waiting")
	case 7: // the start is
		d.keys(p, "engine.ack: early; engine.waiting: held; engine.lease.heartbeat: 0s")
	}
}

// third returns a third of the lease TTL of a world, the usual interval of heartbeats.
func (p *plan) third() time.Duration { return (p.ttl / 3).Round(time.Millisecond) }

func (d *die) retry(p *plan) {
	p.attempts, p.cap = d.between(1, 12), d.milliseconds(1000, 30000)
	p.set("retry.max-attempts", p.attempts)
	if d.seldom(8) {
		p.attempts = 0
		p.set("retry.max-attempts", "unlimited")
	}
	const backoff = "{kind: exponential, first: %v, factor: %g, max: %v}"
	p.set("retry.backoff", fmt.Sprintf(backoff, d.milliseconds(1, 1000), float64(d.between(2, 8))/2, p.cap))
	d.keys(p, `
		retry.jitter: <none|full|equal|decorrelated>
		retry.from: <commit|commit|failure|claim>
		1/4 retry.grain: <1ms..2s>
		1/8 retry.deadline: <1s..60s>
		retry.never: []
		retry.free-max: 3
		1/4 retry.free: [<timeout|throttled|conflict>]`)
	if d.seldom(8) && p.keys["retry.free"] != "[conflict]" {
		p.set("retry.never", "[conflict]")
	}
}

func (d *die) store(p *plan) {
	promotes := d.seldom(2)
	promotes = promotes && d.seldom(2)
	if promotes || d.seldom(4) {
		const ticks, first = "{dist: uniform, min: 1ms, max: <100ms..2s>}", "{dist: uniform, min: 1ms, max: <100ms..1s>}"
		d.keys(p, `
			engine.promoter.every: <100ms..1s>
			1/4 engine.promoter.every: `+ticks+`; engine.promoter.first: `+first+`
			1/2 engine.promoter.gap: <1ms..2s>`)
	}
	d.keys(p, `
		engine.promoter.batch: <1..20>
		engine.promoter.order: <oldest|newest>
		engine.promoter.owner: <every|leader>
		engine.place: <due|tail|head|created>
		1/4 class.max-running: <1..8>
		1/4 engine.max-in-flight: <1..20>; engine.in-flight: <claimed|unacked>`)
	cost := "{dist: exponential, mean: <1ms..20ms>}"
	if d.seldom(4) { // calls are shorter then: a store that serves few at once must keep up
		d.keys(p, "engine.store.parallel: <2..8>")
		cost, p.poll = "{dist: exponential, mean: <1ms..4ms>}", d.milliseconds(300, 2000)
	}
	d.costs(p, cost)
	p.set("engine.store.per-job", zeroOr(d, time.Millisecond))
	if d.seldom(4) {
		row := time.Duration(d.between(1, 20)) * time.Microsecond
		cost := fmt.Sprintf("{ready: %v, waiting: %[1]v, in-flight: %[1]v, ended: %[1]v", row)
		p.set("engine.store.scan", fmt.Sprintf("{claim: %s, ahead: %v}, commit: %[1]s}, recover: %[1]s}, promote: %[1]s}}",
			cost, row))
	}
	d.keys(p, "1/2 engine.store.enqueue: {dist: uniform, min: 0s, max: <1ms..600ms>}")
}

// costs draws the one-way latency of each kind of call to the store, each from the same pattern (see text).
func (d *die) costs(p *plan, pattern string) {
	for _, call := range []string{"claim", "commit", "extend", "recover", "promote", "stats"} {
		d.keys(p, "engine.store."+call+": "+pattern)
	}
}

// policy draws the policy of a world: each kind draws as many numbers as its weight, and that with the highest number
// wins. So a new kind of policy changes only the worlds that it wins.
func (d *die) policy(p *plan) {
	winner, highest := "", -1
	for _, k := range policies.Kinds() {
		lots := d.as(k.Name)
		for range k.Drawn.Weight {
			if lot := lots.below(math.MaxInt); lot > highest {
				winner, highest = k.Name, lot
			}
		}
	}
	d.kind(p, winner)
}

func (d *die) load(p *plan) {
	p.jobs, p.gap, p.kinds, p.ranked = d.between(50, 200), 100*time.Millisecond, d.between(1, 3), d.coin()
	p.delay = zeroOr(d, d.milliseconds(100, 20000))
	d.keys(p, "class.tenants: {count: <1..7>}")
	if d.seldom(3) {
		p.gap = d.milliseconds(5, 50) // faster than they are worked off
	}
	if d.seldom(4) {
		p.serials = d.between(1, 30)
	}
	p.takes("10ms", "500ms")
	if d.seldom(4) {
		p.takes("100ms", "1500ms")
	}
	if p.has("engine.lease.of") && d.coin() { // longer than a lease that nobody prolongs
		p.takes("500ms", "12s")
	}
	p.error = d.of("error", "error", "throttled", "conflict", "timeout")
	p.fails = zeroOr(d, d.text("<1..30>%"))
	d.keys(p, "class.ignores-cancel: <true|false>")
	if p.poison = p.attempts > 0 && d.coin(); p.poison {
		d.keys(p, "class.poison: <1..10>%")
	}
	p.set("class.fails", "{rate: 0%, errors: {"+p.error+": 100%}}")
}

// compatible removes keys from a world that, with others, might keep a job from ever ending even without storms.
func (d *die) compatible(p *plan) {
	held := p.has("engine.waiting")
	forgets := p.loses && p.keys["engine.reaper.finds"] == "lease"
	if held || forgets || p.has("engine.ack") || p.has("engine.lease.of") {
		// What is in flight for ever, or while it waits, must not keep others waiting.
		p.drop("engine.max-in-flight", "engine.in-flight", "class.max-running")
		p.serials = 0
	}
	if held { // heartbeats for all that wait in a process must leave a store the time for its commits
		p.drop("engine.store.parallel")
	}
	if !p.has("engine.fetch.cooldown") {
		p.drop("engine.fetch.cooldown-from")
	}
	if !p.has("engine.lease.heartbeat") { // what waits longer than its lease lasts is lost, again and again
		p.prefetch = min(p.prefetch, p.workers*max(0, int(p.ttl/p.p99)-2))
	}
	if p.workers < p.kind.Drawn.Workers {
		d.kind(p, "fifo")
	}
	policy, _ := policies.New(p.kind.Name, nil, p.workers, nil) // its parameters make no difference here
	gap, starves := p.has("engine.promoter.gap"), policies.Guarantees(policy).Starves
	redrives := slices.ContainsFunc(p.storms, func(s string) bool { return strings.Contains(s, "redrive:") })
	if gap || starves || redrives {
		p.serials = 0
	}
	if gap || starves { // what is lost on its way counts for ever, and nobody may have to wait for such a retry
		p.drop("engine.in-flight")
	}
	if p.serials > 0 && p.serials < 8 {
		p.jobs = min(p.jobs, 100)
	}
	if p.attempts == 0 { // jobs that are tried for ever must succeed some time
		p.set("engine.timeout", zeroOr(d, 2*p.p99))
		if held { // and must not wait in a process for longer than their lease lasts, every time
			p.set("retry.backoff", fmt.Sprintf("{kind: exponential, first: 1s, max: %v}", min(p.cap, p.ttl/2)))
		}
	}
}
