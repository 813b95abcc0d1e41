package trace

import (
	"fmt"
	"time"

	"qsim/engine"
)

// track moves the job and the attempt a, which may be nil.
func (b *biographer) track(e *engine.Event, a *Attempt) {
	life, at := b.life, time.Duration(e.At)
	switch e.Kind {
	case engine.Enqueued:
		if e.Delay > 0 {
			life.State = "waiting"
		}
	case engine.Promoted:
		life.State = "ready"
	case engine.Redriven:
		life.State, life.Ended = "ready", 0
	case engine.Leased:
		life.State = "in-flight"
		b.byToken[e.Token] = len(life.Attempts)
		life.Attempts = append(life.Attempts, Attempt{Number: e.Delivery, Node: e.Node, Token: e.Token, Leased: at, Waited: e.Waited,
			Fresh: e.Class == engine.Fresh, Status: "claimed"})
	case engine.Acked, engine.Buried, engine.Nacked, engine.Returned:
		b.settle(e, a)
	}
	if a == nil {
		return
	}
	switch e.Kind {
	case engine.Started:
		a.Began, a.Started = true, at
		b.become(a, "running")
	case engine.Finished:
		b.finished(e, a)
	case engine.Aborted:
		a.Ended, a.aborted, a.Ran = true, true, e.Ran
		a.note("died with the process of node %d", e.Node)
	case engine.TimedOut:
		a.note("ran into its timeout of %s", Length(e.Ran))
	case engine.LeaseTaken:
		b.lapse(e, a)
	case engine.LeaseLost:
		a.note("node %d learned %s that its lease was gone", e.Node, b.sinceStart(a, at))
	case engine.LeaseForgotten:
		a.note("the store lost the record of its lease")
	case engine.Extended:
		a.heartbeats++
	case engine.ExtendRefused:
		a.note("a heartbeat of node %d was refused", e.Node)
	case engine.Fenced:
		life.Fenced++
		a.note("its commit %s was fenced: token %d, the lease had gone on", b.sinceStart(a, at), e.Token)
	case engine.GaveUp:
		a.note("node %d gave up telling the store", e.Node)
		b.become(a, "dropped")
	}
}

func (b *biographer) sinceStart(a *Attempt, at time.Duration) string {
	return Length(at-a.Leased) + " after the claim"
}

// become sets a status that is not the last word.
func (b *biographer) become(a *Attempt, status string) {
	if a.until == 0 {
		a.Status = status
	}
}

func (b *biographer) finished(e *engine.Event, a *Attempt) {
	a.Ended, a.Ran = true, e.Ran
	if e.Error != engine.NoError {
		a.Error = b.s.errorName(e.Error)
		b.become(a, "failed")
		return
	}
	b.become(a, "succeeded")
	if a.Status == "lapsed" || a.until > 0 {
		a.note("it succeeded all the same")
	}
	if b.life.Successes++; b.life.Successes > 1 {
		a.note("a duplicate: the job's %s success", ordinal(b.life.Successes))
	}
}

// lapse says who let the lease of a expire, and how that could be.
func (b *biographer) lapse(e *engine.Event, a *Attempt) {
	b.life.Lapsed++
	b.byToken[e.Token] = b.indexOf(a)
	holder := e.Holder.Node()
	own := holder == a.Node && !a.taken
	how := "was alive"
	switch {
	case b.deaths[holder] > e.Holder.Generation() && b.down[holder]:
		how = "was down"
	case b.deaths[holder] > e.Holder.Generation():
		how = "had died and started again"
	case b.frozen[holder]:
		how = "was frozen"
	case own && !a.Began:
		how = "was alive, and had not begun it"
	case own && !a.Ended:
		how = "was alive and running it: a false alarm"
	}
	what := "its lease"
	if a.taken {
		what = "that of the reaper"
	}
	a.note("%s expired, node %d took it; node %d %s", what, e.Node, holder, how)
	a.taken = true
	if a.until == 0 {
		a.Status = "lapsed"
	}
}

func (b *biographer) indexOf(a *Attempt) int {
	for i := range b.life.Attempts {
		if &b.life.Attempts[i] == a {
			return i
		}
	}
	panic("trace: an attempt of another life")
}

// settle takes note of what a commit did to the job; a may be nil: it was never claimed.
func (b *biographer) settle(e *engine.Event, a *Attempt) {
	life, at := b.life, time.Duration(e.At)
	status := ""
	switch e.Kind {
	case engine.Acked:
		life.State, status = "done", "done"
	case engine.Buried:
		life.State, status = "dead", "dead"
	case engine.Nacked:
		life.State, status = "waiting", "retried"
		if e.Delay == 0 {
			life.State = "ready"
		}
		if b.s.seen.Engine.Waiting == "held" {
			life.State = "waiting"
		}
	case engine.Returned:
		life.State, status = "ready", "handed-back"
	}
	if (e.Kind == engine.Acked || e.Kind == engine.Buried) && life.Ended == 0 {
		life.Ended = at
	}
	if a == nil || shed(e) {
		return
	}
	if a.Status == "lapsed" && (e.Kind == engine.Nacked || e.Kind == engine.Returned) {
		status = "lapsed"
	}
	if a.Error == "" && e.Error != engine.NoError {
		a.Error = b.s.errorName(e.Error)
	}
	if e.From == engine.Ready || e.From == engine.Waiting {
		did := "moved"
		if e.Kind == engine.Acked || e.Kind == engine.Buried {
			did = "ended"
		}
		a.note("its commit %s a job that was %s again", did, e.From)
	}
	a.Status, a.until = status, at
}

// finish says what can only be said at the end.
func (b *biographer) finish() {
	for i := range b.life.Attempts {
		a := &b.life.Attempts[i]
		end := max(a.until, a.Leased)
		if a.until == 0 {
			end = b.s.End()
		}
		a.Storms = b.s.Storms(a.Leased, end)
		if a.heartbeats > 0 {
			a.note("%s prolonged its lease", plural(a.heartbeats, "heartbeat"))
		}
		if a.Status == "claimed" && !a.Began && a.process == lives {
			a.note("node %d never began it", a.Node)
		}
	}
}

func (a *Attempt) note(format string, arguments ...any) {
	if len(a.Notes) < 20 {
		a.Notes = append(a.Notes, fmt.Sprintf(format, arguments...))
	}
}

func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}
