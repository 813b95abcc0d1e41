package chaos

import (
	"fmt"
	"strings"
	"time"

	"qsim/scenarios"
)

// drawer is how storms of one kind are drawn for worlds: how often, how many, and from which pattern.
type drawer struct {
	rarely  int                // drawn worlds to one that has a storm of the kind
	most    int                // most storms of the kind in a world that has any
	pattern string             // pattern of a storm, with words of a drawing
	minds   func(p *plan) bool // reports whether such a storm can have an effect in a world; nil: always
}

// drawers maps kinds of storms to how they are drawn; a kind without an entry is drawn as its documented example.
// Storms of clocks come in all worlds: a wrong clock must make no difference where nothing reads it.
var drawers = map[string]drawer{
	"fail":       {2, 1, "<window>, fail: {rate: <1..100>%, error: <error>}", nil},
	"slow":       {5, 1, "<window>, slow: {factor: <2..20>}", nil},
	"hang":       {5, 1, "<window>, hang: {rate: <1..10>%, extra: <1s..40s>}", nil},
	"kill":       {6, 1, "<window>, kill: {rate: <1..5>%}", nil},
	"outage":     {10, 1, "<window>, outage: {dependency: api, error: <error>}", nil},
	"limit":      {6, 1, "<window>, limit: {dependency: api, factor: 0.00<1..5>}", nil},
	"burst":      {4, 1, "at: <0s..30s>, burst: {class: <class>, count: <10..100>}", nil},
	"pause":      {2, 3, "<window or event>, pause: {nodes: <nodes>}", nil},
	"crash":      {2, 3, "<start or event>, crash: {nodes: <nodes>, restart-after: <back>}", nil},
	"stop":       {4, 1, "<start or event>, stop: {nodes: <nodes>, grace: <back>}", nil},
	"rolling":    {8, 1, "<short window>, rolling: {every: <500ms..2s>, restart-after: <restart>}", nil},
	"calls":      {2, 3, "<calls>", nil},
	"store":      {2, 3, "<store>", nil},
	"clock":      {3, 1, "<clock>", nil},
	"reaper":     {5, 1, "<window or event>, reaper: {stall: true}", (*plan).expires},
	"promoter":   {6, 1, "<window or event>, promoter: {stall: true}", (*plan).promotes},
	"heartbeats": {8, 1, "<window>, heartbeats: {lose: <1..100>%}", (*plan).beats},
	"leases":     {6, 1, "<start>, leases: {lose: <1..100>%}", (*plan).leases},
	"redrive":    {5, 1, "at: <5s..39s>, redrive: {share: <1..100>%, reset: <true|false>}", (*plan).buries},
}

// leases and the functions below report whether a world has what a kind of storm acts on: leases of running jobs, any
// leases, heartbeats, promotions, or jobs that are probably buried.
func (p *plan) leases() bool   { return !p.has("engine.ack") }
func (p *plan) expires() bool  { return p.leases() || p.has("engine.waiting") }
func (p *plan) beats() bool    { return p.has("engine.lease.heartbeat") }
func (p *plan) promotes() bool { return p.has("engine.promoter.every") }
func (p *plan) buries() bool   { return p.attempts > 0 && (p.poison || p.attempts < 4 && p.fails != "") }

// drawerOf returns the entry of a kind of storm in drawers or, without one, a drawer of its documented example.
func drawerOf(kind scenarios.Kind) drawer {
	if own, ok := drawers[kind.Name]; ok {
		return own
	}
	_, example, _ := strings.Cut(strings.TrimSuffix(kind.Example, "}"), ", "+kind.Name+": ")
	return drawer{8, 1, "<window>, " + kind.Name + ": " + example, nil}
}

// drawing is the context in which one storm of a world is drawn, for the functions in words.
type drawing struct {
	*die
	p     *plan
	nodes string        // nodes hit by the storm
	back  time.Duration // time until a crashed process restarts
}

// storms adds storms of drawn kinds to a world's plan, all of which end by healing. Each kind has draws of its own.
func (d *die) storms(p *plan) {
	if p.has("engine.promoter.gap") && d.coin() {
		// Promotions come late: what a process has taken and repeats may have been made ready, claimed and failed by
		// the time that the first call arrives.
		d.storm(p, "at: <0s..5s>, for: 20s, calls: {ops: [promote], lose-reply: <1..50>%, "+
			"delay: {dist: uniform, min: 0s, max: <1s..5s>}}")
	}
	if p.has("engine.lease.check") && p.beats() && p.ttl < 9*time.Second {
		d.lapses(p)
	}
	for _, kind := range scenarios.AllKinds().Storms {
		drawer, d := drawerOf(kind), d.as(kind.Name)
		if !d.seldom(drawer.rarely) || drawer.minds != nil && !drawer.minds(p) {
			continue
		}
		for range d.between(1, drawer.most) {
			one := &drawing{die: d, p: p, nodes: fmt.Sprintf("[%d]", d.below(p.nodes))}
			if d.seldom(8) {
				one.nodes = "100%"
			}
			one.back = d.restart(10000)
			word := func(name string) string { return words[name](one) }
			p.storms = append(p.storms, d.text(drawer.pattern, word))
		}
		p.loses = p.loses || kind.Name == "leases"
	}
}

// lapses changes a world in which processes end leases by their own clocks: some jobs lose theirs, without heartbeats.
func (d *die) lapses(p *plan) {
	p.set("engine.timeout", "0s")
	p.set("class.ignores-cancel", false)
	p.jobs = min(p.jobs, 80)
	p.takes("500ms", (p.ttl + 3*time.Second).String())
	d.storm(p, "at: <3s..10s>, for: <10s..20s>, heartbeats: {lose: 100%}")
}

// words maps each word that stands in < > in a storm's pattern to the function that draws the text to put there.
var words = map[string]func(d *drawing) string{
	"window":          func(d *drawing) string { return d.when(true, healing) },
	"short window":    func(d *drawing) string { return d.when(true, 8*time.Second) },
	"start":           func(d *drawing) string { return d.when(false, 0) },
	"window or event": func(d *drawing) string { return d.at(true) },
	"start or event":  func(d *drawing) string { return d.at(false) },
	"nodes":           func(d *drawing) string { return d.nodes },
	"back":            func(d *drawing) string { return d.back.String() },
	"restart":         func(d *drawing) string { return d.restart(3000).String() },
	"error":           func(d *drawing) string { return d.p.error },
	"class":           func(d *drawing) string { return string(rune('a' + d.below(d.p.kinds))) },
	"calls":           (*drawing).calls,
	"clock":           (*drawing).clock,
	"store": func(d *drawing) string {
		return d.of("<window or event>, store: {stall: true}", "<window or event>, store: {parallel: <1..4>}",
			"<window>, store: {slow: <2..20>}", "<window>, store: {error: <1..100>%}",
			"<window>, store: {partial: <1..100>%}")
	},
}

// at returns the scenario keys for the begin of a storm: a time or, one in three, an event; and a length if it lasts.
func (d *drawing) at(lasts bool) string {
	if !d.seldom(3) {
		return d.when(lasts, healing)
	}
	if d.coin() {
		d.nodes = "that"
	}
	event := d.of("leased", "started", "finished", "called", "lease-taken", "extended", "acked", "nacked",
		"call-timed-out")
	text := fmt.Sprintf("on: %s, nth: <1..40>, before: %v", event, healing-11*time.Second)
	if event == "called" {
		text += ", op: <claim|commit|extend|recover|promote>"
	}
	text += ", at: <0?1ms..500ms>"
	if lasts {
		text += ", for: <1ms..10s>"
	}
	return text
}

// when returns the scenario keys for a storm's window: start, repetitions and, if it lasts, a length up to most.
func (d *drawing) when(lasts bool, most time.Duration) string {
	// While jobs come, and a while longer: later there may be nothing left to befall.
	comes := time.Duration(d.p.jobs)*d.p.gap + 2*time.Second
	at := d.milliseconds(0, int(min(latestStart, comes)/time.Millisecond))
	text := fmt.Sprintf("at: %v", at)
	switch again := d.seldom(3); {
	case again && lasts:
		return text + ", for: <1ms..1s>, repeat: {every: <1001ms..2s>, times: <2..5>}"
	case again:
		return text + ", repeat: {every: <1001ms..2s>, times: <2..5>}"
	case !lasts:
		return text
	}
	longest := 10000
	if d.seldom(4) {
		longest = 40000 // longer than any lease
	}
	return text + fmt.Sprintf(", for: %v", min(d.milliseconds(100, longest), healing-at, most))
}

func (d *drawing) clock() string {
	off := d.milliseconds(-30000, 30000)
	if d.seldom(4) && !d.p.has("engine.lease.check") {
		return fmt.Sprintf("<start>, clock: {nodes: <nodes>, jump: %v}", off) // it stays so
	}
	return fmt.Sprintf("<window>, clock: {nodes: <nodes>, skew: %v}", off)
}

func (d *drawing) calls() string {
	ops := d.of("claim", "commit") // which every world has
	for _, op := range []string{"extend", "recover", "promote", "lead", "stats"} {
		if d.coin() {
			ops += ", " + op
		}
	}
	text := d.text(d.when(true, healing)) + ", calls: {ops: [" + ops + "]"
	disturbed := false
	for _, key := range []string{"lose-request", "lose-reply", "duplicate", "duplicate-reply", "error"} {
		if d.coin() {
			text += d.text(", " + key + ": <1..100>%")
			disturbed = true
		}
	}
	if d.coin() || !disturbed {
		text += d.text(", delay: {dist: uniform, min: 0s, max: <1ms..4s>}")
	}
	if d.coin() {
		text += ", nodes: " + d.nodes
	}
	return text + "}"
}
