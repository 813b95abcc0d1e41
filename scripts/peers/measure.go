package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	fillBatch = 1000 // jobs of one enqueue of a backlog
	feeders   = 4    // goroutines that enqueue due jobs
	feedBatch = 200
	patience  = time.Minute // longest time for the last jobs to be done
)

// trial is one measurement of a queue: it records when each of a number of jobs is done.
type trial struct {
	queue  queue
	base   int64          // the number of the first job
	ends   []atomic.Int64 // end of each job in ns since began; 0: not done
	began  time.Time      // when the system's workers were started
	left   atomic.Int64
	latest atomic.Int64
	over   chan struct{} // closed when all are done
}

func newTrial(q queue, base int64, jobs int) *trial {
	r := &trial{queue: q, base: base, ends: make([]atomic.Int64, jobs), over: make(chan struct{})}
	r.left.Store(int64(jobs))
	return r
}

func (r *trial) done(job int64) {
	at := int64(time.Since(r.began))
	if !r.ends[job-r.base].CompareAndSwap(0, at) {
		return // once more
	}
	if r.left.Add(-1) == 0 {
		r.latest.Store(at)
		close(r.over)
	}
}

// work runs the queue's workers until all jobs are done, or patience ends; feed, if not nil, enqueues them meanwhile.
func (r *trial) work(ctx context.Context, feed func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	r.began = time.Now() // before the system starts, whose start-up counts for every system alike
	group.Go(func() {
		if err := r.queue.work(ctx, r.done); err != nil {
			cancel(err)
		}
	})
	if feed != nil {
		if err := feed(ctx); err != nil {
			cancel(err)
		}
	}
	var err error
	select {
	case <-r.over:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(patience):
		err = fmt.Errorf("%d jobs are not done after %v", r.left.Load(), patience)
	}
	cancel(nil)
	group.Wait()
	return err
}

// measure measures one system, with a backlog and then with jobs that arrive at each rate, and adds the results to res.
func measure(ctx context.Context, o *options, s system, servers *servers, res *results) (err error) {
	q, err := s.open(ctx, servers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	jobs := o.jobs
	if s.slow {
		jobs /= 10
	}
	if err := servers.settle(ctx); err != nil {
		return err
	}
	wal, err := servers.wal(ctx)
	if err != nil {
		return err
	}
	client, server := servers.cpu(s.redis)
	began := time.Now()
	for from := 0; from < jobs; from += fillBatch {
		if err := q.enqueue(ctx, int64(1+from), int64(1+min(jobs, from+fillBatch))); err != nil {
			return err
		}
	}
	filled := time.Since(began)
	if err := servers.settle(ctx); err != nil {
		return err
	}
	r := newTrial(q, 1, jobs)
	if err := r.work(ctx, nil); err != nil {
		return err
	}
	written, err := servers.wal(ctx)
	if err != nil {
		return err
	}
	per := float64(jobs) / 100_000
	c, v := servers.cpu(s.redis)
	res.add(s, "backlog", "jobs/s", float64(jobs)/time.Duration(r.latest.Load()).Seconds())
	res.add(s, "backlog", "enqueue/s", float64(jobs)/filled.Seconds())
	res.add(s, "backlog", "client-CPU-s/100k", (c-client)/per)
	res.add(s, "backlog", "server-CPU-s/100k", (v-server)/per)
	if !s.redis {
		res.add(s, "backlog", "WAL-B/job", float64(written-wal)/float64(jobs))
	}
	base := int64(1 + jobs)
	for _, rate := range o.rates {
		if s.slow {
			continue // it would only show the length of its queue
		}
		n, err := openLoop(ctx, o, s, q, servers, rate, base, res)
		if err != nil {
			return fmt.Errorf("%d jobs/s: %w", rate, err)
		}
		base += int64(n)
	}
	return nil
}

// openLoop measures a queue while jobs arrive at random times with a mean rate, whether or not it keeps up. base is the
// number of the first job; the result is how many arrived.
func openLoop(ctx context.Context, o *options, s system, q queue, servers *servers, rate int, base int64,
	res *results) (jobs int, err error) {
	random := rand.New(rand.NewPCG(uint64(rate), 1)) // the same for all
	var due []time.Duration
	gap := func() time.Duration { return time.Duration(random.ExpFloat64() * float64(time.Second) / float64(rate)) }
	for at := time.Duration(0); at < o.lasts; at += gap() {
		due = append(due, at)
	}
	r := newTrial(q, base, len(due))
	client, server := servers.cpu(s.redis)
	if err := r.work(ctx, func(ctx context.Context) error { return r.feed(ctx, due) }); err != nil {
		return 0, err
	}
	c, v := servers.cpu(s.redis)
	var took []float64
	for i := range due {
		if due[i] >= o.lasts/10 {
			took = append(took, time.Duration(r.ends[i].Load()-int64(due[i])).Seconds()*1000)
		}
	}
	slices.Sort(took)
	load := fmt.Sprintf("%d jobs/s", rate)
	res.add(s, load, "p50-ms", took[len(took)/2])
	res.add(s, load, "p99-ms", took[len(took)*99/100])
	per := float64(len(due)) / 100_000
	res.add(s, load, "client-CPU-s/100k", (c-client)/per)
	res.add(s, load, "server-CPU-s/100k", (v-server)/per)
	return len(due), nil
}

// feed enqueues the trial's jobs at their due times (since began) from several goroutines, all that are due in a call.
func (r *trial) feed(ctx context.Context, due []time.Duration) error {
	var turn sync.Mutex // held by the goroutine that waits for the next due job
	next := 0
	take := func() (from, to int) {
		turn.Lock()
		defer turn.Unlock()
		if from = next; from == len(due) {
			return from, from
		}
		time.Sleep(due[from] - time.Since(r.began))
		for now := time.Since(r.began); next < len(due) && next < from+feedBatch && due[next] <= now; {
			next++
		}
		return from, next
	}
	var group sync.WaitGroup
	errs := make([]error, feeders)
	for i := range feeders {
		group.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				from, to := take()
				if from == len(due) {
					return
				}
				if from < to { // timers are early at times
					errs[i] = r.queue.enqueue(ctx, r.base+int64(from), r.base+int64(to))
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
