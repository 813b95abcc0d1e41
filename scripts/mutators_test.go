package scripts

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a small mistake made in a package by mutate. All mutants of a package are compiled at once, each behind a
// number that an environment variable switches on: schemata, as Untch, Offutt and Harrold have them (Mutation analysis
// using mutant schemata, 1993). So a mutant costs a run of tests and no build.
type mutant struct {
	number int // number of the mutant, from 1
	file   string
	line   int
	key    string // says what is changed, and where, for as long as those lines stay as they are: no line number
}

// mutation collects the mutants of a package, and the changes of the file in which they are being made.
type mutation struct {
	p       *sourcePackage
	mutants []mutant
	keys    map[string]int

	// Of the file that is being read:
	path     string
	text     []byte
	function string
	results  bool // the enclosing function returns a value
	inserts  []insert
}

// insert is a change of a file's text: at an offset, text replaces a number of bytes.
type insert struct {
	at, removes int
	text        string
	closes      bool // it ends another insert: at one offset, the inner of two comes first
}

// mutate returns all mutants of a package, and its files, by path, with all of them compiled in but switched off.
func mutate(p *sourcePackage) (*mutation, map[string]string, error) {
	m := &mutation{p: p, keys: map[string]int{}}
	files := map[string]string{}
	name := ""
	for _, f := range p.built() {
		text, err := os.ReadFile(filepath.Join("..", f.path))
		if err != nil {
			return nil, nil, err
		}
		name = f.syntax.Name.Name
		files[f.path] = m.file(f, text)
	}
	files[p.path+"/mutants_of_this_package.go"] = fmt.Sprintf(mutantSwitch, name)
	return m, files, nil
}

// file makes the mutants of one file and returns its text with them.
func (m *mutation) file(f *sourceFile, text []byte) string {
	m.path, m.text, m.inserts = f.path, text, nil
	for _, declaration := range f.syntax.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				m.function, m.results = nameOf(d), d.Type.Results != nil
				m.inspect(d.Body)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				m.function = "var"
				m.inspect(d)
			}
		}
	}
	slices.SortStableFunc(m.inserts, func(a, b insert) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.closes != b.closes && a.closes:
			return -1
		case a.closes != b.closes:
			return 1
		}
		return 0
	})
	var out bytes.Buffer
	from := 0
	for _, i := range m.inserts {
		out.Write(text[from:i.at])
		out.WriteString(i.text)
		from = i.at + i.removes
	}
	out.Write(text[from:])
	return out.String()
}

// nameOf returns the name of a function, after its receiver's type and a dot if it is a method.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
}

// inspect makes the mutants in the syntax tree root, and puts their inserts in the order in which they nest.
func (m *mutation) inspect(root ast.Node) {
	truths := map[ast.Expr]bool{} // conditions; true: of a loop, which would not end if it were always so
	var nodes []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if g, ok := n.(*ast.GenDecl); ok && g.Tok != token.VAR {
			return false
		}
		if e, ok := n.(ast.Expr); ok && m.p.info.Types[e].Value != nil && !m.isLiteralTruth(e) {
			return false // a constant
		}
		switch n := n.(type) {
		case nil:
			return true
		case *ast.IfStmt:
			truths[n.Cond] = false
		case *ast.ForStmt:
			if n.Cond != nil {
				truths[n.Cond] = true
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, clause := range n.Body.List {
					for _, e := range clause.(*ast.CaseClause).List {
						truths[e] = false
					}
				}
			}
		case *ast.ParenExpr:
			if loops, ok := truths[n]; ok {
				truths[n.X] = loops
			}
		case *ast.UnaryExpr:
			if loops, ok := truths[n]; n.Op == token.NOT {
				truths[n.X] = ok && loops
			}
		case *ast.BinaryExpr:
			loops := truths[n]
			switch n.Op {
			case token.LAND, token.LOR:
				truths[n.X], truths[n.Y] = loops, loops
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				truths[n] = loops
			}
		}
		nodes = append(nodes, n)
		return true
	})
	starts := len(m.inserts)
	for _, n := range nodes { // the outer before the inner
		if e, ok := n.(ast.Expr); ok {
			loops, isTruth := truths[e]
			m.expression(e, isTruth, loops)
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			m.statements(n.List)
		case *ast.CaseClause:
			m.statements(n.Body)
		case *ast.CommClause:
			m.statements(n.Body)
		case *ast.AssignStmt:
			m.assignment(n)
		}
	}
	// What closes was noted from the outside to the inside, and is to stand the other way round.
	var opens, closes []insert
	for _, i := range m.inserts[starts:] {
		if i.closes {
			closes = append(closes, i)
		} else {
			opens = append(opens, i)
		}
	}
	slices.Reverse(closes)
	m.inserts = append(append(m.inserts[:starts], opens...), closes...)
}

func (m *mutation) isLiteralTruth(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	if !ok || name.Name != "true" && name.Name != "false" {
		return false
	}
	what := m.p.info.Uses[name]
	return what != nil && what.Parent() == types.Universe
}

// expression makes the mutants of one expression. isTruth: it is a condition; loops: of a loop.
func (m *mutation) expression(e ast.Expr, isTruth, loops bool) {
	if m.isLiteralTruth(e) {
		m.wrap(e, "(", fmt.Sprintf(" != mutantOn(%d))", m.add(e, m.source(e)+" is not so")))
		return
	}
	if not, ok := e.(*ast.UnaryExpr); isTruth && !(ok && not.Op == token.NOT) {
		if _, ok := e.(*ast.ParenExpr); !ok {
			m.truth(e, loops)
		}
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if o, ok := operatorMutants[e.Op]; ok && m.isNumber(e.X) && m.isNumber(e.Y) {
			n := m.add(e, m.source(e)+" with "+o.other)
			m.wrap(e, fmt.Sprintf("%s(%d, ", o.function, n), ")")
			m.insert(e.OpPos, len(e.Op.String()), ",", false)
		}
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && len(e.Args) == 2 && (name.Name == "min" || name.Name == "max") {
			if _, builtin := m.p.info.Uses[name].(*types.Builtin); builtin && m.isNumber(e.Args[0]) && m.isNumber(e.Args[1]) {
				other := map[string]string{"min": "max", "max": "min"}[name.Name]
				n := m.add(e, m.source(e)+" with "+other)
				m.insert(name.Pos(), len(name.Name), map[string]string{"min": "mutantMin", "max": "mutantMax"}[name.Name], false)
				m.insert(e.Lparen, 1, fmt.Sprintf("(%d, ", n), false)
			}
		}
	}
}

// operatorMutants maps an operator to the function that takes its place: it applies other if its mutant is on.
var operatorMutants = map[token.Token]struct{ function, other string }{
	token.LSS: {"mutantLess", "<="}, token.LEQ: {"mutantLessEqual", "<"},
	token.GTR: {"mutantMore", ">="}, token.GEQ: {"mutantMoreEqual", ">"},
	token.ADD: {"mutantAdd", "-"}, token.SUB: {"mutantSubtract", "+"},
	token.MUL: {"mutantTimes", "/"}, token.QUO: {"mutantDivide", "*"},
}

// truth makes mutants of a condition: always true, except a loop's, which would not end; and always false.
func (m *mutation) truth(e ast.Expr, loops bool) {
	if _, ok := e.(*ast.BinaryExpr); ok && (e.(*ast.BinaryExpr).Op == token.LAND || e.(*ast.BinaryExpr).Op == token.LOR) {
		return // its parts are
	}
	never := m.add(e, m.source(e)+" never")
	if loops {
		m.wrap(e, "(", fmt.Sprintf(" && !mutantOn(%d))", never))
		return
	}
	m.wrap(e, "((", fmt.Sprintf(" || mutantOn(%d)) && !mutantOn(%d))", m.add(e, m.source(e)+" always"), never))
}

// isNumber reports whether e is a number, except a shift of a constant, whose type depends on what is around it.
func (m *mutation) isNumber(e ast.Expr) bool {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.SHL || b.Op == token.SHR) && m.p.info.Types[b.X].Value != nil {
		return false
	}
	if m.p.info.Types[e].Type == nil {
		return false
	}
	basic, ok := m.p.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsFloat) != 0
}

// statements makes mutants of a list of statements, each of which leaves out one of them.
func (m *mutation) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || m.source(call.Fun) == "panic" {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || m.source(s.Lhs[0]) == "_" {
				continue
			}
		case *ast.BranchStmt:
			if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 || m.results {
				continue // or the end of a function would lack one
			}
		case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
		default:
			continue
		}
		m.wrap(s, fmt.Sprintf("if !mutantOn(%d) { ", m.add(s, m.source(s)+" is left out")), " }")
	}
}

// assignment makes the mutant of a statement with += or -= that has the other sign.
func (m *mutation) assignment(s *ast.AssignStmt) {
	if s.Tok != token.ADD_ASSIGN && s.Tok != token.SUB_ASSIGN {
		return
	}
	if value := m.p.info.Types[s.Rhs[0]]; value.Value == nil && m.isNumber(s.Rhs[0]) {
		m.wrap(s.Rhs[0], fmt.Sprintf("mutantMinus(%d, ", m.add(s, m.source(s)+" with the other sign")), ")")
	}
}

// add adds a mutant at the node n, described by what, and returns its number.
func (m *mutation) add(n ast.Node, what string) int {
	key := fmt.Sprintf("%s %s: %s", m.path, m.function, what)
	if m.keys[key]++; m.keys[key] > 1 {
		key = fmt.Sprintf("%s (%d)", key, m.keys[key])
	}
	m.mutants = append(m.mutants, mutant{len(m.mutants) + 1, m.path, positions.Position(n.Pos()).Line, key})
	return len(m.mutants)
}

// source returns the source text of a node on one line, shortened to 90 characters.
func (m *mutation) source(n ast.Node) string {
	text := strings.Join(strings.Fields(string(m.text[m.offset(n.Pos()):m.offset(n.End())])), " ")
	if letters := []rune(text); len(letters) > 90 {
		text = string(letters[:60]) + "…" + string(letters[len(letters)-29:])
	}
	return text
}

func (m *mutation) offset(at token.Pos) int { return positions.Position(at).Offset }

func (m *mutation) wrap(n ast.Node, before, after string) {
	m.insert(n.Pos(), 0, before, false)
	m.insert(n.End(), 0, after, true)
}

func (m *mutation) insert(at token.Pos, removes int, text string, closes bool) {
	m.inserts = append(m.inserts, insert{m.offset(at), removes, text, closes})
}

// mutantSwitch is Go code that mutate adds to a package, with the functions that its mutated files call. The
// environment variable MUTANT is the number of the mutant that is on. If MUTANTS_HIT names a file, the byte at a
// mutant's number is set to 1 there when the mutant would have made a difference: only then can a test find it.
const mutantSwitch = `package %s

import (
	"cmp"
	"os"
	"strconv"
	"syscall"
)

var mutantNumber, mutantsHit = mutantBegin()

func mutantBegin() (number int, hit []byte) {
	number, _ = strconv.Atoi(os.Getenv("MUTANT"))
	path := os.Getenv("MUTANTS_HIT")
	if path == "" {
		return number, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		panic(err)
	}
	hit, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return number, hit
}

func mutantOn(number int) bool {
	if mutantsHit != nil {
		mutantsHit[number] = 1
	}
	return number == mutantNumber
}

type mutantNumeral interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutantLess[T cmp.Ordered](n int, a, b T) bool      { return a < b || a == b && mutantOn(n) }
func mutantLessEqual[T cmp.Ordered](n int, a, b T) bool { return a < b || a == b && !mutantOn(n) }
func mutantMore[T cmp.Ordered](n int, a, b T) bool      { return a > b || a == b && mutantOn(n) }
func mutantMoreEqual[T cmp.Ordered](n int, a, b T) bool { return a > b || a == b && !mutantOn(n) }

func mutantAdd[T mutantNumeral](n int, a, b T) T {
	if b != 0 && mutantOn(n) {
		return a - b
	}
	return a + b
}

func mutantSubtract[T mutantNumeral](n int, a, b T) T {
	if b != 0 && mutantOn(n) {
		return a + b
	}
	return a - b
}

func mutantTimes[T mutantNumeral](n int, a, b T) T {
	if b != 1 && a != 0 && mutantOn(n) {
		return a / b
	}
	return a * b
}

func mutantDivide[T mutantNumeral](n int, a, b T) T {
	if b != 1 && a != 0 && mutantOn(n) {
		return a * b
	}
	return a / b
}

func mutantMinus[T mutantNumeral](n int, a T) T {
	if a != 0 && mutantOn(n) {
		return -a
	}
	return a
}

func mutantMin[T mutantNumeral](n int, a, b T) T {
	if a != b && mutantOn(n) {
		return max(a, b)
	}
	return min(a, b)
}

func mutantMax[T mutantNumeral](n int, a, b T) T {
	if a != b && mutantOn(n) {
		return min(a, b)
	}
	return max(a, b)
}
`

// TestMutators checks which mutants are made of small samples of code, and the text with them.
func TestMutators(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		keys             []string
	}{
		{"a condition", "func f(a, b bool) {\nif a && !b {\nreturn\n}\n}",
			"func f(a, b bool) {\nif ((a || mutantOn(2)) && !mutantOn(1)) && !((b || mutantOn(4)) && !mutantOn(3)) {\nif !mutantOn(5) { return }\n}\n}",
			[]string{"a never", "a always", "b never", "b always", "return is left out"}},
		{"a loop, which always holding would not end", "func f(n int) {\nfor n < 3 {\nn++\n}\n}",
			"func f(n int) {\nfor (mutantLess(2, n , 3) && !mutantOn(1)) {\nif !mutantOn(3) { n++ }\n}\n}",
			[]string{"n < 3 never", "n < 3 with <=", "n++ is left out"}},
		{"numbers", "func f(a, b int) int { return min(a+b, a) }",
			"func f(a, b int) int { return mutantMin(1, mutantAdd(2, a,b), a) }",
			[]string{"min(a+b, a) with max", "a+b with -"}},
		{"texts and constants are left alone", "const c = 1 + 2\nfunc f(a string) string { return a + `b` }",
			"const c = 1 + 2\nfunc f(a string) string { return a + `b` }", nil},
		{"a sum", "func (t *T) f(a int) {\nt.n += a\n}\ntype T struct{ n int }",
			"func (t *T) f(a int) {\nif !mutantOn(1) { t.n += mutantMinus(2, a) }\n}\ntype T struct{ n int }",
			[]string{"t.n += a is left out", "t.n += a with the other sign"}},
		{"a truth", "var v = true", "var v = (true != mutantOn(1))", []string{"true is not so"}},
		{"twice the same", "func f() {\ng()\ng()\n}\nfunc g() {}",
			"func f() {\nif !mutantOn(1) { g() }\nif !mutantOn(2) { g() }\n}\nfunc g() {}", []string{"g() is left out", "g() is left out (2)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "package sample\n" + tt.text
			p := sample(t, "engine", text)
			m := &mutation{p: p, keys: map[string]int{}}
			if got := m.file(p.files[0], []byte(text)); got != "package sample\n"+tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			var keys []string
			for _, mutant := range m.mutants {
				_, what, _ := strings.Cut(mutant.key, ": ")
				keys = append(keys, what)
			}
			if !slices.Equal(keys, tt.keys) {
				t.Errorf("got %q, want %q", keys, tt.keys)
			}
		})
	}
}
