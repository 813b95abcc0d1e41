package chaos

import (
	"fmt"
	"time"

	"qsim/scenarios"
)

// rarely is, for each kind of storm, how many drawn worlds there are to one that has a storm of a kind.
var rarely = map[string]int{"crash": 2, "stop": 4, "pause": 2, "clock": 3, "store": 2, "reaper": 5, "promoter": 6, "leases": 6, "redrive": 5, "calls": 2, "heartbeats": 8,
	"fail": 2, "slow": 5, "hang": 5, "limit": 6, "outage": 10, "kill": 6, "burst": 4, "rolling": 8}

// storms draws the troubles of p. All are over when it is healed.
func (d *die) storms(p *plan) {
	for _, kind := range scenarios.Troubles() {
		if n := rarely[kind]; n == 0 || !d.seldom(n) || !p.minds(kind) {
			continue
		}
		most := 1
		if kind == "calls" || kind == "crash" || kind == "pause" || kind == "store" {
			most = 3
		}
		for range d.between(1, most) {
			p.storms = append(p.storms, d.storm(p, kind))
		}
	}
}

// minds reports whether a storm of that kind can make a difference. Clocks that are off
// must make none where nothing goes by them, so they are always among them.
func (p *plan) minds(kind string) bool {
	switch kind {
	case "reaper":
		return !p.early || p.held
	case "promoter":
		return p.every > 0
	case "redrive": // somebody must die
		return p.attempts > 0 && (p.poison || p.attempts < 4 && p.fails != "")
	case "leases":
		return !p.early
	case "heartbeats":
		return p.keys["engine.lease.heartbeat"] != "0s"
	}
	return true
}

// when draws the window of a storm: a time, how long it lasts if it lasts, and how often it comes.
func (d *die) when(p *plan, lasts bool, most time.Duration) string {
	// While jobs come, and a while longer: later there may be nothing left to befall.
	comes := time.Duration(p.jobs)*p.gap + 2*time.Second
	at := d.milliseconds(0, int(min(latestStart, comes)/time.Millisecond))
	text := fmt.Sprintf("at: %v", at)
	if d.seldom(3) {
		if lasts {
			text += fmt.Sprintf(", for: %v", d.milliseconds(1, 1000))
		}
		return text + fmt.Sprintf(", repeat: {every: %v, times: %d}", d.milliseconds(1001, 2000), d.between(2, 5))
	}
	if !lasts {
		return text
	}
	longest := 10000
	if d.seldom(4) {
		longest = 40000 // longer than any lease
	}
	return text + fmt.Sprintf(", for: %v", min(d.milliseconds(100, longest), healing-at, most))
}

// follows draws the event that a storm begins with.
func (d *die) follows(lasts bool) string {
	event := d.of("leased", "started", "finished", "called", "lease-taken", "extended", "acked", "nacked", "call-timed-out")
	text := fmt.Sprintf("on: %s, nth: %d, before: %v", event, d.between(1, 40), healing-11*time.Second)
	if event == "called" {
		text += ", op: " + d.of("claim", "commit", "extend", "recover", "promote")
	}
	text += fmt.Sprintf(", at: %v", zeroOr(d, d.milliseconds(1, 500)))
	if lasts {
		text += fmt.Sprintf(", for: %v", d.milliseconds(1, 10000))
	}
	return text
}

// storm draws a storm of a kind.
func (d *die) storm(p *plan, kind string) string {
	one := fmt.Sprintf("[%d]", d.below(p.nodes))
	if d.seldom(8) {
		one = "100%"
	}
	// A third of those that can follow an event do.
	at := func(lasts bool) string {
		if !d.seldom(3) {
			return d.when(p, lasts, healing)
		}
		if d.coin() {
			one = "that"
		}
		return d.follows(lasts)
	}
	back := d.milliseconds(100, 10000)
	switch kind {
	case "crash":
		return at(false) + fmt.Sprintf(", crash: {nodes: %s, restart-after: %v}", one, back)
	case "stop":
		return at(false) + fmt.Sprintf(", stop: {nodes: %s, grace: %v}", one, back)
	case "rolling":
		return d.when(p, true, 8*time.Second) + fmt.Sprintf(", rolling: {every: %v, restart-after: %v}", d.milliseconds(500, 2000), d.milliseconds(1, 3000))
	case "pause":
		return at(true) + ", pause: {nodes: " + one + "}"
	case "clock":
		off := time.Duration(d.between(-30000, 30000)) * time.Millisecond
		if d.seldom(4) && !p.local {
			return d.when(p, false, 0) + fmt.Sprintf(", clock: {nodes: %s, jump: %v}", one, off) // it stays so
		}
		return d.when(p, true, healing) + fmt.Sprintf(", clock: {nodes: %s, skew: %v}", one, off)
	case "store":
		return d.ofStore(p, at)
	case "reaper", "promoter":
		return at(true) + ", " + kind + ": {stall: true}"
	case "leases":
		p.loses = true
		return d.when(p, false, 0) + ", leases: {lose: " + d.percent(100) + "}"
	case "redrive":
		return fmt.Sprintf("at: %v, redrive: {share: %s, reset: %v}", d.milliseconds(5000, 39000), d.percent(100), d.coin())
	case "heartbeats":
		return d.when(p, true, healing) + ", heartbeats: {lose: " + d.percent(100) + "}"
	case "calls":
		return d.ofCalls(p, one)
	case "fail":
		return d.when(p, true, healing) + ", fail: {rate: " + d.percent(100) + ", error: " + p.error + "}"
	case "slow":
		return d.when(p, true, healing) + fmt.Sprintf(", slow: {factor: %d}", d.between(2, 20))
	case "hang":
		return d.when(p, true, healing) + fmt.Sprintf(", hang: {rate: %s, extra: %v}", d.percent(10), d.milliseconds(1000, 40000))
	case "kill":
		return d.when(p, true, healing) + ", kill: {rate: " + d.percent(5) + "}"
	case "limit":
		return d.when(p, true, healing) + fmt.Sprintf(", limit: {dependency: api, factor: %g}", float64(d.between(1, 5))/1000)
	case "outage":
		return d.when(p, true, healing) + ", outage: {dependency: api, error: " + p.error + "}"
	case "burst":
		return fmt.Sprintf("at: %v, burst: {class: %c, count: %d}", d.milliseconds(0, 30000), 'a'+d.below(p.kinds), d.between(10, 100))
	}
	panic("chaos: nobody draws a storm of kind " + kind)
}

// ofStore draws a storm at the store.
func (d *die) ofStore(p *plan, at func(lasts bool) string) string {
	switch d.below(5) {
	case 0:
		return at(true) + ", store: {stall: true}"
	case 1:
		return at(true) + fmt.Sprintf(", store: {parallel: %d}", d.between(1, 4))
	case 2:
		if p.slowed { // two of them would multiply
			break
		}
		p.slowed = true
		return d.when(p, true, healing) + fmt.Sprintf(", store: {slow: %d}", d.between(2, 20))
	case 3:
		return d.when(p, true, healing) + ", store: {error: " + d.percent(100) + "}"
	}
	return d.when(p, true, healing) + ", store: {partial: " + d.percent(100) + "}"
}

// ofCalls draws a storm between nodes and store.
func (d *die) ofCalls(p *plan, one string) string {
	ops := d.of("claim", "commit") // which every world has
	for _, op := range []string{"extend", "recover", "promote", "lead", "stats"} {
		if d.coin() {
			ops += ", " + op
		}
	}
	text := d.when(p, true, healing) + ", calls: {ops: [" + ops + "]"
	disturbed := false
	for _, key := range []string{"lose-request", "lose-reply", "duplicate", "error"} {
		if d.coin() {
			text += ", " + key + ": " + d.percent(100)
			disturbed = true
		}
	}
	if d.coin() || !disturbed {
		text += fmt.Sprintf(", delay: {dist: uniform, min: 0s, max: %v}", d.milliseconds(1, 4000))
	}
	if d.coin() {
		text += ", nodes: " + one
	}
	return text + "}"
}
