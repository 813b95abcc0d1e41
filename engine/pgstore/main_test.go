package pgstore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"qsim/engine"
	"qsim/engine/pgstore/pgserver"
)

// server is the PostgreSQL server of all tests of this package, each with its own schema; nil if
// PostgreSQL is not installed.
var server *pgserver.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		return m.Run() // what is fuzzed needs no server, and each of its processes would start one
	}
	// Benchmarks run on a server whose commits are on the disk; tests need not wait for it.
	measured := flag.Lookup("test.bench").Value.String() != ""
	var err error
	server, err = pgserver.Start(context.Background(), pgserver.Options{Unsafe: !measured})
	switch {
	case errors.Is(err, pgserver.ErrMissing):
		fmt.Fprintf(os.Stderr, "\nNO POSTGRESQL: the tests of pgstore that need a server are SKIPPED: %v\n\n", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	default:
		defer func() {
			if err := server.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
	return m.Run()
}

var schemas atomic.Int64

// newSchema returns a name that no other test uses.
func newSchema() string { return fmt.Sprintf("test_%d", schemas.Add(1)) }

// needServer skips a test where there is no server.
func needServer(t testing.TB) {
	t.Helper()
	if server == nil {
		t.Skip("NO POSTGRESQL: skipped, see the start of the output")
	}
}

// open opens a store in a new schema, which goes when the test ends.
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
