package scenarios

import (
	"context"
	"sync"

	"qsim/results"
)

// replications hands out the simulations of a Run, by seed and then by policy, and keeps
// what came of them.
type replications struct {
	sc       *Scenario
	worlds   []*world
	progress func(policy, finished, total int) // may be nil
	enough   func(seed []results.Run) bool     // may be nil
	gate     Gate                              // may be nil

	mutex    sync.Mutex
	next     int
	most     int            // simulations, at most
	done     []*results.Run // those handed out; nil: has not ended
	finished []int          // by policy
	judged   int            // seeds that enough has been asked about
	stop     int            // simulations that count; most until there is enough
	failed   error          // of the first simulation, in that order, that failed
	failedAt int
}

func newReplications(sc *Scenario, worlds []*world, o Options) *replications {
	seeds := int(sc.Seeds)
	if o.Enough != nil && o.MostSeeds > 0 {
		seeds = o.MostSeeds
	}
	most := seeds * len(worlds)
	return &replications{sc: sc, worlds: worlds, progress: o.Progress, enough: o.Enough, gate: o.Gate, most: most, stop: most, finished: make([]int, len(worlds))}
}

// work simulates until none is left, one has failed, there are enough or ctx is done.
func (r *replications) work(ctx context.Context) {
	for r.gate.enter(ctx) {
		done := r.one(ctx)
		if r.gate.leave(); done {
			return
		}
	}
}

// one simulates the next one, and reports whether there is nothing left to do.
func (r *replications) one(ctx context.Context) (done bool) {
	i, ok := r.take()
	if !ok {
		return true
	}
	run, err := r.worlds[i%len(r.worlds)].replicate(ctx, r.sc.Seed+uint64(i/len(r.worlds)))
	if err != nil && ctx.Err() != nil {
		return true
	}
	r.keep(i, run, err)
	return false
}

func (r *replications) take() (int, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.next >= r.stop || r.failed != nil {
		return 0, false
	}
	r.next++
	r.done = append(r.done, nil)
	return r.next - 1, true
}

func (r *replications) keep(i int, run *results.Run, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		if r.failed == nil || i < r.failedAt {
			r.failed, r.failedAt = err, i
		}
		return
	}
	policy := i % len(r.worlds)
	r.done[i] = run
	r.finished[policy]++
	if r.progress != nil {
		r.progress(policy, r.finished[policy], r.most/len(r.worlds))
	}
	r.judge()
}

// judge asks about the seeds that have ended under every policy, and so have all before
// them. Simulations are taken in order, so that whatever was taken after those that are
// enough makes no difference, not even by failing.
func (r *replications) judge() {
	n := len(r.worlds)
	for r.enough != nil && r.stop == r.most && (r.judged+1)*n <= len(r.done) {
		var seed []results.Run
		for _, run := range r.done[r.judged*n : (r.judged+1)*n] {
			if run == nil {
				return
			}
			seed = append(seed, *run)
		}
		r.judged++
		if r.enough(seed) {
			r.stop = r.judged * n
		}
	}
}

// runs returns what has ended and counts, and why that is not everything.
func (r *replications) runs(ctx context.Context) ([]results.Run, error) {
	var ended []results.Run
	for _, run := range r.done[:min(len(r.done), r.stop)] {
		if run != nil {
			ended = append(ended, *run)
		}
	}
	if r.failed != nil && r.failedAt < r.stop {
		return ended, r.failed
	}
	return ended, ctx.Err()
}
