package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qsim/cmd/ui"
)

var sweptSmall = []string{"sweep", "testdata/small.yaml", "--vary", "engine.workers=6..35", "--seeds", "2", "--policy", "fifo"}

// The first interrupt keeps the finished cells, and the same command computes the others: the
// result equals that of one uninterrupted command.
func TestInterruptedSweep(t *testing.T) {
	whole, out := t.TempDir(), t.TempDir()
	run := func(arguments ...string) (stderr string) {
		t.Helper()
		command := exec.Command("qsim", append(append([]string{}, sweptSmall...), arguments...)...)
		command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		var text bytes.Buffer
		command.Stderr = &text
		if err := command.Run(); err != nil {
			t.Fatalf("%v: %s", err, text.String())
		}
		return text.String()
	}
	run("--out", whole, "--quiet")
	stdout, stderr, code := interrupted(t, append(append([]string{}, sweptSmall...), "--verbose", "--parallel", "1", "--out", out), []string{"2 of 30 cells"})
	if code != int(ui.ExitInterrupted) || stdout != "" || !strings.Contains(stderr, "of 30 cells are finished and kept; the same command goes on with the others") {
		t.Fatalf("exit %d, want %d; standard output %q; standard error:\n%s", code, ui.ExitInterrupted, stdout, stderr)
	}
	journal := filepath.Join(out, "shard-0-of-1.partial.jsonl")
	text, err := os.ReadFile(journal)
	if kept := bytes.Count(text, []byte("}\n")); err != nil || kept < 2 || kept > 29 {
		t.Fatalf("%d cells are kept (%v), want some of them", kept, err)
	}
	if text := run("--out", out, "--verbose"); !strings.Contains(text, "of 30 cells are there, in "+out) {
		t.Errorf("it does not say that cells were there:\n%s", text)
	}
	same(t, whole, out)

	// A process that finds all cells, as after one that was killed before it joined them, writes the same, too.
	shard := filepath.Join(out, "shard-0-of-1.jsonl")
	if text, err = os.ReadFile(shard); err != nil {
		t.Fatal(err)
	}
	_, cells, _ := bytes.Cut(text, []byte("\n"))
	if err = errors.Join(os.Remove(shard), os.WriteFile(journal, cells, 0o644)); err != nil {
		t.Fatal(err)
	}
	if text := run("--out", out, "--verbose"); !strings.Contains(text, "30 of 30 cells are there, in "+out) {
		t.Errorf("it does not say that all cells were there:\n%s", text)
	}
	same(t, whole, out)
}

// same checks that two folders have the same results of a sweep.
func same(t *testing.T, whole, out string) {
	t.Helper()
	for _, name := range []string{"shard-0-of-1.jsonl", "sweep.json", "sweep.csv", "sweep.yaml", "charts/sweep-1-fresh-wait-p99-during-down.png"} {
		a, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs from that of one go (%v)", name, err)
		}
	}
}
