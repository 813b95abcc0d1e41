// Package scripts tests the repository beyond what the compiler does: the import graph, determinism, lengths of files
// and functions, budgets of lines, documents, examples and the files of the tree.
package scripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "qsim"

// sourceFile is a parsed Go file of this module.
type sourceFile struct {
	path    string // path of the file from the top of the repository
	syntax  *ast.File
	lines   int
	test    bool // a _test file
	program bool // excluded from the build by a tag: a generator that is run by hand
}

// sourcePackage is a package of this module, parsed and type-checked.
type sourcePackage struct {
	path   string // import path without the module: "engine/sim"
	files  []*sourceFile
	info   *types.Info // types of the files that are built
	broken error       // the first type error: what is checked by types is not checked
}

// generated reports whether the file begins with the comment of generated code.
func (f *sourceFile) generated() bool { return ast.IsGenerated(f.syntax) }

// handWritten reports whether the limits on lengths apply to the file: it is neither a test nor generated.
func (f *sourceFile) handWritten() bool { return !f.test && !f.generated() }

// built returns the package's files without tests and files that a build tag excludes.
func (p *sourcePackage) built() []*sourceFile {
	var files []*sourceFile
	for _, f := range p.files {
		if !f.test && !f.program {
			files = append(files, f)
		}
	}
	return files
}

var positions = token.NewFileSet()

// program is all packages of this module, parsed and type-checked.
type program struct {
	packages []*sourcePackage
	compiled types.Importer // importer of all packages that the module or a sample imports
}

var loaded = sync.OnceValues(loadModule)

func load(t *testing.T) *program {
	t.Helper()
	p, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.packages) < 5 {
		t.Fatalf("found %d packages: the checks would pass by looking at nothing", len(p.packages))
	}
	return p
}

// sampleImports lists standard packages that samples of faulty code import and the module itself may not.
var sampleImports = []string{"maps", "math", "math/rand/v2", "slices", "sync", "time"}

// listed is what loadModule reads of a package in the JSON output of go list.
type listed struct {
	ImportPath, Dir, Export                            string
	GoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
	Module                                             *struct{ Main bool }
}

func loadModule() (*program, error) {
	arguments := []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Module"}
	if !strings.Contains(os.Getenv("GOFLAGS"), "-pgo=") { // with their own profiles, commands would have packages of their own
		arguments = append(arguments, "-pgo=off")
	}
	command := exec.Command("go", append(append(arguments, "./..."), sampleImports...)...)
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var own []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read output of go list: %w", err)
		}
		exports[l.ImportPath] = l.Export
		if l.Module != nil && l.Module.Main && !strings.HasPrefix(l.ImportPath, module+"/scripts/") {
			own = append(own, l)
		}
	}
	all := &program{compiled: importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, l := range own {
		p, err := loadPackage(l, all.compiled)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", l.ImportPath, err)
		}
		all.packages = append(all.packages, p)
	}
	return all, nil
}

func loadPackage(l listed, compiled types.Importer) (*sourcePackage, error) {
	p := &sourcePackage{path: strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/")}
	var syntax []*ast.File
	for _, group := range []struct {
		names         []string
		test, program bool
	}{{names: l.GoFiles}, {names: l.IgnoredGoFiles, program: true}, {names: l.TestGoFiles, test: true}, {names: l.XTestGoFiles, test: true}} {
		for _, name := range group.names {
			f, err := loadFile(filepath.Join(l.Dir, name), p.path+"/"+name)
			if err != nil {
				return nil, err
			}
			f.test = group.test || strings.HasSuffix(name, "_test.go")
			f.program = group.program
			p.files = append(p.files, f)
			if !f.test && !f.program {
				syntax = append(syntax, f.syntax)
			}
		}
	}
	p.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	configuration := types.Config{Importer: compiled, Error: func(err error) {
		if p.broken == nil {
			p.broken = err
		}
	}}
	configuration.Check(l.ImportPath, positions, syntax, p.info)
	return p, nil
}

func loadFile(name, shown string) (*sourceFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(positions, shown, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &sourceFile{path: shown, syntax: syntax, lines: bytes.Count(text, []byte("\n"))}, nil
}

// nested returns the packages of scenarios/conform, which is a module of its own. They are parsed but not type-checked,
// which would need the systems that it imports; scripts/test runs vet and staticcheck on them.
func nested(t *testing.T) (packages []*sourcePackage) {
	t.Helper()
	paths, err := filepath.Glob("../scenarios/conform/*/*.go")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files in scenarios/conform: the checks would pass by looking at nothing (%v)", len(paths), err)
	}
	for _, path := range paths {
		f, err := loadFile(path, strings.TrimPrefix(filepath.ToSlash(path), "../"))
		if err != nil {
			t.Fatal(err)
		}
		f.test = strings.HasSuffix(path, "_test.go")
		folder := filepath.ToSlash(filepath.Dir(f.path))
		if n := len(packages); n == 0 || packages[n-1].path != folder {
			packages = append(packages, &sourcePackage{path: folder})
		}
		last := packages[len(packages)-1]
		last.files = append(last.files, f)
	}
	return packages
}

// sample returns a package of one file with this text, for the test of a check; path is the real package it stands for.
func sample(t *testing.T, path, text string) *sourcePackage {
	t.Helper()
	syntax, err := parser.ParseFile(positions, path+"/sample.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	f := &sourceFile{path: path + "/sample.go", syntax: syntax, lines: strings.Count(text, "\n")}
	p := &sourcePackage{path: path, files: []*sourceFile{f}}
	p.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	configuration := types.Config{Importer: load(t).compiled, Error: func(error) {}} // samples need not be complete
	configuration.Check(path, positions, []*ast.File{syntax}, p.info)
	return p
}

// problem returns a formatted message after its position, "FILE:LINE: ".
func problem(at token.Pos, format string, arguments ...any) string {
	position := positions.Position(at)
	return fmt.Sprintf("%s:%d: %s", position.Filename, position.Line, fmt.Sprintf(format, arguments...))
}

// report fails the test with each of the problems as a message.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// wantProblems fails the test unless got, the problems that a check found in a sample, are as many as want, and each
// contains the text at its index there.
func wantProblems(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d problems %q, want %d", len(got), got, len(want))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("problem %d is %q, want it to speak of %q", i, got[i], want[i])
		}
	}
}
