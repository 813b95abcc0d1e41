package scripts

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	mutated    = flag.String("mutate", "", "TestMutate: the package whose mutants its tests must find, such as engine/sim")
	onlyThose  = flag.String("only", "", "with -mutate: draw from the mutants whose keys have this text")
	sampleSize = flag.Int("sample", 0, "with -mutate: how many mutants to draw; 0: all")
	sampleSeed = flag.String("seed", "", "with -mutate and -sample: which to draw, for example the hash of a commit")
	leastFound = flag.Float64("least", 95, "with -mutate: per cent of the mutants that must be found")
)

// mutantTest is one test of a package that TestMutate mutates.
type mutantTest struct {
	name string
	took time.Duration
	hit  []byte // by mutant, whether the test reaches it where it makes a difference
}

// mutantRuns runs tests of a package, compiled once with all its mutants, of which each run switches on one.
type mutantRuns struct {
	t       *testing.T
	dir     string // folder of the package
	program string
	scratch string
	flags   []string // flags of every run
	tests   []mutantTest
	slow    atomic.Int64 // mutants that were found by the time that a test took
}

// TestMutate makes all small mistakes (mutants) that mutate knows in the package of the flag -mutate, one at a time,
// and fails unless the package's own tests find the share in -least. For each mutant it runs only the tests that reach
// it where it makes a difference; without any, the mutant survives.
func TestMutate(t *testing.T) {
	if *mutated == "" {
		t.Skip("this is for scripts/mutate")
	}
	at := slices.IndexFunc(load(t).packages, func(p *sourcePackage) bool { return p.path == *mutated })
	if at < 0 {
		t.Fatalf("%s is no package", *mutated)
	}
	m, files, err := mutate(load(t).packages[at])
	if err != nil {
		t.Fatal(err)
	}
	r := newMutantRuns(t, *mutated, files)
	r.record(len(m.mutants))
	drawn := draw(m.mutants, *onlyThose, *sampleSize, *sampleSeed)
	equivalent := equivalents(t, m)
	var survivors []string
	found, same := 0, 0
	finders := r.findAll(drawn, equivalent)
	for i, mutant := range drawn {
		switch by := finders[i]; {
		case by != "":
			found++
			if equivalent[mutant.key] != "" {
				t.Errorf("%s: found by %s, but listed as equivalent: %s", mutant.key, by, equivalent[mutant.key])
			}
		case equivalent[mutant.key] != "":
			same++
		default:
			ran := ""
			for _, test := range r.reaching(mutant.number) {
				ran += " " + test.name
			}
			ran = cmp.Or(ran, " nothing, since no test comes where it makes a difference")
			survivors = append(survivors, fmt.Sprintf("%s:%d\n\t%s\n\tran:%s", mutant.file, mutant.line, mutant.key, ran))
		}
	}
	slices.Sort(survivors)
	score := 100 * float64(found) / float64(max(1, len(drawn)-same))
	t.Logf("%s\n%s: %d of its %d mutants: %d found (%d by a test that took too long), %d equivalent, %d survive: %.1f %%",
		strings.Join(survivors, "\n"), *mutated, len(drawn), len(m.mutants), found, r.slow.Load(), same, len(survivors), score)
	if score < *leastFound {
		t.Errorf("want %.1f %%: write tests that fail on survivors; what changes nothing goes into testdata/mutants/equivalent",
			*leastFound)
	}
}

// draw returns n of the mutants whose keys contain only, chosen by seed, in their order; all of them if n is 0.
func draw(all []mutant, only string, n int, seed string) []mutant {
	drawn := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !strings.Contains(m.key, only) })
	if n == 0 || n >= len(drawn) {
		return drawn
	}
	order := func(m mutant) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\n%s", m.key, seed)
		return h.Sum64() * 0x9E3779B97F4A7C15
	}
	slices.SortFunc(drawn, func(a, b mutant) int { return cmp.Compare(order(a), order(b)) })
	drawn = drawn[:n]
	slices.SortFunc(drawn, func(a, b mutant) int { return a.number - b.number })
	return drawn
}

// equivalents returns, by key, the reasons why mutants of a package change nothing observable, from its file in
// testdata/mutants/equivalent: lines with keys, then one that begins with "because". A key must have a mutant.
func equivalents(t *testing.T, m *mutation) map[string]string {
	t.Helper()
	path := filepath.Join("testdata", "mutants", "equivalent", strings.ReplaceAll(m.p.path, "/", "-")+".txt")
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	keys, reasons := []string{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		reason, isReason := strings.CutPrefix(strings.TrimSpace(line), "because ")
		if !isReason {
			keys = append(keys, strings.TrimSpace(line))
			continue
		}
		if len(keys) == 0 {
			t.Errorf("%s: a reason of no mutant: %s", path, reason)
		}
		for _, key := range keys {
			reasons[key] = reason
			if m.keys[key] == 0 && !slices.ContainsFunc(m.mutants, func(m mutant) bool { return m.key == key }) {
				t.Errorf("%s: there is no such mutant: %s", path, key)
			}
		}
		keys = nil
	}
	if len(keys) > 0 {
		t.Errorf("%s: no reason for %q", path, keys)
	}
	return reasons
}

// TestEquivalents checks that each mutant listed in testdata/mutants/equivalent exists today and has a reason.
func TestEquivalents(t *testing.T) {
	lists, err := filepath.Glob("testdata/mutants/equivalent/*.txt")
	if err != nil || len(lists) == 0 {
		t.Fatalf("found no lists: %v", err)
	}
	for _, list := range lists {
		path := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(list), ".txt"), "-", "/")
		t.Run(path, func(t *testing.T) {
			at := slices.IndexFunc(load(t).packages, func(p *sourcePackage) bool { return p.path == path })
			if at < 0 {
				t.Fatalf("%s is no package", path)
			}
			m, _, err := mutate(load(t).packages[at])
			if err != nil {
				t.Fatal(err)
			}
			if len(equivalents(t, m)) == 0 {
				t.Error("nothing is listed")
			}
		})
	}
}

// newMutantRuns compiles the tests of the package at path with files, its sources with all mutants, in place of its
// own.
func newMutantRuns(t *testing.T, path string, files map[string]string) *mutantRuns {
	r := &mutantRuns{t: t, dir: filepath.Join("..", path), scratch: t.TempDir()}
	r.program = filepath.Join(r.scratch, "tests")
	overlay, err := writeOverlay(r.scratch, files)
	if err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-pgo=off", overlay, "-o", r.program, "./"+path)
	compile.Dir = ".."
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the package with its mutants does not compile:\n%s", output)
	}
	r.flags = []string{"-test.failfast"}
	if help, _ := exec.CommandContext(t.Context(), r.program, "-help").CombinedOutput(); bytes.Contains(help, []byte("rapid.nofailfile")) {
		r.flags = append(r.flags, "-rapid.nofailfile") // which would stay in the tree
	}
	return r
}

// mostMemory is the memory, in KiB, that a run with a mutant may take: some mutants would take all there is.
const mostMemory = 4 << 20

// run runs the named tests with environment variables env, and reports whether they passed within a time.
func (r *mutantRuns) run(within time.Duration, names []string, env ...string) bool {
	ctx, cancel := context.WithTimeout(r.t.Context(), within+5*time.Second)
	defer cancel()
	limited := `ulimit -v "$1"; shift; exec "$@"`
	arguments := append([]string{"-c", limited, "sh", fmt.Sprint(mostMemory), r.program}, r.flags...)
	arguments = append(arguments, "-test.timeout", within.String(), "-test.run", "^("+strings.Join(names, "|")+")$")
	process := exec.CommandContext(ctx, "sh", arguments...)
	process.Dir = r.dir
	process.Env = append(os.Environ(), env...)
	output, err := process.CombinedOutput()
	if ctx.Err() != nil || bytes.Contains(output, []byte("panic: test timed out")) {
		r.slow.Add(1)
	}
	return err == nil
}

// record fills r.tests: it runs each test of the package by itself, without a mutant, and notes its duration and which
// mutants it reaches. Tests that fail so, such as those that count allocations, are left out.
func (r *mutantRuns) record(mutants int) {
	list, err := exec.CommandContext(r.t.Context(), r.program, "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		r.t.Fatalf("list the tests: %v", err)
	}
	path := filepath.Join(r.scratch, "hit")
	all := time.Duration(0)
	for _, name := range strings.Fields(string(list)) {
		if err := os.WriteFile(path, make([]byte, mutants+1), 0o600); err != nil {
			r.t.Fatal(err)
		}
		began := time.Now()
		if !r.run(10*time.Minute, []string{name}, "MUTANTS_HIT="+path) {
			r.t.Logf("left out, since it fails without a mutant: %s", name)
			continue
		}
		took := time.Since(began)
		hit, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		r.tests, all = append(r.tests, mutantTest{name, took, hit}), all+took
	}
	slices.SortStableFunc(r.tests, func(a, b mutantTest) int { return cmp.Compare(a.took, b.took) })
	r.t.Logf("%d tests in %.1f s", len(r.tests), all.Seconds())
}

// reaching returns the tests that reach a mutant, by its number, where it makes a difference; the fastest first.
func (r *mutantRuns) reaching(number int) (tests []mutantTest) {
	for _, test := range r.tests {
		if test.hit[number] != 0 {
			tests = append(tests, test)
		}
	}
	return tests
}

// findAll returns, for each of the mutants, what find returns. It tries as many at once as there are processors.
// Mutants listed as equivalent get ten times the time of others: on a busy machine they are slow, too.
func (r *mutantRuns) findAll(mutants []mutant, equivalent map[string]string) []string {
	finders := make([]string, len(mutants))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(mutants) {
					return
				}
				times := time.Duration(10)
				if equivalent[mutants[i].key] != "" {
					times = 100
				}
				finders[i] = r.find(mutants[i].number, r.reaching(mutants[i].number), times)
				if (i+1)%100 == 0 {
					r.t.Logf("%d of %d", i+1, len(mutants))
				}
			}
		})
	}
	workers.Wait()
	return finders
}

// find returns the names of tests that fail with a mutant, or take times as long as without; "" if none do. It begins
// with the fastest test, and runs more at once as it goes on: a run is to take as long as all before it.
func (r *mutantRuns) find(number int, tests []mutantTest, times time.Duration) string {
	spent := time.Second
	for len(tests) > 0 {
		names, took := []string{tests[0].name}, tests[0].took
		n := 1
		for ; n < len(tests) && took+tests[n].took < max(spent, 2*tests[0].took); n++ {
			names, took = append(names, tests[n].name), took+tests[n].took
		}
		if !r.run(times*max(took, time.Second/2), names, fmt.Sprintf("MUTANT=%d", number)) {
			return strings.Join(names, " ")
		}
		tests, spent = tests[n:], spent+took
	}
	return ""
}
