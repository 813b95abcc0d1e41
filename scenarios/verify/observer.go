package verify

import (
	"time"

	"qsim/engine"
)

// Levels that are integrated over time.
const (
	freshReady = iota // jobs ready, never claimed before
	retryReady
	waiting  // for a time to come
	inFlight // leased
	busy     // executions under way
	numLevels
)

// observation says what is kept of a run. Whoever asks for more pays for it.
type observation struct {
	from, to   engine.Time // jobs enqueued in it, and the clock in it
	classes    int
	workers    int             // of all nodes
	counted    []bool          // by class: nil: all of them
	thresholds []time.Duration // of waits
	samples    []engine.Time   // ascending: when to look at the levels
	log        bool            // every event: of short runs
	// on, if it is not nil, sees every event after it was counted.
	on func(o *observer, e *engine.Event)
}

// observer measures a run by its events, apart from package results, against which it is
// checked.
type observer struct {
	*observation
	next  engine.Recorder
	now   engine.Time
	level [numLevels]int64
	area  [numLevels]float64 // value × s, in [from, to)

	enqueued    float64 // by the clock, in [from, to), as the next two
	clockClaims [engine.NumClasses]float64
	clockDone   float64
	taken       float64 // leases that lapsed, from the beginning on
	class       []classCount
	sampled     [][numLevels]int64
	events      []engine.Event
	own         [8]float64 // of on
	list        []float64  // of on
	text        []byte     // of on
}

// classCount is of the jobs of one class that were enqueued in [from, to).
type classCount struct {
	enqueued, done, dead float64
	claims               [engine.NumClasses]float64
	waited, squared      [engine.NumClasses]float64 // s, s²
	atOnce               float64                    // first claims without a wait
	above                []float64                  // first claims that waited longer, by threshold
	attempts, attempts2  float64                    // of jobs done or dead
	attemptsDone         float64
	doneAfter, deadAfter float64 // s since they were enqueued
	overran              float64 // executions that took longer than the first threshold
	executions           float64 // finished, by the clock
	successes            float64 // of them
	waits, sojourns      durations
}

func newObserver(plan *observation, next engine.Recorder) *observer {
	o := &observer{observation: plan, next: next, class: make([]classCount, plan.classes)}
	for i := range o.class {
		o.class[i].above = make([]float64, len(plan.thresholds))
	}
	return o
}

// Record implements engine.Recorder.
func (o *observer) Record(e *engine.Event) {
	o.next.Record(e)
	if e.At > o.now {
		o.advance(e.At)
	}
	o.count(e)
	if o.log {
		o.events = append(o.events, *e)
	}
	if o.on != nil {
		o.on(o, e)
	}
}

// advance lets the levels stand until t.
func (o *observer) advance(t engine.Time) {
	for len(o.sampled) < len(o.samples) && o.samples[len(o.sampled)] < t {
		o.sampled = append(o.sampled, o.level)
	}
	if from, to := max(o.now, o.from), min(t, o.to); to > from {
		span := to.Sub(from).Seconds()
		for i, n := range o.level {
			o.area[i] += float64(float64(n) * span)
		}
	}
	o.now = t
}

func (o *observer) inWindow(t engine.Time) bool { return t >= o.from && t < o.to }

func (o *observer) count(e *engine.Event) {
	counts := o.counted == nil || int(e.JobKind) < len(o.counted) && o.counted[e.JobKind]
	clock := counts && o.inWindow(o.now)
	switch e.Kind {
	case engine.Enqueued:
		o.becomes(e.Class, e.Delay > 0)
		if clock {
			o.enqueued++
			o.class[e.JobKind].enqueued++
		}
	case engine.Promoted:
		o.level[waiting]--
		o.level[int(e.Class)]++
	case engine.Leased:
		o.level[int(e.Class)]--
		o.level[inFlight]++
		if clock {
			o.clockClaims[e.Class]++
		}
		if counts && o.inWindow(e.At-engine.Time(e.Age)) {
			o.onLeased(&o.class[e.JobKind], e)
		}
	case engine.Started:
		o.level[busy]++
	case engine.Finished, engine.Aborted:
		o.level[busy]--
		if clock && e.Kind == engine.Finished {
			c := &o.class[e.JobKind]
			c.executions++
			if e.Error == engine.NoError {
				c.successes++
			}
			if len(o.thresholds) > 0 && e.Ran > o.thresholds[0] {
				c.overran++
			}
		}
	case engine.LeaseTaken:
		o.taken++
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		o.leaves(e)
		if clock && e.Kind == engine.Acked {
			o.clockDone++
		}
		if counts && o.inWindow(e.At-engine.Time(e.Age)) {
			o.onOutcome(&o.class[e.JobKind], e)
		}
	}
}

// becomes counts a job that is ready, or waits, from now on.
func (o *observer) becomes(class engine.Class, delayed bool) {
	if delayed {
		o.level[waiting]++
	} else {
		o.level[int(class)]++
	}
}

// leaves moves a job from what it was to what its outcome makes of it. A nacked job waits,
// if only for no time: Promoted follows.
func (o *observer) leaves(e *engine.Event) {
	switch e.From {
	case engine.Ready:
		o.level[int(e.Class)]--
	case engine.Waiting:
		o.level[waiting]--
	default:
		o.level[inFlight]--
	}
	switch e.Kind {
	case engine.Nacked:
		o.level[waiting]++
	case engine.Returned:
		o.level[retryReady]++
	}
}

func (o *observer) onLeased(c *classCount, e *engine.Event) {
	wait := e.Waited.Seconds()
	c.claims[e.Class]++
	c.waited[e.Class] += wait
	c.squared[e.Class] += float64(wait * wait)
	if e.Class != engine.Fresh {
		return
	}
	if e.Waited == 0 {
		c.atOnce++
	}
	for i, limit := range o.thresholds {
		if e.Waited > limit {
			c.above[i]++
		}
	}
	c.waits.record(e.Waited)
}

func (o *observer) onOutcome(c *classCount, e *engine.Event) {
	if e.Kind != engine.Acked && e.Kind != engine.Buried {
		return
	}
	n := float64(e.Delivery)
	c.attempts += n
	c.attempts2 += float64(n * n)
	if e.Kind == engine.Buried {
		c.dead++
		c.deadAfter += e.Age.Seconds()
		return
	}
	c.done++
	c.attemptsDone += n
	c.doneAfter += e.Age.Seconds()
	c.sojourns.record(e.Age)
}

// sum adds up what of says of each class that is counted.
func (o *observer) sum(of func(c *classCount) float64) float64 {
	total := 0.0
	for i := range o.class {
		total += of(&o.class[i])
	}
	return total
}

// length is that of the window, in seconds.
func (o *observer) length() float64 { return o.to.Sub(o.from).Seconds() }

// mean is that of a level over the window.
func (o *observer) mean(level int) float64 { return o.area[level] / o.length() }
