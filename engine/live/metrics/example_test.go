package metrics_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/live/metrics"
	"qsim/engine/memstore"
	"qsim/policies"
)

// A worker that counts for Prometheus, with a handler that takes longer than the program wants to live: the stop logs
// what it waits for.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1}) // or pgstore
	m := metrics.New(store, metrics.Options{Workers: 10})
	registry := prometheus.NewRegistry() // a service: prometheus.DefaultRegisterer, and promhttp.Handler
	registry.MustRegister(m)
	stopping := make(chan struct{})
	logged := sync.OnceFunc(func() { close(stopping) })
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.MessageKey:
			logged()
		case slog.TimeKey, "longest", "claims", "cancel-in": // which differ from run to run
			return slog.Attr{}
		}
		return a
	}}))
	if err := store.Enqueue(ctx, []engine.NewJob{{ID: 7}}); err != nil {
		fmt.Println(err)
	}
	err := live.Run(ctx, live.Config{
		Engine: live.Defaults(10, &policies.Backoff{Kind: policies.Fixed, First: time.Second, MaxAttempts: 5}),
		Store:  store,
		Handler: func(context.Context, *engine.Job) error {
			stop()
			<-stopping
			return nil
		},
		Recorder: m.Recorder, OnCall: m.OnCall, Logger: log, StopWithin: 30 * time.Second,
	})
	families, _ := registry.Gather()
	for _, f := range families {
		if f.GetName() == "qsim_claims_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue(), err)
		}
	}
	// Output:
	// level=INFO msg="live: stopping: waiting for executions, outcomes to be stored, and answers to claims" node=0 executions=1 jobs=[7] outcomes=0
	// qsim_claims_total 1 <nil>
}
