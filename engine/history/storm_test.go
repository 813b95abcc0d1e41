package history_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
	"qsim/engine/history"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
)

var (
	stormFor  = flag.Duration("storm", 12*time.Second, "how long faults go on in TestStorm")
	stormSeed = flag.Uint64("seed", 0, "draw the faults of TestStorm from this seed; 0: from the clock")
)

// faultKind is something that is done to the workers or the server.
type faultKind string

const (
	killWorker   faultKind = "SIGKILL of a worker"
	stopWorker   faultKind = "SIGSTOP of a worker past its leases"
	napWorker    faultKind = "SIGSTOP of a worker within its leases"
	drainWorker  faultKind = "SIGTERM of a worker"
	restart      faultKind = "server restart, fast"
	crash        faultKind = "server crash"
	terminate    faultKind = "pg_terminate_backend"
	lockTable    faultKind = "table locked past statement timeouts"
	takeAllSlots faultKind = "connections exhausted"
)

var allFaults = []faultKind{killWorker, stopWorker, napWorker, drainWorker, restart, crash, terminate, lockTable, takeAllSlots}

const workers = 3

// plan is what one storm does.
type plan struct {
	seed   uint64
	lasts  time.Duration
	faults []faultKind // each is drawn once before any is drawn again
	often  []faultKind // these once more
	fence  engine.Fence
	forget bool // the enqueuer's store forgets jobs
}

// storm is a server, workers and what is done to them.
type storm struct {
	plan
	t       *testing.T
	server  *pgserver.Server
	folder  string
	random  *rand.Rand // of the faults; one goroutine draws
	workers [workers]worker
	lives   int
	busy    sync.WaitGroup // faults that end later
	mu      sync.Mutex
	done    map[string]int // what was done, how often
	causes  map[string]int // why calls went without an answer
}

func (s *storm) note(what string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[what] += n
}

// TestStorm has workers, some with small statement timeouts, work off a queue while they
// are killed, frozen and drained, the server restarts and crashes, connections are cut and
// run out and tables are locked. Then all heals and the queue runs empty. What the
// processes saw must fit a store that kept its contract: nothing was lost, nothing done
// twice.
func TestStorm(t *testing.T) {
	t.Parallel()
	seed := *stormSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("go test ./engine/history -run TestStorm -seed %d -storm %v", seed, *stormFor)
	s, r := weather(t, plan{seed: seed, lasts: *stormFor, faults: allFaults, often: []faultKind{stopWorker, killWorker, terminate}})
	for i, a := range r.Anomalies {
		t.Errorf("job %d: %v: %s", a.Job, a.Kind, a.Text)
		if i < 3 {
			t.Log(r.Story(a.Job))
		}
	}
	for _, kind := range allFaults {
		if s.done[string(kind)] == 0 && *stormFor > 0 {
			t.Errorf("there was no %s", kind)
		}
	}
	if r.Taken == 0 || r.Calls[history.Commit].Unknown == 0 || r.Calls[history.Claim].Unknown == 0 {
		t.Errorf("%v\nthe faults did too little to show anything", r)
	}
}

// TestStormFinds breaks the store, and wants that found: without fences zombies end jobs
// that others have, and a job that is forgotten is lost.
func TestStormFinds(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan plan
		want []history.Kind
	}{
		{"no fence", plan{seed: 1, lasts: 5 * time.Second, faults: []faultKind{stopWorker}, fence: engine.FenceNone},
			[]history.Kind{history.StaleAccepted}},
		{"jobs forgotten", plan{seed: 2, lasts: 2 * time.Second, faults: []faultKind{napWorker}, forget: true}, []history.Kind{history.Lost}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, r := weather(t, tt.plan)
			for _, kind := range tt.want {
				if r.Count(kind) == 0 {
					t.Errorf("%v: not found\n%v", kind, r)
				}
			}
			if len(r.Anomalies) > 0 {
				t.Logf("%v: %s\n%s", r.Anomalies[0].Kind, r.Anomalies[0].Text, r.Story(r.Anomalies[0].Job))
			}
		})
	}
}

// weather lets a storm go by and checks the histories.
func weather(t *testing.T, p plan) (*storm, *history.Report) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), p.lasts+2*time.Minute)
	defer cancel()
	s := &storm{plan: p, t: t, folder: t.TempDir(), random: rand.New(rand.NewPCG(p.seed, 1)), done: map[string]int{}}
	// What is committed must survive a crash of the server, though not of the machine.
	server, err := pgserver.Start(ctx, pgserver.Options{Settings: map[string]string{"fsync": "off", "max_connections": "32", "superuser_reserved_connections": "0"}})
	switch {
	case isMissing(err):
		t.Skipf("NO POSTGRESQL: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	s.server = server
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	store, err := pgstore.Open(ctx, server.DSN(), pgstore.Options{Schema: schema, Store: storeOptions(p.fence), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	defer s.killAll() // if the test ends early
	for i := range s.workers {
		s.start(i, true)
	}
	enqueuing, calm := context.WithCancel(ctx)
	var enqueuer sync.WaitGroup
	enqueuer.Go(func() { s.enqueue(enqueuing, store) })
	defer enqueuer.Wait()
	defer calm()

	for end := time.Now().Add(p.lasts); time.Now().Before(end) && !t.Failed(); {
		deck := slices.Concat(p.faults, p.often)
		s.random.Shuffle(len(deck), func(i, k int) { deck[i], deck[k] = deck[k], deck[i] })
		for _, kind := range deck {
			s.strike(ctx, kind)
			pause(ctx, s.between(50*time.Millisecond, 450*time.Millisecond))
		}
	}

	calm()
	enqueuer.Wait()
	s.busy.Wait()
	_ = s.stopAll()
	for i := range s.workers { // fresh ones, without statement timeouts
		s.start(i, false)
	}
	left := s.drain(ctx)
	if err := s.stopAll(); err != nil {
		t.Errorf("a worker that had nothing left to do: %v", err)
	}
	calls := s.read()
	s.causes = causes(calls)
	r := history.Check(calls, left)
	t.Logf("seed %d: %s\n%d calls without an answer: %s\n%v", p.seed, list(s.done), total(s.causes), list(s.causes), r)
	if r.Jobs < 100 {
		t.Errorf("%d jobs show nothing", r.Jobs)
	}
	if n := s.ask(ctx, "select coalesce(sum(jobs), 0) from storm.buried"); n != 0 {
		t.Errorf("%d jobs were buried", n)
	}
	return s, r
}

// list tells how often what was done.
func list(counts map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[what], what))
	}
	return strings.Join(parts, ", ")
}

func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// Causes of calls that went without an answer.
const (
	byStatementTimeout = "statement timeout"
	byExhaustion       = "no connection free at the server"
	byCallTimeout      = "call timeout"
	byDeath            = "caller killed"
	byAbsence          = "connection lost or refused"
)

// causes counts why calls went without an answer.
func causes(calls []history.Call) map[string]int {
	counts := map[string]int{}
	for i := range calls {
		c := &calls[i]
		says := func(text string) bool { return strings.Contains(c.Error, text) }
		switch {
		case c.Answer != history.Unknown:
		case c.Error == "":
			counts[byDeath]++
		case says(pgstore.ErrStatementTimeout.Error()):
			counts[byStatementTimeout]++
		case says("SQLSTATE 53300"):
			counts[byExhaustion]++
		case says("deadline exceeded"), says("context canceled"), says("timeout"):
			counts[byCallTimeout]++
		case says("SQLSTATE 57P"), says("connect"), says("EOF"), says("closed"), says("broken pipe"), says("reset"):
			counts[byAbsence]++
		default:
			counts[c.Error]++
		}
	}
	return counts
}

// start starts a worker; in a storm some have small statement timeouts.
func (s *storm) start(i int, stormy bool) {
	s.lives++
	dsn := s.server.DSN() + " application_name=worker connect_timeout=2"
	if stormy && s.lives%2 == 0 {
		dsn += fmt.Sprintf(" statement_timeout=%d", 20+s.random.IntN(60))
		s.note("worker with a statement timeout", 1)
	}
	s.workers[i].history = filepath.Join(s.folder, fmt.Sprintf("worker-%d-life-%d", i+1, s.lives))
	s.workers[i].command = startWorker(s.t, workerSettings{DSN: dsn, Node: int32(i + 1), Fence: s.fence, Seed: s.seed, History: s.workers[i].history})
}

// stop drains a worker. One whose store does not answer in time abandons jobs, which run
// elsewhere: an error.
func (s *storm) stop(i int) error {
	c := s.workers[i].command
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); { // it listens once it has its file
		if _, err := os.Stat(s.workers[i].history); err == nil {
			break
		}
		pause(context.Background(), 5*time.Millisecond)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(15*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	return c.Wait()
}

// stopAll drains all workers.
func (s *storm) stopAll() error {
	var stopped sync.WaitGroup
	var errs [workers]error
	for i := range s.workers {
		stopped.Go(func() { errs[i] = s.stop(i) })
	}
	stopped.Wait()
	return errors.Join(errs[:]...)
}

func (s *storm) killAll() {
	s.busy.Wait()
	for i := range s.workers {
		if c := s.workers[i].command; c != nil && c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
}

// enqueue enqueues until it is calm. A call whose answer was lost is not made again: its
// jobs may have been enqueued and be done by then.
func (s *storm) enqueue(ctx context.Context, store engine.Store) {
	file, err := os.OpenFile(filepath.Join(s.folder, "enqueuer"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer file.Close()
	if s.forget {
		store = &forgetful{store}
	}
	r := history.Record(store, file, wallClock)
	random := rand.New(rand.NewPCG(s.seed, 2))
	for id := engine.JobID(1); ctx.Err() == nil; {
		jobs := make([]engine.NewJob, 1+random.IntN(40))
		if random.IntN(4) == 0 {
			jobs = make([]engine.NewJob, 50+random.IntN(50)) // by COPY
		}
		for i := range jobs {
			jobs[i].ID = id
			id++
			if len(jobs) >= 50 {
				continue
			}
			if random.IntN(5) == 0 {
				jobs[i].Delay = time.Duration(random.IntN(1000)) * time.Millisecond
			}
			if random.IntN(10) == 0 {
				jobs[i].Serial = uint32(1 + random.IntN(20))
			}
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		_ = r.Enqueue(limited, jobs) // the history has the error
		cancel()
		pause(ctx, time.Duration(random.IntN(300))*time.Millisecond)
	}
}

// forgetful is a store that forgets the first job of some calls.
type forgetful struct{ engine.Store }

func (f *forgetful) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if len(jobs) > 1 && jobs[0].ID%3 == 0 {
		jobs = jobs[1:]
	}
	return f.Store.Enqueue(ctx, jobs)
}

// drain waits until the queue is empty and returns what is left after a long time.
func (s *storm) drain(ctx context.Context) (left []engine.JobID) {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for s.ask(ctx, "select count(*) from storm.jobs") > 0 && limited.Err() == nil {
		pause(limited, 100*time.Millisecond)
	}
	conn, err := pgx.Connect(ctx, s.server.DSN())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "select id from storm.jobs order by id")
	if err != nil {
		s.t.Fatal(err)
	}
	left, err = pgx.CollectRows(rows, pgx.RowTo[engine.JobID])
	if err != nil || len(left) > 0 {
		s.t.Errorf("the queue does not run empty: %d jobs are left, the first %v; %v", len(left), left[:min(len(left), 5)], err)
	}
	return left
}

// ask asks for a number on a connection of its own.
func (s *storm) ask(ctx context.Context, sql string) (n int) {
	s.t.Helper()
	conn, err := pgx.Connect(ctx, s.server.DSN())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// read reads the histories of all processes.
func (s *storm) read() (calls []history.Call) {
	names, err := filepath.Glob(filepath.Join(s.folder, "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			s.t.Fatal(err)
		}
		some, err := history.Read(file, filepath.Base(name))
		_ = file.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		calls = append(calls, some...)
	}
	return calls
}
