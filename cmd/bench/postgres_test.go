package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// hangs is the time limit for whatever a test waits for: generous, so that only what hangs exceeds it.
const hangs = 5 * time.Minute

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ask runs SQL statements and returns, as text, the first column of the last one's first row.
func ask(t *testing.T, dsn string, statements ...string) (answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			answer = fmt.Sprint(values[0])
		}
		if rows.Err() != nil {
			t.Fatalf("%s: %v", sql, rows.Err())
		}
	}
	return answer
}

// schemasLeft returns, as text, the number of schemas in a database that qbench made.
func schemasLeft(t *testing.T, dsn string) string {
	t.Helper()
	return ask(t, dsn, "select count(*) from pg_namespace where nspname like 'qbench%'")
}

// command returns the command qbench with arguments, without the PG* variables of the tests' own environment.
func command(ctx context.Context, environment []string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "qbench", arguments...)
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "PG") {
			c.Env = append(c.Env, setting)
		}
	}
	c.Env = append(c.Env, "GORACE=atexit_sleep_ms=0")
	c.Env = append(c.Env, environment...)
	return c
}

// TestPostgres measures PostgreSQL, found by flag or by PGHOST, and checks that nothing is left in
// it.
func TestPostgres(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	config, err := pgx.ParseConfig(shared.DSN())
	if err != nil {
		t.Fatal(err)
	}
	variables := []string{"PGHOST=" + config.Host, fmt.Sprintf("PGPORT=%d", config.Port), "PGUSER=" + config.User, "PGDATABASE=" + config.Database}
	for _, tt := range []struct {
		name        string
		environment []string
		arguments   []string
		want        string
	}{
		{"by flag, a burn-down", nil, []string{"run", "--dsn", shared.DSN(), "--store", "postgres", "--jobs", "300", "--rounds", "2", "--format", "table"}, "600 done, 0 dead, 0 left; lost 0, duplicates 0"},
		{"by variables, a scenario", variables, []string{"run", "--store", "postgres", "--scenario", "testdata/small.yaml", "--set", "duration=1m30s", "--speed", "60x", "--policy", "fifo"}, "left; lost 0, duplicates"},
	} {
		out, err := command(ctx, tt.environment, tt.arguments...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
		if n := schemasLeft(t, shared.DSN()); n != "0" {
			t.Errorf("%s: %s schemas were left", tt.name, n)
		}
	}
}

// TestOwnServer starts a server if none is configured, and checks that it is gone afterwards.
func TestOwnServer(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	folder, err := os.MkdirTemp("", "qbench-test-") // not t.TempDir: the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := command(ctx, []string{"TMPDIR=" + folder}, "run", "--store", "memory,postgres", "--jobs", "100", "--rounds", "1").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "started a server of our own") || !strings.Contains(string(out), "200 done") {
		t.Errorf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left in its folder: %v, %v", left, err)
	}
}

// TestInterruptDrops interrupts a run on PostgreSQL, and checks that its schema is dropped.
func TestInterruptDrops(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	c := command(ctx, nil, "run", "--dsn", shared.DSN(), "--store", "postgres", "--rate", "50/s", "--for", "30s", "--rounds", "1")
	c.Cancel = func() error { return c.Process.Kill() }
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "its schema", func() bool { return schemasLeft(t, shared.DSN()) == "1" })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != int(ui.ExitInterrupted) {
		t.Errorf("exit %d, want %d\n%s", code, ui.ExitInterrupted, out.String())
	}
	if n := schemasLeft(t, shared.DSN()); n != "0" {
		t.Errorf("%s schemas were left", n)
	}
}

// await waits until the function so returns true; after the time hangs the test fails and names what it waited for.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.NewTimer(hangs)
	defer deadline.Stop()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-deadline.C:
			t.Fatalf("there is no sign of %s", what)
		case <-tick.C:
		}
	}
}

// TestInterruptedOpening interrupts the opening of a store as soon as its schema exists, and checks that none is
// left.
func TestInterruptedOpening(t *testing.T) {
	needServer(t)
	conn, err := pgx.Connect(t.Context(), shared.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	s := &stores{given: shared.DSN()}
	for interrupted := 0; interrupted < 3; {
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() {
			defer cancel()
			for seen := 0; seen == 0 && ctx.Err() == nil; {
				if err := conn.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'qbench%'").Scan(&seen); err != nil {
					t.Error(err)
					return
				}
			}
		})
		_, drop, err := s.openPostgres(ctx, engine.StoreOptions{})
		cancel()
		watching.Wait()
		switch {
		case err == nil:
			err = drop() // it was quicker
		case errors.Is(err, context.Canceled):
			interrupted++
			err = nil
		}
		if n := schemasLeft(t, shared.DSN()); err != nil || n != "0" {
			t.Fatalf("%v, %s schemas were left", err, n)
		}
	}
}

// TestInterruptedHanging interrupts the opening of a store on a server that accepts connections and never answers: it
// ends some seconds later, and not by the time limit of connections.
func TestInterruptedHanging(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	s := &stores{given: "connect_timeout=60 sslmode=disable user=qsim host=127.0.0.1 port=" +
		strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	began := time.Now()
	_, _, err = s.openPostgres(ctx, engine.StoreOptions{})
	if took := time.Since(began); err != context.Canceled || took > 30*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}

// TestPostgresErrors checks that each way in which a server cannot be used gives one clear error
// and exit 4, or 2 where the command line or the scenario is at fault, without a password and without leftovers.
func TestPostgresErrors(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	clear := []string{"drop schema if exists later cascade", "drop role if exists poor", "drop role if exists hurried"}
	ask(t, shared.DSN(), clear...) // of an earlier time that this test ran
	ask(t, shared.DSN(), "create role poor login", "create role hurried login superuser", "alter role hurried set statement_timeout = '1ms'",
		"create schema later", "create table later.version (version integer)", "insert into later.version values (99)")
	full, err := pgserver.Start(ctx, pgserver.Options{Unsafe: true, MostFile: 17 << 20, Settings: map[string]string{"shared_buffers": "8MB"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := full.Stop(); err != nil {
			t.Error(err)
		}
	}()
	as := func(user string) string { return strings.Replace(shared.DSN(), "user=qsim", "user="+user, 1) }
	run := []string{"run", "--store", "postgres", "--rounds", "1", "--jobs"}
	for _, tt := range []struct {
		name, dsn string
		arguments []string
		code      ui.Exit
		want      string
	}{
		{"nobody listens", "postgres://me:geheim@127.0.0.1:1/work", append(run, "10"), ui.ExitIO, "store unavailable"},
		{"no such database", strings.Replace(shared.DSN(), "dbname=", "dbname=no_", 1), append(run, "10"), ui.ExitIO, "does not exist"},
		{"no DSN at all", "postgres://me:geheim@:::/", append(run, "10"), ui.ExitUsage, "read the DSN"},
		{"no DSN for a worker", "nonsense", []string{"worker"}, ui.ExitUsage, "read the DSN"},
		{"a scenario that wants too much", shared.DSN(), []string{"run", "-q", "--store", "postgres", "--scenario", "testdata/small.yaml", "--set", "engine.max-in-flight=9"}, ui.ExitUsage, "qbench: postgres: open store: MaxInFlight: "},
		{"no permission", as("poor"), append(run, "10"), ui.ExitIO, "the server denies access"},
		{"a statement timeout", as("hurried"), append(run, "20k"), ui.ExitIO, "a timeout of the server ended the statement"},
		{"a newer schema", shared.DSN(), []string{"worker", "--schema", "later"}, ui.ExitIO, "newer version"},
		{"a full disk", full.DSN(), append(run, "400k"), ui.ExitIO, "disk is full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := command(ctx, nil, append(tt.arguments, "--dsn", tt.dsn)...)
			out, _ := c.CombinedOutput()
			text := string(out)
			if strings.Contains(tt.dsn, "geheim") {
				warning, rest, _ := strings.Cut(text, "\n")
				if text = rest; !strings.Contains(warning, "the password in --dsn can be read") || strings.Contains(warning, "geheim") {
					t.Errorf("no warning of the password: %s", warning)
				}
			}
			if code := c.ProcessState.ExitCode(); code != int(tt.code) {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			if !strings.Contains(text, tt.want) || strings.Contains(text, "geheim") || strings.Count(text, "qbench: ") != 1 || strings.Count(text, "\n") != 1 {
				t.Errorf("want one line with %q and no password:\n%s", tt.want, text)
			}
		})
	}
	for _, dsn := range []string{shared.DSN(), full.DSN()} {
		if n := schemasLeft(t, dsn); n != "0" {
			t.Errorf("%s schemas were left", n)
		}
	}
	if version := ask(t, shared.DSN(), "select version from later.version"); version != "99" {
		t.Errorf("the newer schema is of version %s now", version)
	}
}
