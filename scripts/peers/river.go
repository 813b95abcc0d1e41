package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverQueue is the system River: by default with a hundred workers, or tuned, with a thousand and short polls.
type riverQueue struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

type noop struct {
	Job int64 `json:"job"`
}

// Kind returns the kind of the jobs that do nothing, which River's interface JobArgs requires.
func (noop) Kind() string { return "noop" }

type noopWorker struct{ river.WorkerDefaults[noop] }

// Work returns at once: it is the handler of the jobs that do nothing, for River's interface Worker.
func (noopWorker) Work(context.Context, *river.Job[noop]) error { return nil }

func openRiver(tuned bool) func(context.Context, *servers) (queue, error) {
	return func(ctx context.Context, s *servers) (queue, error) {
		schema := s.schema("river")
		pool, err := s.pool(ctx, schema)
		if err != nil {
			return nil, err
		}
		driver, logger := riverpgxv5.New(pool), slog.New(slog.DiscardHandler)
		migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: schema, Logger: logger})
		if err != nil {
			return nil, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return nil, err
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, noopWorker{})
		config := &river.Config{Schema: schema, Workers: workers, Logger: logger,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}}}
		if tuned {
			config.Queues[river.QueueDefault] = river.QueueConfig{MaxWorkers: 1000}
			config.FetchCooldown, config.FetchPollInterval = 2*time.Millisecond, 20*time.Millisecond
		}
		client, err := river.NewClient(driver, config)
		return &riverQueue{pool, client}, err
	}
}

func (q *riverQueue) enqueue(ctx context.Context, from, to int64) error {
	var jobs []river.InsertManyParams
	for job := from; job < to; job++ {
		jobs = append(jobs, river.InsertManyParams{Args: noop{job}})
	}
	_, err := q.client.InsertManyFast(ctx, jobs)
	return err
}

func (q *riverQueue) work(ctx context.Context, done func(job int64)) error {
	events, cancel := q.client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 1 << 20,
		Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	for {
		select {
		case e := <-events:
			var args noop
			if err := json.Unmarshal(e.Job.EncodedArgs, &args); err != nil {
				return err
			}
			done(args.Job)
		case <-ctx.Done():
			return q.client.Stop(context.WithoutCancel(ctx))
		}
	}
}

func (q *riverQueue) close() error { q.pool.Close(); return nil }
