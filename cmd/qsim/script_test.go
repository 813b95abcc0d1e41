package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// sametree A B: two folders of results are equal, except for run.json. Either may be a link.
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
