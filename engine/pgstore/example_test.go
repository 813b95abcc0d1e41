package pgstore_test

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

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

func deliver(context.Context, []byte) error { return nil }
