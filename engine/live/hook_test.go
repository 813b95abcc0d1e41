package live_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/policies"
)

// TestHooks puts two hooks around a handler, which see each execution from outside in, and one that logs how
// each ended.
func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		hook := func(name string) live.Hook {
			return func(next live.Handler) live.Handler {
				return func(ctx context.Context, j *engine.Job) error {
					order = append(order, name)
					return next(ctx, j)
				}
			}
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		handler := live.Handler(func(ctx context.Context, j *engine.Job) error {
			time.Sleep(30 * time.Millisecond)
			switch j.ID {
			case 2:
				return errors.New("no such customer")
			case 3:
				panic("bug")
			case 4:
				<-ctx.Done()
			}
			return nil
		})
		store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
		c := live.Config{Engine: settings(1), Store: store, Handler: handler.With(hook("outer"), hook("inner"), live.Logged(logger)),
			OnFailure: func(*engine.Job, engine.ErrorKind, error) {}}
		c.Engine.Kinds = []engine.KindConfig{{Retry: &policies.Backoff{Kind: policies.Fixed, First: time.Second, MaxAttempts: 1}, Timeout: time.Second}}
		if err := store.Enqueue(t.Context(), []engine.NewJob{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := live.Run(ctx, c); err != nil {
			t.Error(err)
		}
		if !slices.Equal(order, slices.Repeat([]string{"outer", "inner"}, 4)) {
			t.Errorf("called %v", order)
		}
		for _, want := range []string{
			`level=DEBUG msg="job started" job=1 kind=0 delivery=1`,
			`level=INFO msg="job done" job=1 kind=0 delivery=1 took=30ms`,
			`level=WARN msg="job failed" job=2 kind=0 delivery=1 took=30ms error="no such customer" cause=<nil>`,
			`level=ERROR msg="job panicked" job=3 kind=0 delivery=1 took=30ms`,
			`level=WARN msg="job failed" job=4 kind=0 delivery=1 took=1s error=<nil> cause="live: execution timed out`,
		} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("%s is not there once:\n%s", want, log.String())
			}
		}
	})
}

// TestQuietStop stops engines without work: nothing is logged.
func TestQuietStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(engine.StoreOptions{})
		s := start(t, w, live.Config{Engine: settings(2), Logger: slog.New(slog.NewTextHandler(&log, nil)), Handler: none})
		w.enqueue(t, 1, 10)
		time.Sleep(1050 * time.Millisecond) // no poll is just then
		if err := s.end(); err != nil || log.Len() != 0 {
			t.Errorf("%v, and the log has\n%s", err, log.String())
		}
	})
}

// TestReportOfMany stops while twelve handlers run that ignore cancellation: the log names ten of their jobs, first
// with the time of their cancellation, later with the time at which they are abandoned.
func TestReportOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 12)
		s := start(t, w, live.Config{Engine: settings(12), Logger: slog.New(slog.NewTextHandler(&log, nil)), StopWithin: 1500 * time.Millisecond, CancelWithin: 10 * time.Second,
			Handler: func(context.Context, *engine.Job) error {
				time.Sleep(5 * time.Second)
				return nil
			}})
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			`executions=12 jobs="[1 2 3 4 5 6 7 8 9 10]" longest=1s outcomes=0 claims=0 cancel-in=1.5s`,
			`executions=12 jobs="[1 2 3 4 5 6 7 8 9 10]" longest=2s outcomes=0 claims=0 cancel-in=500ms`,
			`executions=12 jobs="[1 2 3 4 5 6 7 8 9 10]" longest=3s outcomes=0 claims=0 abandon-in=9.5s`,
			`executions=12 jobs="[1 2 3 4 5 6 7 8 9 10]" longest=4s outcomes=0 claims=0 abandon-in=8.5s`,
		} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("%s is not there once:\n%s", want, log.String())
			}
		}
	})
}

// TestStopReport stops while two handlers run, one of which ignores cancellation for 2.5 s: until it has returned,
// the log names it each second.
func TestStopReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
		c := live.Config{Engine: settings(2), Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil)), StopWithin: 90 * time.Second,
			Handler: func(ctx context.Context, j *engine.Job) error {
				time.Sleep(time.Duration(j.ID) * 500 * time.Millisecond)
				return nil
			}}
		if err := store.Enqueue(t.Context(), []engine.NewJob{{ID: 2}, {ID: 7}}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 750*time.Millisecond)
		defer stop()
		if err := live.Run(ctx, c); err != nil {
			t.Error(err)
		}
		for _, want := range []string{
			`node=0 executions=2 jobs="[2 7]" longest=750ms outcomes=0 claims=0 cancel-in=1m30s`,
			`node=0 executions=1 jobs=[7] longest=1.75s outcomes=0 claims=0 cancel-in=1m29s`,
			`node=0 executions=1 jobs=[7] longest=2.75s outcomes=0 claims=0 cancel-in=1m28s`,
		} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("%s is not there once:\n%s", want, log.String())
			}
		}
		if n := strings.Count(log.String(), "stopping"); n != 3 {
			t.Errorf("%d lines:\n%s", n, log.String())
		}
	})
}
