package dist

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden file")

// goldenDraws are the numbers that the golden file has samples of: the tails, the ends
// of the table, both sides of its middle.
var goldenDraws = []float64{
	1e-300, 1e-12, 1e-7, 0x1p-16, 1e-4, 0.0123, 0.1, 0.25, 0.3333333333333333, 0.45, 0.5,
	0.55, 0.6666666666666667, 0.75, 0.9, 0.99, 0.9999, 1 - 0x1p-16, 1 - 1e-7, 1 - 1e-12, 1 - 0x1p-53,
}

// The bits of samples are part of what a fingerprint covers, so they must not change,
// be it by a change of the code, by a compiler or by a processor.
func TestSamplesAreTheSameBitsEverywhere(t *testing.T) {
	const path = "testdata/golden.txt"
	var got bytes.Buffer
	got.WriteString("# Bits of Dist.Sample(u): the bits of u, the bits of the sample, the sample.\n")
	for _, tt := range allDists() {
		fmt.Fprintf(&got, "\n%s: mean %016x\n", tt.name, math.Float64bits(tt.dist.Mean()))
		for _, u := range goldenDraws {
			y := tt.dist.Sample(u)
			fmt.Fprintf(&got, "%016x %016x %.9g\n", math.Float64bits(u), math.Float64bits(y), y)
		}
	}
	if *rewrite {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
	for i := range gotLines {
		if gotLines[i] != wantLines[i] {
			t.Errorf("%s:%d: got %q, want %q", path, i+1, gotLines[i], wantLines[i])
		}
	}
}

// The functions of package math that are exact, hence the same everywhere.
const exactMath = " Abs Ceil Copysign Float64bits Float64frombits Inf IsInf IsNaN Max Min NaN Round Sqrt "

// A compiler may fuse a product with a sum, even across statements and calls, unless
// an explicit conversion rounds the product first. So every product of floats must
// stand in a float64(...) or in another product.
func TestSourcesArePortable(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, sources := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, file)
	}
	if len(sources) < 5 {
		t.Fatalf("found %d sources, want at least 5", len(sources))
	}
	for _, complaint := range unportable(t, files, sources) {
		t.Error(complaint)
	}
}

func TestUnportableSourcesAreFound(t *testing.T) {
	const source = `package p
import "math"
func f(x, y float64, n int) float64 {
	x = x*y + 1                  // bad
	p := (x * y)                 // bad
	x += float64(x*y) + float64(n*2) + float64(x*y*2)/3
	x *= y                       // bad
	x = -(x * 3) + p             // bad
	x = float64(x*(y+float64(x*y)))
	return math.Sqrt(x) + math.Exp(y) + 2*math.Pi // bad
}`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for i, line := range strings.Split(source, "\n") {
		if strings.HasSuffix(line, "// bad") {
			want = append(want, fmt.Sprintf("p.go:%d", i+1))
		}
	}
	for _, complaint := range unportable(t, files, []*ast.File{file}) {
		got = append(got, strings.Join(strings.Split(complaint, ":")[:2], ":"))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("complaints at %v, want %v", got, want)
	}
}

// unportable returns a complaint for each product of floats that could be fused and
// each function of package math that is not exact.
func unportable(t *testing.T, files *token.FileSet, sources []*ast.File) []string {
	t.Helper()
	if build.Default.GOROOT == "" { // as in a test that was built with -trimpath
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Errors are for the compiler to find; here they come of importing math alone.
	config := types.Config{Importer: mathImporter{importer.ForCompiler(files, "source", nil)}, Error: func(error) {}}
	config.Check("p", files, sources, info)
	isFloat := func(e ast.Expr) bool { // or unknown
		known := info.Types[e]
		if known.Type == nil {
			t.Fatalf("%v: an expression without a type: was math found?", files.Position(e.Pos()))
		}
		basic, ok := known.Type.Underlying().(*types.Basic)
		return ok && basic.Info()&types.IsInteger == 0 && known.Value == nil
	}
	var complaints []string
	complain := func(n ast.Node, what string) {
		complaints = append(complaints, fmt.Sprintf("%v: %s", files.Position(n.Pos()), what))
	}
	for _, file := range sources {
		rounded := map[ast.Expr]bool{} // by what is around it
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				return n.Tok != token.CONST
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "float64" {
					rounded[n.Args[0]] = true
				}
			case *ast.ParenExpr:
				rounded[n.X] = rounded[n]
			case *ast.BinaryExpr:
				if n.Op == token.MUL {
					if isFloat(n) && !rounded[n] {
						complain(n, "product is not rounded by float64(...)")
					}
					rounded[n.X], rounded[n.Y] = true, true
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && isFloat(n.Lhs[0]) {
					complain(n, "product is not rounded by float64(...)")
				}
			case *ast.SelectorExpr:
				name, ok := n.X.(*ast.Ident)
				_, isFunction := info.Types[n].Type.(*types.Signature)
				if ok && isFunction && name.Name == "math" && !strings.Contains(exactMath, " "+n.Sel.Name+" ") {
					complain(n, "math."+n.Sel.Name+" is not exact")
				}
			}
			return true
		})
	}
	return complaints
}

// mathImporter imports math and leaves all other packages empty, which is much faster.
type mathImporter struct{ types.Importer }

// Import returns package math, or an empty package of another path.
func (m mathImporter) Import(path string) (*types.Package, error) {
	if path == "math" {
		return m.Importer.Import(path)
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	return empty, nil
}
