package wall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"qsim/conform/common"
)

// TestRiver checks River's behaviour on PostgreSQL that SQLite cannot show: NOTIFY across processes, and the order of
// rows.
func TestRiver(t *testing.T) {
	if !common.Long() {
		t.Skip("it waits on the wall clock: with -long")
	}
	t.Parallel()
	onPostgres(t, "river_first") // which starts the server, or tells that there is none
	onRivers.Hold(t)
}

type arguments struct{ ID string }

// Kind implements river.JobArgs.
func (arguments) Kind() string { return "job" }

type worker struct {
	river.WorkerDefaults[arguments]
	run  *common.Run
	node string
}

// Work implements river.Worker.
func (w *worker) Work(_ context.Context, j *river.Job[arguments]) error {
	takes, fails := w.run.Begin(j.Args.ID, j.Attempt, w.node)
	time.Sleep(takes)
	w.run.Log(common.Event{Kind: common.Ended, Job: j.Args.ID, Number: j.Attempt, Node: w.node, OK: !fails})
	if fails {
		return errors.New("down")
	}
	return nil
}

// runRiver runs a case with River: a client for each node, and one that only inserts, with separate connections.
func runRiver(t *testing.T, r *common.Run) {
	ctx := context.WithoutCancel(t.Context())
	address := onPostgres(t, fmt.Sprintf("river_%s_%d", r.Name, r.Seed))
	connect := func() *riverpgxv5.Driver {
		pool, err := pgxpool.New(ctx, dsn(address))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		return riverpgxv5.New(pool)
	}
	quiet := slog.New(slog.DiscardHandler)
	inserts := connect()
	migrator, err := rivermigrate.New(inserts, &rivermigrate.Config{Logger: quiet})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	inserter, err := river.NewClient(inserts, &river.Config{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	var stopped sync.WaitGroup
	operated := make(chan struct{})
	go func() {
		defer close(operated)
		r.Operate(func(node string) func() {
			workers := river.NewWorkers()
			river.AddWorker(workers, &worker{run: r, node: node})
			c, err := river.NewClient(connect(), &river.Config{ID: node, Logger: quiet, Workers: workers,
				Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: r.Workers}}})
			if err == nil {
				err = c.Start(ctx)
			}
			if err != nil {
				t.Error(err)
				return nil
			}
			stopped.Go(func() {
				<-r.Over
				_ = c.StopAndCancel(ctx)
			})
			return nil
		})
	}()
	err = r.Drive(func(j common.Job) error {
		_, err := inserter.Insert(ctx, arguments{j.ID}, nil)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	close(r.Over)
	<-operated
	stopped.Wait()
}

// onRivers is the comparison with River on PostgreSQL: its cases and rules.
var onRivers = &common.System{Preset: "river", Module: "github.com/riverqueue/river", Clock: common.Wall, Run: runRiver,
	Cases: []*common.Case{with(sparse, func(c *common.Case) { c.Nodes = 2 }), &steady,
		with(order, func(c *common.Case) {
			c.Classes = append(c.Classes[:2:2], common.Class{Name: "young", At: common.Burst(5, 12*second), Service: 1130 * ms})
		})},
	Rules: []common.Rule{
		called("an insert wakes other processes, by NOTIFY", woken("engine.fetch.wake=false")),
		called("waits at a load of 60 % on PostgreSQL", loaded()),
		{Name: "a due retry stands by its due time among PostgreSQL's rows", Keys: []string{"engine.place", "engine.fetch", "engine.commit", "engine.phase"}, Case: "order", Fault: "engine.place=head",
			Parts: []common.Part{{Name: "share behind those enqueued before it was due", Value: common.Last("first", "fresh"), Least: .01},
				{Name: "share behind those enqueued after", Value: common.Last("first", "young"), Least: .01}}},
	}}
