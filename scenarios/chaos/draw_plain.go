package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// busyPolicies lists kinds of policies (more often: more likely) that leave no worker idle while a job is ready.
var busyPolicies = []string{"weighted", "weighted", "weighted", "fifo", "lifo", "fresh-first", "retry-first"}

// plain changes a world so that strong guarantees hold and are checked: only the workers limit the jobs in flight, and
// jobs keep arriving after the storms, sometimes faster than they are processed.
func (d *die) plain(p *plan) {
	p.unlimited()
	p.drop("engine.promoter.every", "engine.promoter.first", "engine.promoter.gap", "engine.store.parallel",
		"engine.store.scan", "engine.fetch.cooldown")
	d.kind(p, d.of(busyPolicies...))
	p.jobs = d.between(150, 300)
	p.gap = (healing + d.milliseconds(15000, 40000)) / time.Duration(p.jobs)
	if d.coin() { // calls are so quick that what follows a wake or the end of a lease comes long before a poll would
		p.poll = d.milliseconds(1000, 4000)
		p.drop("engine.fetch.on-due", "engine.reaper.gap", "engine.reaper.guard")
		d.keys(p, `
			engine.fetch.wake: <true|true|all>
			engine.reaper.every: 0s
			engine.store.per-job: 0s`)
		d.costs(p, "{dist: exponential, mean: <1ms..3ms>}")
	}
	if d.coin() { // more fails than is worked off: jobs of both classes are ready
		p.nodes, p.workers, p.fails = d.between(1, 2), d.between(1, 3), d.text("<20..40>%")
		p.takes("100ms", "1s")
	}
}

// unlimited removes the keys of a world that limit the jobs in flight, or by which one may stay in flight for ever.
func (p *plan) unlimited() {
	p.serials = 0
	p.drop("engine.ack", "engine.waiting", "engine.lease.of", "engine.lease.names", "engine.max-in-flight",
		"engine.in-flight", "class.max-running")
	p.set("engine.commit.backpressure", 0)
}

// calm removes the storms of a world that disturb calls to the store.
func (p *plan) calm() {
	p.storms = slices.DeleteFunc(p.storms, func(s string) bool {
		return strings.Contains(s, "calls: ") || strings.Contains(s, "heartbeats: ") || strings.Contains(s, "store: ")
	})
}

// deployed changes a world so that processes which hold prefetched jobs are stopped, with time to return them, or
// freeze until their leases have expired. No storm disturbs their calls otherwise.
func (d *die) deployed(p *plan) {
	p.unlimited()
	p.set("engine.fence", "token")
	p.drop("engine.lease.check", "engine.reaper.gap", "engine.reaper.guard", "engine.store.parallel", "engine.store.scan")
	p.workers, p.prefetch = d.between(1, 3), d.between(2, 8)
	p.calm()
	p.gap = d.milliseconds(5, 50) // more than is worked off
	p.takes("200ms", "1900ms")
	p.set("engine.timeout", zeroOr(d, 3*time.Second))
	briefly := min(p.prefetch, 2*p.workers) // what waits for longer than its lease may last is lost, again and again
	if d.coin() {
		for range d.between(1, 3) {
			d.storm(p, "at: <2s..8s>, stop: {nodes: [<node>], grace: <4s..15s>}")
		}
		if p.has("engine.lease.max") {
			p.prefetch = briefly
		}
		return
	}
	// Or they freeze until they have lost their leases, and the store takes commits in part.
	// When all is over there is more than they can hold.
	p.ttl = d.milliseconds(4000, 6000)
	p.set("engine.lease.heartbeat", p.third())
	p.drop("engine.lease.max")
	if d.seldom(3) {
		p.set("engine.lease.max", p.ttl+time.Second)
		p.prefetch = briefly
	}
	d.kind(p, d.of(busyPolicies[3:]...))
	p.drop("engine.fetch.cooldown")
	// What is taken must be committed before its lease ends.
	d.keys(p, `
		engine.fetch.batch: 10
		engine.commit.batch: 8
		engine.commit.linger: 5ms
		engine.commit.calls: 3`)
	d.storm(p, "at: <2s..8s>, for: <8s..12s>, pause: {nodes: [<node>]}")
	d.storm(p, "at: <0s..5s>, for: <5s..20s>, store: {partial: <1..60>%}")
	count := 2 * p.nodes * (p.workers + p.prefetch)
	d.storm(p, fmt.Sprintf("at: %v, burst: {class: a, count: %d}", healing+d.milliseconds(20000, 60000), count))
}

// stopped changes a world so that processes shut down slowly while others idle. Calls are quick: a wrong wake shows.
func (d *die) stopped(p *plan) {
	p.nodes, p.poll = max(p.nodes, 2), d.milliseconds(1000, 4000)
	p.drop("engine.fetch.on-due")
	d.keys(p, `
		engine.fetch.wake: true
		engine.store.per-job: 0s`)
	d.costs(p, "{dist: exponential, mean: 1ms}")
	p.calm()
	for range d.between(1, 4) {
		d.storm(p, "at: <1s..25s>, stop: {nodes: [<node>], grace: <3s..14s>}")
	}
}

// instant changes a world so that calls take no time and heartbeats are due when leases expire: events then coincide.
func (d *die) instant(p *plan) {
	p.unlimited()
	p.prefetch = 0
	p.drop("engine.commit.backoff", "engine.lease.check", "engine.lease.max", "engine.promoter.gap", "engine.reaper.gap",
		"engine.reaper.guard", "engine.store.parallel", "engine.store.scan")
	d.costs(p, "0s")
	p.ttl = d.milliseconds(3000, 6000)
	grace := zeroOr(d, d.milliseconds(1, 1000))
	d.keys(p, `
		engine.fence: token
		engine.reaper.every: 0s
		engine.store.per-job: 0s
		engine.timeout: 0s`)
	p.set("engine.reaper.grace", grace)
	p.set("engine.lease.heartbeat", p.ttl+grace)
	p.set("engine.fetch.error-pause", p.poll)
	d.storm(p, "at: <0s..5s>, for: 20s, hang: {rate: <1..30>%, extra: <6s..20s>}")
}
