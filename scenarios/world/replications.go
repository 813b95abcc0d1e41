package world

import (
	"context"
	"sync"

	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// replications distributes the simulations of a Run, by seed and then by policy, and stores the results.
type replications struct {
	sc       *scenarios.Scenario
	worlds   []*world
	progress func(policy, finished, total int) // may be nil
	ended    func(run *measure.Run)            // may be nil
	enough   func(seed []measure.Run) bool     // may be nil
	gate     pool.Gate                         // may be nil

	mutex    sync.Mutex
	most     int            // simulations, at most
	done     []*measure.Run // up to the last one that has ended; nil: has not ended
	finished []int          // by policy
	judged   int            // seeds that enough has been asked about
	stop     int            // simulations that count; most until there is enough
	failedAt int            // the first simulation, in that order, that failed; most: none
}

func newReplications(sc *scenarios.Scenario, worlds []*world, o Options) *replications {
	seeds := int(sc.Seeds)
	if o.Enough != nil && o.MostSeeds > 0 {
		seeds = o.MostSeeds
	}
	most := seeds * len(worlds)
	return &replications{sc: sc, worlds: worlds, progress: o.Progress, ended: o.Ended, enough: o.Enough, gate: o.Gate, most: most, stop: most, failedAt: most, finished: make([]int, len(worlds))}
}

// one runs the simulation with that index. Its error is pool.ErrEnough if its result is not needed any more.
func (r *replications) one(ctx context.Context, i int) error {
	if err := r.gate.Enter(ctx); err != nil {
		return err
	}
	defer r.gate.Leave()
	if r.isOver(i) {
		return pool.ErrEnough
	}
	run, err := r.worlds[i%len(r.worlds)].replicate(ctx, r.sc.Seed+uint64(i/len(r.worlds)))
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	r.keep(i, run, err)
	return err
}

func (r *replications) isOver(i int) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return i >= r.stop
}

func (r *replications) keep(i int, run *measure.Run, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		r.failedAt = min(r.failedAt, i)
		return
	}
	policy := i % len(r.worlds)
	r.done = append(r.done, make([]*measure.Run, max(0, i+1-len(r.done)))...)
	r.done[i] = run
	r.finished[policy]++
	if r.ended != nil {
		r.ended(run)
	}
	if r.progress != nil {
		r.progress(policy, r.finished[policy], r.most/len(r.worlds))
	}
	r.judge()
}

// judge calls Enough for each seed once that seed and all before it have ended under every policy. Simulations are
// taken in order, so that those taken after enough seeds make no difference, not even by failing.
func (r *replications) judge() {
	n := len(r.worlds)
	for r.enough != nil && r.stop == r.most && (r.judged+1)*n <= len(r.done) {
		var seed []measure.Run
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

// runs returns the valid results, and the error that makes them incomplete: err, unless it comes from a simulation
// beyond the last needed one.
func (r *replications) runs(err error) ([]measure.Run, error) {
	var ended []measure.Run
	for _, run := range r.done[:min(len(r.done), r.stop)] {
		if run != nil {
			ended = append(ended, *run)
		}
	}
	if r.failedAt < r.most && r.failedAt >= r.stop {
		err = nil
	}
	return ended, err
}
