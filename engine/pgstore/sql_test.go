package pgstore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
)

var rewrite = flag.Bool("rewrite", false, "write what the statements are now into testdata/sql")

// TestSQL compares the statements for the plans and batches of testdata/sql with the expected ones
// below the dashes. Each file is one story.
func TestSQL(t *testing.T) {
	files, err := filepath.Glob("testdata/sql/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(text), "----\n")
			got, err := statements(input)
			if err != nil {
				t.Fatal(err)
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(input+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got; -rewrite updates)\n%s", d)
			}
		})
	}
}

// statements returns the SQL statements for a test's input: a line "store" with options, then "claim LIMIT" with a line
// for each term, or "commit" with verbs.
func statements(input string) (string, error) {
	r := rules{engine.StoreOptions{LapseAfter: -1}}
	var p *engine.Plan
	for _, text := range strings.Split(input, "\n") {
		fields := strings.Fields(text)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		switch fields[0] {
		case "store":
			for _, f := range fields[1:] {
				if err := setOption(&r.options, f); err != nil {
					return "", err
				}
			}
		case "claim":
			limit, err := strconv.Atoi(fields[1])
			if err != nil {
				return "", err
			}
			p = &engine.Plan{Limit: limit}
		case "commit":
			return commitStatement(&r, fields[1:])
		default:
			t, err := parseTerm(fields)
			if err != nil {
				return "", err
			}
			p.Terms = append(p.Terms, t)
		}
	}
	return claimStatement(&r, p)
}

func claimStatement(r *rules, p *engine.Plan) (string, error) {
	var shapes []shape
	var lines []line
	var arguments []any
	for i := range p.Terms {
		s, err := shapeOf(&p.Terms[i])
		if err != nil {
			return err.Error() + "\n", nil
		}
		shapes, lines = append(shapes, s), append(lines, s.lines()...)
		arguments = planArguments(arguments, &p.Terms[i], s, frontOfLine, p.Limit)
	}
	out := planSQL(shapes, r) + "\n\n"
	out += fmt.Sprintf("from $%d on: %v\n", 1+len(r.claimArguments(0, 0, 0)), arguments)
	for _, l := range lines {
		out += l.definition() + "\n"
	}
	return out, nil
}

func commitStatement(r *rules, verbs []string) (string, error) {
	shape := commitShape(0)
	for _, name := range verbs {
		for v := engine.Ack; v <= engine.Snooze; v++ {
			switch {
			case v.String() != name:
			case !r.ends(v):
				shape |= withMoves
			default:
				shape |= withEnds
				if v == engine.Bury {
					shape |= withBurial
				}
			}
		}
	}
	return commitSQL(r, shape) + "\n", nil
}

// spelled returns the value in [first, last] whose String is the given text.
func spelled[E interface {
	~uint8
	fmt.Stringer
}](text string, first, last E) (E, error) {
	for e := first; e <= last; e++ {
		if e.String() == text {
			return e, nil
		}
	}
	return 0, fmt.Errorf("%T: there is no %s", first, text)
}

func setOption(o *engine.StoreOptions, text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "fence":
		o.Fence, err = spelled(value, engine.FenceToken, engine.FenceNone)
	case "place":
		o.Place, err = spelled(value, engine.PlaceHead, engine.PlaceCreated)
	case "lapse":
		o.LapseAfter, err = time.ParseDuration(value)
	case "promoted":
		o.Promoted = true
	case "held":
		o.Held = true
	case "keep-dead":
		o.KeepDead = true
	default:
		err = fmt.Errorf("option %q", text)
	}
	return err
}

func parseTerm(fields []string) (t engine.Term, err error) {
	t.Class = map[string]engine.Class{"fresh": engine.Fresh, "retry": engine.Retry, "any": engine.AnyClass}[fields[0]]
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "limit":
			t.Limit = n
		case "tenant":
			t.Tenant = engine.TenantID(n)
		case "per-tenant":
			t.PerTenant = n
		case "order":
			for o := engine.OldestReady; o <= engine.TenantFair; o++ {
				if o.String() == value {
					t.Order = o
				}
			}
		case "kinds":
			for _, k := range strings.Split(value, ",") {
				n, _ := strconv.Atoi(k)
				t.Kinds = t.Kinds.With(engine.Kind(n))
			}
		case "leave", "shed":
			if t.MaxWait, err = time.ParseDuration(value); err != nil {
				return t, err
			}
			if name == "shed" {
				t.Shed = 1000
			}
		default:
			return t, fmt.Errorf("term: %q", f)
		}
	}
	return t, nil
}
