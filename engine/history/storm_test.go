package history_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	stormSeed = flag.Uint64("seed", 0, "draw the faults of TestStorm from this seed; 0: a random one")
)

// faultKind is a fault injected into the workers or the server.
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

// plan holds the parameters of one storm: its seed, length and faults.
type plan struct {
	seed   uint64
	lasts  time.Duration     // least duration
	until  func(*storm) bool // and until this holds; nil: no longer
	faults []faultKind       // each is drawn once before any is drawn again
	often  []faultKind       // faults to inject once more
	fence  engine.Fence
	whole  bool   // see engineConfig; dead jobs are also redriven
	forget bool   // the enqueuer's store forgets jobs
	paired bool   // the server has a replica, which may take over
	disk   string // a folder on a small disk, for the server's files; empty: where temporary files are kept
}

// storm is a test run with a server, workers and injected faults.
type storm struct {
	plan
	t       *testing.T
	server  *pgserver.Server
	replica *pgserver.Server // nil: none
	folder  string
	random  *rand.Rand // random numbers of the faults, drawn by one goroutine
	workers [workers]worker
	born    int            // workers
	busy    sync.WaitGroup // faults that end later
	mu      sync.Mutex
	done    map[string]int // number of actions by kind
	forgot  atomic.Int64   // jobs
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
// twice. The seed draws whether engines are whole, see engineConfig; storms of a minute or more are of both kinds.
func TestStorm(t *testing.T) {
	t.Parallel()
	seed := *stormSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./engine/history -run TestStorm -seed %d -storm %v", seed, *stormFor)
	for i, whole := range []bool{false, true} {
		if *stormFor < time.Minute && seed%2 != uint64(i) {
			continue
		}
		t.Run(fmt.Sprintf("whole=%v", whole), func(t *testing.T) {
			t.Parallel()
			p := plan{seed: seed, lasts: *stormFor, faults: allFaults, often: []faultKind{stopWorker, killWorker, terminate}, whole: whole}
			if whole {
				p.lasts /= 2
			}
			if p.lasts > 0 {
				p.until = (*storm).showed
			}
			_, r := weather(t, p)
			for shown, a := range r.Anomalies {
				t.Errorf("job %d: %v: %s", a.Job, a.Kind, a.Text)
				if shown < 3 {
					t.Log(r.Story(a.Job))
				}
			}
		})
	}
}

// showed reports whether every kind of fault has happened, and had consequences: the time that takes depends on how
// busy the machine is.
func (s *storm) showed() bool {
	s.mu.Lock()
	done := maps.Clone(s.done)
	s.mu.Unlock()
	for _, kind := range allFaults {
		if done[string(kind)] == 0 {
			return false
		}
	}
	calls := s.read()
	why, r := causes(slices.DeleteFunc(slices.Clone(calls), func(c history.Call) bool {
		return c.Error == "" && s.lives(c.Process) // it may be answered yet
	})), history.Check(calls, nil)
	for _, cause := range []string{byStatementTimeout, byExhaustion, byDeath, byAbsence} {
		if why[cause] == 0 {
			return false
		}
	}
	whole := r.Extended > 0 && r.Promoted > 0 && r.Redriven > 0 && r.Led > 0
	return r.Jobs >= 100 && r.Taken > 0 && r.Calls[history.Commit].Unknown > 0 && r.Calls[history.Claim].Unknown > 0 && (whole || !s.whole)
}

// lives reports whether a process is still running.
func (s *storm) lives(process string) bool {
	lives := process == "enqueuer"
	for i := range s.workers {
		lives = lives || filepath.Base(s.workers[i].history) == process
	}
	return lives
}

// TestStormFinds checks that bugs of the store are detected: without fences zombies end jobs of
// other holders, and a forgotten job is lost.
func TestStormFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		plan plan
		want []history.Kind
	}{
		{"no fence", plan{seed: 1, faults: []faultKind{stopWorker}, fence: engine.FenceNone, until: func(s *storm) bool {
			return history.Check(s.read(), nil).Count(history.StaleAccepted) > 0
		}}, []history.Kind{history.StaleAccepted}},
		{"jobs forgotten", plan{seed: 2, faults: []faultKind{napWorker}, forget: true, until: func(s *storm) bool {
			return s.forgot.Load() > 0 && history.Check(s.read(), nil).Jobs >= 100
		}}, []history.Kind{history.Lost}},
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

// weather runs a storm and checks the histories.
func weather(t *testing.T, p plan) (*storm, *history.Report) {
	t.Helper()
	ends := time.Now().Add(p.lasts + 10*time.Minute)
	if all, ok := t.Deadline(); ok && all.Add(-time.Minute).Before(ends) {
		ends = all.Add(-time.Minute) // so that a storm that comes to nothing says what it did
	}
	ctx, cancel := context.WithDeadline(t.Context(), ends)
	defer cancel()
	s := &storm{plan: p, t: t, folder: t.TempDir(), random: rand.New(rand.NewPCG(p.seed, 1)), done: map[string]int{}}
	// What is committed must survive a crash of the server, though not of the machine.
	settings := map[string]string{"fsync": "off", "max_connections": "32", "superuser_reserved_connections": "0"}
	if p.disk != "" {
		maps.Copy(settings, map[string]string{"shared_buffers": "16MB", "max_wal_size": "64MB", "min_wal_size": "32MB"})
	}
	if p.paired {
		settings["synchronous_standby_names"] = "*"
	}
	s.server = startServer(t, pgserver.Options{Settings: settings, Folder: p.disk})
	if p.paired {
		second := startServer(t, pgserver.Options{Settings: settings})
		second.Halt(true)
		s.replicate(ctx, second)
	}
	store, err := pgstore.Open(ctx, s.dsn(), pgstore.Options{Schema: schema, Store: storeOptions(p.fence, p.whole), Connections: 2})
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

	for end := time.Now().Add(p.lasts); !t.Failed() && (time.Now().Before(end) || p.until != nil && !p.until(s)); {
		if ctx.Err() != nil {
			t.Fatalf("%s: too little has come of it\n%s\n%v", list(s.done), list(causes(s.read())), history.Check(s.read(), nil))
		}
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
	for i := range s.workers { // patient ones, so that a slow machine does not time out all their calls
		s.start(i, false)
	}
	conn, err := pgx.Connect(ctx, s.server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	left := s.drain(ctx, conn)
	if err := s.stopAll(); err != nil {
		t.Errorf("a worker that had nothing left to do: %v", err)
	}
	calls := s.read()
	why := causes(calls)
	r := history.Check(calls, left)
	t.Logf("seed %d: %s\n%d calls without an answer: %s\n%v", p.seed, list(s.done), total(why), list(why), r)
	if r.Jobs < 100 {
		t.Errorf("%d jobs show nothing", r.Jobs)
	}
	if n := s.ask(ctx, conn, "select coalesce(sum(jobs), 0) from storm.buried"); n != 0 {
		t.Errorf("%d jobs were buried", n)
	}
	return s, r
}

// list returns counts by name as text.
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

// byStatementTimeout and the constants below are causes of unanswered calls.
const (
	byStatementTimeout = "statement timeout"
	byExhaustion       = "no connection free at the server"
	byCallTimeout      = "call timeout"
	byDeath            = "caller killed"
	byAbsence          = "connection lost or refused"
	byFullDisk         = "disk full"
)

// causes counts unanswered calls by cause.
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
		case says(pgstore.ErrFull.Error()):
			counts[byFullDisk]++
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

// start starts a worker; in a storm some have small statement timeouts, afterwards all are patient.
func (s *storm) start(i int, stormy bool) {
	s.born++
	dsn := s.dsn() + " application_name=worker connect_timeout=2"
	if stormy && s.born%2 == 0 {
		dsn += fmt.Sprintf(" statement_timeout=%d", 20+s.random.IntN(60))
		s.note("worker with a statement timeout", 1)
	}
	s.workers[i].history = filepath.Join(s.folder, fmt.Sprintf("worker-%d-life-%d", i+1, s.born))
	s.workers[i].command = startWorker(s.t, workerSettings{DSN: dsn, Node: int32(i + 1), Fence: s.fence, Whole: s.whole, Patient: !stormy,
		Seed: s.seed, History: s.workers[i].history})
}

// stop drains a worker. One whose store does not answer in time abandons jobs, which run
// elsewhere: an error.
func (s *storm) stop(i int) error {
	c := s.workers[i].command
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // it listens once it has its file
		if _, err := os.Stat(s.workers[i].history); err == nil {
			break
		}
		pause(context.Background(), 5*time.Millisecond)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
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

// enqueue enqueues jobs until the storm is over. A call whose answer was lost is not made again: its jobs may have been
// enqueued and be done by then.
func (s *storm) enqueue(ctx context.Context, store engine.Store) {
	file, err := os.OpenFile(filepath.Join(s.folder, "enqueuer"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer file.Close()
	if s.forget {
		store = &forgetful{store, &s.forgot}
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
		if s.whole {
			_, _ = r.Redrive(limited, nil, 20, false, nil)
		}
		cancel()
		pause(ctx, time.Duration(random.IntN(300))*time.Millisecond)
	}
}

// forgetful is a store that forgets the first job of some calls.
type forgetful struct {
	engine.Store
	forgot *atomic.Int64
}

func (f *forgetful) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if len(jobs) == 1 || jobs[0].ID%3 > 0 {
		return f.Store.Enqueue(ctx, jobs)
	}
	err := f.Store.Enqueue(ctx, jobs[1:])
	if err == nil {
		f.forgot.Add(1)
	}
	return err
}

// drain waits until no job is ready, waiting or in flight, as long as their number falls, and returns the rest.
func (s *storm) drain(ctx context.Context, conn *pgx.Conn) (left []engine.JobID) {
	const patience = time.Minute
	least, since := math.MaxInt, time.Now()
	for least > 0 && time.Since(since) < patience && ctx.Err() == nil {
		if n := s.ask(ctx, conn, "select count(*) from storm.jobs where state < 5"); n < least {
			least, since = n, time.Now()
		}
		pause(ctx, 100*time.Millisecond)
	}
	rows, err := conn.Query(ctx, "select id from storm.jobs where state < 5 order by id")
	if err != nil {
		s.t.Fatal(err)
	}
	left, err = pgx.CollectRows(rows, pgx.RowTo[engine.JobID])
	if err != nil || len(left) > 0 {
		s.t.Errorf("the queue does not run empty: %d jobs are left, the first %v; %v", len(left), left[:min(len(left), 5)], err)
	}
	return left
}

// ask queries a number from the database.
func (s *storm) ask(ctx context.Context, conn *pgx.Conn, sql string) (n int) {
	s.t.Helper()
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
