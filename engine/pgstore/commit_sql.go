package pgstore

import (
	"fmt"
	"strings"

	"qsim/engine"
)

// commitShape is the set of those features of a batch of outcomes on which the text of its SQL statement depends.
type commitShape uint8

const (
	withEnds   commitShape = 1 << iota // acks; and burials, where the dead are not kept
	withBurial                         // some of the outcomes are burials
	withMoves                          // outcomes that leave the row
	// withoutMemory marks a part of a batch after the first, whose statement does not record the batch, see commitOnce.
	withoutMemory
	numCommitShapes = 1 << iota
)

// mixed reports whether a batch both deletes rows and changes others. Its statement would lock first the former and
// then the latter, and could deadlock with Cancel, which locks rows in order of IDs. So it begins by locking all in
// that order.
func (s commitShape) mixed() bool { return s&withEnds != 0 && s&withMoves != 0 }

// lockedFirst returns, for a mixed batch, an SQL condition that is always true and makes a statement take all locks
// before it changes rows; "" otherwise.
func (s commitShape) lockedFirst() string {
	if !s.mixed() {
		return ""
	}
	return " and (select count(*) from h) >= 0"
}

// memory returns the SQL table expression that looks up whether an earlier copy of the batch took effect (seen), and
// whether its engine has been restarted and has committed since (outlived).
func (s commitShape) memory() string {
	if s&withoutMemory != 0 {
		return `,
m as materialized (select true as outlived, false as seen)`
	}
	return `,
m as materialized (
	select coalesce(bool_or(b.generation > $2), false) as outlived,
		coalesce(not bool_or(b.generation > $2) and ` +
		`bool_or(b.generation = $2 and (b.seq = $3 or b.settled >= $3)), false) as seen
	from batches b where b.node = $1 and (b.generation, b.seq) >= ($2, $3))`
}

// rowFreed and the constants below are codes in the first column of a commit's result. For an applied outcome the
// column holds the job's former state, plus rowFreed if the outcome ended a job with a serial key.
const (
	rowFreed    = 16  // added to a state: the job had a serial key and ended
	rowStale    = 100 // the outcome was stale in an earlier copy of the batch
	rowRepeated = 101 // one row: an earlier copy took effect
)

// awaitReplicas is the SQL query that makes its transaction wait, as it commits, for the replicas without which the
// server answers no commit (synchronous_standby_names): it writes to the log, since one that only reads does not wait.
// A commit whose caller went away while it waited is visible, and would be lost with the server: who is told of it, by
// the answer to a repeated call, must find it at the replica that takes over.
const awaitReplicas = `select count(pg_logical_emit_message(true, 'qsim', ''))
	where current_setting('synchronous_standby_names') <> ''`

// commitSQL returns the SQL statement that applies a batch of distinct jobs and records it, or only returns the results
// if an earlier copy was applied. If that copy commits at the same time, a conflict of primary keys ends the statement,
// see Commit. Batches of an engine that has been restarted and has committed since are not recorded any more: the store
// accepts or refuses their outcomes by their tokens alone.
//
// Parameters: $1 node, $2 generation, $3 sequence number, $4 the number up to which batches are settled (answered), $5
// number of outcomes; then arrays: job, token and index in the batch of the outcomes that delete their rows, with the
// verb if any is a burial; then job, token, index, verb, delay, drawn delay and place (stand) of the others.
func commitSQL(r *rules, s commitShape) string {
	text := now + s.memory()
	if s.mixed() {
		moved := 9
		if s&withBurial != 0 {
			moved++
		}
		text += fmt.Sprintf(`,
h as materialized (
	select j.id from jobs j where j.id = any($6::bigint[] || $%d::bigint[]) and not (select seen from m)
	order by j.id for update of j)`, moved)
	}
	next := 6
	parameters := func(kinds ...string) string {
		for i, kind := range kinds {
			kinds[i] = fmt.Sprintf("$%d::%s[]", next, kind)
			next++
		}
		return strings.Join(kinds, ", ")
	}
	var done, counts, outcomes, gone []string
	from := func(name, places string) {
		done = append(done, "select what, at, delivered, age from "+name)
		counts = append(counts, "(select count(*) from "+name+")")
		outcomes = append(outcomes, "select unnest("+places+"::integer[])")
		gone = append(gone, "select at from "+name)
	}
	if s&withEnds != 0 {
		arrays, names := parameters("bigint", "bigint", "integer"), "job, token, at"
		at := fmt.Sprintf("$%d", next-1)
		verb := ""
		if s&withBurial != 0 {
			arrays, names, verb = arrays+", "+parameters("smallint"), names+", verb", ", o.verb"
		}
		text += fmt.Sprintf(`,
a as (
	delete from jobs j using unnest(%s) as o(%s), t n
	where %s and %s and not (select seen from m)%s
	returning %s + case when j.serial is null then 0 else %d end as what, o.at, `+
			`j.delivery as delivered, n.now - j.enqueued_at as age%s)`,
			arrays, names, sameJob("o.job"), r.fence(), s.lockedFirst(), r.stateBefore(), rowFreed, verb)
		if s&withBurial != 0 {
			text += fmt.Sprintf(`,
y as (insert into buried select count(*) from a where verb = %d having count(*) > 0)`, engine.Bury)
		}
		from("a", at)
	}
	if s&withMoves != 0 {
		text += movesSQL(r, parameters("bigint", "bigint", "integer", "smallint", "bigint", "bigint", "smallint"), s)
		from("u", fmt.Sprintf("$%d", next-5))
	}
	return text + fmt.Sprintf(`,
k as (
	insert into batches (node, generation, seq, settled, stale)
	select $1, $2, $3, $4, case when %s < $5 then array((%s) except (%s)) end
	from m where not seen and not outlived)
%s
union all select %d, unnest(b.stale), 0, 0 from batches b, m `+
		`where m.seen and b.node = $1 and b.generation = $2 and b.seq = $3
union all select %d, 0, 0, (%s) from m where m.seen`,
		strings.Join(counts, " + "), strings.Join(outcomes, " union all "), strings.Join(gone, " union all "),
		strings.Join(done, "\nunion all "), rowStale, rowRepeated, awaitReplicas)
}

// movesSQL returns the SQL text for outcomes that keep their jobs' rows: it locks the rows, reads their former and new
// states, and then changes them.
func movesSQL(r *rules, arrays string, s commitShape) string {
	due := fmt.Sprintf("case when o.verb in (%d, %d) then n.now + o.delay "+
		"when o.verb in (%d, %d) then %s else j.due_at end",
		engine.Nack, engine.Snooze, engine.Redo, engine.Return, r.dueNow())
	becomes := fmt.Sprintf("case when o.verb = %d then 5 when o.verb in (%d, %d) then %d else 1 end",
		engine.Bury, engine.Nack, engine.Snooze, r.waitState())
	return fmt.Sprintf(`,
l as materialized (
	select j.id, o.at, o.verb, o.drawn, o.stand, %[1]s as was, j.delivery as delivered,
		%[2]s as due,
		%[3]s as becomes
	from unnest(%[4]s)
		as o(job, token, at, verb, delay, drawn, stand), t n, jobs j
	where %[13]s and %[5]s and not (select seen from m)%[14]s
	for update of j),
u as (
	update jobs j set state = l.becomes, due_at = l.due, stand = l.stand,
		ready_key = case l.becomes when 1 then %[6]s
			when 5 then n.now else j.ready_key end,
		stood_at = case when l.becomes = 1 and l.stand = 0 then null else coalesce(j.stood_at, j.due_at) end,
		failures = case when l.verb in (%[7]d, %[8]d, %[9]d) then coalesce(j.failures, 0) + 1 else j.failures end,
		snoozes = case when l.verb = %[10]d then coalesce(j.snoozes, 0) + 1 else j.snoozes end,
		charged = j.charged - case when l.verb in (%[10]d, %[11]d) and l.was = 3 then 1 else 0 end,
		last_delay = case when l.verb in (%[7]d, %[10]d) then l.drawn else j.last_delay end
	from l, t n where %[15]s
	returning l.was + case when j.serial is not null and l.becomes = 5 then %[12]d else 0 end as what, l.at, `+
		`l.delivered, n.now - j.enqueued_at as age)`,
		r.stateBefore(), due, becomes, arrays, r.fence(), r.readyKey("l.due", "n.now", "l.stand"),
		engine.Nack, engine.Bury, engine.Redo, engine.Snooze, engine.Return, rowFreed,
		sameJob("o.job"), s.lockedFirst(), sameJob("l.id"))
}

// forgetSQL is the SQL statement that deletes the records of a node's settled (answered) batches: those up to number $3
// of generation $2 (start of the engine), and all of earlier ones. It begins at batch $5 of generation $4, since dead
// rows before that take time to walk over. The latest record stays, and shows which batches are settled.
const forgetSQL = `delete from batches
where node = $1 and (generation, seq) <= ($2, $3) and (generation, seq) >= ($4, $5)`

// sumSQL is the SQL statement that replaces counts of buried jobs by their sum: every commit with a burial inserts a
// row with a count, so that none waits for another. It skips rows locked by others, and leaves up to 16 rows as they
// are.
const sumSQL = `with gone as (
	delete from buried where ctid = any(array(select ctid from buried for update skip locked))
		and (select count(*) > 16 from (select from buried limit 17) b)
	returning jobs)
insert into buried select sum(jobs) from gone having count(*) > 0`
