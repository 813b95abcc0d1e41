// Package clitest tests commands: by scripts of command lines with their expected output, and by checks of help texts.
package clitest

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// Command is the implementation of a command for test scripts, in addition to those of package testscript.
type Command = func(ts *testscript.TestScript, negated bool, arguments []string)

// Scripts runs the test scripts in testdata/script, each in a folder with a copy of testdata/small.yaml. Of the
// parameters it uses only Cmds and Condition; it adds the script commands exits and tofull.
func Scripts(t *testing.T, p testscript.Params) {
	commands := map[string]Command{"exits": exits, "tofull": toFull}
	maps.Copy(commands, p.Cmds)
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
		Condition: p.Condition,
		Cmds:      commands,
	})
}

// exits is the script command "exits CODE PROGRAM [ARGUMENT...]": the program must end with that exit code.
func exits(ts *testscript.TestScript, negated bool, arguments []string) {
	if negated || len(arguments) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(arguments[1], arguments[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

// toFull is the script command "tofull CODE PROGRAM [ARGUMENT...]": like exits, with standard output to a full disk.
func toFull(ts *testscript.TestScript, negated bool, arguments []string) {
	script := []string{"-c", `code=$1; shift; "$@" >/dev/full; test $? -eq "$code"`, "sh"}
	ts.Check(ts.Exec("sh", append(script, arguments...)...))
}
