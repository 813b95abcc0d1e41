package live

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"qsim/engine"
)

// Run runs the engines of c until ctx is done, then stops them: they claim no more, return jobs not started, and wait
// for running ones for Config.StopWithin and Config.CancelWithin. It returns nil if the store has the outcome of every
// claimed job, and else an *AbandonedError. It returns an error at once for an invalid configuration.
//
// Errors of the store do not end Run: engines try again, at the pace of Fetch.ErrorPause and Commit.Backoff. When Run
// returns, its goroutines have ended, except for handlers and calls to the store that go on although their contexts are
// cancelled.
func Run(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	var p process
	p.init(ctx, c)
	loops := make([]*loop, max(1, c.Engines))
	for i := range loops {
		node := c.FirstNode + int32(i)
		generation, err := generationOf(ctx, &c, node)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil // stopped before anything was claimed
		case err != nil:
			return fmt.Errorf("run: count the lives of node %d: %w", node, err)
		}
		loops[i] = newLoop(&p, node, engine.NewEngineID(node, generation))
	}
	defer context.AfterFunc(ctx, func() {
		for _, l := range loops {
			l.box.stop()
		}
	})()
	heard := p.listen(ctx, loops)
	var running sync.WaitGroup
	for _, l := range loops {
		running.Go(l.run)
	}
	running.Wait()
	return conclude(loops, heard, p.CancelWithin)
}

// conclude waits for the goroutine that listens to the store and returns an AbandonedError that counts the jobs,
// handlers and store calls that Run gave up waiting for, nil if there are none.
func conclude(loops []*loop, heard <-chan struct{}, within time.Duration) error {
	var sum AbandonedError
	for _, l := range loops {
		_, busy := l.workers()
		sum.Jobs, sum.Handlers, sum.Calls = sum.Jobs+l.engine.Held(), sum.Handlers+busy, sum.Calls+l.flying
	}
	if heard != nil {
		select {
		case <-heard:
		case <-time.After(within):
			sum.Calls++
		}
	}
	if sum == (AbandonedError{}) {
		return nil
	}
	return &sum
}

// Registry is a Store that counts how often the engine of each node has been started (its lives), so that IDs are new.
type Registry interface {
	// NextLife returns the number of earlier lives of the engine of a node: each call returns more
	// than all before it, in any process, so that an EngineID made from it is new.
	NextLife(ctx context.Context, node int32) (generation uint32, err error)
}

// latestGeneration is the latest life number (generation) that this process gave an engine whose store is no Registry.
var latestGeneration atomic.Uint32

// leastStart is the shortest timeout for the call of Registry.NextLife: it may have to make a connection first, and
// call timeouts are short where a scenario runs fast.
const leastStart = 5 * time.Second

func generationOf(ctx context.Context, c *Config, node int32) (uint32, error) {
	if c.Generation != 0 {
		return c.Generation, nil
	}
	if r, ok := c.Store.(Registry); ok {
		ctx, cancel := context.WithTimeout(ctx, max(c.Engine.CallTimeout, leastStart))
		defer cancel()
		return r.NextLife(ctx, node)
	}
	for {
		last := latestGeneration.Load()
		next := max(last+1, uint32(time.Now().Unix()))
		if latestGeneration.CompareAndSwap(last, next) {
			return next, nil
		}
	}
}
