package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/policies"
)

// A worker: ten handlers at once over a store in memory, failed jobs again after 50 ms,
// 100 ms, 200 ms..., at most five times.
func Example() {
	ctx, stop := context.WithCancel(context.Background()) // a service: signal.NotifyContext
	store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
	if err := store.Enqueue(ctx, []engine.NewJob{{ID: 1, Payload: []byte("world")}}); err != nil {
		fmt.Println(err)
	}
	retry := &policies.Backoff{Kind: policies.Exponential, First: 50 * time.Millisecond, Factor: 2, MaxAttempts: 5}
	err := live.Run(ctx, live.Config{
		Engine: live.Defaults(10, retry),
		Store:  store,
		Handler: func(ctx context.Context, j *engine.Job) error {
			if j.Delivery == 1 {
				return fmt.Errorf("the first attempt fails")
			}
			fmt.Printf("hello, %s: delivery %d\n", j.Payload, j.Delivery)
			stop()
			return nil
		},
		StopWithin: 30 * time.Second,
	})
	fmt.Println("stopped:", err, "left:", store.Live())
	// Output:
	// hello, world: delivery 2
	// stopped: <nil> left: 0
}

// A handler in two hooks: one that logs, and one of the program's own, which counts.
func ExampleHandler_With() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{} // they differ from run to run
		}
		return a
	}}))
	calls := 0
	counted := func(next live.Handler) live.Handler {
		return func(ctx context.Context, j *engine.Job) error {
			calls++
			return next(ctx, j)
		}
	}
	greet := live.Handler(func(_ context.Context, j *engine.Job) error {
		fmt.Printf("hello, %s\n", j.Payload)
		return nil
	})
	handler := greet.With(live.Logged(plain), counted) // for Config.Handler
	_ = handler(context.Background(), &engine.Job{ID: 7, Delivery: 1, Payload: []byte("world")})
	fmt.Println("calls:", calls)
	// Output:
	// hello, world
	// level=INFO msg="job done" job=7 kind=0 delivery=1
	// calls: 1
}
