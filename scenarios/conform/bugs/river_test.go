package bugs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// clock is the virtual time of the bubble as an SQL function for River. It implements rivertype.TimeGenerator of all
// versions.
type clock struct{}

func (clock) Now() time.Time          { return time.Now() }
func (clock) NowOrNil() *time.Time    { now := time.Now(); return &now }
func (clock) NowUTC() time.Time       { return time.Now().UTC() }
func (clock) NowUTCOrNil() *time.Time { now := time.Now().UTC(); return &now }

// job is the arguments of a River job: how its handler behaves.
type job struct {
	Takes   time.Duration
	Timeout time.Duration // timeout of River: 0 for that of the client, -1 for none
	Fails   int           // number of attempts that fail
}

// Kind implements river.JobArgs.
func (job) Kind() string { return "job" }

// rivers is a story's fixture of River: a synctest bubble with River, and a PostgreSQL outside of it. The bubble's time
// stands still during a query.
type rivers struct {
	t      *testing.T
	random *rand.Rand
	config river.Config
	delay  time.Duration // highest delay of the database's answers, drawn for each
	victim string        // the first connection on which this is sent, if it is not "", goes silent then
	again  bool          // jobs may begin again while they run: the configuration asks for it
	dsn    string
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	start  time.Time

	lock    sync.Mutex
	wires   []*wire
	down    bool                    // nobody can connect
	running map[int64]int           // running executions by job
	begun   map[int64]int           // attempts
	good    map[int64]time.Duration // end of the successful attempt
	found   []string
}

// draw returns a random duration in [0, most), by the seed of the story.
func (w *rivers) draw(most time.Duration) time.Duration {
	w.lock.Lock()
	defer w.lock.Unlock()
	return time.Duration(w.random.Int64N(int64(most)))
}

// breach adds a broken invariant, formatted as by fmt.Sprintf, to those that the story returns.
func (w *rivers) breach(format string, values ...any) {
	w.found = append(w.found, fmt.Sprintf(format, values...))
}

// worker is a River worker whose behaviour its job determines, and which ignores cancellation.
type worker struct {
	river.WorkerDefaults[job]
	w *rivers
}

// Timeout implements river.Worker.
func (k *worker) Timeout(j *river.Job[job]) time.Duration { return j.Args.Timeout }

// Work implements river.Worker.
func (k *worker) Work(_ context.Context, j *river.Job[job]) error {
	w := k.w
	w.lock.Lock()
	w.begun[j.ID]++
	if w.running[j.ID]++; w.running[j.ID] > 1 && !w.again {
		w.breach("one execution at a time: job %d begins for the %d. time at %v, while it runs", j.ID, w.begun[j.ID], time.Since(w.start))
	}
	w.lock.Unlock()
	time.Sleep(j.Args.Takes)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.running[j.ID]--
	if j.Attempt <= j.Args.Fails {
		return errors.New("down")
	}
	w.good[j.ID] = time.Since(w.start)
	return nil
}

// wire is a connection to the database whose answers may be late, and which may go silent, as when a firewall has
// forgotten it.
type wire struct {
	net.Conn
	w      *rivers
	asked  atomic.Bool
	silent atomic.Bool
	ended  chan struct{} // closed when it is closed, or its reader is told to give up
	once   sync.Once
}

func (c *wire) Write(b []byte) (int, error) {
	c.w.lock.Lock()
	if v := c.w.victim; v != "" && bytes.Contains(b, []byte(v)) {
		c.w.victim = ""
		c.silent.Store(true)
	}
	c.w.lock.Unlock()
	if c.silent.Load() {
		return len(b), nil
	}
	c.asked.Store(true)
	return c.Conn.Write(b)
}

// Read waits for the database in real time, while the bubble's stands still, and then delays the answer in the bubble's
// time.
func (c *wire) Read(b []byte) (int, error) {
	if c.silent.Load() {
		<-c.ended
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Read(b)
	if c.asked.Swap(false) && c.w.delay > 0 {
		time.Sleep(c.w.draw(c.w.delay))
	}
	return n, err
}

func (c *wire) end() { c.once.Do(func() { close(c.ended) }) }

func (c *wire) Close() error { c.end(); return c.Conn.Close() }

func (c *wire) SetDeadline(t time.Time) error {
	if !t.IsZero() && c.silent.Load() && !t.After(time.Now()) {
		c.end()
	}
	return c.Conn.SetDeadline(t)
}

func (w *rivers) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.down {
		return nil, errors.New("connection refused")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &wire{Conn: conn, w: w, ended: make(chan struct{})}
	w.wires = append(w.wires, c)
	return c, nil
}

// silence makes all present connections to the database silent for good; new ones work.
func (w *rivers) silence() {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, c := range w.wires {
		c.silent.Store(true)
	}
}

// outage makes the database unreachable for a duration of the bubble's time.
func (w *rivers) outage(lasts time.Duration) {
	w.silence()
	w.refuse(true)
	time.Sleep(lasts)
	w.refuse(false)
}

func (w *rivers) refuse(down bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.down = down
}

// insert enqueues a job in River at once.
func (w *rivers) insert(j job) {
	if _, err := w.client.Insert(w.t.Context(), j, nil); err != nil {
		w.t.Fatal(err)
	}
}

// state returns the state of a job in the database, by a separate connection.
func (w *rivers) state(id int64) (state string) {
	ask(w.t, w.dsn, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "select state from river_job where id = $1", id).Scan(&state)
	})
	return state
}

// riverBubble runs a story in a synctest bubble with a client of River, and returns the broken invariants. The SQL of
// before is run first.
func riverBubble(t *testing.T, seed uint64, w *rivers, before string, story func(w *rivers)) []string {
	w.dsn = database(t)
	prepare(t, w.dsn, before)
	w.random = rand.New(rand.NewPCG(seed, 0))
	w.running, w.begun, w.good = map[int64]int{}, map[int64]int{}, map[int64]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		w.t, w.start = t, time.Now()
		ctx := t.Context()
		config, err := pgxpool.ParseConfig(w.dsn)
		if err != nil {
			t.Fatal(err)
		}
		config.ConnConfig.DialFunc, config.MaxConns = w.dial, 8
		if w.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
			t.Fatal(err)
		}
		c := w.config
		c.PollOnly, c.Logger, c.Test = true, logger(), river.TestConfig{Time: clock{}}
		c.Queues, c.Workers = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 40}}, river.NewWorkers()
		river.AddWorker(c.Workers, &worker{w: w})
		if w.client, err = river.NewClient(riverpgxv5.New(w.pool), &c); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Start(ctx); err != nil {
			t.Fatal(err)
		}
		story(w)
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = w.client.StopAndCancel(stop) // it may hang: that is what some bugs do
		w.lock.Lock()
		for _, c := range w.wires {
			c.end()
		}
		w.lock.Unlock()
		time.Sleep(4 * time.Hour) // handlers heed nothing
		w.pool.Close()
	})
	ask(t, w.dsn, func(ctx context.Context, c *pgx.Conn) error {
		var id int64
		var was, became string
		_, err := pgx.ForEachRow(must(c.Query(ctx, `select job, was, became from history where was in ('completed', 'cancelled', 'discarded')
			and became <> was order by number`)), []any{&id, &was, &became}, func() error {
			w.breach("done stays done: job %d was %s and became %s", id, was, became)
			return nil
		})
		return err
	})
	return w.found
}

func must(rows pgx.Rows, _ error) pgx.Rows { return rows } // the rows have the error too

// prepare creates the tables of River in a database, and a table that logs every change of a state.
func prepare(t *testing.T, dsn, before string) {
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: logger()})
	if err == nil {
		_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	}
	if err == nil {
		_, err = pool.Exec(t.Context(), `create table history (number bigserial, job bigint, was text, became text);
			create function note() returns trigger language plpgsql as
				'begin insert into history (job, was, became) values (new.id, old.state, new.state); return new; end';
			create trigger note after update of state on river_job for each row execute function note();`+before)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func logger() *slog.Logger {
	if testing.Verbose() {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}
