package verify

import (
	"math/bits"
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// freshReady and the constants below are levels: numbers of jobs or executions that an observer integrates over time.
const (
	freshReady = iota // jobs ready, never claimed before
	retryReady
	waiting  // jobs that wait until they are due
	inFlight // leased
	busy     // executions under way
	numLevels
)

// observation is what the observers of an experiment measure.
type observation struct {
	from, to   engine.Time // jobs enqueued in it, and the clock in it
	classes    int
	workers    int             // number of workers of all nodes
	counted    []bool          // by class, whether it is counted; nil: all are
	thresholds []time.Duration // bounds of waits whose excesses are counted
	samples    []engine.Time   // ascending: when to look at the levels
	log        bool            // all events, kept in short runs only
	// on, if it is not nil, sees every event after it was counted.
	on func(o *observer, e *engine.Event)
}

// observer measures one simulation from its events, independently of package results, to check the metrics of that.
type observer struct {
	*observation
	on    func(o *observer, e *engine.Event) // that of the observation, unless experiment.alter sets another
	next  engine.Recorder
	now   engine.Time
	level [numLevels]int64
	area  [numLevels]float64 // value × s, in [from, to)

	clockClaims [engine.NumClasses]float64 // claims by class in [from, to), by the clock, like executions below
	clockDone   float64
	taken       float64 // leases that lapsed, from the beginning on
	class       []classCount
	sampled     [][numLevels]int64
	events      []engine.Event
	own         [8]float64 // scratch values of the event handler on
	list        []float64  // list that on fills
	text        []byte     // text that on fills
}

// counter is the index of one of an observer's counts or sums over the jobs of a class.
type counter int

// enqueued and the constants below are counts of jobs or attempts, or sums of times in seconds.
const (
	enqueued counter = iota
	done
	dead
	ended        // done or dead
	attempts     // attempts of the jobs counted
	attempts2    // squares of these attempts
	attemptsDone // attempts of the done jobs
	doneAfter    // time from enqueue to done
	deadAfter
	endedAfter
	claims // all of them; of jobs never claimed before; of others
	firsts
	laters
	waited // sum of the waits
	firstWait
	laterWait
	firstWait2
	noWait     // first claims without a wait
	someWait   // number of jobs with a wait above 0
	executions // finished, by the clock
	successes  // number of attempts that succeeded
	overran    // number of successes longer than the first threshold
	numCounters
)

// classCount holds an observer's counters for one class; most are of the jobs enqueued in the measured window.
type classCount struct {
	n               [numCounters]float64
	above           []float64 // first claims that waited longer, by threshold
	waits, sojourns durations

	ready float64 // number of ready jobs now, whenever they were enqueued
	area  float64 // ready × s, in [from, to)
	taken float64 // claims, by the clock
}

func newObserver(plan *observation, next engine.Recorder) *observer {
	o := &observer{observation: plan, on: plan.on, next: next, class: make([]classCount, plan.classes)}
	for i := range o.class {
		o.class[i].above = make([]float64, len(plan.thresholds))
	}
	return o
}

// Record counts an event of the simulation, after passing it on to the next recorder.
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

func (o *observer) advance(t engine.Time) {
	for len(o.sampled) < len(o.samples) && o.samples[len(o.sampled)] < t {
		o.sampled = append(o.sampled, o.level)
	}
	if from, to := max(o.now, o.from), min(t, o.to); to > from {
		span := to.Sub(from).Seconds()
		for i, n := range o.level {
			o.area[i] += float64(float64(n) * span)
		}
		for i := range o.class {
			o.class[i].area += float64(o.class[i].ready * span)
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
		if e.Delay > 0 {
			o.level[waiting]++
		} else {
			o.ready(e, 1)
		}
		if clock {
			o.class[e.JobKind].n[enqueued]++
		}
	case engine.Promoted:
		o.level[waiting]--
		o.ready(e, 1)
	case engine.Leased:
		o.ready(e, -1)
		o.level[inFlight]++
		if clock {
			o.clockClaims[e.Class]++
			o.class[e.JobKind].taken++
		}
		if counts && o.inWindow(e.At-engine.Time(e.Age)) {
			o.onLeased(&o.class[e.JobKind], e)
		}
	case engine.Started:
		o.level[busy]++
	case engine.Finished, engine.Aborted:
		o.level[busy]--
		if clock && e.Kind == engine.Finished {
			n := &o.class[e.JobKind].n
			n[executions]++
			if e.Error == engine.NoError {
				n[successes]++
			}
			if len(o.thresholds) > 0 && e.Ran > o.thresholds[0] {
				n[overran]++
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

// ready adds n, which may be negative, to the observer's numbers of ready jobs, of all classes and of the event's.
func (o *observer) ready(e *engine.Event, n int64) {
	o.level[int(e.Class)] += n
	o.class[e.JobKind].ready += float64(n)
}

// leaves moves a job between an observer's levels at an outcome. A nacked one waits, if for no time: Promoted follows.
func (o *observer) leaves(e *engine.Event) {
	switch e.From {
	case engine.Ready:
		o.ready(e, -1)
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
		o.class[e.JobKind].ready++
	}
}

func (o *observer) onLeased(c *classCount, e *engine.Event) {
	wait := e.Waited.Seconds()
	c.n[claims]++
	c.n[waited] += wait
	if e.Class != engine.Fresh {
		c.n[laters]++
		c.n[laterWait] += wait
		return
	}
	c.n[firsts]++
	c.n[firstWait] += wait
	c.n[firstWait2] += float64(wait * wait)
	c.n[plain.Either(e.Waited == 0, noWait, someWait)]++
	for i, limit := range o.thresholds {
		if e.Waited > limit {
			c.above[i]++
		}
	}
	c.waits.record(e.Waited)
}

func (o *observer) onOutcome(c *classCount, e *engine.Event) {
	n, age := float64(e.Delivery), e.Age.Seconds()
	switch e.Kind {
	case engine.Acked:
		c.n[done]++
		c.n[attemptsDone] += n
		c.n[doneAfter] += age
		c.sojourns.record(e.Age)
	case engine.Buried:
		c.n[dead]++
		c.n[deadAfter] += age
	default:
		return
	}
	c.n[ended]++
	c.n[attempts] += n
	c.n[attempts2] += float64(n * n)
	c.n[endedAfter] += age
}

func (o *observer) sum(which counter) float64 {
	total := 0.0
	for i := range o.class {
		total += o.class[i].n[which]
	}
	return total
}

// length returns the length of the measured window, from which warm-up and drain are excluded, in seconds.
func (o *observer) length() float64 { return o.to.Sub(o.from).Seconds() }

func (o *observer) mean(level int) float64 { return o.area[level] / o.length() }

// claimed returns the number of claims in the measured window: of engine.Fresh, engine.Retry or both.
func (o *observer) claimed(classes ...engine.Class) float64 {
	return plain.Sum(classes, func(class engine.Class) float64 { return o.clockClaims[class] })
}

// durations is a histogram of durations so fine that its quantiles count as exact: buckets are narrower than 1/4096 of
// their values. The zero value is empty.
type durations struct {
	counts []uint32
	total  uint64
}

const fineBits = 12 // number of leading bits of a duration that are kept

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	shift := max(bits.Len64(v)-fineBits-1, 0)
	return shift<<fineBits + int(v>>shift)
}

func middleOf(bucket int) time.Duration {
	shift := max(bucket>>fineBits-1, 0)
	low := uint64(bucket-shift<<fineBits) << shift
	return time.Duration(low + (uint64(1)<<shift-1)/2)
}

func (d *durations) record(v time.Duration) {
	b := bucketOf(v)
	for b >= len(d.counts) {
		d.counts = append(d.counts, make([]uint32, b+1-len(d.counts))...)
	}
	d.counts[b]++
	d.total++
}

func (d *durations) merge(other *durations) {
	if len(other.counts) > len(d.counts) {
		d.counts = append(d.counts, make([]uint32, len(other.counts)-len(d.counts))...)
	}
	for i, n := range other.counts {
		d.counts[i] += n
	}
	d.total += other.total
}

// quantile returns, in seconds, the smallest recorded duration that at least a share q of all do not exceed; 0 if none.
func (d *durations) quantile(q float64) float64 {
	rank := q * float64(d.total)
	var below uint64
	for i, n := range d.counts {
		if below += uint64(n); n > 0 && float64(below) >= rank {
			return middleOf(i).Seconds()
		}
	}
	return 0
}
