package scripts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// shardedScenario is a scenario for TestShards and others: a simulation of it takes some milliseconds.
const shardedScenario = `name: my
duration: 1m
warmup: 5s
seeds: 2
engine: {workers: 8}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 30/s}
    service: {dist: exponential, mean: 200ms}
    fails: {rate: 2%, errors: {timeout: 100%}}
policies: [{kind: fifo}, {kind: fresh-first}]
objectives:
  - {metric: fresh.wait.p99, below: 10s}
`

// TestShards runs the sharded sweeps in the README of this folder and in kubernetes/sweep.yaml, and checks that the
// merged files equal those of a sweep by one process, byte for byte.
func TestShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx := buildQsim(t, filepath.Join(dir, "bin", "qsim"))
	write(t, filepath.Join(dir, "my.yaml"), shardedScenario)
	run := func(t *testing.T, name string, arguments ...string) {
		t.Helper()
		process := exec.CommandContext(ctx, name, arguments...)
		// Nobody's settings, and a home of its own, where GNU parallel leaves what it wants to remember.
		process.Dir, process.Env = dir, []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "SHELL=/bin/sh"}
		if text, err := process.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, arguments, err, text)
		}
	}
	t.Run("GNU parallel", func(t *testing.T) { parallelShards(t, dir, run) })
	t.Run("Kubernetes", func(t *testing.T) { manifestShards(t, dir, run) })
}

// busyDeadline is the time after which a program started by a test is ended: it only hits programs that hang.
const busyDeadline = 10 * time.Minute

// programs is the path of the folder for programs that are built once for all tests.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "qsim-scripts-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

var builtQsim = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "build", "-o", filepath.Join(programs, "qsim"), "../cmd/qsim").CombinedOutput()
})

// buildQsim puts the program qsim at a path, and returns a context, with a time limit, for running it. The program is
// built once for all tests.
func buildQsim(t *testing.T, path string) context.Context {
	t.Helper()
	if text, err := builtQsim(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil { // not a copy: a file that is open for writing, as a process that begins meanwhile still has it, cannot be run
		err = os.Link(filepath.Join(programs, "qsim"), path)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), busyDeadline)
	t.Cleanup(cancel)
	return ctx
}

// parallelShards runs the lines with GNU parallel in README.md and compares the merged files with a whole sweep's.
func parallelShards(t *testing.T, dir string, run func(*testing.T, string, ...string)) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skipf("SKIPPED: THE LINES FOR GNU PARALLEL ARE NOT TESTED: %v; scripts/test installs it as root (parallel)", err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("```sh\n(parallel [^`]*)```").FindStringSubmatch(string(readme))
	if found == nil {
		t.Fatal("the README has no lines for GNU parallel")
	}
	lines := found[1]
	axis := regexp.MustCompile(`--vary=?\s*\S+`).FindString(lines)
	if axis == "" || !strings.Contains(lines, "--shard {}/8") || !strings.Contains(lines, "qsim merge shared/sweep") {
		t.Fatalf("these are not eight shards of an axis and their merge:\n%s", lines)
	}
	run(t, "/bin/sh", "-euc", lines)
	run(t, "/bin/sh", "-euc", "qsim sweep my.yaml "+axis+" -q -o whole-parallel")
	if shards, err := filepath.Glob(filepath.Join(dir, "shared", "sweep", "shard-*-of-8.jsonl")); err != nil || len(shards) != 8 {
		t.Errorf("there are %d shards, want 8 (%v)", len(shards), err)
	}
	compareTrees(t, filepath.Join(dir, "whole-parallel"), filepath.Join(dir, "shared", "sweep"))
}

// manifestShards runs the commands of the pods in kubernetes/sweep.yaml, one index after the other, with the values
// that Kubernetes would set for the variable and the volumes, and compares the merged files with a whole sweep's.
func manifestShards(t *testing.T, dir string, run func(*testing.T, string, ...string)) {
	text, err := os.ReadFile("kubernetes/sweep.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job, err := readManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec.Containers[0]
	volumes := strings.NewReplacer("/scenario/", dir+"/", "/sweep/", dir+"/volume/")
	arguments := func(index int) (all []string) {
		for _, a := range slices.Concat(pod.Command, pod.Args) {
			all = append(all, volumes.Replace(strings.ReplaceAll(a, "$(SHARD)", strconv.Itoa(index))))
		}
		return all[1:]
	}
	qsim := filepath.Join(dir, "bin", pod.Command[0])
	for index := range int(*job.Spec.Completions) {
		run(t, qsim, arguments(index)...)
	}
	run(t, qsim, "merge", filepath.Join(dir, "volume", "my"))
	run(t, qsim, append(arguments(0), "--shard=0/1", "--out="+filepath.Join(dir, "whole-manifest"))...) // of a flag the last one counts
	compareTrees(t, filepath.Join(dir, "whole-manifest"), filepath.Join(dir, "volume", "my"))
}
