package world

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// drawTenant and drawSerial number the random draws of a job's tenant and serial key, which all its copies share.
const (
	drawTenant = 0
	drawSerial = 1
)

// workload merges the arrivals of all classes in order of time.
type workload struct {
	rand    keyed.Rand
	streams []*stream
}

// stream is a source of arrivals in a workload: those of one class, or its bursts.
type stream struct {
	process
	class *classStamp
	ahead arrival // next arrival; at engine.Never: there are no more
}

// classStamp holds the fields that all jobs of a class share, and the distributions of those that differ.
type classStamp struct {
	class   int
	proto   engine.NewJob
	grain   engine.Time // granularity of the times at which delayed jobs are due; 0: none
	tenants dist.Zipf
	only    bool                            // there is only one tenant
	tenant  func(index int) engine.TenantID // maps a tenant's rank to its ID
	these   []scenarios.Count               // numbers of the arrivals that come; nil: all
	serials serials
}

// serials is the range of a class's serial keys: of jobs with one key only one at a time is ready or in flight. The
// ranges of classes are disjoint; n is 0 for a class without serial keys.
type serials struct {
	n     uint64
	first uint32
}

// serialsOf returns the serial keys of each class.
func serialsOf(sc *scenarios.Scenario) []serials {
	all, next := make([]serials, len(sc.Jobs)), uint32(1)
	for i := range sc.Jobs {
		if s := sc.Jobs[i].Serial; s != nil {
			all[i] = serials{uint64(s.Keys), next}
			next += uint32(s.Keys)
		}
	}
	return all
}

// of draws the serial key of a job, which all copies of the job share; 0 if its class has no serial keys.
func (s serials) of(id engine.JobID, rand keyed.Rand) uint32 {
	if s.n == 0 {
		return 0
	}
	return s.first + uint32(float64(s.n)*rand.Uniform(keyed.ForTenant, uint64(spec.FirstCopy(id)), 0, drawSerial))
}

// newWorkload returns the arrivals of sc under one seed. The caller closes it.
func newWorkload(sc *scenarios.Scenario, rand keyed.Rand) (*workload, error) {
	w, keys := &workload{rand: rand}, serialsOf(sc)
	for class := range sc.Jobs {
		c := &sc.Jobs[class]
		stamp := &classStamp{
			class:   class,
			proto:   engine.NewJob{Kind: engine.Kind(class), Priority: c.Priority, Delay: c.Delay.Std()},
			grain:   engine.Time(sc.RetryOf(class).Grain),
			tenants: plain.Must(dist.NewZipf(int(max(c.Tenants.Count, 1)), float64(c.Tenants.Skew))),
			only:    c.Tenants.Count <= 1,
			tenant:  func(index int) engine.TenantID { return sc.TenantID(class, index) },
			these:   c.Arrivals.Only,
			serials: keys[class],
		}
		if stamp.only {
			stamp.proto.Tenant = sc.TenantID(class, 0)
		}
		p, err := newProcess(sc, class, rand)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.add(p, stamp)
		if b := burstsOf(sc, class); len(b) > 0 {
			w.add(&b, stamp)
		}
	}
	return w, nil
}

func (w *workload) add(p process, class *classStamp) {
	s := &stream{process: p, class: class}
	s.advance()
	w.streams = append(w.streams, s)
}

func (s *stream) advance() {
	var more bool
	if s.ahead, more = s.next(); !more {
		s.ahead.at = engine.Never
	}
}

// Next returns the earliest arrival, without those excluded by the key `only` of their class; at one instant the class
// named first in the file comes first.
func (w *workload) Next(j *engine.NewJob) (at engine.Time, ok bool) {
	for {
		best := w.streams[0]
		for _, s := range w.streams[1:] {
			if s.ahead.at < best.ahead.at {
				best = s
			}
		}
		if at = best.ahead.at; at == engine.Never {
			return 0, false
		}
		if w.take(j, best); best.class.these == nil || best.class.comes(j.ID) {
			return at, true
		}
	}
}

// comes reports whether a job is enqueued: it is of a burst, or the key `only` of its class lists its number.
func (c *classStamp) comes(job engine.JobID) bool {
	_, index := spec.Arrival(job)
	return index >= 1<<spec.BurstShift || slices.Contains(c.these, scenarios.Count(index))
}

// take stores the next job of a stream of arrivals, as its first copy, in j.
func (w *workload) take(j *engine.NewJob, s *stream) {
	a, c := &s.ahead, s.class
	*j = c.proto
	j.ID = spec.JobID(c.class, a.index)
	if a.tenant != 0 {
		j.Tenant = a.tenant
	} else if !c.only {
		j.Tenant = c.tenant(c.tenants.Rank(w.rand.Uniform(keyed.ForTenant, uint64(j.ID), 0, drawTenant)))
	}
	j.Serial = c.serials.of(j.ID, w.rand)
	if c.grain > 0 {
		j.Delay = max(0, j.Delay-time.Duration(a.at.Add(j.Delay)%c.grain))
	}
	a.index++
	if a.count--; a.count == 0 {
		s.advance()
	}
}

// Close closes the files of arrivals and returns the error in them, if any.
func (w *workload) Close() error {
	for _, s := range w.streams {
		if c, ok := s.process.(io.Closer); ok {
			c.Close() // of files that were only read
		}
	}
	return w.Err()
}

// Err returns the errors in the files read so far, after which arrivals ended early.
func (w *workload) Err() error {
	var errs []error
	for _, s := range w.streams {
		if t, ok := s.process.(*trace); ok {
			errs = append(errs, t.err)
		}
	}
	return errors.Join(errs...)
}

// bursts is an arrival process with the jobs that storms bring to a class at once, earliest first.
type bursts []arrival

// burstsOf returns the bursts of a class (jobs that storms enqueue at once).
func burstsOf(sc *scenarios.Scenario, class int) (all bursts) {
	for i := range sc.Storms {
		x := sc.Storms[i].Effect()
		if x.Class != sc.Jobs[class].Class || x.Jobs == nil || *x.Jobs == 0 {
			continue
		}
		count := uint64(*x.Jobs)
		for k, at := range sc.Storms[i].Starts() {
			first := uint64(i+1)<<spec.BurstShift + uint64(k)*count
			if at < sc.Duration.Std() {
				all = append(all, arrival{at: engine.Time(at), index: first, count: count})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return all
}

func (b *bursts) next() (arrival, bool) {
	if len(*b) == 0 {
		return arrival{}, false
	}
	a := (*b)[0]
	*b = (*b)[1:]
	return a, true
}

// pickNodes returns the indexes, in ascending order and each once, of the nodes out of n that a storm hits: those of
// its list, or a number of them drawn by the seed.
func pickNodes(which spec.Nodes, n int, rand keyed.Rand, storm int) []int32 {
	if which.List != nil {
		listed := plain.Map(which.List, func(index scenarios.Count) int32 { return int32(index) })
		slices.Sort(listed)
		return slices.Compact(listed)
	}
	var picked []int32
	for node := range int32(n) {
		picked = append(picked, node)
	}
	draw := func(node int32) uint64 { return rand.Uint64(keyed.ForStorm, uint64(storm), uint64(node), 0) }
	slices.SortFunc(picked, func(a, b int32) int { return cmp.Compare(draw(a), draw(b)) })
	picked = picked[:which.Of(n)]
	slices.Sort(picked)
	return picked
}
