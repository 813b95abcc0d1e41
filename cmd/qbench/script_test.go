package main

import (
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are what the scripts can do besides those of testscript.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":  exits,
	"tofull": toFull,
}

// exits CODE PROGRAM [ARGUMENT...]: runs a program, which must end with that code.
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

// toFull CODE PROGRAM [ARGUMENT...]: runs a program whose standard output goes to a
// full disk.
func toFull(ts *testscript.TestScript, negated bool, arguments []string) {
	ts.Check(ts.Exec("sh", append([]string{"-c", `code=$1; shift; "$@" >/dev/full; test $? -eq "$code"`, "sh"}, arguments...)...))
}
