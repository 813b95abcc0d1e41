package scripts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Equal scenarios give equal bytes, on any number of processors. So the code between
// a scenario and its results reads no clock, starts no goroutine, draws no hidden
// randomness and lets the order of no map reach its output.

// deterministic lists the packages that may use no clock, global randomness, goroutine or map order: TestDeterminism.
var deterministic = []string{"engine", "engine/check", "engine/dist", "engine/keyed", "engine/memstore", "engine/sim", "policies", "results", "results/measure", "results/report", "scenarios", "scenarios/chaos", "scenarios/checks",
	"scenarios/estimate", "scenarios/imports", "scenarios/origins", "scenarios/pool", "scenarios/reference", "scenarios/spec", "scenarios/study",
	"scenarios/validate", "scenarios/world"}

// concurrent lists the files of deterministic packages that may start goroutines and read the clock: in the pool
// callers store results by index, and no simulation listens to its store.
var concurrent = []string{"engine/memstore/listen.go", "scenarios/pool/pool.go"}

// portable lists the packages whose floats affect the course of a run. Its fingerprint must be equal on all processors,
// so they may not call math functions that have assembly for some.
var portable = []string{"engine", "engine/check", "engine/dist", "engine/keyed", "engine/memstore", "engine/sim", "policies"}

// rounded lists the packages in which each product of floats must be rounded by float64(...) before it is added to:
// processors with a fused multiply-add would else give other last digits.
var rounded = []string{"results", "results/measure"}

// bannedSums lists packages that add floats in an order that depends on the processor: not to be imported by rounded.
var bannedSums = []string{"gonum.org/v1/gonum/stat", "gonum.org/v1/gonum/floats"}

// bannedCalls lists functions, by package, that deterministic packages may not call: they depend on machine or time.
var bannedCalls = map[string][]string{
	"os":   {"Getpid", "Hostname"},
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
}

// bannedMath lists functions of package math that portable packages may not call: processors differ in their last bit.
var bannedMath = []string{"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cbrt", "Cos", "Cosh", "Erf", "Erfc", "Erfcinv", "Erfinv",
	"Exp", "Exp2", "Expm1", "Gamma", "Hypot", "J0", "J1", "Jn", "Lgamma", "Log", "Log10", "Log1p", "Log2", "Pow", "Pow10",
	"Sin", "Sincos", "Sinh", "Tan", "Tanh", "Y0", "Y1", "Yn"}

// bannedImports lists packages with no deterministic use, which deterministic packages may not import.
var bannedImports = []string{"crypto/rand", "math/rand", "math/rand/v2", "hash/maphash"}

func checkDeterminism(p *sourcePackage) (problems []string) {
	if !slices.Contains(deterministic, p.path) {
		return nil
	}
	for _, f := range p.built() {
		for _, spec := range f.syntax.Imports {
			if slices.Contains(bannedImports, strings.Trim(spec.Path.Value, `"`)) {
				problems = append(problems, problem(spec.Pos(), "%s may not be imported: draws are keyed", spec.Path.Value))
			}
			if slices.Contains(rounded, p.path) && slices.Contains(bannedSums, strings.Trim(spec.Path.Value, `"`)) {
				problems = append(problems, problem(spec.Pos(), "%s may not be imported: its sums differ between processors", spec.Path.Value))
			}
		}
		if slices.Contains(rounded, p.path) {
			problems = append(problems, checkProducts(p, f)...)
		}
		if !slices.Contains(concurrent, f.path) {
			problems = append(problems, checkSchedule(p, f)...)
		}
		problems = append(problems, checkMapOrder(p, f)...)
		if slices.Contains(portable, p.path) {
			problems = append(problems, checkCalls(p, f, "math", bannedMath)...)
		}
	}
	return problems
}

// checkSchedule returns a problem, as text, for each use of the clock or of goroutines in a deterministic file.
func checkSchedule(p *sourcePackage, f *sourceFile) (problems []string) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			problems = append(problems, problem(n.Pos(), "go statement"))
		case *ast.SelectStmt:
			problems = append(problems, problem(n.Pos(), "select statement"))
		}
		return true
	})
	for _, path := range []string{"os", "time"} {
		problems = append(problems, checkCalls(p, f, path, bannedCalls[path])...)
	}
	return problems
}

// checkCalls returns a problem, as text, for each use in f of a function in names from the package path.
func checkCalls(p *sourcePackage, f *sourceFile, path string, names []string) (problems []string) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		identifier, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		function, ok := p.info.Uses[identifier].(*types.Func)
		if ok && function.Pkg() != nil && function.Pkg().Path() == path && function.Signature().Recv() == nil && slices.Contains(names, function.Name()) {
			problems = append(problems, problem(identifier.Pos(), "%s.%s", path, function.Name()))
		}
		return true
	})
	return problems
}

// checkProducts returns a problem, as text, for each sum or difference of floats with a product that is not rounded.
func checkProducts(p *sourcePackage, f *sourceFile) (problems []string) {
	isProduct := func(e ast.Expr) bool {
		for {
			inner, ok := e.(*ast.ParenExpr)
			if !ok {
				break
			}
			e = inner.X
		}
		product, ok := e.(*ast.BinaryExpr)
		if !ok || product.Op != token.MUL {
			return false
		}
		known := p.info.Types[product]
		basic, ok := known.Type.Underlying().(*types.Basic)
		return ok && basic.Info()&types.IsFloat != 0 && known.Value == nil
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		var terms []ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD || n.Op == token.SUB {
				terms = []ast.Expr{n.X, n.Y}
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
				terms = n.Rhs
			}
		}
		for _, term := range terms {
			if isProduct(term) {
				problems = append(problems, problem(term.Pos(), "product in a sum is not rounded by float64(...)"))
			}
		}
		return true
	})
	return problems
}

// checkMapOrder returns a problem, as text, for each loop over a map, and for keys or values of a map not sorted.
func checkMapOrder(p *sourcePackage, f *sourceFile) (problems []string) {
	sorted := map[ast.Node]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if over := p.info.Types[n.X].Type; over != nil {
				if _, isMap := over.Underlying().(*types.Map); isMap {
					problems = append(problems, problem(n.Pos(), "loop over a map: range over slices.Sorted(maps.Keys(m))"))
				}
			}
		case *ast.CallExpr:
			switch path, name := callee(p, n); {
			case path == "slices" && strings.HasPrefix(name, "Sorted"):
				for _, argument := range n.Args {
					sorted[argument] = true
				}
			case path == "maps" && slices.Contains([]string{"All", "Keys", "Values"}, name) && !sorted[n]:
				problems = append(problems, problem(n.Pos(), "maps.%s without slices.Sorted", name))
			}
		}
		return true
	})
	return problems
}

// callee returns the package path and the name of the function that a call names; "" if it is a method or a value.
func callee(p *sourcePackage, call *ast.CallExpr) (path, name string) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	function, ok := p.info.Uses[selector.Sel].(*types.Func)
	if !ok || function.Pkg() == nil {
		return "", ""
	}
	return function.Pkg().Path(), function.Name()
}

func TestDeterminism(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range load(t).packages {
		seen[p.path] = true
		if p.broken != nil {
			t.Errorf("package %s does not compile: %v", p.path, p.broken)
		}
		report(t, checkDeterminism(p))
	}
	for _, path := range []string{"engine", "policies", "results", "scenarios"} {
		if !seen[path] {
			t.Errorf("package %s was not looked at", path)
		}
	}
}

func TestDeterminismFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"the clock", "engine", `import "time"; var t = time.Now()`, []string{"time.Now"}},
		{"the clock under another name", "results", `import clock "time"; var now = clock.Since`, []string{"time.Since"}},
		{"a method of the same name", "engine", `import "time"; var t = time.Time{}.After(time.Time{})`, nil},
		{"durations", "engine", `import "time"; var d = time.Second`, nil},
		{"global randomness", "policies", `import "math/rand/v2"; var x = rand.Int()`, []string{"math/rand/v2"}},
		{"a goroutine", "engine/sim", `func f() { go f() }`, []string{"go statement"}},
		{"a select", "engine", `func f() { select {} }`, []string{"select statement"}},
		{"a logarithm in the engine", "engine", `import "math"; var x = math.Log(2)`, []string{"math.Log"}},
		{"a logarithm in results", "results", `import "math"; var x = math.Log(2)`, nil},
		{"a product in a sum", "results", `func f(x, y float64) float64 { return 1 + (x * y) }`, []string{"product in a sum"}},
		{"a product added", "results/measure", `func f(x, y float64) float64 { x += x * y; return x }`, []string{"product in a sum"}},
		{"a rounded product in a sum", "results", `func f(x, y float64, n int) float64 { return 2*3 + float64(x*y) + float64(n-n*n) }`, nil},
		{"sums of others", "results/measure", `import _ "gonum.org/v1/gonum/stat"`, []string{"its sums differ"}},
		{"a square root", "engine", `import "math"; var x = math.Sqrt(2)`, nil},
		{"a loop over a map", "scenarios", `type m map[int]int; func f(x m) { for range x {} }`, []string{"loop over a map"}},
		{"a loop over sorted keys", "scenarios", `import ("maps"; "slices"); func f(x map[int]int) { for range slices.Sorted(maps.Keys(x)) {} }`, nil},
		{"a loop over unsorted keys", "scenarios", `import "maps"; func f(x map[int]int) { for range maps.Keys(x) {} }`, []string{"maps.Keys without"}},
		{"anything in a command", "cmd/qsim", `import "time"; func f() { go f(); time.Now() }`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, checkDeterminism(sample(t, tt.path, "package sample\n"+tt.text)), tt.want)
		})
	}
}
