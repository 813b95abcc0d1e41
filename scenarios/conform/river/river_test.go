// Package river compares the preset river with River on SQLite. SQLite has no notifications, so that only the process
// that inserts a job is woken by it: the effect of NOTIFY across processes is not checked here.
package river

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite"

	"qsim/conform/common"
)

func TestRiver(t *testing.T) {
	if !common.Long() {
		t.Skip("River takes minutes: with -long")
	}
	system.Hold(t)
}

var system = common.System{Preset: "river", Module: "github.com/riverqueue/river", Clock: common.Virtual, Run: run, Cases: cases, Rules: rules}

// clock is the virtual time of the bubble as an SQL function for River: SQLite's own is the machine's.
type clock struct{}

func (clock) NowUTC() time.Time       { return time.Now().UTC() }
func (clock) NowUTCOrNil() *time.Time { now := time.Now().UTC(); return &now }

type arguments struct{ ID string }

// Kind implements river.JobArgs.
func (arguments) Kind() string { return "job" }

// options holds insert options of job classes, by name; others have River's defaults.
var options = map[string]*river.InsertOpts{"thrice": {MaxAttempts: 3}, "urgent": {Priority: 1}, "low": {Priority: 4}}

// worker is a River worker that runs the jobs of a case.
type worker struct {
	river.WorkerDefaults[arguments]
	run  *common.Run
	node string
	dead atomic.Bool
}

// Work implements river.Worker. It heeds no cancellation.
func (w *worker) Work(_ context.Context, j *river.Job[arguments]) error {
	if w.dead.Load() {
		<-w.run.Over
		return nil
	}
	takes, fails := w.run.Begin(j.Args.ID, j.Attempt, w.node)
	time.Sleep(takes)
	if w.dead.Load() {
		<-w.run.Over
		return nil
	}
	w.run.Log(common.Event{Kind: common.Ended, Job: j.Args.ID, Number: j.Attempt, Node: w.node, OK: !fails})
	if !fails {
		return nil
	}
	if j.Attempt >= j.MaxAttempts {
		w.run.Log(common.Event{Kind: common.Died, Job: j.Args.ID})
	}
	return errors.New("down")
}

// policy is River's own retry policy, which also logs its decisions.
type policy struct {
	river.DefaultClientRetryPolicy
	run *common.Run
}

// NextRetry implements river.ClientRetryPolicy.
func (p *policy) NextRetry(j *rivertype.JobRow) time.Time {
	at := p.DefaultClientRetryPolicy.NextRetry(j)
	var of arguments
	if err := json.Unmarshal(j.EncodedArgs, &of); err != nil {
		panic(err)
	}
	p.run.Log(common.Event{Kind: common.Delayed, Job: of.ID, Number: j.Attempt, Delay: time.Until(at).Seconds()})
	return at
}

// run runs a case with River and logs events in r. The process that started last inserts the jobs, which wake it; or,
// in a scenario without wakes, one that has no workers.
func run(t *testing.T, r *common.Run) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "river.db")
	open := func() *sql.DB {
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(5000)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		return db
	}
	db := open()
	migrator, err := rivermigrate.New(riversqlite.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	client := func(db *sql.DB, id string, w *worker) *river.Client[*sql.Tx] {
		config := &river.Config{ID: id, Logger: slog.New(slog.DiscardHandler), Test: river.TestConfig{Time: clock{}}, RetryPolicy: &policy{run: r}}
		if w != nil {
			config.Workers, config.Queues = river.NewWorkers(), map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: r.Workers}}
			river.AddWorker(config.Workers, w)
		}
		c, err := river.NewClient(riversqlite.New(db), config)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	alone := strings.Contains(strings.Join(r.Set, " "), "fetch.wake=false")
	var inserter atomic.Pointer[river.Client[*sql.Tx]]
	if alone {
		inserter.Store(client(db, "inserter", nil))
	}
	processes := 0
	go r.Operate(func(node string) func() {
		w, own := &worker{run: r, node: node}, open()
		processes++
		c := client(own, fmt.Sprintf("%s-%d", node, processes), w)
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
		ended.Go(func() {
			<-r.Over
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			_ = c.StopAndCancel(stop) // that of a process that died fails: its database is closed
			own.Close()
		})
		if !alone {
			inserter.Store(c)
		}
		return func() { w.dead.Store(true); own.Close() }
	})
	synctest.Wait() // the first processes have started
	err = r.Drive(func(j common.Job) error {
		_, err := inserter.Load().Insert(ctx, arguments{j.ID}, options[j.Class])
		return err
	})
	if err != nil {
		t.Error(err)
	}
	close(r.Over)
	ended.Wait()
	time.Sleep(5 * time.Minute) // handlers that heed nothing end
	db.Close()
}
