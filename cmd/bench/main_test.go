package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"qsim/cmd/ui/clitest"
	"qsim/engine/pgstore/pgserver"
	"qsim/results/report/browsertest"
)

// shared is the PostgreSQL server of all tests that need one, each with separate schemas; nil if
// none is installed.
var shared *pgserver.Server

// tests is a testing.M that starts the shared PostgreSQL server before the tests run, and stops it after them.
type tests struct{ *testing.M }

// Run implements testscript.TestingM.
func (m tests) Run() int {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	var err error
	shared, err = pgserver.Start(ctx, pgserver.Options{Unsafe: true})
	switch {
	case errors.Is(err, pgserver.ErrMissing):
		fmt.Fprintf(os.Stderr, "\nNO POSTGRESQL: the tests of qbench that need a server are SKIPPED: %v\n\n", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	default:
		defer func() {
			if err := shared.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
	}
	return browsertest.Run(m.M)
}

// TestMain lets this binary be qbench, for the scripts and for tests of processes.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"qbench": func() { Main() }})
}

// needServer skips a test if there is no shared PostgreSQL server.
func needServer(t *testing.T) {
	t.Helper()
	if shared == nil {
		t.Skip("NO POSTGRESQL: skipped, see the start of the output")
	}
}

// TestScripts runs the scripts of commands in testdata/script, one process after the other.
func TestScripts(t *testing.T) {
	clitest.Scripts(t, testscript.Params{
		Condition: func(name string) (bool, error) {
			if name == "postgres" {
				return shared != nil, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
	})
}
