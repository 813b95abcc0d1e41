package world

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// handlers determines run times and outcomes of executions from the classes, dependencies and storms of a scenario.
// Every draw is keyed by (job, delivery), so that it is the same under every policy; a call to a dependency depends
// also on other calls.
type handlers struct {
	rand    keyed.Rand
	classes []handlerClass
	quiet   []int   // by node, number of running executions that block its heartbeats
	met     []int64 // by storm, number of attempts that it changed, or how often one of its controls had an effect
}

// handlerClass holds the distributions of run times, the failures and the storms for attempts of one class.
type handlerClass struct {
	plain         bool // nothing but failures and slow storms befalls an attempt
	service       dist.Dist
	fails         float64
	failTakes     *dist.Dist // run times of failing attempts; nil: those of a success
	errors        []errorShare
	poison        float64
	kills         float64
	silences      float64
	ignoresCancel bool
	looksUp       bool        // an execution of a job whose effect is applied ends at once
	applied       bitmap      // if looksUp, the jobs whose effect is applied, by ID without the copy
	calls         *dependency // dependency called; nil: none

	failing, slow, hangs, killing []strike // storms on attempts, by what they do
}

type errorShare struct {
	upTo float64 // upper end of the kind's range in cumulated shares
	kind engine.ErrorKind
}

// drawService and the constants below number the random draws of handlers, one number for each purpose.
const (
	drawService = 0
	drawTakes   = 1         // run time of a failing attempt
	drawNetwork = 2         // first of four network delays: to a row and back
	drawAtRest  = 0         // whether an attempt fails without a storm; i + 1: with the i-th storm
	drawOver    = 1<<16 - 1 // whether a call over a limit fails
	drawKill    = 0
	drawKillAt  = 1
	drawSilence = 2
	drawStorm   = 1 << 15 // first of the draws by storm: whether an attempt hangs, or kills, in it
)

func newHandlers(sc *scenarios.Scenario, rand keyed.Rand) *handlers {
	h := &handlers{rand: rand, classes: make([]handlerClass, len(sc.Jobs)), quiet: make([]int, sc.Engine.Nodes),
		met: make([]int64, len(sc.Storms))}
	dependencies := make(map[string]*dependency)
	for i := range sc.Dependencies {
		dependencies[sc.Dependencies[i].Name] = newDependency(sc, &sc.Dependencies[i], rand)
	}
	for i := range sc.Jobs {
		c := &sc.Jobs[i]
		hc := &h.classes[i]
		*hc = handlerClass{service: c.Service.Dist(), fails: c.Fails.Rate.Float(), failTakes: c.Fails.Takes.Drawn(),
			poison: c.Poison.Float(), kills: c.Kills.Float(), silences: c.Silences.Float(), ignoresCancel: c.IgnoresCancel,
			looksUp: c.Guard.Value() == measure.CheckGuard, applied: bitmap{}, calls: dependencies[c.Calls]}
		sum := 0.0
		for _, e := range c.Fails.Errors {
			sum += e.Share.Float()
			hc.errors = append(hc.errors, errorShare{sum, sc.ErrorKind(e.Kind)})
		}
	}
	for i := range sc.Storms {
		h.addStorm(sc, i)
	}
	for i := range h.classes {
		c := &h.classes[i]
		c.plain = c.calls == nil && !c.looksUp && !c.ignoresCancel && c.kills == 0 && c.silences == 0 &&
			c.hangs == nil && c.killing == nil
	}
	return h
}

// addStorm adds the effects of a storm on attempts to each job class that it hits.
func (h *handlers) addStorm(sc *scenarios.Scenario, i int) {
	s, x := strikeOf(sc, i)
	for _, class := range sc.ClassesHit(x.Hits) {
		c := &h.classes[class]
		switch {
		case x.Dependency != "": // storms on a dependency are handled there
		case x.Error != "":
			c.failing = append(c.failing, s)
		case x.Slower != 0:
			c.slow = append(c.slow, s)
		case x.Hangs > 0:
			c.hangs = append(c.hangs, s)
		case x.Kills > 0:
			c.killing = append(c.killing, s)
		}
	}
}

// draw returns the n-th uniform random number of an attempt for a purpose, such as to decide whether it fails.
func (h *handlers) draw(p keyed.Purpose, j *engine.Job, n uint16) float64 {
	return h.rand.Uniform(p, uint64(j.ID), uint64(j.Delivery), n)
}

// hits draws whether a storm affects an attempt that begins now, and counts it if so.
func (h *handlers) hits(s *strike, now engine.Time, p keyed.Purpose, j *engine.Job, n uint16) bool {
	if !s.Has(now) || h.draw(p, j, n) >= s.rate {
		return false
	}
	h.met[s.storm]++
	return true
}

// Begin draws the run time and the outcome of an execution that starts now.
func (h *handlers) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	c := &h.classes[j.Kind]
	if c.plain {
		kind, takes := h.fails(now, c, j)
		return sim.Execution{Error: kind, Runs: h.runTime(now, c, j, takes)}
	}
	if h.silent(c, j) {
		h.quiet[node]++
	}
	if c.looksUp && c.applied.has(uint64(j.ID)>>spec.CopyBits) {
		return sim.Execution{}
	}
	x := sim.Execution{IgnoresCancel: c.ignoresCancel}
	if c.calls == nil {
		h.work(now, c, j, &x)
	} else {
		h.call(now, c, j, &x)
	}
	for i := range c.hangs {
		if s := &c.hangs[i]; h.hits(s, now, keyed.ForRunTime, j, uint16(drawStorm+s.storm)) {
			x.Runs, x.IgnoresCancel = min(x.Runs+s.extra, dist.LongestDraw), true
		}
	}
	x.Kills = c.kills > 0 && h.draw(keyed.ForKill, j, drawKill) < c.kills
	for i := range c.killing {
		s := &c.killing[i]
		x.Kills = x.Kills || h.hits(s, now, keyed.ForKill, j, uint16(drawStorm+s.storm))
	}
	if x.Kills {
		x.Runs = scaled(x.Runs, h.draw(keyed.ForKill, j, drawKillAt))
	}
	return x
}

// work draws run time and error of an attempt, without its dependency and storms that make it hang or kill its process.
func (h *handlers) work(now engine.Time, c *handlerClass, j *engine.Job, x *sim.Execution) {
	kind, takes := h.fails(now, c, j)
	x.Error, x.Runs = kind, h.runTime(now, c, j, takes)
}

// runTime draws the run time of an attempt from takes, or from the class's service times if takes is nil, and
// multiplies it by the factors of storms that slow attempts down.
func (h *handlers) runTime(now engine.Time, c *handlerClass, j *engine.Job, takes *dist.Dist) (runs time.Duration) {
	draw := uint16(drawTakes)
	if takes == nil {
		takes, draw = &c.service, drawService
	}
	if takes.IsConstant() {
		runs = takes.Duration(0.5)
	} else {
		runs = takes.Duration(h.draw(keyed.ForRunTime, j, draw))
	}
	for i := range c.slow {
		if s := &c.slow[i]; s.Has(now) {
			runs = scaled(runs, s.factor)
			h.met[s.storm]++
		}
	}
	return runs
}

// call applies the effects of a dependency to an attempt that calls it: an outage first, then the limit, then the
// attempt's own outcome.
func (h *handlers) call(now engine.Time, c *handlerClass, j *engine.Job, x *sim.Execution) {
	d := c.calls
	for i := range d.outages {
		if o := &d.outages[i]; o.Has(now) {
			h.met[o.storm]++
			x.Error, x.Runs = o.kind, h.runTime(now, c, j, o.takes)
			return
		}
	}
	over := d.over(now)
	if over && d.fails > 0 && h.draw(keyed.ForFailure, j, drawOver) < d.fails {
		for i := range d.limiting {
			if l := &d.limiting[i]; l.Has(now) {
				h.met[l.storm]++
			}
		}
		x.Error, x.Runs = engine.Throttled, d.rejectsIn.Duration(h.draw(keyed.ForRunTime, j, drawTakes))
		return
	}
	h.work(now, c, j, x)
	if factor := d.slowdown(now, over); factor != 1 {
		x.Runs = scaled(x.Runs, factor)
	}
	who := delivery{j.ID, j.Delivery}
	if d.calling != nil {
		d.calling[who]++
		d.calls++
	}
	if d.row != nil {
		x.Undecided = x.Error == engine.NoError
		x.Runs = d.row.begin(now, who, x.Runs, x.Undecided)
	}
}

// fails draws whether an attempt fails: it returns the error kind, or NoError, and the distribution of the run time,
// nil for the service times. Failures by storms take precedence over the usual ones.
func (h *handlers) fails(now engine.Time, c *handlerClass, j *engine.Job) (engine.ErrorKind, *dist.Dist) {
	for i := range c.failing {
		if s := &c.failing[i]; h.hits(s, now, keyed.ForFailure, j, uint16(i+1)) {
			return s.kind, s.takes
		}
	}
	// All copies of a poisoned job are poisoned.
	poisoned := c.poison > 0 && h.rand.Uniform(keyed.ForPoison, uint64(j.ID&^spec.CopyMask), 0, 0) < c.poison
	if !poisoned && (c.fails == 0 || h.draw(keyed.ForFailure, j, drawAtRest) >= c.fails) {
		return engine.NoError, nil
	}
	last := len(c.errors) - 1
	if last > 0 {
		u := h.draw(keyed.ForErrorKind, j, 0)
		for _, e := range c.errors[:last] {
			if u < e.upTo {
				return e.kind, c.failTakes
			}
		}
	}
	return c.errors[last].kind, c.failTakes
}

// Decide returns the error of an attempt that ends now: Conflict if another attempt updated the row first.
func (h *handlers) Decide(now engine.Time, _ int32, j *engine.Job) engine.ErrorKind {
	if h.classes[j.Kind].calls.row.won(now, delivery{j.ID, j.Delivery}) {
		return engine.NoError
	}
	return engine.Conflict
}

// End records that an attempt ended: its call to a dependency is over, and a success has applied the job's effect.
func (h *handlers) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	c := &h.classes[j.Kind]
	if c.plain {
		return
	}
	if c.calls != nil {
		c.calls.hangUp(now, delivery{j.ID, j.Delivery})
	}
	if h.silent(c, j) {
		h.quiet[node]--
	}
	if c.looksUp && err == engine.NoError && !aborted {
		c.applied.add(uint64(j.ID) >> spec.CopyBits)
	}
}

// silent draws whether an execution blocks its node's heartbeats.
func (h *handlers) silent(c *handlerClass, j *engine.Job) bool {
	return c.silences > 0 && h.draw(keyed.ForKill, j, drawSilence) < c.silences
}

// quietly returns a network that loses the heartbeats that executions block; the given one if no class blocks any.
func (h *handlers) quietly(n sim.Network) sim.Network {
	if slices.ContainsFunc(h.classes, func(c handlerClass) bool { return c.silences > 0 }) {
		return quietNodes{n, h}
	}
	return n
}

// quietNodes is a network that loses the heartbeats of a node while an execution blocks them.
type quietNodes struct {
	sim.Network
	handlers *handlers
}

// Request passes a call on, unless it is a heartbeat of a blocked node, which is lost.
func (q quietNodes) Request(now engine.Time, c *engine.Call) sim.Fate {
	if c.Op == engine.OpExtend && q.handlers.quiet[c.Engine.Node()] > 0 {
		return sim.Fate{LoseRequest: true}
	}
	return q.Network.Request(now, c)
}
