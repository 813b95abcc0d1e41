package scenarios

import (
	"qsim/engine"
	"qsim/engine/sim"
)

// handlers decide how executions go, as the classes and storms of a scenario say.
// Every draw is keyed by (job, delivery), so that it is the same under every
// policy.
type handlers struct {
	rand    engine.Rand
	classes []handlerClass
}

// handlerClass is what the handlers of one class do.
type handlerClass struct {
	service       engine.Dist
	fails         float64
	failTakes     *engine.Dist // nil: as long as a success
	errors        []errorShare
	poison        float64
	kills         float64
	ignoresCancel bool
	idempotent    bool
	applied       map[engine.JobID]bool // idempotent: jobs whose work is done

	failing []failWindow
	slow    []slowWindow
}

type errorShare struct {
	upTo float64 // cumulative
	kind engine.ErrorKind
}

type failWindow struct {
	from, until engine.Time
	rate        float64
	kind        engine.ErrorKind
	takes       *engine.Dist
}

type slowWindow struct {
	from, until engine.Time
	factor      float64
}

// Draws of one purpose and key are told apart by these numbers.
const (
	drawService = 0
	drawTakes   = 1 // run time of a failing attempt
	drawAtRest  = 0 // whether an attempt fails without a storm; with the i-th storm: i + 1
	drawKill    = 0
	drawKillAt  = 1
)

func newHandlers(sc *Scenario, rand engine.Rand) *handlers {
	h := &handlers{rand: rand, classes: make([]handlerClass, len(sc.Jobs))}
	for i := range sc.Jobs {
		c := &sc.Jobs[i]
		hc := &h.classes[i]
		*hc = handlerClass{service: c.Service.Dist(), fails: c.Fails.Rate.Float(), failTakes: distOf(c.Fails.Takes), poison: c.Poison.Float(),
			kills: c.Kills.Float(), ignoresCancel: c.IgnoresCancel, idempotent: c.Idempotent}
		if c.Idempotent {
			hc.applied = make(map[engine.JobID]bool)
		}
		sum := 0.0
		for _, e := range c.Fails.Errors {
			sum += e.Share.Float()
			hc.errors = append(hc.errors, errorShare{sum, sc.ErrorKind(e.Kind)})
		}
	}
	for i := range sc.Storms {
		h.addStorm(sc, &sc.Storms[i])
	}
	return h
}

func (h *handlers) addStorm(sc *Scenario, s *Storm) {
	from := engine.Time(s.At)
	until := from.Add(s.For.Std())
	switch {
	case s.Fail != nil:
		for _, i := range sc.classesHit(s.Fail.Hits) {
			c := &h.classes[i]
			c.failing = append(c.failing, failWindow{from, until, s.Fail.Rate.Float(), sc.ErrorKind(s.Fail.Error), distOf(s.Fail.Takes)})
		}
	case s.Slow != nil:
		for _, i := range sc.classesHit(s.Slow.Hits) {
			c := &h.classes[i]
			c.slow = append(c.slow, slowWindow{from, until, float64(s.Slow.Factor)})
		}
	}
}

// classesHit returns the indexes of the classes that a storm names; all if it names
// none.
func (sc *Scenario) classesHit(hits []string) []int {
	var classes []int
	for i := range sc.Jobs {
		if len(hits) == 0 || contains(hits, sc.Jobs[i].Class) {
			classes = append(classes, i)
		}
	}
	return classes
}

func distOf(d *Distribution) *engine.Dist {
	if d == nil {
		return nil
	}
	dist := d.Dist()
	return &dist
}

// Begin draws how an execution that starts now goes.
func (h *handlers) Begin(now engine.Time, _ int32, j *engine.Job) sim.Execution {
	c := &h.classes[j.Kind]
	job, delivery := uint64(j.ID), uint64(j.Delivery)
	if c.idempotent && c.applied[j.ID] {
		return sim.Execution{}
	}
	x := sim.Execution{IgnoresCancel: c.ignoresCancel}
	takes := &c.service
	draw := uint16(drawService)
	if kind, failTakes, fails := h.fails(now, c, job, delivery); fails {
		x.Error = kind
		if failTakes != nil {
			takes, draw = failTakes, drawTakes
		}
	}
	if takes.IsConstant() {
		x.Runs = takes.Duration(0.5)
	} else {
		x.Runs = takes.Duration(h.rand.Uniform(engine.ForRunTime, job, delivery, draw))
	}
	for i := range c.slow {
		if s := &c.slow[i]; now >= s.from && now < s.until {
			x.Runs = scaled(x.Runs, s.factor)
		}
	}
	if c.kills > 0 && h.rand.Uniform(engine.ForKill, job, delivery, drawKill) < c.kills {
		x.Kills = true
		x.Runs = scaled(x.Runs, h.rand.Uniform(engine.ForKill, job, delivery, drawKillAt))
	}
	return x
}

// fails draws whether an attempt fails, how, and what its run time is if not the
// service time. Storms come before what happens at rest.
func (h *handlers) fails(now engine.Time, c *handlerClass, job, delivery uint64) (engine.ErrorKind, *engine.Dist, bool) {
	for i := range c.failing {
		w := &c.failing[i]
		if now >= w.from && now < w.until && h.rand.Uniform(engine.ForFailure, job, delivery, uint16(i+1)) < w.rate {
			return w.kind, w.takes, true
		}
	}
	poisoned := c.poison > 0 && h.rand.Uniform(engine.ForPoison, job, 0, 0) < c.poison
	if !poisoned && (c.fails == 0 || h.rand.Uniform(engine.ForFailure, job, delivery, drawAtRest) >= c.fails) {
		return engine.NoError, nil, false
	}
	kind := c.errors[len(c.errors)-1].kind
	if len(c.errors) > 1 {
		u := h.rand.Uniform(engine.ForErrorKind, job, delivery, 0)
		for _, e := range c.errors {
			if u < e.upTo {
				kind = e.kind
				break
			}
		}
	}
	return kind, c.failTakes, true
}

// End notes what an idempotent class has done.
func (h *handlers) End(_ engine.Time, _ int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	if c := &h.classes[j.Kind]; c.idempotent && err == engine.NoError && !aborted {
		c.applied[j.ID] = true
	}
}
