package scripts

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	long     = flag.Bool("long", false, "TestKeptMutants: plant the mutants and have them found, which takes hours")
	onlyKept = flag.String("kept", "", "with -long: which mutants, by number or by package, with commas")
	onlyBy   = flag.String("by", "", "with -long: who is to find them, chaos or a package, in place of those who must")
	chaosFor = flag.Int("chaos-seeds", 2000, "with -long: of how many seeds chaos draws worlds")
)

// keptMutant is a mistake to plant in the product's code that tests or chaos must find: see testdata/mutants.
type keptMutant struct {
	number, name string
	by           []string // finders that must detect the mutant: chaos, or the tests of that package
	edits        []edit
}

// edit is a change of a file: it replaces whole lines, which must occur there exactly once.
type edit struct{ file, before, after string }

// byChaos stands for qsim chaos in keptMutant.by, where other names are packages.
const byChaos = "chaos"

// keptMutants returns all mutants in testdata/mutants. There a mutant is a paragraph: a line with its number and
// effect, one with its finders, and for each edit the file, the removed lines (-) and the added ones (+).
func keptMutants(t *testing.T) (all []*keptMutant) {
	t.Helper()
	paths, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
			m, err := parseMutant(paragraph)
			if err != nil {
				t.Fatalf("%s: %v:\n%s", path, err, paragraph)
			}
			all = append(all, m)
		}
	}
	return all
}

func parseMutant(paragraph string) (*keptMutant, error) {
	m := &keptMutant{}
	for i, line := range strings.Split(paragraph, "\n") {
		last := len(m.edits) - 1
		switch {
		case i == 0 && strings.HasPrefix(line, "# "):
			m.number, m.name, _ = strings.Cut(line[2:], " ")
		case i == 1 && strings.HasPrefix(line, "by "):
			m.by = strings.Fields(line)[1:]
		case i > 1 && strings.HasSuffix(line, ".go"):
			m.edits = append(m.edits, edit{file: line})
		case last >= 0 && strings.HasPrefix(line, "-") && m.edits[last].after == "":
			m.edits[last].before += line[1:] + "\n"
		case last >= 0 && strings.HasPrefix(line, "+"):
			m.edits[last].after += line[1:] + "\n"
		default:
			return nil, fmt.Errorf("line %d, %q: want # number name, by whom, a file, lines with - and then with +", i+1, line)
		}
	}
	if m.name == "" || len(m.by) == 0 || len(m.edits) == 0 {
		return nil, errors.New("it has no name, nobody who must find it, or no edit")
	}
	return m, nil
}

// planted returns the texts, by path, of the files that the mutant changes, with its edits made.
func (m *keptMutant) planted() (map[string]string, error) {
	files := map[string]string{}
	for _, e := range m.edits {
		if files[e.file] == "" {
			text, err := os.ReadFile(filepath.Join("..", e.file))
			if err != nil {
				return nil, err
			}
			files[e.file] = string(text)
		}
		text := "\n" + files[e.file]
		if n := strings.Count(text, "\n"+e.before); n != 1 || e.before == "" {
			return nil, fmt.Errorf("%s has these lines %d times, want once:\n%s", e.file, n, e.before)
		}
		files[e.file] = strings.Replace(text, "\n"+e.before, "\n"+e.after, 1)[1:]
	}
	return files, nil
}

// writeOverlay writes files, by path in the repository, for the go command to compile in place of the present ones. It
// returns the -overlay flag for that.
func writeOverlay(dir string, files map[string]string) (string, error) {
	top, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "-"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(top, path)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return "-overlay=" + overlay, os.WriteFile(overlay, text, 0o600)
}

// foundBy reports whether a finder (chaos, or a package's tests) detects the mutant planted by an overlay flag, and the
// line that shows it. A program that does not end counts as found by tests, whose deadline shows where it hangs.
func foundBy(t *testing.T, who, overlay string) (found bool, how string) {
	program := filepath.Join(t.TempDir(), "program")
	build := []string{"build", "-pgo=off", overlay, "-o", program, "./cmd/qsim"}
	run := []string{"chaos", "--seeds", fmt.Sprint(*chaosFor), "--quiet"}
	dir, within := "..", 15*time.Minute
	if who != byChaos {
		build = []string{"test", "-pgo=off", "-c", overlay, "-o", program, "./" + who}
		run = []string{"-test.failfast", "-test.timeout=10m"}
		dir = filepath.Join("..", who)
	}
	compile := exec.CommandContext(t.Context(), "go", build...)
	compile.Dir = ".."
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %s", output)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	process := exec.CommandContext(ctx, program, run...)
	process.Dir = dir
	output, err := process.CombinedOutput()
	if ctx.Err() != nil {
		return who != byChaos, "it does not end"
	}
	for line := range strings.Lines(string(output)) {
		for _, sign := range []string{"--- FAIL", "panic:", "seed "} {
			if strings.Contains(line, sign) {
				return err != nil, strings.TrimSpace(line)
			}
		}
	}
	return err != nil, fmt.Sprint(err)
}

// TestKeptMutants checks that the edits of all kept mutants fit the present code. With -long it plants each mutant and
// checks that all its finders detect it.
func TestKeptMutants(t *testing.T) {
	numbers, paths := map[string]bool{}, []string{byChaos}
	for _, p := range load(t).packages {
		paths = append(paths, p.path)
	}
	kept := keptMutants(t)
	if len(kept) < 100 {
		t.Fatalf("%d mutants: most of them were not read", len(kept))
	}
	if !slices.ContainsFunc(kept, (*keptMutant).isAskedFor) {
		t.Fatalf("no mutant has the number or the package %s", *onlyKept)
	}
	for _, m := range kept {
		t.Run(m.number, func(t *testing.T) {
			if numbers[m.number] {
				t.Error("another mutant has that number")
			}
			numbers[m.number] = true
			files, err := m.planted()
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			for path, text := range files {
				if _, err := parser.ParseFile(positions, path, text, parser.SkipObjectResolution); err != nil {
					t.Errorf("%s: %v", m.name, err)
				}
			}
			for _, who := range m.by {
				if !slices.Contains(paths, who) {
					t.Errorf("%s: %s can find nothing", m.name, who)
				}
			}
			if *long && !t.Failed() && m.isAskedFor() {
				m.plant(t, files)
			}
		})
	}
}

// isAskedFor reports whether the flag -kept selects the mutant, by its number or the package of its first edit.
func (m *keptMutant) isAskedFor() bool {
	asked, folder := strings.Split(*onlyKept, ","), filepath.ToSlash(filepath.Dir(m.edits[0].file))
	return *onlyKept == "" || slices.Contains(asked, m.number) || slices.Contains(asked, folder)
}

func (m *keptMutant) plant(t *testing.T, files map[string]string) {
	overlay, err := writeOverlay(t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	by := m.by
	if *onlyBy != "" {
		by = strings.Split(*onlyBy, ",")
	}
	for _, who := range by {
		began := time.Now()
		found, how := foundBy(t, who, overlay)
		report := t.Errorf
		if found {
			report = t.Logf
		}
		report("%s %s: by %s: found %t in %.1f s: %s", m.number, m.name, who, found, time.Since(began).Seconds(), how)
	}
}

func TestKeptMutantsFindFaults(t *testing.T) {
	const good = "# 1 a name\nby chaos engine\nengine/doc.go\n-package engine\n+package motor"
	for _, tt := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"no name", "# 1\nby chaos\nengine/doc.go\n-package engine", "no name"},
		{"nobody finds it", strings.Replace(good, "by chaos engine\n", "", 1), "line 2"},
		{"no edit", "# 1 a name\nby chaos", "no edit"},
		{"lines come before any go", "# 1 a name\nby chaos\n+x", "line 3"},
		{"lines go after those that come", good + "\n-// more", "line 6"},
		{"lines that are not there", strings.Replace(good, "-package", "-packages", 1), "0 times"},
		{"lines that stand there twice", strings.Replace(good, "-package engine", "-//", 1), "times"},
		{"a part of a line", strings.Replace(good, "-package engine", "-package", 1), "0 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parseMutant(tt.text)
			if err == nil {
				_, err = m.planted()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
