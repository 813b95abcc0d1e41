package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/policies"
)

// A worker on PostgreSQL: any number of processes may run it. It is not run as a test, for
// it needs a server.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	store, err := pgstore.Open(ctx, "postgres://worker@db.example.com/work", pgstore.Options{
		Store: engine.StoreOptions{LapseAfter: -1, KeepDead: true},
	})
	if err != nil {
		fmt.Println(err) // errors.Is tells ErrDenied, ErrNewer and engine.ErrUnavailable apart
		return
	}
	defer store.Close()
	err = live.Run(ctx, live.Config{
		Engine: live.Defaults(50, &policies.Backoff{Kind: policies.Exponential, First: time.Second, Factor: 2, MaxAttempts: 10}),
		Store:  store,
		Handler: func(ctx context.Context, j *engine.Job) error {
			return deliver(ctx, j.Payload)
		},
		StopWithin: 30 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
	}
}

// An order and the job that delivers it, in one transaction: either both are there or neither.
func ExampleStore_EnqueueTx() {
	ctx := context.Background()
	var store *pgstore.Store // as above
	order := func(db *pgxpool.Pool, id int64) error {
		announce := func() {}
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) (err error) {
			if _, err = tx.Exec(ctx, "insert into orders (id) values ($1)", id); err != nil {
				return err
			}
			announce, err = store.EnqueueTx(ctx, tx, []engine.NewJob{{ID: engine.JobID(id), Payload: []byte("deliver")}})
			return err
		})
		if err == nil {
			announce() // or engines find the job at their next poll
		}
		return err
	}
	_ = order
}

// A mail that is sent once however often it is enqueued, until it is sent: its kind and key identify it.
func ExampleStore_Enqueue_unique() {
	var store *pgstore.Store // as above
	ask := func(ctx context.Context, id engine.JobID, customer string) error {
		err := store.Enqueue(ctx, []engine.NewJob{{ID: id, Unique: "invoice of " + customer}})
		if errors.Is(err, engine.ErrDuplicate) {
			return nil // it is under way already
		}
		return err
	}
	_ = ask
}

// A report each midnight, from whichever of the processes comes first, and none while the last one is still
// being written.
func ExampleStore_Follow() {
	ctx := context.Background()
	var store *pgstore.Store // as above
	err := store.Follow(ctx, pgstore.Schedule{
		Name: "nightly report",
		Next: pgstore.Every(24 * time.Hour), // or the Next of a cron expression
		Job: func(at time.Time) engine.NewJob {
			return engine.NewJob{ID: engine.JobID(at.Unix()), Unique: "report", Payload: []byte(at.Format(time.DateOnly))}
		},
	})
	if err != nil {
		fmt.Println(err)
	}
}

// A customer takes an order back, whether or not its delivery is under way.
func ExampleStore_Cancel() {
	var store *pgstore.Store // as above
	takeBack := func(ctx context.Context, order int64) (inTime bool, err error) {
		canceled, err := store.Cancel(ctx, []engine.JobID{engine.JobID(order)}, nil)
		return len(canceled) > 0, err
	}
	_ = takeBack
}

func deliver(context.Context, []byte) error { return nil }
