package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"qsim/results"
)

// TestDrawnSideBySide draws a stored run again, its charts and its page on two processors: the files are those stored,
// and the race detector sees what they share.
func TestDrawnSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	dir := t.TempDir()
	root := newRoot()
	root.SetArgs([]string{"run", filepath.Join(dir, "a.yaml"), "--out", dir, "--quiet"})
	root.SetOut(io.Discard)
	text := "name: a\nduration: 5s\nwarmup: 0s\nseeds: 2\nengine: {workers: 2}\njobs: [{class: mail, arrivals: 9/s, service: 200ms, fails: {rate: 30%}}]\n" +
		"storms: [{name: down, at: 2s, for: 1s, fail: {rate: 90%}}]\npolicies: [{kind: fifo}, {kind: fresh-first}]\n"
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	read := inFolder(filepath.Join(dir, "a", "latest"))
	stored, err := results.ReadStored(read)
	if err != nil {
		t.Fatal(err)
	}
	files, err := drawn(stored)
	if err != nil || len(files) < 9 || !slices.ContainsFunc(files, func(f results.File) bool { return f.Path == reportFile }) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if first, err := read(f.Path); err != nil || !bytes.Equal(first, f.Data) {
			t.Errorf("%s is another when drawn again (%v)", f.Path, err)
		}
	}
}
