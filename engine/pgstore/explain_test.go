package pgstore

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
)

// crowded fills a store with jobs: ready ones, fresh and retries, of four kinds and
// tenants, waiting for an hour and more, in flight and dead.
func crowded(t testing.TB, s *Store, jobs int) {
	t.Helper()
	_, err := s.pool.Exec(t.Context(), `
insert into jobs (id, kind, priority, tenant, state, delivery, charged, token, enqueued_at, due_at, ready_key, expires_at)
select i, i % 4, i % 3, i % 5, case when i % 10 < 6 then 1 when i % 10 < 8 then 2 when i % 10 = 8 then 3 else 5 end, i % 2, i % 2, i % 2,
	n - i, case when i % 10 in (6, 7) then n + 3600000000000 + i else n - i end, n - i, n + 3600000000000
from now_ns() n, generate_series(1, $1::bigint) i`, jobs)
	if err != nil {
		t.Fatal(err)
	}
}

// explained returns PostgreSQL's plan (EXPLAIN) of an SQL statement, as text.
func explained(t *testing.T, conn *pgx.Conn, statement string) string {
	t.Helper()
	ctx := t.Context()
	description, err := conn.Prepare(ctx, "subject", statement)
	if err != nil {
		t.Fatalf("%v\n%s", err, statement)
	}
	defer func() {
		if err := conn.Deallocate(context.WithoutCancel(ctx), "subject"); err != nil {
			t.Error(err)
		}
	}()
	nulls := strings.TrimSuffix(strings.Repeat("null,", len(description.ParamOIDs)), ",")
	if nulls != "" {
		nulls = "(" + nulls + ")"
	}
	rows, err := conn.Query(ctx, "explain execute subject"+nulls, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// statement is an SQL statement of a store, with the index that its plan must use.
type statement struct {
	name, sql string
	indexes   []string
}

func allStatements(t *testing.T, s *Store) []statement {
	t.Helper()
	late := time.Second
	plans := map[string][]engine.Term{
		"fifo":        {anyTerm(10)},
		"fresh first": {{Class: engine.Fresh, Limit: 9}, {Class: engine.Retry, Limit: 9}},
		"weighted":    {{Class: engine.Fresh, Limit: 9}, {Class: engine.Retry, Limit: 9}, anyTerm(9)},
		"newest":      {{Class: engine.AnyClass, Order: engine.NewestReady, Limit: 9}, {Class: engine.Retry, Order: engine.NewestReady, Limit: 9}},
		"whatever":    {{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: 9}},
		"kinds":       {{Class: engine.AnyClass, Kinds: 2, Limit: 9}, {Class: engine.Fresh, Kinds: 6, Limit: 9}, {Class: engine.Retry, Kinds: 6, Order: engine.NewestReady, Limit: 9}},
		"tenants":     {{Class: engine.AnyClass, Tenant: 3, Kinds: 6, Limit: 9}, {Class: engine.Fresh, PerTenant: 3, Limit: 9}},
		"late":        {{Class: engine.AnyClass, MaxWait: late, Limit: 9}, {Class: engine.Retry, MaxWait: late, Shed: 1000, Limit: 9}},
	}
	var out []statement
	for name, terms := range plans {
		var shapes []shape
		st := statement{name: name}
		for i := range terms {
			sh, err := shapeOf(&terms[i])
			if err != nil {
				t.Fatal(err)
			}
			shapes = append(shapes, sh)
			for _, l := range sh.lines() {
				st.indexes = append(st.indexes, l.name())
			}
		}
		st.sql = planned(t, s, shapes)
		st.indexes = append(st.indexes, "jobs_pkey", "waiting")
		out = append(out, st)
	}
	if _, err := s.Stats(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	x := &s.text
	out = append(out, statement{"promote due", x.promoteDue, []string{"waiting", "jobs_pkey"}}, statement{"promote newest", x.promote[1], []string{"waiting"}},
		statement{"extend", x.extend, []string{"jobs_pkey"}},
		statement{"extend node", x.extendNode[false], []string{"leased"}},
		statement{"recover", x.recover, []string{"leased", "jobs_pkey"}}, statement{"next expiry", x.nextExpiry, []string{"leased"}},
		statement{"next due", nextDueSQL, []string{"waiting"}},
		statement{"stats", x.stats, []string{"ready_oldest", "waiting", "leased", "dead", "ready_fresh_longest", "ready_retry_longest"}},
		statement{"cancel", x.cancel, []string{"jobs_pkey"}},
		statement{"redrive", x.redrive[false], []string{"dead"}}, statement{"forget", forgetSQL, []string{"batches_pkey"}})
	for shape := withEnds; shape < withoutMemory; shape++ {
		if shape&withBurial == 0 || shape&withEnds != 0 {
			out = append(out, statement{fmt.Sprint("commit ", shape), x.commit[shape], []string{"jobs_pkey", "batches_pkey"}})
		}
	}
	return out
}

func anyTerm(limit int) engine.Term { return engine.Term{Class: engine.AnyClass, Limit: limit} }

// wholeTable matches a plan, as text, that reads a table from end to end, or that joins by hashing or sorting very many
// rows.
var wholeTable = regexp.MustCompile(`Seq Scan on (jobs|batches)|Bitmap Heap Scan on jobs|Hash Join|Merge Join`)

// withoutCondition returns the first line of a plan, as text, that scans the primary key of the jobs without an Index
// Cond, and so reads all of them; "" if there is none.
func withoutCondition(plan string) string {
	lines := strings.Split(plan, "\n")
	for i, l := range lines {
		if strings.Contains(l, "using jobs_pkey on jobs") && (i+1 == len(lines) || !strings.Contains(lines[i+1], "Index Cond: ")) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

// TestPlansOfTheEmpty is TestPlans for a queue at rest: the server's statistics show an empty
// table, and statements are planned when it has three rows. The same plans are used when a hundred
// thousand jobs come.
func TestPlansOfTheEmpty(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	all := allStatements(t, s)
	for _, text := range []string{"alter table jobs set (autovacuum_enabled = false)",
		"insert into jobs (id, kind, priority, tenant) select i, 0, 0, 0 from generate_series(1, 3) i", "delete from jobs", "analyze jobs",
		"insert into jobs (id, kind, priority, tenant) select i, 0, 0, 0 from generate_series(1, 3) i"} {
		if _, err := s.pool.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), s.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, st := range all {
		plan := explained(t, conn, st.sql)
		if found := withoutCondition(plan) + wholeTable.FindString(plan); found != "" {
			t.Errorf("%s: %s\n%s", st.name, found, plan)
		}
	}
}

// TestPlans checks PostgreSQL's plan of every statement, with a hundred thousand jobs: each uses an
// index, both before the table was ever analyzed, and with outdated statistics.
func TestPlans(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	all := allStatements(t, s)
	conn, err := pgx.ConnectConfig(t.Context(), s.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	check := func(t *testing.T) {
		for _, st := range all {
			plan := explained(t, conn, st.sql)
			if found := wholeTable.FindString(plan); found != "" {
				t.Errorf("%s: %s\n%s\n%s", st.name, found, plan, st.sql)
			}
			if found := withoutCondition(plan); found != "" {
				t.Errorf("%s: no condition on %s\n%s", st.name, found, plan)
			}
			for _, index := range st.indexes {
				if !strings.Contains(plan, " using "+index+" on ") && !strings.Contains(plan, " Backward using "+index+" on ") {
					t.Errorf("%s: does not use %s\n%s", st.name, index, plan)
				}
			}
		}
	}
	t.Run("empty", check)
	crowded(t, s, 100_000)
	t.Run("full and never analyzed", check)
	if _, err := s.pool.Exec(t.Context(), "analyze jobs"); err != nil {
		t.Fatal(err)
	}
	t.Run("analyzed", check)
	if _, err := s.pool.Exec(t.Context(), "delete from jobs where id > 10; analyze jobs", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	t.Run("analyzed when there were ten", check)
}

// What a claim reads does not grow with the jobs that it does not take: a hundred
// thousand of another class, kind, or that wait.
func TestClaimReadsLittle(t *testing.T) {
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	crowded(t, s, 100_000)
	if _, err := s.pool.Exec(t.Context(), "vacuum jobs"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(t.Context(), s.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, tt := range []struct {
		name  string
		terms []engine.Term
	}{
		{"fifo", []engine.Term{anyTerm(10)}},
		{"the class at the back", []engine.Term{{Class: engine.Retry, Limit: 10}}},
		{"newest of a kind", []engine.Term{{Class: engine.AnyClass, Kinds: 1 << 3, Order: engine.NewestReady, Limit: 10}}},
		{"two kinds", []engine.Term{{Class: engine.Fresh, Kinds: 1<<2 | 1<<3 | 1<<9, Limit: 10}}},
		{"two per tenant", []engine.Term{{Class: engine.AnyClass, PerTenant: 2, Limit: 10}}},
		{"weighted", []engine.Term{{Class: engine.Fresh, Limit: 6}, {Class: engine.Retry, Limit: 4}, anyTerm(10)}},
	} {
		var shapes []shape
		arguments := s.rules.claimArguments(1, time.Minute, longest)
		for i := range tt.terms {
			sh, err := shapeOf(&tt.terms[i])
			if err != nil {
				t.Fatal(err)
			}
			shapes = append(shapes, sh)
			arguments = planArguments(arguments, &tt.terms[i], sh, frontOfLine, 10)
		}
		if len(shapes) > 1 {
			arguments = append(arguments, int64(10))
		}
		text := planned(t, s, shapes)
		rows, err := conn.Query(t.Context(), "explain (analyze, costs off, timing off, summary off) "+text, arguments...)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for _, l := range lines {
			var n, loops int
			if at := strings.Index(l, "rows="); at >= 0 {
				if _, err := fmt.Sscanf(l[at:], "rows=%d loops=%d", &n, &loops); err == nil {
					most = max(most, n*loops)
				}
			}
			if _, removed, ok := strings.Cut(l, "Rows Removed by Filter: "); ok {
				if _, err := fmt.Sscan(removed, &n); err == nil {
					most = max(most, n)
				}
			}
		}
		if most > 60 || most == 0 {
			t.Errorf("%s: a step of the plan saw %d rows\n%s", tt.name, most, strings.Join(lines, "\n"))
		}
	}
}

// planned returns the SQL statement of claims whose terms have the given shapes, once the indexes that it needs are built.
func planned(t *testing.T, s *Store, shapes []shape) string {
	t.Helper()
	p := s.planOf(shapes)
	if err := s.build(t.Context(), p.lines); err != nil {
		t.Fatal(err)
	}
	return p.sql
}
