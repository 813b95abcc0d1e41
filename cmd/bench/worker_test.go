package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// workerProcess is a running process of qbench worker, with its output.
type workerProcess struct {
	*exec.Cmd
	mutex sync.Mutex
	out   bytes.Buffer
}

// Write implements io.Writer, for the worker's output.
func (w *workerProcess) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.out.Write(text)
}

func (w *workerProcess) printed() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.out.String()
}

// connections is the highest number of SQL statements that a worker has under way.
const connections = 4

// startWorker starts a worker process that claims ahead of its workers, and waits until it serves the queue.
func startWorker(t *testing.T, ctx context.Context, dsn string, node int) *workerProcess {
	t.Helper()
	w := &workerProcess{Cmd: command(ctx, nil, "worker", "--dsn", fmt.Sprintf("%s pool_max_conns=%d", dsn, connections), "--schema", "together", "--node", strconv.Itoa(node), "--workers", "8",
		"--prefetch", "40", "--work", "15ms", "--fails", "5%", "--ttl", "2s", "--effects")}
	w.Stdout, w.Stderr = w, w
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, fmt.Sprintf("worker %d", node), func() bool {
		return strings.Contains(w.printed(), "SIGTERM drains; no --enqueue: jobs come from other processes alone\n")
	})
	return w
}

// TestWorkers has three processes work off one queue. One is killed, one is frozen until
// others have taken over its jobs and wakes as a zombie, and the server restarts in the
// middle. In the end every job was done, none twice: each has one effect, of the delivery
// that held it, and nothing that the zombie held was done by it.
func TestWorkers(t *testing.T) {
	needServer(t)
	const jobs = 4000
	ctx, cancel := context.WithTimeout(t.Context(), 2*hangs)
	defer cancel()
	server, err := pgserver.Start(ctx, pgserver.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	store, err := pgstore.Open(ctx, server.DSN(), pgstore.Options{Schema: "together", Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all := make([]engine.NewJob, jobs)
	for i := range all {
		all[i].ID = engine.JobID(i + 1)
	}
	if err := store.Enqueue(ctx, all); err != nil {
		t.Fatal(err)
	}
	var workers [3]*workerProcess
	for i := range workers {
		workers[i] = startWorker(t, ctx, server.DSN(), i+1)
	}
	defer func() { // if the test ends early; a frozen process heeds nothing else
		for _, w := range workers {
			_ = w.Process.Kill()
			_ = w.Wait()
		}
	}()
	count := func(what string) int {
		n, err := strconv.Atoi(ask(t, server.DSN(), "select count(*) from together."+what))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	effects := func() int { return count("effects") }
	const held = "jobs j where j.state = 3 and not j.reaped and j.holder >> 32 = "
	heldBy := func(node int) int { return count(held + strconv.Itoa(node)) }
	await(t, "effects", func() bool { return effects() > jobs/20 })

	// A process dies with what it holds.
	if err := workers[0].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = workers[0].Wait()

	// Another freezes in the middle of its work on more jobs than can be about to be done by
	// statements that it had sent, and is thawed when the others have taken them.
	const undone = held + "2 and not exists (select 1 from together.effects e where e.job = j.id)"
	await(t, "jobs that the second worker works on while it is frozen", func() bool {
		if err := workers[1].Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if count(undone) > connections {
			return true
		}
		if err := workers[1].Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		return false
	})
	ask(t, server.DSN(), "create table together.zombie as select j.id as job, j.delivery from together."+undone)
	await(t, "the recovery of what the dead and the frozen held", func() bool { return heldBy(1) == 0 && heldBy(2) == 0 })
	thawed := ask(t, server.DSN(), "select together.now_ns()")
	if err := workers[1].Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	before := effects()
	if before >= jobs {
		t.Fatal("all was done before the server restarted: more jobs are wanted")
	}
	server.Halt(false)
	if err := server.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	left := func() string { return ask(t, server.DSN(), "select count(*) from together.jobs") }
	await(t, "the end of the queue", func() bool { return left() == "0" })

	// Those that live drain and say what they did. An effect whose call failed may have been applied all the same: the
	// restart broke the connection before the server's answer came.
	for i, w := range workers[1:] {
		if err := w.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(); err != nil {
			t.Errorf("worker %d: %v\n%s", i+2, err, w.printed())
		}
		var applied, known, stale, failed int
		_, rest, _ := strings.Cut(w.printed(), "effects: ")
		if _, err := fmt.Sscanf(rest, "%d applied, %d known, %d refused as stale, %d failed", &applied, &known, &stale, &failed); err != nil {
			t.Errorf("worker %d: %v\n%s", i+2, err, w.printed())
		}
		if n := count("effects where node = " + strconv.Itoa(i+2)); n == 0 || n < applied || n > applied+failed {
			t.Errorf("worker %d has %d effects; it counted %d applied, and %d that failed", i+2, n, applied, failed)
		}
	}
	if n := effects(); n != jobs {
		t.Errorf("%d effects of %d jobs", n, jobs)
	}
	if n := ask(t, server.DSN(), "select count(*) from together.effects where job between 1 and "+strconv.Itoa(jobs)); n != strconv.Itoa(jobs) {
		t.Errorf("%s of the effects are of jobs that there were", n)
	}
	if n := ask(t, server.DSN(), "select coalesce(sum(jobs), 0)::text from together.buried"); n != "0" {
		t.Errorf("%s jobs were given up", n)
	}
	// From then on these deliveries must have had no effect any more.
	const ofZombie = "zombie z left join together.effects e using (job, delivery) where "
	if n := count(ofZombie + "e.job is null or e.applied_at >= " + thawed); n == 0 {
		t.Errorf("the frozen process had done all of its %d jobs before: it shows nothing", count("zombie"))
	}
	if n := count(ofZombie + "e.applied_at >= " + thawed); n != 0 {
		t.Errorf("%d effects were applied by a zombie whose leases others had", n)
	}
}

// TestWorkerWakes wakes the engines of a worker as its scenario says, without one all of them.
func TestWorkerWakes(t *testing.T) {
	f := &workerFlags{ttl: scenarios.Duration(time.Minute)}
	f.load = *smallLoad(1)
	for wake, want := range map[string]live.WakeMode{"": live.WakeAll, "true": live.WakeOne, "one": live.WakeOne, "all": live.WakeAll,
		"false": live.WakeNone} {
		sc, err := f.workerScenario()
		if err == nil && wake != "" {
			err = sc.Engine.Fetch.Wake.UnmarshalText([]byte(wake))
		}
		if err != nil {
			t.Fatal(err)
		}
		wall, err := world.OnWallClock(sc, 0, 1, world.Speed{Num: 1, Den: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer wall.Close()
		if got := enginesOf(wall, nil).Wake; got != want {
			t.Errorf("wake: %s: mode %d, want %d", wake, got, want)
		}
	}
}

// TestFirstNode gives processes that run at the same time engines with numbers of their own, within bounds.
func TestFirstNode(t *testing.T) {
	for _, engines := range []int{1, 3, mostEngines, 20_000} {
		for _, pid := range []int{1, 23839, 1<<22 - 1} {
			here, there := firstNode(pid, engines), firstNode(pid+1, engines)
			if here < 0 || here > mostNode || there >= here && there < here+int32(engines) {
				t.Errorf("process %d of %d engines begins with node %d, the next one with %d", pid, engines, here, there)
			}
		}
	}
	if one, two := firstNode(2000, 1), firstNode(1000, 2); one == two || one == two+1 {
		t.Errorf("process 2000 has node %d, and process 1000 has two from %d on", one, two)
	}
}

// TestWorkerSchemas refuses schemas that are none, or PostgreSQL's own, as mistakes of the command line.
func TestWorkerSchemas(t *testing.T) {
	needServer(t)
	for schema, want := range map[string]string{"": "--schema: want a name", "information_schema": "PostgreSQL's own", "pg_catalog": "PostgreSQL's own", "Work": "lower-case"} {
		c := command(t.Context(), nil, "worker", "--dsn", shared.DSN(), "--schema", schema, "--until-empty")
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != int(ui.ExitUsage) || !strings.Contains(string(out), want) {
			t.Errorf("schema %q: exit %d, want %d and %q:\n%s", schema, code, ui.ExitUsage, want, out)
		}
	}
}

// TestWorkerPolicy serves a queue under the policy of the command line, also if the scenario has others, and ends if
// PostgreSQL cannot keep it.
func TestWorkerPolicy(t *testing.T) {
	needServer(t)
	scenario := filepath.Join("testdata", "small.yaml")
	for _, tt := range []struct {
		name      string
		arguments []string
		code      ui.Exit
		want      string
	}{
		{"of no scenario", []string{"--policy", "lifo"}, ui.ExitMet, "policy lifo; SIGTERM"},
		{"the first", []string{"--scenario", scenario}, ui.ExitMet, "policy fifo; SIGTERM"},
		{"another", []string{"--scenario", scenario, "--policy", "weighted"}, ui.ExitMet, "policy Weighted 80/20; SIGTERM"},
		{"added", []string{"--scenario", scenario, "--policy", "lifo"}, ui.ExitMet, "policy lifo; SIGTERM"},
		{"several", []string{"--scenario", scenario, "--policy", "fifo", "--policy", "lifo"}, ui.ExitUsage, "a worker has one"},
		{"a kind of several", []string{"--scenario", scenario, "--set", "policies=[{kind: fifo}, {kind: lifo}, {kind: lifo, label: l2}]", "--policy", "lifo"}, ui.ExitMet, "policy lifo; SIGTERM"},
		{"a kind of several labels", []string{"--scenario", scenario, "--set", "policies=[{kind: lifo, label: l1}, {kind: lifo, label: l2}]", "--policy", "lifo"}, ui.ExitUsage, "small has several of that kind"},
		{"not for PostgreSQL", []string{"--policy", "aging"}, ui.ExitUsage, `policy "aging" wants what postgres has not`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t.Context(), nil, append([]string{"worker", "--dsn", shared.DSN(), "--schema", "policies", "--enqueue", "3", "--until-empty"}, tt.arguments...)...)
			out, _ := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != int(tt.code) || !strings.Contains(string(out), tt.want) {
				t.Errorf("exit %d, want %d and %q:\n%s", code, tt.code, tt.want, out)
			}
		})
	}
}

// TestWorkerUntilEmpty has a worker end once the queue is empty, and not before: its jobs take longer than the time after
// which it looks for the first time.
func TestWorkerUntilEmpty(t *testing.T) {
	needServer(t)
	out, err := command(t.Context(), nil, "worker", "--dsn", shared.DSN(), "--schema", "until_empty", "--enqueue", "1k", "--until-empty",
		"--work", "50ms").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1000 executions") {
		t.Errorf("%v: want 1000 executions:\n%s", err, out)
	}
}

// TestDSN reaches a server by the DSN in a file and in a variable, and warns of a password on the command line alone.
func TestDSN(t *testing.T) {
	needServer(t)
	dsn := shared.DSN() + " password=geheim" // which the server does not ask for
	file := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(file, []byte(dsn+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"worker", "--schema", "by_dsn", "--enqueue", "3", "--until-empty", "--work", "0s"}
	for _, tt := range []struct {
		name        string
		environment []string
		arguments   []string
		warned      bool
	}{
		{"file", nil, []string{"--dsn", "@" + file}, false},
		{"variable", []string{"QBENCH_DSN=" + dsn}, nil, false},
		{"variable of PostgreSQL", []string{"PGPASSWORD=geheim"}, []string{"--dsn", shared.DSN()}, false},
		{"keywords", nil, []string{"--dsn", dsn}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := command(t.Context(), tt.environment, append(arguments, tt.arguments...)...).CombinedOutput()
			text := string(out)
			if err != nil || !strings.Contains(text, "3 executions") || strings.Contains(text, "geheim") || strings.Contains(text, "of our own") {
				t.Errorf("%v: want 3 executions, no password, and the server that the DSN names:\n%s", err, text)
			}
			if warned := strings.Contains(text, "the password in --dsn can be read"); warned != tt.warned {
				t.Errorf("warned: %v, want %v:\n%s", warned, tt.warned, text)
			}
		})
	}
	c := command(t.Context(), nil, append(arguments, "--dsn", "@"+file+".not")...)
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != int(ui.ExitIO) || !strings.Contains(string(out), "read --dsn: open") {
		t.Errorf("exit %d for a file that is not there:\n%s", c.ProcessState.ExitCode(), out)
	}
	for dsn, want := range map[string]bool{"postgres://me:geheim@host/db": true, "postgresql://host/db?user=me&password=geheim": true, "host=h Password = x": true,
		"postgres://me@host:5432/db": false, "host=h user=me": false, "postgres://host/p:q@r": false, "passfile=/x": false} {
		if got := password.MatchString(dsn); got != want {
			t.Errorf("%s holds a password: %v, want %v", dsn, got, want)
		}
	}
}

// TestEffectsThatFail makes the server refuse every effect: the worker logs the reason, and the number.
func TestEffectsThatFail(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	store, err := pgstore.Open(ctx, shared.DSN(), pgstore.Options{Schema: "refusing", Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	defer store.Drop(context.WithoutCancel(ctx))
	if _, err := store.Effects(ctx); err != nil {
		t.Fatal(err)
	}
	ask(t, shared.DSN(), "alter table refusing.effects add constraint never check (job < 0)")
	w := &workerProcess{Cmd: command(ctx, nil, "worker", "--dsn", shared.DSN(), "--schema", "refusing", "--enqueue", "5", "--work", "0s", "--effects")}
	w.Stdout, w.Stderr = w, w
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "what the server says", func() bool { return strings.Contains(w.printed(), `violates check constraint \"never\"`) })
	await(t, "all executions", func() bool {
		return ask(t, shared.DSN(), "select count(*) from refusing.jobs where failures > 0") == "5"
	})
	_ = w.Process.Signal(syscall.SIGTERM)
	if err := w.Wait(); err != nil || !strings.Contains(w.printed(), "effects: 0 applied, 0 known, 0 refused as stale, ") || strings.Contains(w.printed(), " 0 failed") {
		t.Errorf("%v: want those that failed to be counted:\n%s", err, w.printed())
	}
}
