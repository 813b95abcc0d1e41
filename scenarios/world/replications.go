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
	sc      *scenarios.Scenario
	worlds  []*world
	options Options

	mutex    sync.Mutex
	most     int            // highest number of simulations
	done     []*measure.Run // runs by simulation, up to the last one that has ended; nil: not ended
	judged   int            // number of seeds passed to enough
	stop     int            // number of simulations that count; most until enough returns true
	failedAt int            // index of the first simulation that failed; most: none
}

func newReplications(sc *scenarios.Scenario, worlds []*world, o Options) *replications {
	seeds := int(sc.Seeds)
	if o.Enough != nil && o.MostSeeds > 0 {
		seeds = o.MostSeeds
	}
	most := seeds * len(worlds)
	return &replications{sc: sc, worlds: worlds, options: o, most: most, stop: most, failedAt: most}
}

// one runs the simulation with the given index. Its error is pool.ErrEnough if its result is not needed any more.
func (r *replications) one(ctx context.Context, i int) error {
	if err := r.options.Gate.Enter(ctx); err != nil {
		return err
	}
	defer r.options.Gate.Leave()
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
	r.done = append(r.done, make([]*measure.Run, max(0, i+1-len(r.done)))...)
	r.done[i] = run
	if r.options.Ended != nil {
		r.options.Ended(run)
	}
	r.judge()
}

// judge passes the runs of each seed to Options.Enough, in order of seeds, once its simulations have ended under every
// policy. The first seed for which Enough returns true is the last that counts.
func (r *replications) judge() {
	n := len(r.worlds)
	for r.options.Enough != nil && r.stop == r.most && (r.judged+1)*n <= len(r.done) {
		var seed []measure.Run
		for _, run := range r.done[r.judged*n : (r.judged+1)*n] {
			if run == nil {
				return
			}
			seed = append(seed, *run)
		}
		r.judged++
		if r.options.Enough(seed) {
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
