package history_test

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine/pgstore/pgserver"
)

func isMissing(err error) bool { return errors.Is(err, pgserver.ErrMissing) }

// between draws a duration from a range.
func (s *storm) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

// strike injects one random fault. Long faults continue in the background.
func (s *storm) strike(ctx context.Context, kind faultKind) {
	i := s.random.IntN(workers)
	switch kind {
	case killWorker:
		w := &s.workers[i]
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.command.Process.Kill()
		_ = w.command.Wait()
		s.start(i, true)
		s.note(string(kind), 1)
	case drainWorker:
		w := &s.workers[i]
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = s.stop(i)
		s.start(i, true)
		s.note(string(kind), 1)
	case stopWorker:
		s.freeze(ctx, i, kind, s.between(leaseTTL+200*time.Millisecond, 2*leaseTTL))
	case napWorker:
		s.freeze(ctx, i, kind, s.between(50*time.Millisecond, leaseTTL*3/4))
	case restart, crash:
		s.server.Halt(kind == crash)
		pause(ctx, s.between(0, 800*time.Millisecond))
		if err := s.server.Resume(ctx); err != nil {
			s.t.Fatal(err)
		}
		s.note(string(kind), 1)
	case terminate:
		s.cut(ctx)
	case lockTable:
		d := s.between(100*time.Millisecond, 900*time.Millisecond)
		s.busy.Go(func() { s.lock(ctx, d) }) // others strike those who wait for it
	case takeAllSlots:
		s.exhaust(ctx, s.between(200*time.Millisecond, time.Second))
	case failover, cutFailover:
		s.failOver(ctx, kind == cutFailover)
		s.note(string(kind), 1)
	case fullDisk:
		s.fill(ctx, s.between(500*time.Millisecond, 2*time.Second))
	}
}

// freeze stops (SIGSTOP) a worker for a while. Who waits for it meanwhile waits until it goes on.
func (s *storm) freeze(ctx context.Context, i int, kind faultKind, d time.Duration) {
	w := &s.workers[i]
	if !w.mu.TryLock() {
		return // frozen already
	}
	c := w.command
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		w.mu.Unlock()
		s.t.Errorf("stop worker %d: %v", i+1, err)
		return
	}
	s.note(string(kind), 1)
	s.busy.Go(func() {
		defer w.mu.Unlock()
		pause(ctx, d)
		thaw(c)
	})
}

func thaw(c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGCONT) }

// connected runs a function on a separate connection of the test.
func (s *storm) connected(ctx context.Context, do func(conn *pgx.Conn) error) {
	conn, err := pgx.Connect(ctx, s.server.DSN()+" application_name=weather connect_timeout=5")
	if err == nil {
		err = do(conn)
		_ = conn.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		s.note("fault that could not be done", 1)
		s.t.Logf("fault: %v", err)
	}
}

// cut closes about half of the database connections of all workers and of the enqueuer.
func (s *storm) cut(ctx context.Context) {
	s.connected(ctx, func(conn *pgx.Conn) error {
		var n int
		err := conn.QueryRow(ctx, `select count(pg_terminate_backend(pid)) from pg_stat_activity
			where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> 'weather' and random() < 0.5`).Scan(&n)
		s.note(string(terminate), n)
		return err
	})
}

// lock locks the table of jobs for a while: longer than the statement timeouts, and at times longer than calls wait.
func (s *storm) lock(ctx context.Context, d time.Duration) {
	s.connected(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "lock table storm.jobs in access exclusive mode"); err != nil {
				return err
			}
			s.note(string(lockTable), 1)
			pause(ctx, d)
			return nil
		})
	})
}

// exhaust occupies all connections of the server for a while, and ends those of other clients.
func (s *storm) exhaust(ctx context.Context, d time.Duration) {
	var taken []*pgx.Conn
	defer func() {
		for _, conn := range taken {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	grab := func() bool {
		for range 64 {
			conn, err := pgx.Connect(ctx, s.server.DSN()+" application_name=weather connect_timeout=5")
			if err != nil {
				return true
			}
			taken = append(taken, conn)
		}
		return false
	}
	if full := grab(); !full || len(taken) == 0 {
		s.t.Logf("fault: %d connections taken, none refused: %v", len(taken), full)
		return
	}
	if _, err := taken[0].Exec(ctx, `select pg_terminate_backend(pid, 1000) from pg_stat_activity
		where backend_type = 'client backend' and application_name <> 'weather'`); err != nil {
		s.t.Logf("fault: %v", err)
		return
	}
	grab()
	s.note(string(takeAllSlots), 1)
	pause(ctx, d)
}
