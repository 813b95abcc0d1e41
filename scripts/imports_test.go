package scripts

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the import graph of this module, without a cycle: for each package the packages that it may import. Only
// scenarios/world imports the language, policies, simulation and memory store together, and only cmd/bench PostgreSQL.
// Tests are exempt.
var mayImport = map[string][]string{
	"engine":              {"engine/heap", "engine/keyed"},
	"engine/heap":         {},
	"engine/keyed":        {},
	"engine/dist":         {},
	"engine/fault":        {"engine", "engine/dist"},
	"engine/quantity":     {},
	"engine/bound":        {"engine", "engine/quantity"},
	"engine/unfinished":   {"engine"},
	"engine/check":        {"engine", "engine/bound", "engine/unfinished"},
	"engine/memstore":     {"engine", "engine/heap", "engine/unfinished"},
	"engine/pgstore":      {"engine"},
	"engine/sim":          {"engine", "engine/dist", "engine/fault", "engine/heap", "engine/keyed"},
	"engine/live":         {"engine", "engine/heap"},
	"engine/storetest":    {"engine", "engine/keyed", "engine/live"},
	"policies":            {"engine/quantity", "engine", "engine/bound"},
	"results/plain":       {"engine/quantity"}, // how scenarios write durations
	"results/measure":     {"engine", "engine/heap", "engine/unfinished", "results/plain"},
	"results":             {"engine", "engine/quantity", "results/measure", "results/plain"},
	"results/resultstest": {"engine", "engine/keyed", "results/measure"},
	"results/schematest":  {}, // for tests of what is written: it knows no result
	"results/text":        {"results", "results/measure", "results/plain"},
	"results/report":      {"engine/quantity", "results", "results/measure", "results/text", "results/plain"},
	"scenarios":           {"engine/quantity", "scenarios/diagnostics", "scenarios/tree", "scenarios/reference", "scenarios/spec", "scenarios/validate", "scenarios/checks", "policies", "results/measure", "results/plain"}, // the language: see TestScenariosReachNoSimulation
	"scenarios/world":     {"engine/quantity", "scenarios", "scenarios/estimate", "scenarios/pool", "scenarios/spec", "engine", "engine/check", "engine/dist", "engine/fault", "engine/heap", "engine/keyed", "engine/sim", "engine/memstore", "engine/unfinished", "policies", "results", "results/measure", "results/plain"},
	"cmd/qsim":            {"cmd/cli"},
	"cmd/qbench":          {"cmd/bench"},
	"cmd/play":            {"policies", "cmd/ui", "scenarios", "scenarios/diagnostics", "scenarios/estimate", "scenarios/origins", "scenarios/pool", "scenarios/world", "scenarios/trace", "results", "results/measure", "results/text", "results/plain", "results/report"},
	"cmd/cli":             {"engine/quantity", "policies", "cmd/play", "cmd/input", "cmd/ui", "scenarios", "scenarios/...", "results", "results/measure", "results/text", "results/plain", "results/report"},
	"cmd/bench":           {"engine/quantity", "policies", "cmd/input", "cmd/ui", "scenarios", "scenarios/world", "engine", "engine/live", "engine/live/metrics", "engine/memstore", "engine/pgstore", "engine/pgstore/pgserver", "results", "results/measure", "results/text", "results/plain", "results/report"},

	// How both commands speak, and how that is tested: they know nothing of queues.
	"cmd/ui":         {"results/plain", "results/text"},                                            // whose one width rule is that of help texts too
	"cmd/input":      {"cmd/ui", "results", "results/plain", "scenarios", "scenarios/diagnostics"}, // how both take scenarios
	"cmd/ui/clitest": {"cmd/ui"},

	// Benchmarks of engines over any store.
	"engine/live/livetest": {"engine", "engine/quantity", "engine/live", "policies"},

	// The figures of engines for Prometheus.
	"engine/live/metrics": {"engine"},

	// A temporary server for tests and benchmarks: it knows no store.
	"engine/pgstore/pgserver": {},

	// For tests of pages in a browser: it knows none of them.
	"results/report/browsertest": {},

	// Below the language: YAML with positions, and what is wrong with a text.
	"scenarios/tree":        {"engine/quantity"},
	"scenarios/diagnostics": {"engine/quantity", "scenarios/tree"},

	// The language itself, from what is known of keys up to what is wrong with a scenario. None of them loads one.
	"scenarios/reference": {"engine/quantity", "results/plain", "scenarios/tree"},
	"scenarios/checks":    {"engine", "engine/quantity", "results/plain", "scenarios/diagnostics", "scenarios/reference", "scenarios/tree"},
	"scenarios/spec":      {"engine", "engine/dist", "engine/fault", "engine/quantity", "policies", "results/measure", "results/plain", "scenarios/checks", "scenarios/diagnostics", "scenarios/reference", "scenarios/tree"},
	"scenarios/estimate":  {"engine", "engine/dist", "engine/fault", "policies", "results/plain", "scenarios/reference", "scenarios/spec"},
	"scenarios/validate":  {"engine", "engine/quantity", "policies", "results/measure", "results/plain", "scenarios/checks", "scenarios/diagnostics", "scenarios/estimate", "scenarios/reference", "scenarios/spec", "scenarios/tree"},
	"scenarios/origins":   {"policies", "scenarios/diagnostics", "scenarios/reference", "scenarios/spec", "scenarios/tree"},

	// Several simulations at once: it knows no simulation.
	"scenarios/pool": {},

	// What builds on whole scenarios: chaos, verification, studies.
	"scenarios/...": {"engine/quantity", "scenarios", "scenarios/checks", "scenarios/diagnostics", "scenarios/origins", "scenarios/spec", "scenarios/tree", "scenarios/pool", "scenarios/world", "engine", "engine/check", "engine/dist", "engine/fault", "engine/keyed", "engine/sim", "engine/memstore", "policies", "results", "results/measure", "results/text", "results/plain"},
}

// mayUse lists, for each foreign module, the packages that may import it. The engine is in no row: it has only the
// standard library.
var mayUse = map[string][]string{
	"git.sr.ht/~sbinet/gg":                    {"results/report"}, // the pen of gonum's bitmaps
	"github.com/HdrHistogram/hdrhistogram-go": {"results/measure"},
	"github.com/aclements/go-moremath":        {"results"},
	"github.com/agnivade/levenshtein":         {"results/plain"},
	"github.com/chromedp/cdproto":             {"results/report/browsertest"},
	"github.com/chromedp/chromedp":            {"results/report/browsertest"},
	"github.com/go-json-experiment/json":      {"results"}, // options, as that NaN is null
	"github.com/invopop/jsonschema":           {"scenarios", "results/schematest"},
	"github.com/jackc/pgx/v5":                 {"engine/pgstore"},
	"github.com/jedib0t/go-pretty/v6":         {"results/text"},
	"github.com/prometheus/client_golang":     {"engine/live/metrics", "cmd/bench"},
	"github.com/rogpeppe/go-internal":         {"cmd/ui/clitest"},
	"github.com/spf13/cobra":                  {"cmd/ui", "cmd/ui/clitest", "cmd/cli", "cmd/bench"},
	"github.com/spf13/pflag":                  {"cmd/ui", "cmd/ui/clitest"},
	"github.com/vbauerster/mpb/v8":            {"cmd/ui"},
	"go.yaml.in/yaml/v4": {"scenarios", "scenarios/chaos", "scenarios/checked", "scenarios/checks", "scenarios/diagnostics",
		"scenarios/origins", "scenarios/reference", "scenarios/spec", "scenarios/tree", "scenarios/validate"},
	"golang.org/x/image":                       {"results/report"}, // the types of font metrics
	"golang.org/x/perf":                        {"results", "cmd/bench"},
	"golang.org/x/term":                        {"cmd/ui"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"results/schematest"},
	"gonum.org/v1/gonum":                       {"results", "scenarios/imports", "scenarios/verify"},
	"gonum.org/v1/plot":                        {"results/report"},
}

// rule returns the row of mayImport for a package: its own or, if it has none, that of its longest parent ending in
// /...; false if there is neither.
func rule(table map[string][]string, path string) (row []string, ok bool) {
	if row, ok = table[path]; ok {
		return row, true
	}
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if row, ok = table[path[:at]+"/..."]; ok {
			return row, true
		}
	}
	return nil, false
}

// moduleOf returns the foreign module in mayUse that an import path belongs to; "" if it is in none.
func moduleOf(path string) string {
	for name := range mayUse {
		if path == name || strings.HasPrefix(path, name+"/") {
			return name
		}
	}
	return ""
}

func allows(row []string, path string) bool {
	return slices.ContainsFunc(row, func(allowed string) bool {
		parent, all := strings.CutSuffix(allowed, "...")
		return path == allowed || all && strings.HasPrefix(path, parent)
	})
}

func checkImports(p *sourcePackage) (problems []string) {
	if p.path == "scripts" {
		return nil // tests only
	}
	row, known := rule(mayImport, p.path)
	for _, f := range p.built() {
		if !known {
			return append(problems, problem(f.syntax.Package, "package %s has no row in mayImport", p.path))
		}
		for _, spec := range f.syntax.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			first, _, _ := strings.Cut(path, "/")
			own, isOwn := strings.CutPrefix(path, module+"/")
			switch {
			case isOwn && !allows(row, own):
				problems = append(problems, problem(spec.Pos(), "%s may not import %s", p.path, own))
			case isOwn || !strings.Contains(first, "."):
			case !allows(mayUse[moduleOf(path)], p.path):
				problems = append(problems, problem(spec.Pos(), "%s may not use %s", p.path, path))
			}
		}
	}
	return problems
}

func TestImportGraph(t *testing.T) {
	for _, p := range load(t).packages {
		report(t, checkImports(p))
	}
}

// TestScenariosReachNoSimulation checks that package scenarios may import no simulation, not even indirectly.
func TestScenariosReachNoSimulation(t *testing.T) {
	seen := map[string]bool{}
	for reach := []string{"scenarios"}; len(reach) > 0; reach = reach[1:] {
		for _, next := range mayImport[reach[0]] {
			if !seen[next] {
				seen[next] = true
				reach = append(reach, next)
			}
		}
	}
	if !seen["engine"] {
		t.Error("the language does not reach the engine: is there a row for it?")
	}
	for _, banned := range []string{"engine/sim", "engine/memstore", "engine/check", "scenarios/world"} {
		if seen[banned] {
			t.Errorf("scenarios reaches %s", banned)
		}
	}
}

func TestImportGraphFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"allowed", "results", "import (\n_ \"fmt\"\n_ \"qsim/engine\"\n_ \"gonum.org/v1/gonum/stat\"\n)", nil},
		{"results imports scenarios", "results", `import _ "qsim/scenarios"`, []string{"results may not import scenarios"}},
		{"the simulation imports a store", "engine/sim", `import _ "qsim/engine/memstore"`, []string{"may not import engine/memstore"}},
		{"the language runs itself", "scenarios", `import _ "qsim/scenarios/world"`, []string{"scenarios may not import scenarios/world"}},
		{"a library in the engine", "engine", `import _ "gonum.org/v1/gonum/stat"`, []string{"engine may not use gonum"}},
		{"charts outside the report", "results", `import _ "gonum.org/v1/plot/vg"`, []string{"results may not use gonum.org/v1/plot/vg"}},
		{"a library in no row", "cmd/cli", `import _ "github.com/spf13/viper"`, []string{"may not use github.com/spf13/viper"}},
		{"a package in no row", "common", ``, []string{"has no row"}},
		{"a room under scenarios", "scenarios/chaos", `import _ "qsim/scenarios"`, nil},
		{"commands reach such rooms", "cmd/cli", `import _ "qsim/scenarios/chaos"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, checkImports(sample(t, tt.path, "package sample\n"+tt.text)), tt.want)
		})
	}
}
