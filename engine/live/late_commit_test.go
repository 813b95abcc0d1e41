package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// dawdling is a store whose commits take effect long after their timeout, and read their outcomes
// again then.
type dawdling struct {
	*world
	t    *testing.T
	mu   sync.Mutex
	rand *rand.Rand
	late atomic.Int32
}

func (d *dawdling) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	carries := slices.Clone(b.Outcomes)
	d.mu.Lock()
	pause := time.Duration(d.rand.IntN(30)) * time.Millisecond
	refused := d.rand.IntN(5) == 0
	d.mu.Unlock()
	time.Sleep(pause)
	if !slices.Equal(b.Outcomes, carries) {
		d.t.Errorf("batch %d carried %v, and %v after %v", b.ID.Seq, carries, b.Outcomes, pause)
	}
	if refused {
		return dst, errFault
	}
	if ctx.Err() != nil {
		d.late.Add(1)
	}
	return d.world.Commit(context.WithoutCancel(ctx), b, dst)
}

// TestLateCommits commits in time, late, without effect and repeatedly: the outcomes in a call must
// not change until the store has finished it, whatever happens to the batch meanwhile.
func TestLateCommits(t *testing.T) {
	for _, drop := range []bool{false, true} {
		for _, tries := range []int{0, 1, 2} {
			t.Run(fmt.Sprint("drop=", drop, " ", tries), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := &dawdling{world: newWorld(engine.StoreOptions{}), t: t, rand: rand.New(rand.NewPCG(1, uint64(tries)))}
					c := live.Config{Engine: settings(20), StopWithin: time.Minute, CancelWithin: time.Minute, Handler: none}
					c.Engine.Commit = engine.CommitConfig{Batch: 3, Linger: time.Millisecond, Calls: 3, Timeout: 10 * time.Millisecond,
						Tries: tries, Drop: drop, Backoff: []time.Duration{time.Millisecond}}
					c.Engine.Lease = engine.LeaseConfig{TTL: 10 * time.Second}
					s := start(t, d, c)
					const jobs = 300
					for i := 1; i <= jobs; i += 10 {
						d.enqueue(t, i, i+9)
						time.Sleep(7 * time.Millisecond)
					}
					time.Sleep(time.Hour) // a batch that is dropped comes back when its leases expire, and again by chance
					if err := s.end(); err != nil {
						t.Error(err)
					}
					d.once(t, jobs)
					if n := d.late.Load(); n < 20 {
						t.Errorf("%d commits came late", n)
					}
				})
			})
		}
	}
}
