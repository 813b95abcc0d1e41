package pgstore

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// wantError checks the sentinel of an error, and that its text contains one text and not another.
func wantError(t *testing.T, err, want error, says string) {
	t.Helper()
	if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v\nwant %v with %q", err, want, says)
	}
	if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n")) {
		t.Errorf("shows a password, or has several lines: %v", err)
	}
}

// TestOpenFails opens stores with all kinds of wrong DSNs.
func TestOpenFails(t *testing.T) {
	needServer(t)
	admin, err := pgx.Connect(t.Context(), server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	rules := filepath.Join(server.Data(), "pg_hba.conf")
	before, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rules, append([]byte("local all stranger scram-sha-256\n"), before...), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx := context.WithoutCancel(t.Context())
		if err := os.WriteFile(rules, before, 0o600); err != nil {
			t.Error(err)
		}
		for _, text := range []string{"drop role stranger", "drop role guest", "select pg_reload_conf()"} {
			if _, err := admin.Exec(ctx, text); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, text := range []string{"create role stranger login password 'hunter2'", "create role guest login", "revoke create on database postgres from public", "select pg_reload_conf()"} {
		if _, err := admin.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	await(t, bounded(t), func() bool { // until the server goes by the new rules
		conn, err := pgx.Connect(t.Context(), strings.Replace(server.DSN(), "user=qsim", "user=stranger", 1))
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	})
	taken := open(t, engine.StoreOptions{})
	as := func(user, more string) string {
		return strings.Replace(server.DSN(), "user=qsim", "user="+user, 1) + " " + more
	}
	for _, tt := range []struct {
		name, dsn, schema string
		want              error
		says              string
	}{
		{"nonsense", "hunter2", "", nil, "want a URL"},
		{"a URL that is none", "postgres://me:hunter2@[::1/x", "", nil, "want a URL"},
		{"a password that breaks the URL", "postgres://me:hun%ter2hunter2@host:port@/x", "", nil, "want a URL"},
		{"keywords that are none", "host='x password=hunter2", "", nil, "want a URL"},
		{"nobody listens", "host=" + filepath.Dir(server.Data()) + " port=1 user=me password=hunter2", "", engine.ErrUnavailable, "user=me"},
		{"no such host", "postgres://me:hunter2@host.invalid:1/x?connect_timeout=2", "", engine.ErrUnavailable, "host.invalid"},
		{"no such database", strings.Replace(server.DSN(), "dbname=postgres", "dbname=nowhere", 1), "", nil, `database "nowhere" does not exist`},
		{"no such user", as("nobody_at_all", "password=hunter2"), "", ErrDenied, "nobody_at_all"},
		{"the wrong password", as("stranger", "password=hunter22"), "", ErrDenied, "password authentication failed"},
		{"a user who may create nothing", as("guest", ""), "", ErrDenied, "create schema qsim"},
		{"another's schema", as("guest", ""), taken.schema, ErrDenied, taken.schema},
		{"a schema's name in capitals", server.DSN(), "Qsim", nil, "lower-case"},
		{"a schema's name with a quote", server.DSN(), `x"; drop schema public; --`, nil, "lower-case"},
		{"a schema's name that is long", server.DSN(), strings.Repeat("x", 64), nil, "at most 63"},
		{"a schema's name in emoji", server.DSN(), "🙂", nil, "lower-case"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Open(t.Context(), tt.dsn, Options{Schema: tt.schema})
			if err == nil {
				s.Close()
			}
			wantError(t, err, tt.want, tt.says)
		})
	}
}

// TestOpenVariables checks that an error of Open names the PG* variables if those are wrong, and each address once.
func TestOpenVariables(t *testing.T) {
	for _, name := range []string{"PGSERVICE", "PGHOSTADDR", "PGDATABASE", "PGSSLMODE"} {
		t.Setenv(name, "") // as if it were not set
	}
	t.Setenv("PGHOST", "127.0.0.1")
	t.Setenv("PGUSER", "me")
	t.Setenv("PGPASSWORD", "hunter2")
	for _, tt := range []struct{ port, says string }{{"port", "PGHOST, PGPORT and the other variables: invalid port"}, {"1", "user=me"}} {
		t.Setenv("PGPORT", tt.port)
		_, err := Open(t.Context(), "", Options{})
		var want error
		if tt.port == "1" {
			want = engine.ErrUnavailable
		}
		wantError(t, err, want, tt.says)
		if err != nil && strings.Count(err.Error(), "dial error") > 1 {
			t.Errorf("one address twice: %v", err)
		}
	}
}

// TestRefusedOptions names each option that a store on PostgreSQL cannot keep.
func TestRefusedOptions(t *testing.T) {
	for name, o := range map[string]engine.StoreOptions{
		"MaxRunning": {MaxRunning: []int{0, 3, 0}}, "MaxInFlight": {MaxInFlight: 1}, "CountAhead": {CountAhead: true},
		"Fence": {Fence: engine.FenceNone + 1}, "Place": {Place: engine.PlaceCreated + 1},
	} {
		_, err := Open(t.Context(), "", Options{Store: o})
		wantError(t, err, engine.ErrUnsupported, name)
	}
	if err := validate(&engine.StoreOptions{MaxRunning: []int{0, 0}, Orphans: true, Held: true, Service: []time.Duration{1},
		Fence: engine.FenceNone, Place: engine.PlaceCreated}); err != nil {
		t.Error(err)
	}
}

// TestNewerSchema opens a schema of a later version of the program: that fails with ErrNewer, and changes nothing.
func TestNewerSchema(t *testing.T) {
	s := open(t, engine.StoreOptions{})
	if _, err := s.pool.Exec(t.Context(), "update version set version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), server.DSN(), Options{Schema: s.schema})
	wantError(t, err, ErrNewer, "version 99")
}

// TestOpenedAtOnce opens a store in several processes at once, none of which finds a schema: one creates it for all.
func TestOpenedAtOnce(t *testing.T) {
	needServer(t)
	schema := newSchema()
	stores := make(chan *Store, 8)
	for range cap(stores) {
		go func() {
			s, err := Open(t.Context(), server.DSN(), Options{Schema: schema})
			if err != nil {
				t.Error(err)
			}
			stores <- s
		}()
	}
	var last *Store
	for i := range cap(stores) {
		s := <-stores
		if s == nil {
			continue
		}
		if last = s; i < cap(stores)-1 {
			s.Close()
		}
	}
	if last != nil {
		if err := last.Drop(t.Context()); err != nil {
			t.Error(err)
		}
		_, err := last.Stats(t.Context(), 0)
		wantError(t, err, nil, "does not exist")
		last.Close()
		err = last.Enqueue(t.Context(), []engine.NewJob{{ID: 1}})
		wantError(t, err, engine.ErrUnavailable, "closed pool")
	}
}

// TestStatementTimeout has a call wait for a table that another session holds.
func TestStatementTimeout(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	hasty, err := Open(t.Context(), server.DSN(), Options{Schema: s.schema, Store: engine.StoreOptions{LapseAfter: -1}, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer hasty.Close()
	// Only now: to open a store may take longer than that on a busy machine.
	if _, err := hasty.pool.Exec(t.Context(), "set statement_timeout = 100"); err != nil {
		t.Fatal(err)
	}
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "lock table jobs in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	_, _, err = hasty.Claim(t.Context(), 1, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Minute, nil)
	wantError(t, err, ErrStatementTimeout, "claim")
	wantError(t, err, engine.ErrUnavailable, "57014")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = s.Enqueue(ctx, []engine.NewJob{{ID: 1}})
	wantError(t, err, engine.ErrUnavailable, "enqueue 1 jobs")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: want the deadline named", err)
	}
}

// TestNoConnectionIsFree has others hold all connections of the pool: the errors of calls say what they waited for.
func TestNoConnectionIsFree(t *testing.T) {
	s := open(t, engine.StoreOptions{})
	for range s.pool.Config().MaxConns {
		conn, err := s.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 1, Terms: []engine.Term{anyTerm(1)}}, time.Minute, nil)
	const want = "claim: engine: store unavailable: no connection in time: context deadline exceeded"
	if err == nil || err.Error() != want || !errors.Is(err, engine.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFullDisk runs a server whose files may not grow beyond 17 MiB.
func TestFullDisk(t *testing.T) {
	needServer(t)
	small, err := pgserver.Start(t.Context(), pgserver.Options{Unsafe: true, MostFile: 17 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := small.Stop(); err != nil {
			t.Error(err)
		}
	}()
	s, err := Open(t.Context(), small.DSN(), Options{Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	payload := make([]byte, 1000)
	added := 0
	for err == nil && added < 40_000 {
		var jobs []engine.NewJob
		for i := range 1000 {
			jobs = append(jobs, engine.NewJob{ID: engine.JobID(added + i + 1), Payload: payload})
		}
		if err = s.Enqueue(t.Context(), jobs); err == nil {
			added += len(jobs)
		}
	}
	wantError(t, err, ErrFull, "enqueue 1000 jobs")
	wantError(t, err, engine.ErrUnavailable, "extend")
	st, err := s.Stats(t.Context(), 0)
	if err != nil || st.Ready[engine.Fresh] != added || added == 0 {
		t.Errorf("%d were added, the store has %+v, %v", added, st, err)
	}
}

// TestNumbers refuses what PostgreSQL's integers cannot hold, and takes what they can.
func TestNumbers(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	err := s.Enqueue(t.Context(), []engine.NewJob{{ID: 1 << 63}})
	wantError(t, err, engine.ErrUnsupported, "9223372036854775808")
	for _, o := range []engine.Outcome{{Verb: engine.Ack, Refused: true}, {Verb: engine.Ack, Guard: engine.FenceNone}, {}, {Verb: 99}} {
		_, err := s.Commit(t.Context(), engine.Batch{ID: engine.BatchID{Seq: 1}, Outcomes: []engine.Outcome{o}}, nil)
		wantError(t, err, engine.ErrUnsupported, "commit job 0")
	}
	if err := s.Enqueue(t.Context(), []engine.NewJob{{ID: 1}, {ID: 2, Delay: engine.Forever}, {ID: 3, Tenant: 1<<32 - 1, Serial: 1<<32 - 1}}); err != nil {
		t.Fatal(err)
	}
	l, next, err := s.Claim(t.Context(), 1<<64-1, engine.Plan{Limit: math.MaxInt, Terms: []engine.Term{anyTerm(math.MaxInt)}}, engine.Forever, nil)
	if err != nil || len(l) != 2 || next < 99*365*24*time.Hour {
		t.Fatalf("%v, next %v, %v", l, next, err)
	}
	r, err := s.Commit(t.Context(), engine.Batch{ID: engine.BatchID{Engine: 1<<64 - 1, Seq: 1}, Outcomes: []engine.Outcome{
		{LeaseKey: l[0].Key(), Verb: engine.Nack, Delay: engine.Forever}, {LeaseKey: l[1].Key(), Verb: engine.Snooze, Delay: -5}}}, nil)
	if err != nil || r[0].Status != engine.Applied || r[1].Status != engine.Applied {
		t.Errorf("%v, %v", r, err)
	}
	if _, _, err := s.Recover(t.Context(), 1<<64-1, -1, engine.Forever, engine.Forever, nil); err != nil {
		t.Error(err)
	}
}

// TestForeignSchema opens schemas that another program made: they are left alone, and the error, which is not
// ErrUnavailable, names what was found.
func TestForeignSchema(t *testing.T) {
	for _, tt := range []struct {
		name string
		sql  []string
		want error
		says string
	}{
		{"version 0", []string{"update version set version = 0"}, ErrForeign, `version "0"`},
		{"version -3", []string{"update version set version = -3"}, ErrForeign, `version "-3"`},
		{"no version", []string{"delete from version"}, ErrForeign, "0 rows"},
		{"two versions", []string{"insert into version values (1)"}, ErrForeign, "2 rows"},
		{"a version that is a word", []string{"drop table version", "create table version (version text)", "insert into version values ('<b>')"}, ErrForeign, "<b>"},
		{"a version that no number holds", []string{"drop table version", "create table version (version text)", "insert into version values ('99999999999999999999')"}, ErrForeign, "never was"},
		{"a version without a number", []string{"drop table version", "create table version (version integer)", "insert into version values (null)"}, ErrForeign, "1 rows"},
		{"another's table of versions", []string{"drop table version", "create table version (name text)"}, ErrForeign, "version"},
		{"another's table of jobs", []string{"drop table version"}, ErrForeign, `"now_ns" already exists`},
		{"a column is missing", []string{"alter table jobs drop column snoozes"}, ErrForeign, `"snoozes" does not exist`},
		{"a column of another table is missing", []string{"alter table leaders drop column until"}, ErrForeign, `"until" does not exist`},
		{"a table is missing", []string{"drop table lives"}, ErrForeign, `"lives" does not exist`},
		{"a function is missing", []string{"drop function now_ns"}, ErrForeign, "now_ns() does not exist"},
		{"a sequence is missing", []string{"drop sequence joined"}, ErrForeign, `"joined" does not exist`},
		{"another's tables alone", []string{"drop table version", "drop function now_ns, batch_ns cascade"}, ErrForeign, `"jobs" already exists`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, engine.StoreOptions{})
			for _, text := range tt.sql {
				if _, err := s.pool.Exec(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			second, err := Open(t.Context(), server.DSN(), Options{Schema: s.schema})
			if err == nil {
				second.Close()
			}
			wantError(t, err, tt.want, tt.says)
			if errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("%v: whoever is told so asks for ever", err)
			}
		})
	}
}

// TestContentsAreComplete wants every column of the schema in the statement by which Open checks that none is missing.
func TestContentsAreComplete(t *testing.T) {
	s := open(t, engine.StoreOptions{})
	rows, err := s.pool.Query(t.Context(), "select table_name || '.' || column_name from information_schema.columns where table_schema = $1 and table_name <> 'version'", s.schema)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(columns) < 30 {
		t.Fatalf("found %d columns, %v", len(columns), err)
	}
	for _, column := range columns {
		table, name, _ := strings.Cut(column, ".")
		if !regexp.MustCompile(`\(select [^)]*\b` + name + `\b[^)]* from ` + table + `\)`).MatchString(contents) {
			t.Errorf("nothing looks for %s", column)
		}
	}
}

// TestReservedSchemas refuses the schemas that are PostgreSQL's own before it connects.
func TestReservedSchemas(t *testing.T) {
	for _, name := range []string{"information_schema", "pg_catalog", "pg_toast", "Work", "1st"} {
		s, err := Open(t.Context(), "host=/nonexistent", Options{Schema: name})
		if err == nil {
			s.Close()
		}
		wantError(t, err, engine.ErrUnsupported, name)
	}
}

// TestConnectionsAreCut has an administrator end all connections of a pool: one call
// fails, and none after it.
func TestConnectionsAreCut(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	admin, err := pgx.Connect(ctx, server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(ctx))
	name := "cut " + s.schema
	own, err := Open(ctx, server.DSN()+" application_name='"+name+"'", Options{Schema: s.schema, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	var taken []*pgxpool.Conn // all that it may have
	for range own.pool.Config().MaxConns {
		c, err := own.pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, c)
	}
	for _, c := range taken {
		c.Release()
	}
	var ended int
	if err := admin.QueryRow(ctx, "select count(pg_terminate_backend(pid, 50000)) from pg_stat_activity where application_name = $1", name).Scan(&ended); err != nil || ended < 2 {
		t.Fatalf("%d connections ended, %v", ended, err)
	}
	failed := 0
	for id := range engine.JobID(20) {
		if err := own.Enqueue(ctx, []engine.NewJob{{ID: id + 1}}); err != nil {
			wantError(t, err, engine.ErrUnavailable, "enqueue 1 jobs")
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d calls failed, want one", failed)
	}
}

// TestNewsOnConnectionThatIsCut has jobs become ready when the connection by which that
// would be announced has been ended: it is announced on another one.
func TestNewsOnConnectionThatIsCut(t *testing.T) {
	s, ctx := open(t, kept), bounded(t)
	name := "cut " + s.schema
	own, err := Open(ctx, server.DSN()+" application_name='"+name+"'", Options{Schema: s.schema, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := own.pool.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	woken := listen(t, ctx, s)
	var ended int
	if err := s.pool.QueryRow(ctx, "select count(pg_terminate_backend(pid, 50000)) from pg_stat_activity where application_name = $1", name).Scan(&ended); err != nil || ended != 1 {
		t.Fatalf("%d connections ended, %v", ended, err)
	}
	own.wakeIn(1, engine.Forever)
	select {
	case <-woken:
	case <-ctx.Done():
		t.Error("nobody was told")
	}
}
