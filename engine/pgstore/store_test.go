package pgstore

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/engine/storetest"
)

var (
	_ live.Announcer = (*Store)(nil)
	_ live.Registry  = (*Store)(nil)
)

// stopClock makes a store's clock a row of a table, at 1 s, and returns a function that moves it on.
func stopClock(t testing.TB, s *Store) func(d time.Duration) {
	t.Helper()
	for _, text := range []string{
		"create table clock (at bigint not null)",
		"insert into clock values (1000000000)",
		"create or replace function now_ns() returns bigint language sql volatile as 'select at from clock'",
		"create or replace function batch_ns() returns bigint language sql stable as 'select at from clock'",
	} {
		if _, err := s.pool.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return func(d time.Duration) { s.move(t, d) }
}

// move moves a stopped clock on.
func (s *Store) move(t testing.TB, d time.Duration) {
	if _, err := s.pool.Exec(t.Context(), "update clock set at = at + $1", int64(d)); err != nil {
		t.Fatal(err)
	}
}

// spare holds schemas of ended tests, with clocks that tests move, and the connections to them by name, for later
// tests: creating them takes longer than most tests.
var spare = struct {
	sync.Mutex
	names []string
	pools map[string]*pgxpool.Pool
}{pools: map[string]*pgxpool.Pool{}}

// onServer returns a store on PostgreSQL, with a clock that the test moves, for package storetest.
func onServer(t *testing.T, o engine.StoreOptions) (storetest.Subject, error) {
	needServer(t)
	spare.Lock()
	name := ""
	if n := len(spare.names); n > 0 {
		name, spare.names = spare.names[n-1], spare.names[:n-1]
	}
	pool, used := spare.pools[name]
	spare.Unlock()
	if !used {
		name = newSchema()
	}
	s, err := Open(t.Context(), server.DSN(), Options{Schema: name, Store: o})
	if err != nil {
		return storetest.Subject{}, err
	}
	if used {
		s.pool.Close() // it has no connection yet
		s.pool = pool
	}
	t.Cleanup(func() {
		s.stop()
		s.ended.Wait()
		spare.Lock()
		defer spare.Unlock()
		spare.names, spare.pools[name] = append(spare.names, name), s.pool
	})
	advance := func(d time.Duration) { s.move(t, d) }
	if !used {
		advance = stopClock(t, s)
	} else if _, err := s.pool.Exec(t.Context(), "do $$ begin delete from jobs; delete from batches; delete from buried; delete from lives; delete from leaders; end $$"); err != nil {
		t.Fatal(err)
	}
	return storetest.Subject{Store: s, Advance: advance, Redrive: func(jobs []engine.JobID, reset bool) ([]engine.Promotion, error) {
		return s.Redrive(t.Context(), jobs, len(jobs), reset, nil)
	}}, nil
}

func TestConformance(t *testing.T) {
	needServer(t)
	storetest.Exercise(t, onServer)
}

// inMemory returns a memory store, the reference with which one on PostgreSQL is compared, for package storetest.
func inMemory(_ *testing.T, o engine.StoreOptions) (storetest.Subject, error) {
	var clock atomic.Int64 // time of the store's clock, also read by listeners
	clock.Store(int64(time.Second))
	s := memstore.New(func() engine.Time { return engine.Time(clock.Load()) }, o)
	redrive := func(jobs []engine.JobID, reset bool) ([]engine.Promotion, error) {
		return s.Redrive(func(id engine.JobID) bool { return slices.Contains(jobs, id) }, reset, nil), nil
	}
	return storetest.Subject{Store: s, Advance: func(d time.Duration) { clock.Add(int64(d)) }, Redrive: redrive}, nil
}

// TestSameAsMemory plays random calls on both stores and compares every answer.
func TestSameAsMemory(t *testing.T) {
	needServer(t)
	lives := storetest.Lives{Seed: 1, Count: 16, Calls: 100}
	if n, err := strconv.Atoi(os.Getenv("QSIM_TEST_LIVES")); err == nil {
		lives.Count = n
	}
	storetest.Same(t, lives, inMemory, onServer)
}

// TestCloseBesideClaims closes stores beside claims that begin to build indexes, before and after all else has ended.
func TestCloseBesideClaims(t *testing.T) {
	s := open(t, engine.StoreOptions{})
	for range 5 {
		closing, err := Open(t.Context(), server.DSN(), Options{Schema: s.schema, Connections: 2})
		if err != nil {
			t.Fatal(err)
		}
		var claims sync.WaitGroup
		closed := make(chan struct{})
		for i := range 4 {
			claims.Go(func() {
				plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.Class(i % 2), Limit: 1}}}
				for open := true; open; {
					_, _, _ = closing.Claim(t.Context(), 1, plan, time.Minute, nil)
					select {
					case <-closed:
						open = false
					default:
					}
				}
			})
		}
		closing.Close()
		close(closed)
		claims.Wait()
	}
}
