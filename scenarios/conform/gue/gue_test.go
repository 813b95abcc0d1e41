// Package gue compares the preset gue with vgarvardt/gue on PostgreSQL. All of gue's times are those of its processes, a
// virtual clock, which stands still during a query: the server's own clock is in none of its statements.
package gue

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/vgarvardt/gue/v5"
	"github.com/vgarvardt/gue/v5/adapter/pgxv5"

	"qsim/conform/common"
	"qsim/engine/pgstore/pgserver"
)

func TestGue(t *testing.T) {
	// A table with statistics is read in another order: at a time of the server's clock, if they were made.
	server, err := pgserver.Start(t.Context(), pgserver.Options{Unsafe: true, Settings: map[string]string{"autovacuum": "off"}})
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip("NOT CHECKED: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", system.Module).Output()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "migrations", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	system.Run = func(t *testing.T, r *common.Run) { run(t, r, server.DSN(), string(schema)) }
	system.Hold(t)
}

var system = common.System{Preset: "gue", Module: "github.com/vgarvardt/gue/v5", Clock: common.Virtual, Cases: cases, Rules: rules}

// process is one simulated process of gue, a pool of workers with its connections to the database, that can be killed.
type process struct {
	run  *common.Run
	node string
	dead atomic.Bool

	others *pgxpool.Pool // connections of a process that lives on
}

// open returns a pool of connections that die with the process: one for each worker, and one more.
func (p *process) open(t *testing.T, dsn string) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = int32(p.run.Workers) + 1
	config.ConnConfig.RuntimeParams["application_name"] = "node " + p.node
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if p.dead.Load() {
			return net.ErrClosed
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// kill ends the connections of the process, as the system does when a process dies, and waits until the server's side
// of them has ended.
func (p *process) kill(t *testing.T) {
	p.dead.Store(true)
	_, err := p.others.Exec(t.Context(), "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = $1", "node "+p.node)
	if err != nil {
		t.Error(err)
	}
}

// client returns a client of gue with the backoff that the case has, or else gue's default.
func client(t *testing.T, r *common.Run, pool *pgxpool.Pool) *gue.Client {
	backoff := gue.DefaultExponentialBackoff
	if slices.Contains(r.Set, "retry.max-attempts=3") {
		backoff = func(n int) time.Duration {
			if n >= 3 {
				return -1
			}
			return gue.DefaultExponentialBackoff(n)
		}
	}
	c, err := gue.NewClient(pgxv5.NewConnPool(pool), gue.WithClientBackoff(backoff))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// priorities holds gue's priorities of job classes, by name; others have gue's default.
var priorities = map[string]gue.JobPriority{"urgent": gue.JobPriorityHigh, "low": gue.JobPriorityLow}

// run runs a case with gue, in a schema of its own, and logs events in r. A process without workers enqueues the jobs.
func run(t *testing.T, r *common.Run, dsn, schema string) {
	ctx, cancel := context.WithCancel(t.Context())
	inserter := (&process{run: r}).open(t, dsn)
	if _, err := inserter.Exec(ctx, "drop table if exists gue_jobs; "+schema); err != nil {
		t.Fatal(err)
	}
	enqueue := client(t, r, inserter)
	var ended sync.WaitGroup
	go r.Operate(func(node string) func() {
		p := &process{run: r, node: node, others: inserter}
		own := p.open(t, dsn)
		workers, err := gue.NewWorkerPool(client(t, r, own), gue.WorkMap{"job": p.work}, r.Workers)
		if err != nil {
			t.Error(err)
		}
		ended.Go(func() {
			if err := workers.Run(ctx); err != nil {
				t.Error(err)
			}
			own.Close()
		})
		return func() { p.kill(t) }
	})
	err := r.Drive(func(j common.Job) error {
		job := &gue.Job{Type: "job", Args: []byte(j.ID), Priority: priorities[j.Class]}
		if delay := r.Class(j.Class).Delay; delay > 0 {
			job.RunAt = time.Now().Add(delay)
		}
		return enqueue.Enqueue(ctx, job)
	})
	if err != nil {
		t.Error(err)
	}
	close(r.Over)
	cancel()
	ended.Wait()
	inserter.Close()
}

// work is the handler of all jobs: it logs, and does what the case says of the attempt.
func (p *process) work(_ context.Context, j *gue.Job) error {
	if p.dead.Load() {
		<-p.run.Over
		return nil
	}
	id, number := string(j.Args), int(j.ErrorCount)+1
	takes, fails := p.run.Begin(id, number, p.node)
	time.Sleep(takes)
	if p.dead.Load() {
		<-p.run.Over
		return nil
	}
	p.run.Log(common.Event{Kind: common.Ended, Job: id, Number: number, Node: p.node, OK: !fails})
	if !fails {
		return nil
	}
	time.AfterFunc(time.Millisecond, func() { p.note(id, number) }) // when gue has seen the failure
	if number%2 == 0 {
		panic("down")
	}
	return errors.New("down")
}

// note logs when a failed job is due again, or, if its row is gone, that gue has discarded it.
func (p *process) note(id string, number int) {
	var due time.Time
	err := p.others.QueryRow(context.Background(), "select run_at from gue_jobs where args = $1", []byte(id)).Scan(&due)
	if errors.Is(err, pgx.ErrNoRows) {
		p.run.Log(common.Event{Kind: common.Died, Job: id})
	} else if err == nil { // otherwise the delay is missing, and its rule has no sample
		p.run.Log(common.Event{Kind: common.Delayed, Job: id, Number: number, Delay: time.Until(due).Seconds()})
	}
}
