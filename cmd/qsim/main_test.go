package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// TestMain lets this binary be qsim, for the scripts and for TestInterrupt.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"qsim": main})
}

// TestScripts runs the stories of testdata/script, one process after the other.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // or each process would take a second to end under -race
			small, err := os.ReadFile("testdata/small.yaml")
			if err != nil {
				return err
			}
			return os.WriteFile(env.Cd+"/small.yaml", small, 0o666)
		},
		Cmds: commands,
	})
}
