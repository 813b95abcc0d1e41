package live_test

import (
	"context"
	"fmt"
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
