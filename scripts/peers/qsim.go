package main

import (
	"context"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/engine/quantity"
	"qsim/policies"
)

// qsim is the queue engine of this repository, as a system to compare: on PostgreSQL, with live.Defaults.
type qsim struct {
	store            *pgstore.Store
	engines, workers int
	policy           func(int32) engine.Policy
}

func openQsim(engines, workers int, policy string) func(context.Context, *servers) (queue, error) {
	return func(ctx context.Context, s *servers) (queue, error) {
		store, err := pgstore.Open(ctx, s.dsn(), pgstore.Options{Schema: s.schema("qsim")})
		if err != nil {
			return nil, err
		}
		q := &qsim{store, engines, workers, nil}
		if policy == "weighted" {
			q.policy = func(int32) engine.Policy { return &policies.Weighted{Fresh: quantity.Fraction(2, 3)} }
		}
		return q, nil
	}
}

func (q *qsim) enqueue(ctx context.Context, from, to int64) error {
	jobs := make([]engine.NewJob, to-from)
	for i := range jobs {
		jobs[i].ID = engine.JobID(from + int64(i))
	}
	return q.store.Enqueue(ctx, jobs)
}

func (q *qsim) work(ctx context.Context, done func(job int64)) error {
	retry := &policies.Backoff{Kind: policies.Exponential, First: time.Second, Factor: 2, MaxAttempts: 5}
	return live.Run(ctx, live.Config{Engine: live.Defaults(q.workers, retry), Engines: q.engines, Store: q.store,
		Policy:  q.policy,
		Handler: func(context.Context, *engine.Job) error { return nil },
		OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
			for i := range r.Results {
				if r.Results[i].Status == engine.Applied {
					done(int64(c.Batch.Outcomes[i].Job))
				}
			}
		}})
}

func (q *qsim) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	defer q.store.Close()
	return q.store.Drop(ctx)
}
