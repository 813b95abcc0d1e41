package bench

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
)

// workerProcess is a qbench worker that runs.
type workerProcess struct {
	*exec.Cmd
	mutex sync.Mutex
	out   bytes.Buffer
}

// Write implements io.Writer, for what the worker prints.
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

// connections is how many statements a worker has under way at most.
const connections = 4

// startWorker starts a worker and waits until it works.
func startWorker(t *testing.T, ctx context.Context, dsn string, node int) *workerProcess {
	t.Helper()
	w := &workerProcess{Cmd: command(ctx, nil, "worker", "--dsn", fmt.Sprintf("%s pool_max_conns=%d", dsn, connections), "--schema", "together", "--node", strconv.Itoa(node), "--workers", "8",
		"--batch", "8", "--work", "15ms", "--fails", "5%", "--ttl", "1s", "--effects")}
	w.Stdout, w.Stderr = w, w
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, fmt.Sprintf("worker %d", node), func() bool { return strings.Contains(w.printed(), "SIGTERM drains") })
	return w
}

// TestWorkers has three processes work off one queue. One is killed, one is frozen until
// others have taken over its jobs and wakes as a zombie, and the server restarts in the
// middle. In the end every job was done, none twice: each has one effect, of the delivery
// that held it, and nothing that the zombie held was done by it.
func TestWorkers(t *testing.T) {
	needServer(t)
	const jobs = 4000
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
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
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	left := func() string { return ask(t, server.DSN(), "select count(*) from together.jobs") }
	await(t, "the end of the queue", func() bool { return left() == "0" })

	// Those that live drain and say what they did.
	applied := 0
	for i, w := range workers[1:] {
		if err := w.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(); err != nil {
			t.Errorf("worker %d: %v\n%s", i+2, err, w.printed())
		}
		var own int
		if _, rest, found := strings.Cut(w.printed(), "effects: "); found {
			fmt.Sscanf(rest, "%d applied", &own)
		}
		applied += own
		if own == 0 {
			t.Errorf("worker %d applied nothing:\n%s", i+2, w.printed())
		}
	}
	if n := effects(); n != jobs {
		t.Errorf("%d effects of %d jobs", n, jobs)
	}
	if n := ask(t, server.DSN(), "select count(*) from together.effects where job between 1 and "+strconv.Itoa(jobs)); n != strconv.Itoa(jobs) {
		t.Errorf("%s of the effects are of jobs that there were", n)
	}
	byDead, err := strconv.Atoi(ask(t, server.DSN(), "select count(*) from together.effects where node = 1"))
	if err != nil || byDead+applied != jobs {
		t.Errorf("the dead process applied %d effects and the others %d, together not %d", byDead, applied, jobs)
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
