// Package bugs reproduces known bugs of real libraries in the version that had them, and shows their absence in the
// fixed version. README.md has the table; each row is one command.
package bugs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"qsim/conform/common"
	"qsim/engine/pgstore/pgserver"
)

var (
	story = flag.String("row", "", "run one row of the table, with the libraries that the test is compiled with")
	seeds = flag.Uint64("seeds", 5, "with -row: how many seeds, each with other times")
)

// breach begins each line of TestRow's output that names a broken invariant.
const breach = "BREACH: "

// TestRow runs one story of rows, with the version of the library that it is compiled with. TestBugs starts it.
func TestRow(t *testing.T) {
	if *story == "" {
		t.Skip("TestBugs runs it")
	}
	for seed := uint64(1); seed <= *seeds; seed++ {
		for _, found := range rows[*story](t, seed) {
			t.Errorf("%sseed %d: %s", breach, seed, found)
		}
		if t.Failed() {
			return
		}
	}
}

// row is a line of the table of bugs in README.md.
type row struct{ name, module, had, fixed, invariant string }

// line matches a row of README.md: | [library#number](link) | present | fixed, or – | effect | invariant | detected |.
var line = regexp.MustCompile(`(?m)^\| \[([a-z]+)#(\d+)\]\(\S+\) \| (v[\d.]+) \| (v[\d.]+|–) \| .* \| (.*) \| .* \|$`)

// modules lists the Go modules of each library, by the beginning of their paths.
var modules = map[string]string{"river": "github.com/riverqueue/river", "asynq": "github.com/hibiken/asynq"}

func table(t *testing.T) (all []row) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		all = append(all, row{m[1] + "-" + m[2], modules[m[1]], m[3], m[4], m[5]})
	}
	return all
}

// TestTable checks that every story of rows has a line in the table of README.md, and every line a story.
func TestTable(t *testing.T) {
	lines := table(t)
	if len(lines) != len(rows) || len(lines) < 6 {
		t.Errorf("%d lines, %d stories: want as many, and 6", len(lines), len(rows))
	}
	for _, r := range lines {
		if rows[r.name] == nil || r.module == "" {
			t.Errorf("%s has no story", r.name)
		}
	}
}

// TestBugs checks that each bug of README.md's table breaks the invariant named there, in the version that had it, and
// none in the fixed version.
func TestBugs(t *testing.T) {
	if !common.Long() {
		t.Skip("compiles each library in several versions: with -long")
	}
	for _, r := range table(t) {
		t.Run(r.name, func(t *testing.T) {
			if out, found := r.run(t, r.had); !found || !strings.Contains(out, r.invariant) {
				t.Errorf("not found again in %s: want a breach of %q in\n%s", r.had, r.invariant, out)
			} else {
				t.Logf("%s: %s", r.had, regexp.MustCompile(".*"+regexp.QuoteMeta(r.invariant)+".*").FindString(out))
			}
			if r.fixed == "–" {
				return
			}
			if out, found := r.run(t, r.fixed); found {
				t.Errorf("found in %s, which is said to be well:\n%s", r.fixed, out)
			}
		})
	}
}

// run runs the story of r, compiled with a version of its library, and returns its output and whether anything broke.
func (r *row) run(t *testing.T, version string) (output string, broke bool) {
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = regexp.MustCompile(`(`+regexp.QuoteMeta(r.module)+`(?:/\S*)?) v\S+`).ReplaceAllFunc(text, func(require []byte) []byte {
				path, _, _ := strings.Cut(string(require), " ")
				if strings.HasSuffix(path, "riversqlite") { // not used here, and not to be had in each version
					return require
				}
				return []byte(path + " " + version)
			})
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("go", "test", "-mod=mod", "-modfile="+filepath.Join(folder, "go.mod"), "-count=1", "-run=^TestRow$", ".", "-row="+r.name)
	out, err := command.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		t.Fatalf("%s %s does not compile:\n%s", r.module, version, out)
	}
	return string(out), err != nil
}

// server returns the PostgreSQL server of this test process, which the first call starts.
var server = sync.OnceValues(func() (*pgserver.Server, error) {
	return pgserver.Start(context.Background(), pgserver.Options{Unsafe: true})
})

func TestMain(m *testing.M) {
	code := m.Run()
	if *story != "" {
		if s, err := server(); err == nil {
			if err := s.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
				code = max(code, 1)
			}
		}
	}
	os.Exit(code)
}

// database creates a database on server and returns its connection string.
func database(t *testing.T) string {
	s, err := server()
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip("NO POSTGRESQL: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("story_%d", databases)
	databases++
	ask(t, s.DSN(), func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "create database "+name)
		return err
	})
	return strings.Replace(s.DSN(), "dbname=postgres", "dbname="+name, 1)
}

var databases int

// ask calls question with a new connection to the database dsn, which it closes; errors end the test.
func ask(t *testing.T, dsn string, question func(ctx context.Context, c *pgx.Conn) error) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if err := question(ctx, c); err != nil {
		t.Fatal(err)
	}
}
