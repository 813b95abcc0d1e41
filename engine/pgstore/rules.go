package pgstore

import (
	"fmt"
	"time"

	"qsim/engine"
)

// rules builds the parts of SQL statements that depend on the store's options. In all of them the alias j is the job's
// row and n.now the server's time.
type rules struct{ options engine.StoreOptions }

// headBefore is subtracted from the ready key of jobs placed before all others: half of the largest time, as in package
// memstore.
const headBefore = int64(engine.Never / 2)

// readyKey returns the SQL expression for the ready key of a row, by which ready jobs are sorted: from its due time,
// the time at which it was made ready, and the place that an outcome gave it (stand).
func (r *rules) readyKey(due, made, stand string) string {
	head, usual := fmt.Sprintf("%s - %d", due, headBefore), due
	if again := map[engine.Place]string{engine.PlaceTail: made, engine.PlaceHead: head,
		engine.PlaceCreated: "j.enqueued_at"}[r.options.Place]; again != "" {
		usual = "case when j.delivery = 0 then " + due + " else " + again + " end"
	}
	return fmt.Sprintf("case %s when %d then %s when %d then coalesce(j.stood_at, j.due_at) when %d then %s "+
		"when %d then j.enqueued_at else %s end",
		stand, engine.PlaceHead, head, engine.PlaceDue, engine.PlaceTail, made, engine.PlaceCreated, usual)
}

// recoveries returns the SQL expression for the number of a job's recoveries: null if the first was too long ago to
// count.
func (r *rules) recoveries() string {
	if within := r.options.RecoveriesWithin; within > 0 {
		return fmt.Sprintf("case when n.now - j.recovered_at > %d then null else j.recoveries end", nanoseconds(within))
	}
	return "j.recoveries"
}

// recovered returns the SQL assignments that count one more recovery of a job from an expired lease.
func (r *rules) recovered() string {
	before := "coalesce(" + r.recoveries() + ", 0)"
	return "recoveries = " + before + " + 1, recovered_at = case when " + before +
		" = 0 then n.now else j.recovered_at end"
}

// inFlight is the SQL condition for a row in flight, for rows found by ID. It is written so that the planner does not
// use the index of jobs in flight: while that is nearly empty, or was when the statement was planned, it would read all
// of it for every ID.
const inFlight = "j.state + 0 = 3"

// sameJob returns the SQL condition that a row has the job ID given by an expression. It is written so that the planner
// can only use the primary key with that ID: given an equality, and a table that it believes to be empty, it would read
// the whole key for every job.
func sameJob(id string) string { return "j.id = any(array[" + id + "])" }

// fence returns the SQL condition under which an outcome may change its job's row, such as that their tokens are equal.
func (r *rules) fence() string {
	switch r.options.Fence {
	case engine.FenceNone:
		return "j.state < 5"
	case engine.FenceState:
		return inFlight
	}
	return inFlight + " and j.token = o.token" + r.notLapsed()
}

// lapsing formats SQL text with the time from a lease's expiry until it lapses, in nanoseconds
// (StoreOptions.LapseAfter); where leases do not lapse, it returns the other text instead.
func (r *rules) lapsing(format, otherwise string) string {
	if after := r.options.LapseAfter; after >= 0 {
		return fmt.Sprintf(format, nanoseconds(after))
	}
	return otherwise
}

// notLapsed returns the SQL condition, to be appended to others, that a lease has not lapsed; "" where leases do not.
func (r *rules) notLapsed() string { return r.lapsing(" and j.expires_at + %d > n.now", "") }

// expiry returns the SQL expression for the time at which a lease may be recovered; grace is that for the grace period.
func (r *rules) expiry(grace string) string {
	return r.lapsing("j.expires_at + least("+grace+", %d)", "j.expires_at + "+grace)
}

// lapses returns the SQL expression for what a recovery adds to a job's token: 1, or 2 if the lease had lapsed before,
// since its holder lost it then already.
func (r *rules) lapses() string {
	return r.lapsing("case when j.expires_at + %d <= n.now then 2 else 1 end", "1")
}

// dueNow returns the SQL expression for the due time of a job put back as ready: now or, with Held, its own if later.
func (r *rules) dueNow() string {
	if r.options.Held {
		return "greatest(n.now, j.due_at)"
	}
	return "n.now"
}

// promotesItself reports whether waiting jobs become ready by themselves when due.
func (r *rules) promotesItself() bool { return !r.options.Promoted && !r.options.Held }

// announcesDue reports whether engines that listen are woken for waiting jobs that become ready by themselves.
func (r *rules) announcesDue() bool { return r.promotesItself() && !r.options.SilentDue }

// stateBefore returns the SQL expression for the state that a job had before an outcome.
func (r *rules) stateBefore() string {
	if r.options.Fence == engine.FenceNone && r.promotesItself() {
		return fmt.Sprintf("case when j.state = %d and j.due_at <= n.now then %d else j.state end",
			engine.Waiting, engine.Ready)
	}
	return "j.state"
}

// waitState returns the state of a job put back with a delay: waiting, or ready where jobs may be claimed before due.
func (r *rules) waitState() engine.State {
	if r.options.Held {
		return engine.Ready
	}
	return engine.Waiting
}

// readyIn returns the time from an outcome until its job is ready, as untilDue does; engine.Forever if it ends.
func (r *rules) readyIn(o *engine.Outcome, took time.Duration) time.Duration {
	switch o.Verb {
	case engine.Return, engine.Redo:
		return 0
	case engine.Nack, engine.Snooze:
		return r.untilDue(o.Delay, took)
	}
	return engine.Forever
}

// untilDue returns the time until a job that was put back with a delay is ready: 0 if jobs may be claimed before they
// are due, or it is due already, since the call that put it back took as long; else at least 1ns.
func (r *rules) untilDue(delay, took time.Duration) time.Duration {
	if r.options.Held || delay <= took && r.announcesDue() {
		return 0
	}
	return max(delay, 1)
}

// ends reports whether a verb (ack, bury and so on) deletes the job's row.
func (r *rules) ends(v engine.Verb) bool {
	return v == engine.Ack || v == engine.Bury && !r.options.KeepDead
}

// texts holds the SQL statements that depend on nothing but the store's options, so that they are built once.
type texts struct {
	promoteDue string // $1: most jobs; $2: how long ago they were due at the most
	promote    [2]string
	extend     string
	extendNode map[bool]string // by whether leases of earlier lives are kept
	recover    string
	nextExpiry string
	enqueue    string
	cancel     string // $1: IDs of the jobs
	stats      string
	redrive    map[bool]string // by whether jobs start over
	commit     [numCommitShapes]string
}

// now is the beginning of every SQL statement that needs the store's time: it reads the server's clock once.
const now = "with t as materialized (select now_ns() as now)"

func (t *texts) init(r *rules) {
	t.promoteDue = promoteSQL(r, " and j.due_at >= (select now from t) - $2::bigint", "j.due_at, j.id", "j.due_at", "")
	t.promote[engine.OldestReady] = promoteSQL(r, "", "j.due_at, j.id", "n.now", promotionColumns)
	t.promote[engine.NewestReady] = promoteSQL(r, "", "j.due_at desc, j.id desc", "n.now", promotionColumns)
	t.extend = extendSQL(r)
	t.extendNode = map[bool]string{
		false: extendNodeSQL(r, "j.holder = $1"),
		true:  extendNodeSQL(r, "j.holder >> 32 = $1::bigint >> 32"), // every life of its node
	}
	t.recover, t.nextExpiry = recoverSQL(r)
	t.enqueue = enqueueSQL(r)
	t.cancel = cancelSQL(r)
	t.stats = statsSQL(r)
	t.redrive = map[bool]string{
		false: redriveSQL(r, ""),
		true:  redriveSQL(r, ", charged = 0, failures = null, recoveries = null, snoozes = null, last_delay = null"),
	}
	for i := range t.commit {
		t.commit[i] = commitSQL(r, commitShape(i))
	}
}
