package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/history"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/policies"
)

// asWorker is the environment variable with the settings of a worker, which makes this binary one.
const asWorker = "HISTORY_TEST_WORKER"

// TestMain lets this binary be a worker.
func TestMain(m *testing.M) {
	if text := os.Getenv(asWorker); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const schema = "storm"

// leaseTTL and the constants below are the times of the engines: short, so that many events happen.
const (
	leaseTTL    = 900 * time.Millisecond
	callTimeout = 500 * time.Millisecond
)

// workerSettings are the settings passed to a worker process.
type workerSettings struct {
	DSN     string
	Node    int32
	History string // file
	Fence   engine.Fence
	Whole   bool
	Patient bool // its leases and calls may take 20 times as long
	Seed    uint64
}

// wallClock reads the clock of a server on the same machine: both read CLOCK_REALTIME.
func wallClock() engine.Time { return engine.Time(time.Now().UnixNano()) }

// recorded is a store that records its calls and has the methods of pgstore.
type recorded struct {
	*history.Recorder
	live.Registry
	live.Announcer
}

// storeOptions returns the options of the store: a whole one has a promoter, and keeps the dead.
func storeOptions(f engine.Fence, whole bool) engine.StoreOptions {
	return engine.StoreOptions{Fence: f, LapseAfter: -1, Promoted: whole, KeepDead: whole}
}

// engineConfig returns the configuration of an engine with leases of ttl and the timeout for its calls to the store: it
// claims ahead and in batches by default. A whole one has small batches, extends all its leases at once, promotes, leaves
// both this and recoveries to a leader, and gives jobs up.
func engineConfig(ttl, timeout time.Duration, whole bool) engine.Config {
	retry := &policies.Backoff{Kind: policies.Fixed, First: 60 * time.Millisecond}
	if whole {
		retry.MaxAttempts = 2
	}
	c := live.Defaults(12, retry)
	c.Lease = engine.LeaseConfig{TTL: ttl, Heartbeat: ttl / 3, OfNode: whole}
	c.Reaper.Every = 150 * time.Millisecond
	c.Commit.Timeout, c.CallTimeout = timeout, timeout
	if whole {
		c.Fetch.Batch, c.Commit.Batch = 16, 16
		c.Reaper.LeaderOnly = true
		c.Promoter = engine.PromoterConfig{Every: 50 * time.Millisecond, Batch: 100, LeaderOnly: true}
		c.Leader.TTL, c.Leader.Renew = ttl, ttl/3
	}
	return c
}

// work is a worker process, which runs until SIGTERM, or until its parent is gone.
func work(text string) error {
	var s workerSettings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	file, err := os.OpenFile(s.History, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var store *pgstore.Store
	if err := patiently(ctx, func() (err error) {
		store, err = pgstore.Open(ctx, s.DSN, pgstore.Options{Schema: schema, Store: storeOptions(s.Fence, s.Whole), Connections: 4})
		return err
	}); err != nil {
		return ignoreEnd(ctx, err)
	}
	defer store.Close()
	var generation uint32
	if err := patiently(ctx, func() (err error) {
		generation, err = store.NextLife(ctx, s.Node)
		return err
	}); err != nil {
		return ignoreEnd(ctx, err)
	}
	times := time.Duration(1)
	if s.Patient {
		times = 20
	}
	return live.Run(ctx, live.Config{
		Engine: engineConfig(times*leaseTTL, times*callTimeout, s.Whole), FirstNode: s.Node,
		// One more than NextLife says: 0 would have it asked again.
		Generation: generation + 1,
		Store:      recorded{history.Record(store, file, wallClock), store, store},
		Handler:    func(ctx context.Context, j *engine.Job) error { return handle(ctx, j, s.Seed) },
		OnFailure:  func(*engine.Job, engine.ErrorKind, error) {},
		Logger:     slog.New(slog.DiscardHandler),
		StopWithin: times * 2 * time.Second,
	})
}

var errWork = errors.New("failed by design")

// handle is the handler of all jobs: its run time depends on the job, the delivery and the seed, some run for longer
// than a lease, and some fail.
func handle(ctx context.Context, j *engine.Job, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, uint64(j.ID)<<16|uint64(j.Delivery)))
	runs := time.Duration(random.ExpFloat64() * float64(40*time.Millisecond))
	p := random.Float64()
	if p < 0.01 {
		runs = leaseTTL + leaseTTL/2
	}
	pause(ctx, runs)
	if p > 0.95 {
		return errWork
	}
	return ctx.Err()
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// patiently repeats a call until the server answers.
func patiently(ctx context.Context, call func() error) error {
	for {
		err := call()
		if err == nil || !errors.Is(err, engine.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// ignoreEnd drops the error of a call that a stop has cancelled.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// worker is a worker process started by the test.
type worker struct {
	mu      sync.Mutex // guards all changes of the worker
	command *exec.Cmd
	history string // the file it notes its calls in, made once it listens to signals
}

// startWorker starts a worker process. It ends when the test does, however that ends.
func startWorker(t *testing.T, s workerSettings) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), asWorker+"="+string(text), "GORACE=atexit_sleep_ms=0")
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}
