package scripts

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qsim/policies"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// mostReadmeWords is the highest number of words in README.md at the top: more belongs into the README of a folder.
const mostReadmeWords = 900

// readmes lists the folders with a README.md that these tests check.
var readmes = []string{".", "cmd/qbench", "cmd/qsim", "engine", "policies", "results", "scenarios", "scripts"}

// snippetWorld is the YAML of a scenario to which examples in READMEs are appended that are only parts of one.
const snippetWorld = `
dependencies: [{name: payments-api, limit: {rate: 300/s}}]
jobs:
  - {class: payments, arrivals: {process: poisson, rate: 9/s}, service: 500ms, calls: payments-api}
  - {class: mail, arrivals: {process: poisson, rate: 9/s}, service: 500ms}
`

var (
	fenced       = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	sourcePath   = regexp.MustCompile(`^[a-z_]+(/[a-zA-Z_]+)*\.(go|ya?ml|sh)$`)
	runLine      = regexp.MustCompile(`qsim (?:run|trace|sweep|map|tune) ([a-z][a-z/-]*)(?:\s|$|` + "`" + `)`)
	testLine     = regexp.MustCompile(`go test (\./[a-z/]+)[^` + "`" + `\n]*?(?:-bench|-run) '?([A-Z][A-Za-z|\\]*)`)
)

// readme returns the text of README.md in a folder, given from the top of the repository.
func readme(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchor returns the URL fragment by which GitHub links to the heading with this title.
func anchor(title string) string {
	title = strings.ToLower(strings.ReplaceAll(title, "`", ""))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(title, ""), " ", "-")
}

// TestDocsReadmes checks the READMEs: links lead somewhere, YAML examples load, Go examples are formatted, and the
// files, scenarios and tests that are named exist. Their command lines are parsed by tests of cmd/cli and cmd/bench.
func TestDocsReadmes(t *testing.T) {
	anchors := map[string][]string{}
	for _, folder := range readmes {
		for _, title := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(readme(t, folder), ""), -1) {
			anchors[folder] = append(anchors[folder], anchor(title[1]))
		}
	}
	for _, folder := range readmes {
		t.Run(folder, func(t *testing.T) {
			text := readme(t, folder)
			for _, link := range markdownLink.FindAllStringSubmatch(text, -1) {
				if !strings.Contains(link[1], "://") {
					checkLink(t, folder, link[1], anchors)
				}
			}
			for _, block := range fenced.FindAllStringSubmatch(text, -1) {
				switch block[1] {
				case "yaml":
					checkExample(t, block[2])
				case "go":
					if formatted, err := format.Source([]byte(block[2])); err != nil || string(formatted) != block[2] {
						t.Errorf("is this Go, and formatted? %v\n%s", err, block[2])
					}
				case "", "sh":
				default:
					t.Errorf("a block in %s", block[1])
				}
			}
			for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
				if sourcePath.MatchString(span[1]) && strings.Contains(span[1], "/") {
					checkThere(t, span[1])
				}
			}
			for _, line := range runLine.FindAllStringSubmatch(text, -1) {
				if about, err := os.Stat(filepath.Join("..", line[1])); err == nil && about.IsDir() {
					continue
				}
				if _, _, err := scenarios.Open(line[1]); err != nil {
					t.Errorf("no scenario is called %s: %v", line[1], err)
				}
			}
			for _, line := range testLine.FindAllStringSubmatch(text, -1) {
				checkTests(t, line[1], line[2])
			}
		})
	}
}

func checkThere(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("..", name)); err != nil {
		t.Errorf("%s is not there", name)
	}
}

func checkLink(t *testing.T, folder, link string, anchors map[string][]string) {
	t.Helper()
	to, fragment, _ := strings.Cut(link, "#")
	target := path.Join(folder, to)
	if to == "" {
		target = path.Join(folder, "README.md")
	}
	checkThere(t, target)
	if fragment != "" && !slices.Contains(anchors[path.Dir(target)], fragment) {
		t.Errorf("%s has no heading %q", target, fragment)
	}
}

// checkExample fails the test if an example from a README does not load as a scenario, completed by snippetWorld.
func checkExample(t *testing.T, text string) {
	t.Helper()
	whole := text
	if !strings.Contains(text, "jobs:") {
		whole += snippetWorld
	}
	if strings.Contains(text, "during: payments-down") && !strings.Contains(text, "storms:") {
		whole += "storms: [{name: payments-down, at: 10m, for: 5m, fail: {hits: [payments], rate: 97%}}]\npolicies: [{kind: fifo}, {kind: inflight-cap}]\n"
	}
	scenario, problems := scenarios.Load("example.yaml", []byte(whole), nil)
	if scenario == nil {
		t.Errorf("the example does not load:\n%s", problems.Text("example.yaml", []byte(whole)))
	}
}

// checkTests fails the test unless each of the names, separated by |, is that of a test or benchmark in a folder.
func checkTests(t *testing.T, folder, names string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests", folder)
	}
	var all []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	for name := range strings.SplitSeq(strings.ReplaceAll(names, `\`, ""), "|") {
		if !regexp.MustCompile(`(?m)^func (Benchmark|Test)[A-Za-z]*` + strings.TrimPrefix(name, "Test")).Match(all) {
			t.Errorf("%s has no test or benchmark %s", folder, name)
		}
	}
}

// TestDocsReadmeIsShort checks that README.md at the top has at most mostReadmeWords words.
func TestDocsReadmeIsShort(t *testing.T) {
	if words := len(strings.Fields(readme(t, "."))); words > mostReadmeWords {
		t.Errorf("README.md has %d words, more than %d: move some to the README of a folder", words, mostReadmeWords)
	}
}

// TestDocsReadmesAreComplete checks that each policy, storm and preset has a heading in the REFERENCE.md of its folder,
// and that the README there links to it.
func TestDocsReadmesAreComplete(t *testing.T) {
	explained := func(folder, name string) {
		reference, err := os.ReadFile(filepath.Join("..", folder, "REFERENCE.md"))
		if err != nil || !strings.Contains(string(reference), "\n### "+name+"\n") {
			t.Errorf("%s/REFERENCE.md has no heading %s: %v", folder, name, err)
		}
		if !strings.Contains(readme(t, folder), "(REFERENCE.md") {
			t.Errorf("%s/README.md has no link to its reference", folder)
		}
	}
	for _, kind := range policies.Kinds() {
		explained("policies", kind.Name)
	}
	for _, kind := range scenarios.Troubles() {
		explained("scenarios", kind)
	}
	for _, preset := range scenarios.Presets() {
		explained("scenarios", preset.Name)
	}
	for _, folder := range readmes[1:] {
		if !strings.Contains(readme(t, "."), "("+folder+"/README.md)") {
			t.Errorf("README.md has no link to that of %s", folder)
		}
	}
}

// TestFrozenTables checks that the tables of storms and presets in scenarios/README.md are what the program lists; with
// -rewrite it writes them anew.
func TestFrozenTables(t *testing.T) {
	text := readme(t, "scenarios")
	var storms, presets strings.Builder
	for _, kind := range scenarios.AllKinds().Storms {
		fmt.Fprintf(&storms, "| `%s` | %s |\n", kind.Name, kind.Doc)
	}
	var families []string
	names, seen := map[string]string{}, map[string]string{}
	for _, p := range scenarios.Presets() {
		if p.Family == "reference design" { // the table of published designs has them
			continue
		}
		if !slices.Contains(families, p.Family) {
			families = append(families, p.Family)
		}
		names[p.Family] += " `" + p.Name + "`"
		named := regexp.MustCompile("preset: " + p.Name + `\b[^-]`)
		for _, s := range scenarios.Builtin() {
			link := fmt.Sprintf("[%s](%s.yaml)", path.Base(s.Name), s.Name)
			if _, src, _ := scenarios.OpenBuiltin(s.Name); named.Match(src) && !strings.Contains(seen[p.Family], link) {
				seen[p.Family] += ", " + link
			}
		}
	}
	for _, family := range families {
		fmt.Fprintf(&presets, "| %s |%s | %s |\n", family, names[family], strings.TrimPrefix(seen[family], ", "))
	}
	for header, rows := range map[string]string{
		"\n| kind | what it does |\n| --- | --- |\n":                   storms.String(),
		"\n| systems | presets | see them in |\n| --- | --- | --- |\n": presets.String(),
	} {
		before, table, found := strings.Cut(text, header)
		table, after, _ := strings.Cut(table, "\n\n")
		if !found {
			t.Fatalf("scenarios/README.md has no table with the header %s", header)
		}
		if text = before + header + rows + "\n" + after; table+"\n" != rows && !*rewrite {
			t.Errorf("scenarios/README.md has not, below %s%s", header, rows)
		}
	}
	if *rewrite {
		if err := os.WriteFile("../scenarios/README.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocsReadingOrder checks that engine/README.md and the comment of package engine list the same nine files for
// newcomers to read, in the same order.
func TestDocsReadingOrder(t *testing.T) {
	comment, err := os.ReadFile("../engine/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, order, _ := strings.Cut(string(comment), "# Reading order")
	order, _, _ = strings.Cut(order, "# What")
	var inReadme []string
	for _, line := range regexp.MustCompile("(?m)^[1-9]\\. `([^`]*)`").FindAllStringSubmatch(readme(t, "engine"), -1) {
		inReadme = append(inReadme, path.Base(line[1]))
	}
	if inComment := regexp.MustCompile(`[a-z_]+\.go`).FindAllString(order, -1); len(inReadme) != 9 || !slices.Equal(inComment, inReadme) {
		t.Errorf("engine/README.md has %v, engine/doc.go %v", inReadme, inComment)
	}
}

var summaryFile = flag.String("summary", "", "summary.json of all seeds of retry-storm: the figures of README.md are held to it")

// TestReadmeFigures checks the table in README.md at the top against the summary of a run, in the file of the flag
// -summary. With -rewrite it writes the table anew.
func TestReadmeFigures(t *testing.T) {
	if *summaryFile == "" {
		t.Skip("SKIPPED: THE FIGURES OF README.md ARE NOT CHECKED: scripts/test gives the summary of a run by -summary")
	}
	stored, err := os.ReadFile(*summaryFile)
	if err != nil {
		t.Fatal(err)
	}
	text := readme(t, ".")
	for _, q := range figures {
		if !strings.Contains(text, ": "+q.Label()+" |") {
			t.Errorf("README.md has no column %q, as the table of qsim run has", q.Label())
		}
	}
	for _, row := range figureRows(t, stored) {
		label, _, _ := strings.Cut(row, " |")
		line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(label) + ` \|.*$`)
		if !line.MatchString(text) {
			t.Errorf("README.md has no row for %s", label)
		}
		if want := "| " + row + " |"; *rewrite {
			text = line.ReplaceAllLiteralString(text, want)
		} else if got := line.FindString(text); got != want {
			t.Errorf("README.md has\n%s\nand a run\n%s", got, want)
		}
	}
	if *rewrite {
		if err := os.WriteFile("../README.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// figures lists the metrics in the columns of the table in README.md at the top.
var figures = []measure.Query{{Metric: "fresh.wait.p99", During: "payments-down"}, {Metric: "recovery.time", After: "payments-down"},
	{Metric: "dead.count"}, {Metric: "idle.ready"}, {Metric: "retry.wait.mean"}, {Metric: "sojourn.mean"}}

// figureRows returns the rows of the table in README.md, without the first and last bar, from the JSON of a summary.
func figureRows(t *testing.T, stored []byte) (rows []string) {
	t.Helper()
	summary, err := results.ReadSummary(stored)
	if err != nil {
		t.Fatal(err)
	}
	if len(summary.Seeds) != 20 {
		t.Fatalf("%d seeds, want 20", len(summary.Seeds))
	}
	for _, p := range summary.Policies {
		cells := []string{p.Label}
		for _, q := range figures {
			e, base := p.Find(q), summary.Policies[0].Find(q)
			if e == nil {
				t.Fatalf("the summary has no %s", q)
			}
			info, _ := measure.Lookup(q.Metric)
			cell := results.FormatEstimate(e, info)
			if ratio := e.Mean / base.Mean; ratio >= 2 {
				cell += fmt.Sprintf(" (×%.1f)", ratio)
			}
			cells = append(cells, cell)
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return rows
}
