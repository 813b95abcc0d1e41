package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// busyPolicies lists policies that leave no worker idle while a job is ready.
var busyPolicies = []string{"weighted", "weighted", "weighted", "fifo", "lifo", "fresh-first", "retry-first"}

// plain draws a world with strong guarantees: only its workers limit the jobs in flight, and jobs keep arriving after
// the storms, sometimes faster than they are processed.
func (d *die) plain(p *plan) {
	p.unlimited()
	p.drop("engine.promoter.every", "engine.promoter.first", "engine.promoter.gap", "engine.store.parallel", "engine.store.scan", "engine.fetch.cooldown")
	p.every = 0
	d.kind(p, busyPolicies[d.below(len(busyPolicies))])
	p.jobs = d.between(150, 300)
	p.gap = (healing + d.milliseconds(15000, 40000)) / time.Duration(p.jobs)
	if d.coin() { // calls are so quick that what follows a wake or the end of a lease comes long before a poll would
		p.poll = d.milliseconds(1000, 4000)
		p.drop("engine.fetch.on-due")
		p.set("engine.fetch.wake", d.of("true", "true", "all"))
		p.set("engine.reaper.every", "0s")
		p.drop("engine.reaper.gap", "engine.reaper.guard")
		p.set("engine.store.per-job", "0s")
		for _, call := range storeCalls {
			p.set("engine.store."+call, fmt.Sprintf("{dist: exponential, mean: %v}", d.milliseconds(1, 3)))
		}
	}
	if d.coin() { // more fails than is worked off: jobs of both classes are ready
		p.nodes, p.workers, p.fails = d.between(1, 2), d.between(1, 3), fmt.Sprintf("%d%%", d.between(20, 40))
		p.class["service"], p.p99 = "{dist: uniform, min: 100ms, max: 1s}", time.Second
	}
}

// unlimited removes the keys that limit jobs in flight, or keep them in flight for ever.
func (p *plan) unlimited() {
	p.early, p.held, p.ofNode, p.serials = false, false, false, 0
	p.drop("engine.max-in-flight", "engine.in-flight", "engine.lease.names")
	delete(p.class, "max-running")
	p.set("engine.commit.backpressure", 0)
}

// deployed draws a world of deployments: processes are stopped while they hold prefetched jobs, with enough time to
// return them. No call is held up there.
func (d *die) deployed(p *plan) {
	p.unlimited()
	p.fence, p.local = "token", false
	p.drop("engine.reaper.gap", "engine.reaper.guard", "engine.store.parallel", "engine.store.scan")
	p.workers, p.prefetch = d.between(1, 3), d.between(2, 8)
	p.storms = slices.DeleteFunc(p.storms, func(s string) bool {
		return strings.Contains(s, "calls: ") || strings.Contains(s, "heartbeats: ") || strings.Contains(s, "store: ")
	})
	if strings.Contains(p.policy, "separate") {
		p.policy = "{kind: fifo}"
	}
	p.gap = d.milliseconds(5, 50) // more than is worked off
	p.class["service"], p.p99 = "{dist: uniform, min: 200ms, max: 1900ms}", 1900*time.Millisecond
	p.set("engine.timeout", zeroOr(d, 3*time.Second))
	if d.coin() {
		for range d.between(1, 3) {
			p.storms = append(p.storms, fmt.Sprintf("at: %v, stop: {nodes: [%d], grace: %v}", d.milliseconds(2000, 8000), d.below(p.nodes), d.milliseconds(4000, 15000)))
		}
		return
	}
	// Or they freeze until they have lost their leases, and the store takes commits in part.
	// When all is over there is more than they can hold.
	p.ttl = d.milliseconds(4000, 6000)
	p.set("engine.lease.heartbeat", (p.ttl / 3).Round(time.Millisecond))
	p.drop("engine.lease.max")
	if d.seldom(3) {
		p.set("engine.lease.max", p.ttl+time.Second)
		p.prefetch = min(p.prefetch, 2*p.workers) // what waits longer is lost, again and again
	}
	p.policy = "{kind: " + d.of(busyPolicies[3:]...) + "}"
	p.set("engine.fetch.batch", 10)
	p.drop("engine.fetch.cooldown")
	p.set("engine.commit.batch", 8) // what is taken must be committed before its lease ends
	p.set("engine.commit.linger", "5ms")
	p.set("engine.commit.calls", 3)
	p.storms = append(p.storms, fmt.Sprintf("at: %v, for: %v, pause: {nodes: [%d]}", d.milliseconds(2000, 8000), d.milliseconds(8000, 12000), d.below(p.nodes)),
		fmt.Sprintf("at: %v, for: %v, store: {partial: %s}", d.milliseconds(0, 5000), d.milliseconds(5000, 20000), d.percent(60)),
		fmt.Sprintf("at: %v, burst: {class: a, count: %d}", healing+d.milliseconds(20000, 60000), 2*p.nodes*(p.workers+p.prefetch)))
}

// stopped makes of a plain world one in which processes are told to stop and take their time, while others are idle and
// calls are so quick that who is woken shows.
func (d *die) stopped(p *plan) {
	p.nodes, p.poll = max(p.nodes, 2), d.milliseconds(1000, 4000)
	p.drop("engine.fetch.on-due")
	p.set("engine.fetch.wake", "true")
	p.set("engine.store.per-job", "0s")
	p.quick("{dist: exponential, mean: 1ms}")
	p.storms = slices.DeleteFunc(p.storms, func(s string) bool {
		return strings.Contains(s, "calls: ") || strings.Contains(s, "heartbeats: ") || strings.Contains(s, "store: ")
	})
	for range d.between(1, 4) {
		p.storms = append(p.storms, fmt.Sprintf("at: %v, stop: {nodes: [%d], grace: %v}",
			d.milliseconds(1000, 25000), d.below(p.nodes), d.milliseconds(3000, 14000)))
	}
}

// instant draws a world whose calls take no time and whose heartbeats are due when leases lapse: things coincide that
// never do elsewhere.
func (d *die) instant(p *plan) {
	p.unlimited()
	p.fence, p.local, p.prefetch = "token", false, 0
	p.drop("engine.promoter.gap", "engine.reaper.gap", "engine.reaper.guard", "engine.store.parallel", "engine.store.scan",
		"engine.lease.max")
	p.set("engine.reaper.every", "0s")
	p.set("engine.store.per-job", "0s")
	p.quick("0s")
	p.ttl = d.milliseconds(3000, 6000)
	grace := zeroOr(d, d.milliseconds(1, 1000))
	p.set("engine.reaper.grace", grace)
	p.set("engine.lease.heartbeat", p.ttl+grace)
	p.set("engine.timeout", "0s")
	p.set("engine.fetch.error-pause", p.poll)
	p.storms = append(p.storms, fmt.Sprintf("at: %v, for: 20s, hang: {rate: %s, extra: %v}",
		d.milliseconds(0, 5000), d.percent(30), d.milliseconds(6000, 20000)))
}

// storeCalls are the keys of engine.store that are calls.
var storeCalls = []string{"claim", "commit", "extend", "recover", "promote", "stats"}

// quick sets the time that every call takes each way.
func (p *plan) quick(takes string) {
	for _, call := range storeCalls {
		p.set("engine.store."+call, takes)
	}
}
