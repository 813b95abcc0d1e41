package scripts

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// mostFileLines and mostFunctionLines are the highest lengths of hand-written files and functions.
const (
	mostFileLines     = 400
	mostFunctionLines = 70
)

func checkLengths(p *sourcePackage) (problems []string) {
	for _, f := range p.files {
		if !f.handWritten() {
			continue
		}
		if f.lines > mostFileLines {
			problems = append(problems, problem(f.syntax.Package, "file has %d lines, more than %d", f.lines, mostFileLines))
		}
		for _, declaration := range f.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := positions.Position(function.End()).Line - positions.Position(function.Pos()).Line + 1; n > mostFunctionLines {
				problems = append(problems, problem(function.Pos(), "%s has %d lines, more than %d", function.Name.Name, n, mostFunctionLines))
			}
		}
	}
	return problems
}

// checkDocs returns a problem, as text, for each exported identifier of a package without a comment, and for a package
// without one. In commands (package main) only the package needs a comment.
func checkDocs(p *sourcePackage) (problems []string) {
	files := p.built()
	if len(files) == 0 {
		return nil
	}
	documented := false
	for _, f := range files {
		documented = documented || f.syntax.Doc != nil
	}
	if !documented {
		problems = append(problems, problem(files[0].syntax.Package, "package %s has no comment", p.path))
	}
	if files[0].syntax.Name.Name == "main" {
		return problems
	}
	for _, f := range files {
		if f.generated() {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
					problems = append(problems, problem(d.Pos(), "%s has no comment", d.Name.Name))
				}
			case *ast.GenDecl:
				problems = append(problems, checkGroup(d)...)
			}
		}
	}
	return problems
}

// receiver returns the name of a method's receiver type, without pointer and type parameters.
func receiver(method *ast.FuncDecl) string {
	expression := method.Recv.List[0].Type
	for {
		switch e := expression.(type) {
		case *ast.StarExpr:
			expression = e.X
		case *ast.IndexExpr:
			expression = e.X
		case *ast.IndexListExpr:
			expression = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// checkGroup returns a problem, as text, for each exported type, constant or variable of a declaration without a
// comment. That of a group counts for all its members, and so does that of an enumeration's type.
func checkGroup(group *ast.GenDecl) (problems []string) {
	grouped := group.Doc != nil
	for i, spec := range group.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (!grouped || len(group.Specs) > 1) {
				problems = append(problems, problem(s.Pos(), "type %s has no comment", s.Name.Name))
			}
		case *ast.ValueSpec:
			if i == 0 && group.Tok == token.CONST && s.Type != nil && len(group.Specs) > 1 {
				grouped = true
			}
			if s.Names[0].IsExported() && !grouped && s.Doc == nil && s.Comment == nil {
				problems = append(problems, problem(s.Pos(), "%s has no comment", s.Names[0].Name))
			}
		}
	}
	return problems
}

// checkPanics returns a problem, as text, for each panic whose message does not begin with the name of its package or,
// in packages below cmd, of the command.
func checkPanics(p *sourcePackage) (problems []string) {
	for _, f := range p.built() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.Ident)
			if !ok || called.Name != "panic" {
				return true
			}
			who, _, found := strings.Cut(firstText(call.Args[0]), ": ")
			switch {
			case firstText(call.Args[0]) == "", found && who == f.syntax.Name.Name:
			case found && strings.HasPrefix(p.path, "cmd/") && (who == "qsim" || who == "qbench"):
			default:
				problems = append(problems, problem(call.Pos(), "panic of package %s begins with %q", f.syntax.Name.Name, who))
			}
			return true
		})
	}
	return problems
}

// firstText returns the string literal that an expression for a text begins with: a sum, a call of fmt.Sprintf or a
// literal; "" if there is none.
func firstText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value)
		return text
	case *ast.BinaryExpr:
		return firstText(x.X)
	case *ast.CallExpr:
		if function, ok := x.Fun.(*ast.SelectorExpr); ok && function.Sel.Name == "Sprintf" {
			return firstText(x.Args[0])
		}
	}
	return ""
}

func TestShapeOfPanics(t *testing.T) {
	for _, p := range load(t).packages {
		report(t, checkPanics(p))
	}
}

func TestShapeOfPanicsFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"its own name", "engine", `panic("sample: " + e.Error()); panic(fmt.Sprintf("sample: %d", 1)); panic("sample: " + a + "b: c")`, nil},
		{"no text", "engine", `panic(e); panic(&t{}); panic(e.Error())`, nil},
		{"another name", "engine", `panic("engine: " + e.Error()); panic(fmt.Sprintf("other %d", 1))`, []string{`begins with "engine"`, `begins with "other %d"`}},
		{"a command's", "cmd/cli", `panic("qsim: " + e.Error())`, nil},
		{"a command's elsewhere", "engine", `panic("qsim: " + e.Error())`, []string{`begins with "qsim"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, checkPanics(sample(t, tt.path, "package sample\nfunc f() {"+tt.text+"}")), tt.want)
		})
	}
}

func TestLengths(t *testing.T) {
	for _, p := range append(nested(t), load(t).packages...) {
		report(t, checkLengths(p))
	}
}

func TestLengthsFindsFaults(t *testing.T) {
	function := func(name string, lines int) string {
		return fmt.Sprintf("func %s() {%s}\n", name, strings.Repeat("\n", lines-1))
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"at the limit", function("f", mostFunctionLines), nil},
		{"a long function", function("f", mostFunctionLines+1), []string{"f has 71 lines"}},
		{"a full file", strings.Repeat("\n", mostFileLines-1), nil},
		{"a long file", strings.Repeat("\n", mostFileLines), []string{"file has 401 lines"}},
		{"a long file that a tool wrote", "// Code generated by x. DO NOT EDIT.\n" + strings.Repeat("\n", mostFileLines), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "package sample\n" + tt.text
			if generated, rest, ok := strings.Cut(tt.text, "EDIT.\n"); ok {
				text = generated + "EDIT.\npackage sample\n" + rest
			}
			wantProblems(t, checkLengths(sample(t, "engine", text)), tt.want)
		})
	}
}

func TestDocs(t *testing.T) {
	for _, p := range append(nested(t), load(t).packages...) {
		report(t, checkDocs(p))
	}
}

func TestDocsFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"all is well", "// Package sample is one.\npackage sample\n// F does.\nfunc F() {}\nfunc g() {}", nil},
		{"no package comment", "package sample", []string{"package engine has no comment"}},
		{"functions and methods", "// A.\npackage sample\nfunc F() {}\ntype t int\nfunc (t) M() {}\n// T is.\ntype T[X any] int\nfunc (T[X]) M() {}", []string{"F has", "M has"}},
		{"types", "// A.\npackage sample\ntype T int\n// group\ntype (\nU int\nV int // a v\n)", []string{"type T", "type U"}},
		{"values", "// A.\npackage sample\nvar V int\nconst C = 1\n// Ds.\nconst (\nD = 1\nE = 2\n)", []string{"V has", "C has"}},
		{"enumerations", "// A.\npackage sample\n// T is.\ntype T int\nconst (\nC T = iota\nD\n)", nil},
		{"commands", "// A.\npackage main\nfunc F() {}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, checkDocs(sample(t, "engine", tt.text)), tt.want)
		})
	}
}
