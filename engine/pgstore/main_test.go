package pgstore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// server is the PostgreSQL server of all tests of this package, each with its own schema, from the first that needs it
// on; nil if PostgreSQL is not installed.
var server *pgserver.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	defer func() {
		if server == nil {
			return
		}
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// startServer starts the server. Benchmarks run on one whose commits are on the disk; tests need not wait for it.
var startServer = sync.OnceValue(func() (err error) {
	measured := flag.Lookup("test.bench").Value.String() != ""
	server, err = pgserver.Start(context.Background(), pgserver.Options{Unsafe: !measured})
	return err
})

var schemas atomic.Int64

// newSchema returns a name that no other test uses.
func newSchema() string { return fmt.Sprintf("test_%d", schemas.Add(1)) }

// needServer starts the PostgreSQL server of the tests unless it runs, or skips the test if none is installed.
func needServer(t testing.TB) {
	t.Helper()
	switch err := startServer(); {
	case errors.Is(err, pgserver.ErrMissing):
		t.Skipf("NO POSTGRESQL: skipped: %v", err)
	case err != nil:
		t.Fatal(err)
	}
}

// open opens a store in a new schema, which is dropped when the test ends.
func open(t testing.TB, o engine.StoreOptions) *Store {
	t.Helper()
	needServer(t)
	s, err := Open(t.Context(), server.DSN(), Options{Schema: newSchema(), Store: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Drop(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}
