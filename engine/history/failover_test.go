package history_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine/pgstore/pgserver"
)

const (
	failover    faultKind = "failover to the replica"
	cutFailover faultKind = "failover to a replica that was cut off"
)

// TestFailover has workers, killed and frozen as well, work off a queue of a server that answers no commit before its
// replica has it, while the server crashes and the replica takes over, again and again; also after a while in which the
// replica was cut off and commits waited for it in vain. Nothing is lost or done twice.
func TestFailover(t *testing.T) {
	t.Parallel()
	_, r := weather(t, plan{seed: *stormSeed, paired: true, lasts: *stormFor,
		faults: []faultKind{failover, cutFailover, killWorker, stopWorker}, often: []faultKind{cutFailover}})
	for i, a := range r.Anomalies {
		t.Errorf("job %d: %v: %s", a.Job, a.Kind, a.Text)
		if i < 3 {
			t.Log(r.Story(a.Job))
		}
	}
}

// dsn returns the connection string of all servers.
func (s *storm) dsn() string {
	if s.replica == nil {
		return s.server.DSN()
	}
	host, other := strings.Fields(s.server.DSN())[0], strings.Fields(s.replica.DSN())[0]
	return strings.Replace(s.server.DSN(), host, host+","+strings.TrimPrefix(other, "host="), 1)
}

// replicate starts a replica of the server, in place of a server that is halted.
func (s *storm) replicate(ctx context.Context, halted *pgserver.Server) {
	programs, err := pgserver.Find()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(halted.Data()); err != nil {
		s.t.Fatal(err)
	}
	for _, command := range [][]string{
		{filepath.Join(programs, "pg_basebackup"), "-d", s.server.DSN(), "-D", halted.Data(), "-R", "-c", "fast", "--no-sync"},
		{"chown", "-R", "--reference=" + filepath.Dir(halted.Data()), halted.Data()}, // the folder is the server user's
	} {
		if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %v: %s", command, err, said)
		}
	}
	if err := halted.Resume(ctx); err != nil {
		s.t.Fatal(err)
	}
	s.replica = halted
	s.awaitAnswer(ctx, s.server, "select count(*) from pg_stat_replication where state = 'streaming'")
}

// awaitAnswer asks a server until its answer is not 0.
func (s *storm) awaitAnswer(ctx context.Context, server *pgserver.Server, sql string) {
	for n := 0; n == 0 && ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		if conn, err := pgx.Connect(ctx, server.DSN()); err == nil {
			_ = conn.QueryRow(ctx, sql).Scan(&n)
			_ = conn.Close(ctx)
		}
	}
}

// failOver crashes the server, has its replica take over, and makes the server that one's replica. With cut, the
// replica has not followed for a while.
func (s *storm) failOver(ctx context.Context, cut bool) {
	if cut {
		s.replica.Halt(true)
		pause(ctx, s.between(300*time.Millisecond, 2500*time.Millisecond))
	}
	s.server.Halt(true)
	if err := s.replica.Resume(ctx); err != nil {
		s.t.Fatal(err)
	}
	// A query that waited for the promotion might hold up the recovery before it, by its snapshot, for 30 s.
	s.awaitAnswer(ctx, s.replica, "select case when pg_is_in_recovery() then pg_promote(false)::int * 0 else 1 end")
	crashed := s.server
	s.server = s.replica
	s.replicate(ctx, crashed)
}
