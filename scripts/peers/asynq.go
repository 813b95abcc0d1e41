package main

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hibiken/asynq"
)

// asynqQueue is the system Asynq with a hundred workers. It does not report when the end of a job is stored, so done is
// called when the handler ends: measured latencies exclude the ack.
type asynqQueue struct {
	at     asynq.RedisClientOpt
	client *asynq.Client
}

// producers is the number of goroutines by which asynqQueue.enqueue adds jobs, since Asynq takes one job a call.
const producers = 8

func openAsynq(ctx context.Context, s *servers) (queue, error) {
	at := asynq.RedisClientOpt{Network: "unix", Addr: s.redis.socket}
	return &asynqQueue{at, asynq.NewClient(at)}, nil
}

func (q *asynqQueue) enqueue(ctx context.Context, from, to int64) error {
	next := from - 1
	var group sync.WaitGroup
	errs := make([]error, producers)
	for i := range min(producers, int(to-from)) {
		group.Go(func() {
			for job := atomic.AddInt64(&next, 1); job < to && errs[i] == nil; job = atomic.AddInt64(&next, 1) {
				_, errs[i] = q.client.EnqueueContext(ctx, asynq.NewTask("noop", binary.BigEndian.AppendUint64(nil, uint64(job))))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func (q *asynqQueue) work(ctx context.Context, done func(job int64)) error {
	server := asynq.NewServer(q.at, asynq.Config{Concurrency: 100, LogLevel: asynq.FatalLevel})
	if err := server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		done(int64(binary.BigEndian.Uint64(t.Payload())))
		return nil
	})); err != nil {
		return err
	}
	<-ctx.Done()
	server.Shutdown()
	return nil
}

func (q *asynqQueue) close() error { return q.client.Close() }
