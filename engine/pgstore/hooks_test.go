package pgstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/live/metrics"
	"qsim/policies"
)

// written is a writer for a log that a test reads while engines write to it.
type written struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.Write(b)
}

// await waits until the log contains a text, and returns all of it.
func (w *written) await(t *testing.T, ctx context.Context, text string) string {
	t.Helper()
	for {
		w.mutex.Lock()
		all := w.text.String()
		w.mutex.Unlock()
		if strings.Contains(all, text) {
			return all
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%q was not logged:\n%s", text, all)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestHooksMetricsAndStop runs three jobs under a hook, a log and metrics: one is done, one fails for good, and one runs
// when the engine is stopped, which names it and waits for it.
func TestHooksMetricsAndStop(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true}), bounded(t)
	running, stop := context.WithCancel(ctx)
	defer stop()
	var log written
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var mutex sync.Mutex
	var hooked []engine.JobID
	hook := func(next live.Handler) live.Handler {
		return func(ctx context.Context, j *engine.Job) error {
			mutex.Lock()
			hooked = append(hooked, j.ID)
			mutex.Unlock()
			return next(ctx, j)
		}
	}
	last := make(chan struct{})
	handler := live.Handler(func(ctx context.Context, j *engine.Job) error {
		switch j.ID {
		case 2:
			return errors.New("no such customer")
		case 3:
			<-last
		}
		return nil
	})
	m := metrics.New(s, metrics.Options{Workers: 3})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	c := live.Config{Engine: live.Defaults(3, &policies.Backoff{Kind: policies.Fixed, First: time.Second, MaxAttempts: 1}), Store: s,
		Handler: handler.With(hook, live.Logged(logger)), Recorder: m.Recorder, OnCall: m.OnCall, Logger: logger, StopWithin: time.Hour,
		OnFailure: func(*engine.Job, engine.ErrorKind, error) {}}
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1}, {ID: 2}, {ID: 3}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- live.Run(running, c) }()
	log.await(t, ctx, `level=INFO msg="job done" job=1 kind=0 delivery=1`)
	log.await(t, ctx, `level=WARN msg="job failed" job=2 kind=0 delivery=1`)
	stop()
	said := log.await(t, ctx, "stopping: waiting for executions")
	if !strings.Contains(said, "executions=1 jobs=[3]") || strings.Contains(said, `"job done" job=3`) {
		t.Errorf("it stops with\n%s", said)
	}
	close(last)
	if err := <-done; err != nil {
		t.Error(err)
	}
	log.await(t, ctx, `level=INFO msg="job done" job=3`)
	if slices.Sort(hooked); !slices.Equal(hooked, []engine.JobID{1, 2, 3}) {
		t.Errorf("the hook was called for %v", hooked)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, x := range f.GetMetric() {
			got[f.GetName()] += x.GetCounter().GetValue() + x.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{"qsim_executions_total": 3, "qsim_claims_total": 3, "qsim_deaths_total": 1, "qsim_dead": 1,
		"qsim_in_flight": 0, "qsim_running": 0, "qsim_workers": 3} {
		if v, exported := got[name]; !exported || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}
