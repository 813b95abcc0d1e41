package scripts

import (
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// startsGoroutines returns a problem, as text, for each place where a package starts a goroutine: a go statement, or a
// method Go, such as that of sync.WaitGroup.
func startsGoroutines(p *sourcePackage) (problems []string) {
	for _, f := range p.built() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				problems = append(problems, problem(n.Pos(), "go statement"))
			case *ast.Ident:
				method, ok := p.info.Uses[n].(*types.Func)
				if ok && method.Name() == "Go" && method.Pkg() != nil && method.Signature().Recv() != nil {
					problems = append(problems, problem(n.Pos(), "%s.Go", method.Pkg().Path()))
				}
			}
			return true
		})
	}
	return problems
}

// TestRaced checks that scripts/test runs the tests of each package that starts goroutines with the race detector, and
// that the list there names only packages that exist.
func TestRaced(t *testing.T) {
	text, err := os.ReadFile("test")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^raced="(.*)"$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("scripts/test has no list of packages that it tests with the race detector")
	}
	raced, known := strings.Fields(string(found[1])), []string{}
	for _, p := range load(t).packages {
		known = append(known, p.path)
		if !slices.Contains(raced, p.path) && !slices.Contains(testKits, p.path) {
			report(t, startsGoroutines(p))
		}
	}
	for _, path := range raced {
		if !slices.Contains(known, path) {
			t.Errorf("%s is no package", path)
		}
	}
}

func TestRacedFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"none", "type T struct{}; func Go() {}; func f() { Go() }", nil},
		{"a statement", "func f() { go f() }", []string{"go statement"}},
		{"a group", "import \"sync\"; func f() { var w sync.WaitGroup; w.Go(f) }", []string{"sync.Go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, startsGoroutines(sample(t, "engine", "package sample\n"+tt.text)), tt.want)
		})
	}
}
