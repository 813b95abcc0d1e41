package pgstore

import (
	"fmt"
	"slices"
	"strings"
)

// planSQL returns the SQL statement that claims jobs by a plan, a list of terms: one common table expression for each
// term, which locks its jobs, then one update by primary key. Parameters: those of claimArguments; then for each term
// what planArguments lists.
//
// Three traps of the planner: an update inside each expression makes it read the whole table, so does a condition on
// the class without an index of that class, and so does an equality of IDs where the table was empty when it was
// analyzed, see sameJob. Without terms there are no parameters.
func planSQL(shapes []shape, r *rules) string {
	w := planWriter{rules: r, next: 1 + len(r.claimArguments(0, 0, 0)),
		parts: []string{"t as materialized (select now_ns() as now)"}}
	for i := range shapes {
		w.term(i, shapes)
	}
	w.lease(shapes)
	return w.text()
}

// planWriter collects the parts of the SQL statement of a claim while it is built, term by term of the claim's plan.
type planWriter struct {
	*rules
	next  int      // number of the next parameter: 3 for $3
	parts []string // common table expressions
	rows  []string // names of the expressions that return leases
}

func (w *planWriter) parameter(kind string) string {
	w.next++
	return fmt.Sprintf("$%d::%s", w.next-1, kind)
}

// term adds the SQL table expressions for term i of a plan, which select and lock its jobs.
func (w *planWriter) term(i int, shapes []shape) {
	s := shapes[i]
	by, all := s.grouped()
	// The order of parameters is that of planArguments.
	most, from, kinds := w.parameter("bigint"), "", ""
	if s.plain() {
		from = fmt.Sprintf("(j.priority, j.ready_key) >= (%s, %s)", w.parameter("smallint"), w.parameter("bigint"))
	}
	where := []string{ofClass(s.class, "j.")}
	if s.tenant {
		where = append(where, "j.tenant = "+w.parameter("integer"))
	}
	ofKinds, byKinds := "", all && by == byKind // which visits these kinds only
	switch {
	case s.kinds == 1:
		ofKinds = "j.kind = " + w.parameter("integer")
	case s.kinds > 1:
		kinds = w.parameter("integer[]")
		ofKinds = "j.kind = any(" + kinds + ")"
	}
	if s.kinds > 0 && !byKinds {
		where = append(where, ofKinds)
	}
	where = append(append(where, firstOfSerial), w.earlier(i, shapes)...)
	limit := most
	if i > 0 {
		// What the earlier terms took counts.
		limit = w.rest(most, i)
	}
	each := limit
	if s.perTenant {
		each = fmt.Sprintf("least(%s, %s)", w.parameter("bigint"), limit)
	}
	if s.wait != waitAny {
		soonest := "(select now from t) - " + w.parameter("bigint")
		switch s.wait {
		case waitShed:
			late := slices.Clip(where)
			if byKinds {
				late = append(late, ofKinds)
			}
			w.parts = append(w.parts, fmt.Sprintf(`s%d as materialized (
	select j.id from jobs j
	where %s and j.due_at < %s
	order by j.due_at, j.id limit %d for update of j skip locked)`, i, strings.Join(late, " and "), soonest, s.shed))
			where = append(where, fmt.Sprintf("j.id <> all (array(select id from s%d))", i))
		case waitLeave:
			where = append(where, "j.due_at >= "+soonest)
		}
	}
	if from != "" {
		where = append(where, from)
	}
	w.parts = append(w.parts, selection(i, s, strings.Join(where, " and "), limit, each, kinds)...)
}

// firstOfSerial is the SQL condition that a job has no serial key or is the first of its key. Enqueue lets one
// transaction at a time number the jobs of a key, so that all earlier ones are visible here, or ended by a visible
// commit.
const firstOfSerial = "(j.serial is null or not exists (select from jobs b where b.serial = j.serial " +
	"and b.serial is not null and b.state < 5 and b.joined < j.joined))"

// earlier returns SQL conditions that exclude the jobs taken by earlier terms of the plan: SKIP LOCKED skips only rows
// locked by other transactions, not those locked by the same statement.
func (w *planWriter) earlier(i int, shapes []shape) []string {
	var out []string
	for k := range i {
		if !shapes[k].overlaps(shapes[i]) {
			continue
		}
		out = append(out, fmt.Sprintf("j.id <> all (array(select id from t%d))", k))
		if shapes[k].wait == waitShed {
			out = append(out, fmt.Sprintf("j.id <> all (array(select id from s%d))", k))
		}
	}
	return out
}

// rest returns the SQL limit of term i of a plan: its own limit or, if less, what earlier terms leave of the plan's.
func (w *planWriter) rest(most string, i int) string {
	text := "$PLAN"
	for k := range i {
		text += fmt.Sprintf(" - (select count(*) from t%d)", k)
	}
	return fmt.Sprintf("least(%s, %s)", most, text)
}

// selection returns the SQL table expressions that select a term's jobs: from one group of its line (index), or from
// the groups of all kinds or tenants with ready jobs, which a recursive query finds one after the other (loose index
// scan). each is the limit of one group.
func selection(i int, s shape, where, limit, each, kinds string) []string {
	by, all := s.grouped()
	if !all {
		return []string{fmt.Sprintf(`t%d as materialized (
	select j.id from jobs j
	where %s
	order by %s limit %s for update of j skip locked)`, i, where, s.order.columns("j."), each)}
	}
	class, within := ofClass(s.class, "j."), "of"+fmt.Sprint(i)+".part is not null"
	if by == byKind {
		within += fmt.Sprintf(" and of%d.part = any(%s)", i, kinds)
	}
	parts := fmt.Sprintf(`of%[1]d(part) as (
	(select j.%[2]s from jobs j where %[3]s order by j.%[2]s limit 1)
	union all
	select (select j.%[2]s from jobs j where %[3]s and j.%[2]s > of%[1]d.part order by j.%[2]s limit 1)
	from of%[1]d where of%[1]d.part is not null)`, i, by, class)
	return []string{parts, fmt.Sprintf(`t%[1]d as materialized (
	select l.id from of%[1]d cross join lateral (
		select j.id, j.priority, j.ready_key from jobs j
		where %[2]s and j.%[3]s = of%[1]d.part
		order by %[4]s limit %[5]s for update of j skip locked) l
	where %[6]s
	order by %[7]s limit %[8]s)`, i, where, by, s.order.columns("j."), each, within, s.order.columns("l."), limit)}
}

// leaseColumns returns the SQL columns from which row.lease reads a lease, in that order. Null columns cost next to
// nothing.
func (r *rules) leaseColumns() string {
	return "j.id, j.kind, j.priority, j.tenant, j.token, j.delivery, j.charged, j.failures, " + r.recoveries() +
		", j.snoozes, j.last_delay, n.now - j.due_at, n.now - j.enqueued_at, j.payload"
}

// answerPart separates the ranges of sort numbers that the rows of a claim's answer get: for each term a range for its
// burials, then one for its leases. The rows are numbered because an update returns them in no order.
const answerPart = 1 << 32

// lease adds the SQL update that leases the jobs which the terms select, and one that buries late jobs (waitShed).
func (w *planWriter) lease(shapes []shape) {
	var picked, shed []string
	for i, s := range shapes {
		part := 2 * int64(i) * answerPart
		picked = append(picked, fmt.Sprintf("select id, %d + row_number() over () as at from t%d", part+answerPart, i))
		if s.wait == waitShed {
			shed = append(shed, fmt.Sprintf("select id, %d + row_number() over () as at from s%d", part, i))
		}
	}
	if len(picked) > 0 {
		w.parts = append(w.parts, "p as materialized ("+strings.Join(picked, " union all ")+")", `u as (
	update jobs j set state = 3, holder = $1, token = j.token + 1, expires_at = n.now + $2,
		delivery = j.delivery + 1, charged = j.charged + 1, reaped = false
	from p, t n where `+sameJob("p.id")+`
	returning p.at, j.ready_key, `+w.leaseColumns()+")")
		w.rows = append(w.rows, "u")
	}
	if len(shed) == 0 {
		return
	}
	bury := "delete from jobs j using"
	if w.options.KeepDead {
		bury = "update jobs j set state = 5, ready_key = n.now from"
	}
	w.parts = append(w.parts, "q as materialized ("+strings.Join(shed, " union all ")+")", `x as (
	`+bury+` q, t n where `+sameJob("q.id")+`
	returning q.at, (j.serial is not null)::integer::bigint, `+w.leaseColumns()+")")
	if !w.options.KeepDead {
		w.parts = append(w.parts, "y as (insert into buried select count(*) from x having count(*) > 0)")
	}
	w.rows = append(w.rows, "x")
}

// text returns a claim's complete SQL statement. Its result has at least one row, with the time until a job is due.
func (w *planWriter) text() string {
	next, since := "null::bigint", ""
	if w.promotesItself() {
		if len(w.rows) > 0 {
			since = " and j.due_at >= (select now from t) - $3::bigint"
		}
		next = "(select j.due_at from jobs j where j.state = 2" + since +
			" order by j.due_at, j.id limit 1) - (select now from t)"
	}
	statement := "with recursive " + strings.Join(w.parts, ",\n")
	from := "(select " + next + " as next) n"
	if len(w.rows) > 0 {
		rows := "select * from " + strings.Join(w.rows, " union all select * from ")
		statement += "\nselect n.next, r.* from " + from + " left join (" + rows + ") r on true"
	} else {
		statement += "\nselect n.next from " + from
	}
	return strings.ReplaceAll(statement, "$PLAN", fmt.Sprintf("$%d::bigint", w.next))
}
