package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/engine/keyed"
	"qsim/policies"
)

// die draws the random settings of a world (a random scenario).
type die struct {
	rand keyed.Rand
	n    uint64
}

// below returns a random number in [0, n).
func (d *die) below(n int) int {
	d.n++
	return int(d.rand.Uint64(keyed.ForChaos, d.n, 0, 0) % uint64(n))
}

func (d *die) between(least, most int) int { return least + d.below(most-least+1) }

func (d *die) coin() bool { return d.below(2) == 0 }

// seldom returns true one time in n.
func (d *die) seldom(n int) bool { return d.below(n) == 0 }

func (d *die) milliseconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Millisecond
}

// of returns one of the words, at random.
func (d *die) of(words ...string) string { return words[d.below(len(words))] }

// percent returns a random percentage, at most most.
func (d *die) percent(most int) string { return fmt.Sprintf("%d%%", d.between(1, most)) }

// zeroOr returns 0 or x, with equal probability.
func zeroOr[T any](d *die, x T) (zero T) {
	if d.coin() {
		return zero
	}
	return x
}

// healing is the time by which all storms of a drawn world have ended; latestStart is the latest begin of one.
const (
	healing     = 40 * time.Second
	latestStart = 30 * time.Second
)

// plan holds the keys and storms of a world while it is drawn, before they become its text.
type plan struct {
	seed   uint64
	keys   map[string]string // keys of the scenario with their values: engine.fetch.batch
	class  map[string]string // keys of every job class with their values
	storms []string          // each without its name

	nodes, workers, prefetch   int
	ttl, poll, cap, every, p99 time.Duration // longest lease TTL, claim pause, backoff, promotion interval and run time
	early, held, ofNode, local bool          // kinds of leases: see spec.Lease and scenarios.Engine.Ack
	fence                      string
	jobs, kinds, serials       int
	gap, delay                 time.Duration // between two jobs, of the last class
	ranked, poison, loses      bool
	fails                      string // the share of attempts that fail until all is healed; empty: none
	error                      string
	attempts                   int // highest number of attempts; 0: no limit
	policy                     string
}

func (p *plan) set(path string, value any) { p.keys[path] = fmt.Sprint(value) }

func (p *plan) drop(paths ...string) {
	for _, path := range paths {
		delete(p.keys, path)
	}
}

// Draw returns the random world of a seed.
func Draw(seed uint64) *World {
	d := &die{rand: keyed.Rand{Seed: seed}}
	p := &plan{seed: seed, keys: map[string]string{}, class: map[string]string{}}
	d.engine(p)
	d.leases(p)
	d.retry(p)
	d.store(p)
	d.policy(p)
	d.load(p)
	plain := d.seldom(8)
	if plain {
		d.plain(p)
	}
	d.storms(p)
	switch {
	case d.seldom(8):
		d.deployed(p)
	case plain && d.seldom(3):
		d.stopped(p)
	case d.seldom(16):
		d.instant(p)
	}
	d.compatible(p)
	if d.seldom(4) && p.keys["engine.commit.linger"] != "0s" { // the last draw: those before it stay as they were
		p.set("engine.commit.eager", true)
	}
	text := p.text()
	w, err := Parse("world", text)
	if err != nil {
		panic(fmt.Sprintf("chaos: seed %d: %v\n%s", seed, err, text))
	}
	return w
}

func (d *die) engine(p *plan) {
	p.nodes, p.workers, p.prefetch, p.poll = d.between(1, 4), d.between(1, 8), zeroOr(d, d.between(1, 4)), d.milliseconds(50, 2000)
	if d.seldom(4) {
		p.set("engine.fetch.poll", "drawn")
	}
	p.set("engine.call-timeout", d.milliseconds(200, 1000))
	p.set("engine.fetch.batch", d.between(1, 10))
	if d.seldom(3) {
		p.set("engine.fetch.batch", 1)
	}
	p.set("engine.fetch.cooldown", zeroOr(d, d.milliseconds(1, 50)))
	p.set("engine.fetch.cooldown-from", d.of("claim", "signal"))
	p.set("engine.fetch.wake", d.of("true", "all", "false"))
	p.set("engine.fetch.error-pause", p.poll)
	if d.seldom(4) {
		p.set("engine.fetch.error-pause", zeroOr(d, d.milliseconds(1, 5000)))
	}
	p.set("engine.commit.batch", d.between(1, 8))
	p.set("engine.commit.linger", zeroOr(d, d.milliseconds(1, 10)))
	p.set("engine.commit.calls", d.between(1, 3))
	p.set("engine.commit.timeout", d.milliseconds(200, 2000))
	p.set("engine.commit.tries", zeroOr(d, d.between(1, 3)))
	p.set("engine.commit.give-up", d.of("requeue", "drop"))
	p.set("engine.commit.backpressure", zeroOr(d, d.between(1, 1+d.below(8))))
	if d.coin() {
		p.set("engine.commit.backoff", fmt.Sprintf("[%v, %v]", d.milliseconds(0, 50), d.milliseconds(50, 500)))
	}
	p.set("engine.leader.ttl", "3s")
	p.set("engine.leader.renew", "1s")
	p.set("engine.timeout", zeroOr(d, d.milliseconds(300, 3000)))
	p.set("engine.restart", d.restart(5000))
	p.set("engine.phase", d.of("together", "drawn"))
	p.set("engine.on-timeout", d.of("fail", "fail", "free", "wait"))
	p.set("engine.fetch.on-due", d.of("wake", "wake", "poll"))
}

// restart draws how long a process is down: for one of three so short that answers to it are still on their way.
func (d *die) restart(most int) time.Duration {
	if d.seldom(3) {
		return d.milliseconds(1, 30)
	}
	return d.milliseconds(100, most)
}

// leases draws the settings for leases and the reaper.
func (d *die) leases(p *plan) {
	// A reaper may take all jobs at once, and must be able to commit what becomes of
	// them before its own leases expire: else it takes them again and again. A commit
	// takes 40 ms and more, and without linger it carries one outcome.
	p.ttl = 15*time.Second/time.Duration(p.number("engine.commit.calls")*p.batch()) + d.milliseconds(3000, 20000)
	beat := (p.ttl / 3).Round(time.Millisecond)
	if d.seldom(4) { // one may be due while the answer to the one before is under way
		beat = d.milliseconds(100, 1000)
	}
	p.set("engine.lease.heartbeat", zeroOr(d, beat))
	p.set("engine.lease.late-claim", d.of("return", "run", "ignore"))
	p.fence = d.of("token", "token", "token", "token", "state", "none") // by token is what most invariants are about
	p.set("engine.reaper.every", zeroOr(d, d.milliseconds(500, 3000)))
	p.set("engine.reaper.batch", d.between(1, 20))
	p.set("engine.reaper.grace", zeroOr(d, d.milliseconds(1, 1000)))
	p.set("engine.reaper.on-start", d.coin())
	p.set("engine.reaper.counts", d.of("failure", "failure", "failure", "nothing"))
	p.set("engine.reaper.owner", d.of("every", "leader"))
	if d.seldom(3) {
		p.set("engine.reaper.max", d.between(0, 3))
		p.set("engine.reaper.within", zeroOr(d, d.milliseconds(1000, 20000)))
	}
	p.set("engine.reaper.after", d.of("retry", "retry", "retry", "ready", "dead"))
	p.set("engine.reaper.place", d.of("retry", "head", "due", "tail", "created"))
	if p.keys["engine.reaper.every"] != "0s" && d.seldom(4) {
		p.set("engine.reaper.gap", d.milliseconds(1, 3000))
		p.set("engine.reaper.guard", d.of("token", "state", "none"))
	}
	p.set("engine.reaper.finds", d.of("in-flight", "lease"))
	p.held = d.seldom(6)
	switch d.below(16) {
	case 0:
		p.set("engine.lease.max", p.ttl+d.milliseconds(0, 20000))
	case 1, 2: // a node keeps alive what it never heard of
		p.ofNode = true
		p.set("engine.lease.names", d.of("new", "kept"))
		p.set("engine.lease.heartbeat", (p.ttl / 3).Round(time.Millisecond))
	case 3, 4, 5:
		p.local = true
	case 6: // the claim is the ack
		p.early, p.held = true, false
	case 7: // the start is
		p.early, p.held = true, true
		p.set("engine.lease.heartbeat", "0s")
	}
}

// batch returns the commit batch size of the drawn world.
func (p *plan) batch() int {
	if p.keys["engine.commit.linger"] == "0s" {
		return 1
	}
	return p.number("engine.commit.batch")
}

// number returns the value of a key as a number.
func (p *plan) number(path string) (n int) {
	fmt.Sscan(p.keys[path], &n) // which was drawn as one
	return n
}

func (d *die) retry(p *plan) {
	p.attempts, p.cap = d.between(1, 12), d.milliseconds(1000, 30000)
	if d.seldom(8) {
		p.attempts = 0
	}
	p.set("retry.backoff", fmt.Sprintf("{kind: exponential, first: %v, factor: %g, max: %v}", d.milliseconds(1, 1000), float64(d.between(2, 8))/2, p.cap))
	p.set("retry.jitter", d.of("none", "full", "equal", "decorrelated"))
	p.set("retry.from", d.of("commit", "commit", "failure", "claim"))
	if d.seldom(4) {
		p.set("retry.grain", d.milliseconds(1, 2000))
	}
	p.set("retry.never", "[]")
	p.set("retry.free-max", 3)
	if d.seldom(4) {
		p.set("retry.free", "["+d.of("timeout", "throttled", "conflict")+"]")
	}
	if d.seldom(8) && p.keys["retry.free"] != "[conflict]" {
		p.set("retry.never", "[conflict]")
	}
}

func (d *die) store(p *plan) {
	promotes := d.seldom(2)
	promotes = promotes && d.seldom(2)
	if promotes || d.seldom(4) {
		p.every = d.milliseconds(100, 1000)
		p.set("engine.promoter.every", p.every)
		if d.seldom(4) {
			p.set("engine.promoter.every", fmt.Sprintf("{dist: uniform, min: 1ms, max: %v}", d.milliseconds(100, 2000)))
			p.set("engine.promoter.first", fmt.Sprintf("{dist: uniform, min: 1ms, max: %v}", d.milliseconds(100, 1000)))
		}
		if d.seldom(3) {
			p.set("engine.promoter.gap", d.milliseconds(1, 2000))
		}
	}
	p.set("engine.promoter.batch", d.between(1, 20))
	p.set("engine.promoter.order", d.of("oldest", "newest"))
	p.set("engine.promoter.owner", d.of("every", "leader"))
	p.set("engine.place", d.of("due", "tail", "head", "created"))
	if d.seldom(4) {
		p.class["max-running"] = fmt.Sprint(d.between(1, 8))
	}
	if d.seldom(4) {
		p.set("engine.max-in-flight", d.between(1, 20))
		p.set("engine.in-flight", d.of("claimed", "unacked"))
	}
	most := 20
	if d.seldom(4) { // calls are shorter then: a store that serves few at once must keep up
		p.set("engine.store.parallel", d.between(2, 8))
		most, p.poll = 4, d.milliseconds(300, 2000)
	}
	for _, call := range storeCalls {
		p.set("engine.store."+call, fmt.Sprintf("{dist: exponential, mean: %v}", d.milliseconds(1, most)))
	}
	p.set("engine.store.per-job", zeroOr(d, time.Millisecond))
	if d.seldom(4) {
		row := time.Duration(d.between(1, 20)) * time.Microsecond
		cost := fmt.Sprintf("{ready: %v, waiting: %[1]v, in-flight: %[1]v, ended: %[1]v", row)
		p.set("engine.store.scan", fmt.Sprintf("{claim: %s, ahead: %v}, commit: %[1]s}, recover: %[1]s}, promote: %[1]s}}", cost, row))
	}
	if d.coin() {
		p.set("engine.store.enqueue", fmt.Sprintf("{dist: uniform, min: 0s, max: %v}", d.milliseconds(1, 600)))
	}
}

func (d *die) policy(p *plan) {
	var names []string // each as often as its weight
	for _, k := range policies.Kinds() {
		names = append(names, slices.Repeat([]string{k.Name}, k.Drawn.Weight)...)
	}
	d.kind(p, names[d.below(len(names))])
}

// kind draws a policy and its parameters; fifo replaces one that needs more workers.
func (d *die) kind(p *plan, name string) {
	k, err := policies.Find(name)
	if err != nil {
		panic("chaos: " + err.Error())
	}
	if p.workers < k.Drawn.Workers {
		name = "fifo"
	}
	if p.policy = "{kind: " + name; k.Drawn.Param != "" && name == k.Name {
		p.policy += ", " + k.Drawn.Param + ": " + k.Drawn.Values[d.below(len(k.Drawn.Values))]
	}
	p.policy += "}"
}

func (d *die) load(p *plan) {
	p.jobs, p.gap, p.kinds, p.ranked, p.delay = d.between(50, 200), 100*time.Millisecond, d.between(1, 3), d.coin(), zeroOr(d, d.milliseconds(100, 20000))
	p.class["tenants"] = fmt.Sprintf("{count: %d}", d.between(1, 7))
	if d.seldom(3) {
		p.gap = d.milliseconds(5, 50) // faster than they are worked off
	}
	if d.seldom(4) {
		p.serials = d.between(1, 30)
	}
	p.class["service"], p.p99 = "{dist: uniform, min: 10ms, max: 500ms}", 500*time.Millisecond
	if d.seldom(4) {
		p.class["service"], p.p99 = "{dist: uniform, min: 100ms, max: 1500ms}", 1500*time.Millisecond
	}
	if p.ofNode && d.coin() { // longer than a lease that nobody prolongs
		p.class["service"], p.p99 = "{dist: uniform, min: 500ms, max: 12s}", 12*time.Second
	}
	p.error = d.of("error", "error", "throttled", "conflict")
	p.fails = zeroOr(d, d.percent(30))
	p.class["ignores-cancel"] = fmt.Sprint(d.coin())
	if p.poison = p.attempts > 0 && d.coin(); p.poison {
		p.class["poison"] = d.percent(10)
	}
	p.class["fails"] = "{rate: 0%, errors: {" + p.error + ": 100%}}"
}

// compatible removes combinations of keys under which jobs may never end even without storms.
func (d *die) compatible(p *plan) {
	redrives := slices.ContainsFunc(p.storms, func(s string) bool { return strings.Contains(s, "redrive:") })
	if p.early || p.held || p.ofNode || p.loses && p.keys["engine.reaper.finds"] == "lease" {
		// What is in flight for ever, or while it waits, must not keep others waiting.
		p.drop("engine.max-in-flight", "engine.in-flight")
		delete(p.class, "max-running")
		p.serials = 0
	}
	if p.keys["engine.fetch.cooldown"] == "0s" || p.keys["engine.fetch.cooldown"] == "" {
		p.drop("engine.fetch.cooldown-from")
	}
	if p.keys["engine.lease.heartbeat"] == "0s" { // what waits longer than its lease lasts is lost, again and again
		p.prefetch = min(p.prefetch, p.workers*max(0, int(p.ttl/p.p99)-2))
	}
	if p.keys["engine.promoter.gap"] != "" || redrives {
		p.serials = 0
	}
	if p.keys["engine.promoter.gap"] != "" { // what is lost on its way counts for ever
		p.drop("engine.in-flight")
	}
	if strings.Contains(p.policy, "token-bucket") { // nobody may have to wait for a retry that waits for ever
		p.drop("engine.in-flight")
		p.serials = 0
	}
	if p.serials > 0 && p.serials < 8 {
		p.jobs = min(p.jobs, 100)
	}
	if p.attempts == 0 { // jobs that are tried for ever must succeed some time
		p.set("engine.timeout", zeroOr(d, 2*p.p99))
		if p.held { // and must not wait in a process for longer than their lease lasts, every time
			p.set("retry.backoff", fmt.Sprintf("{kind: exponential, first: 1s, max: %v}", min(p.cap, p.ttl/2)))
		}
	}
}
