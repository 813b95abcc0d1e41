package chaos

import (
	"fmt"
	"strings"
	"time"

	"qsim/scenarios"
)

// drawer holds the functions that draw storms of one kind.
type drawer struct {
	rarely int                     // drawn worlds to one that has a storm of the kind
	most   int                     // most storms of the kind in a world that has any
	minds  func(p *plan) bool      // reports whether such a storm can have an effect in a world; nil: always
	when   func(d *drawing) string // draws its window, or the event that it begins with; nil: keys does
	keys   func(d *drawing) string // draws the keys of its trouble; without when, the whole storm
}

// drawers holds the kinds of storms with random settings; others are drawn as their example, see drawerOf. Wrong clocks
// must make no difference where nothing reads them, so storms of clocks are drawn in every kind of world.
var drawers = map[string]drawer{
	"fail":       {2, 1, nil, lasting, func(d *drawing) string { return "rate: " + d.percent(100) + ", error: " + d.p.error }},
	"slow":       {5, 1, nil, lasting, func(d *drawing) string { return fmt.Sprintf("factor: %d", d.between(2, 20)) }},
	"kill":       {6, 1, nil, lasting, func(d *drawing) string { return "rate: " + d.percent(5) }},
	"outage":     {10, 1, nil, lasting, func(d *drawing) string { return "dependency: api, error: " + d.p.error }},
	"pause":      {2, 3, nil, lastingAt, func(d *drawing) string { return "nodes: " + d.nodes }},
	"crash":      {2, 3, nil, instantAt, func(d *drawing) string { return fmt.Sprintf("nodes: %s, restart-after: %v", d.nodes, d.back) }},
	"stop":       {4, 1, nil, instantAt, func(d *drawing) string { return fmt.Sprintf("nodes: %s, grace: %v", d.nodes, d.back) }},
	"calls":      {2, 3, nil, nil, (*drawing).calls},
	"store":      {2, 3, nil, nil, (*drawing).store},
	"clock":      {3, 1, nil, nil, (*drawing).clock},
	"reaper":     {5, 1, func(p *plan) bool { return !p.early || p.held }, lastingAt, stalls},
	"promoter":   {6, 1, func(p *plan) bool { return p.every > 0 }, lastingAt, stalls},
	"heartbeats": {8, 1, func(p *plan) bool { return p.keys["engine.lease.heartbeat"] != "0s" }, lasting, loses},
	"leases": {6, 1, func(p *plan) bool { return !p.early },
		func(d *drawing) string { d.p.loses = true; return d.when(d.p, false, 0) }, loses},
	"hang": {5, 1, nil, lasting, func(d *drawing) string {
		return fmt.Sprintf("rate: %s, extra: %v", d.percent(10), d.milliseconds(1000, 40000))
	}},
	"limit": {6, 1, nil, lasting, func(d *drawing) string {
		return fmt.Sprintf("dependency: api, factor: %g", float64(d.between(1, 5))/1000)
	}},
	"rolling": {8, 1, nil, func(d *drawing) string { return d.when(d.p, true, 8*time.Second) }, func(d *drawing) string {
		return fmt.Sprintf("every: %v, restart-after: %v", d.milliseconds(500, 2000), d.restart(3000))
	}},
	"burst": {4, 1, nil, instantIn(0, 30000), func(d *drawing) string {
		return fmt.Sprintf("class: %c, count: %d", 'a'+d.below(d.p.kinds), d.between(10, 100))
	}},
	"redrive": {5, 1, func(p *plan) bool { // somebody must die
		return p.attempts > 0 && (p.poison || p.attempts < 4 && p.fails != "")
	}, instantIn(5000, 39000), func(d *drawing) string { return fmt.Sprintf("share: %s, reset: %v", d.percent(100), d.coin()) }},
}

func stalls(*drawing) string  { return "stall: true" }
func loses(d *drawing) string { return "lose: " + d.percent(100) }

// lasting and the variables below draw windows of storms: a lasting one, one that lasts or is an instant either of
// which may begin with an event, and an instant between two times in milliseconds.
func lasting(d *drawing) string   { return d.when(d.p, true, healing) }
func lastingAt(d *drawing) string { return d.at(true) }
func instantAt(d *drawing) string { return d.at(false) }
func instantIn(least, most int) func(d *drawing) string {
	return func(d *drawing) string { return fmt.Sprintf("at: %v", d.milliseconds(least, most)) }
}

// drawerOf returns the drawer of a kind of storm: without an entry in drawers, one of the example in the kind's
// reference.
func drawerOf(kind scenarios.Kind) drawer {
	if own, ok := drawers[kind.Name]; ok {
		return own
	}
	_, example, _ := strings.Cut(kind.Example, ", "+kind.Name+": {")
	return drawer{8, 1, nil, lasting, func(*drawing) string { return strings.TrimSuffix(example, "}}") }}
}

// drawing is the state of drawing one storm.
type drawing struct {
	*die
	p     *plan
	nodes string        // nodes hit by the storm
	back  time.Duration // time until a crashed process restarts
}

// storms draws the storms of a world. All end by the time healing.
func (d *die) storms(p *plan) {
	if p.keys["engine.promoter.gap"] != "" && d.coin() {
		d.promotions(p)
	}
	if p.local && p.keys["engine.lease.heartbeat"] != "0s" && p.ttl < 9*time.Second {
		d.lapses(p)
	}
	for _, kind := range scenarios.AllKinds().Storms {
		drawer := drawerOf(kind)
		if !d.seldom(drawer.rarely) || drawer.minds != nil && !drawer.minds(p) {
			continue
		}
		for range d.between(1, drawer.most) {
			one := &drawing{die: d, p: p, nodes: fmt.Sprintf("[%d]", d.below(p.nodes))}
			if d.seldom(8) {
				one.nodes = "100%"
			}
			one.back = d.restart(10000)
			if drawer.when == nil {
				p.storms = append(p.storms, drawer.keys(one))
			} else {
				p.storms = append(p.storms, drawer.when(one)+", "+kind.Name+": {"+drawer.keys(one)+"}")
			}
		}
	}
}

// promotions draws a storm of late promotions: what a process has taken and repeats may have been made ready, claimed
// and failed by the time that the first call arrives.
func (d *die) promotions(p *plan) {
	const storm = "at: %v, for: 20s, calls: {ops: [promote], lose-reply: %s, delay: {dist: uniform, min: 0s, max: %v}}"
	p.storms = append(p.storms, fmt.Sprintf(storm, d.milliseconds(0, 5000), d.percent(50), d.milliseconds(1000, 5000)))
}

// lapses draws executions that outlast their leases while heartbeats are lost: leases end by the clocks of their holders.
func (d *die) lapses(p *plan) {
	p.set("engine.timeout", "0s")
	p.jobs, p.p99, p.class["ignores-cancel"] = min(p.jobs, 80), p.ttl+3*time.Second, "false"
	p.class["service"] = fmt.Sprintf("{dist: uniform, min: 500ms, max: %v}", p.p99)
	lost := fmt.Sprintf("at: %v, for: %v, heartbeats: {lose: 100%%}", d.milliseconds(3000, 10000), d.milliseconds(10000, 20000))
	p.storms = append(p.storms, lost)
}

// at draws a window or, for a third of the storms that an event can trigger, an event.
func (d *drawing) at(lasts bool) string {
	if !d.seldom(3) {
		return d.when(d.p, lasts, healing)
	}
	if d.coin() {
		d.nodes = "that"
	}
	return d.follows(lasts)
}

func (d *drawing) clock() string {
	off := time.Duration(d.between(-30000, 30000)) * time.Millisecond
	if d.seldom(4) && !d.p.local {
		return d.when(d.p, false, 0) + fmt.Sprintf(", clock: {nodes: %s, jump: %v}", d.nodes, off) // it stays so
	}
	return lasting(d) + fmt.Sprintf(", clock: {nodes: %s, skew: %v}", d.nodes, off)
}

// when draws the window of a storm: its start, its length if it lasts, and its repetitions.
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

// follows draws the event that triggers a storm.
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

func (d *drawing) store() string {
	switch d.below(5) {
	case 0:
		return d.at(true) + ", store: {stall: true}"
	case 1:
		return d.at(true) + fmt.Sprintf(", store: {parallel: %d}", d.between(1, 4))
	case 2:
		return lasting(d) + fmt.Sprintf(", store: {slow: %d}", d.between(2, 20))
	case 3:
		return lasting(d) + ", store: {error: " + d.percent(100) + "}"
	}
	return lasting(d) + ", store: {partial: " + d.percent(100) + "}"
}

func (d *drawing) calls() string {
	ops := d.of("claim", "commit") // which every world has
	for _, op := range []string{"extend", "recover", "promote", "lead", "stats"} {
		if d.coin() {
			ops += ", " + op
		}
	}
	text := lasting(d) + ", calls: {ops: [" + ops + "]"
	disturbed := false
	for _, key := range []string{"lose-request", "lose-reply", "duplicate", "duplicate-reply", "error"} {
		if d.coin() {
			text += ", " + key + ": " + d.percent(100)
			disturbed = true
		}
	}
	if d.coin() || !disturbed {
		text += fmt.Sprintf(", delay: {dist: uniform, min: 0s, max: %v}", d.milliseconds(1, 4000))
	}
	if d.coin() {
		text += ", nodes: " + d.nodes
	}
	return text + "}"
}
