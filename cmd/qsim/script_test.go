package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are what the scripts can do besides those of testscript.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":    exits,
	"sametree": sameTree,
	"tofull":   toFull,
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

// sametree A B: two folders of results hold the same, but for run.json. Either may be
// a link.
func sameTree(ts *testscript.TestScript, negated bool, arguments []string) {
	if negated || len(arguments) != 2 {
		ts.Fatalf("usage: sametree A B")
	}
	a, b := readTree(ts, arguments[0]), readTree(ts, arguments[1])
	difference := ""
	for name, text := range a {
		if other, ok := b[name]; !ok {
			difference = name + " is missing in " + arguments[1]
		} else if !bytes.Equal(text, other) {
			difference = name + " differs"
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			difference = name + " is missing in " + arguments[0]
		}
	}
	switch {
	case len(a) < 8:
		ts.Fatalf("%s has only %d files", arguments[0], len(a))
	case difference != "":
		ts.Fatalf("compare %s and %s: %s", arguments[0], arguments[1], difference)
	}
}

func readTree(ts *testscript.TestScript, folder string) map[string][]byte {
	folder, err := filepath.EvalSymlinks(ts.MkAbs(folder))
	ts.Check(err)
	files := map[string][]byte{}
	ts.Check(fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == "run.json" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, path))
		files[path] = text
		return err
	}))
	return files
}

// toFull CODE PROGRAM [ARGUMENT...]: runs a program whose standard output goes to a
// full disk.
func toFull(ts *testscript.TestScript, negated bool, arguments []string) {
	ts.Check(ts.Exec("sh", append([]string{"-c", `code=$1; shift; "$@" >/dev/full; test $? -eq "$code"`, "sh"}, arguments...)...))
}
