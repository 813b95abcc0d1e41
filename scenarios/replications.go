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

	mutex    sync.Mutex
	next     int
	done     []*results.Run
	finished []int // by policy
	failed   error // of the first simulation, in that order, that failed
	failedAt int
}

func newReplications(sc *Scenario, worlds []*world, progress func(policy, finished, total int)) *replications {
	return &replications{sc: sc, worlds: worlds, progress: progress,
		done: make([]*results.Run, int(sc.Seeds)*len(worlds)), finished: make([]int, len(worlds))}
}

// work simulates until none is left, one has failed or ctx is done.
func (r *replications) work(ctx context.Context) {
	for {
		i, ok := r.take()
		if !ok || ctx.Err() != nil {
			return
		}
		run, err := r.worlds[i%len(r.worlds)].replicate(ctx, r.sc.Seed+uint64(i/len(r.worlds)))
		if err != nil && ctx.Err() != nil {
			return
		}
		r.keep(i, run, err)
	}
}

func (r *replications) take() (int, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.next++
	return r.next - 1, r.next <= len(r.done) && r.failed == nil
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
		r.progress(policy, r.finished[policy], int(r.sc.Seeds))
	}
}

// runs returns what has ended, and why that is not everything.
func (r *replications) runs(ctx context.Context) ([]results.Run, error) {
	var ended []results.Run
	for _, run := range r.done {
		if run != nil {
			ended = append(ended, *run)
		}
	}
	if r.failed != nil {
		return ended, r.failed
	}
	return ended, ctx.Err()
}
