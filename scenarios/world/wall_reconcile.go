package world

import (
	"cmp"
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// Balance counts the outcomes of the jobs of a run on the wall clock, from its events.
type Balance struct {
	Enqueued   int64
	Done       int64
	Dead       int64
	Unresolved int64 // jobs neither done nor dead: the store must still hold them
	Executions int64 // executions that ended
	Duplicates int64 // executions that ended in success after another of the same job had

	unresolved []unfinished.Job
}

// reconciler puts the events of several engines into one order that is consistent for every job. Each engine recorded a
// call's effect when its answer came; the time of the effect at the store follows from the age that the job had there.
// Events that no engine sees, of waiting jobs becoming due, are added.
type reconciler struct {
	events   []engine.Event // events by job, token and stage; events without a job come first
	added    []engine.Event
	options  engine.StoreOptions
	end      engine.Time
	balance  Balance
	claims   []claimed     // all jobs of claims; until its time is set, the event of one has its index as Count
	promoted []engine.Time // ascending times at which promoters made the present job ready
	aged     []agedEvent   // events of the present job
}

// agedEvent is an event of a job (leased, acked, ...) with the time from the job's enqueueing to the event, by the
// store's clock.
type agedEvent struct {
	age time.Duration
	engine.Event
}

// claimed is one of the jobs of a claim, leased or shed, which are numbered from 0.
type claimed struct {
	by     *claimCall
	number int
}

// claimCall averages the times of a claim at the store that follow from its jobs: each may be wrong by half an enqueue.
type claimCall struct {
	sum   float64
	count int
}

// reconcile returns the events, up to the time end, of a run on a store with the given options, in a consistent order.
// It counts the outcomes of the jobs: those of all events, but which are unresolved also at the end. It changes the
// given events.
func reconcile(events []engine.Event, end time.Duration, o engine.StoreOptions) ([]*engine.Event, Balance) {
	r := reconciler{events: events, options: o.Complete(), end: engine.Time(end)}
	r.number()
	slices.SortFunc(r.events, func(a, b engine.Event) int { return cmp.Or(byLease(&a, &b), cmp.Compare(a.At, b.At)) })
	r.timeClaims()
	for from := 0; from < len(r.events); {
		to := from + 1
		for to < len(r.events) && r.events[to].Job == r.events[from].Job {
			to++
		}
		if r.events[from].Job != 0 {
			r.job(r.events[from:to])
		}
		from = to
	}
	all := make([]*engine.Event, 0, len(r.events)+len(r.added))
	for _, list := range [][]engine.Event{r.events, r.added} {
		for i := range list {
			if list[i].Kind != 0 && list[i].At <= r.end {
				all = append(all, &list[i])
			}
		}
	}
	slices.SortFunc(all, func(a, b *engine.Event) int { return cmp.Or(cmp.Compare(a.At, b.At), byLease(a, b)) })
	return all, r.balance
}

// Shed reports whether an event is that a claim buried a ready job instead of leasing it (load shedding).
func Shed(e *engine.Event) bool {
	return e.Kind == engine.Buried && e.From == engine.Ready && e.Token == 0
}

// number numbers the jobs of each claim in their order, which sorting would lose. Their events have the node and the
// time of its answer, and come after the event of that call.
func (r *reconciler) number() {
	type answer struct {
		node int32
		at   engine.Time
	}
	calls := map[answer]*claimCall{}
	for i := range r.events {
		e := &r.events[i]
		a := answer{e.Node, e.At}
		switch {
		case e.Kind == engine.Called && e.Op == engine.OpClaim:
			calls[a] = &claimCall{}
		case e.Kind == engine.Leased || Shed(e):
			if calls[a] == nil {
				calls[a] = &claimCall{}
			}
			e.Count = int32(len(r.claims))
			r.claims = append(r.claims, claimed{calls[a], calls[a].count})
			calls[a].count++
		}
	}
}

// timeClaims finds out when each claim was at the store, from the ages of all its jobs. The events are in order.
func (r *reconciler) timeClaims() {
	enqueued := &engine.Event{}
	for i := range r.events {
		switch e := &r.events[i]; {
		case e.Kind == engine.Enqueued:
			enqueued = e
		case e.Kind != engine.Leased && !Shed(e):
		case e.Job != enqueued.Job: // nothing is known of its time
			r.claims[e.Count].by.sum += float64(e.At)
		default:
			r.claims[e.Count].by.sum += float64(min(e.At, enqueued.At.Add(e.Age)))
		}
	}
}

// executed sets the time of event e, of a call that the store executed before its answer came. The first claim of a
// job, also one that sheds it, has the time of that call, a nanosecond after the job before it; then the time at which
// the job was enqueued, event enqueued, moves to its age before, and executed returns true.
func (r *reconciler) executed(e, enqueued *engine.Event, l *life) (moved bool) {
	number, claims := e.Count, e.Kind == engine.Leased || Shed(e)
	if claims {
		e.Count = 0
	}
	if moved = claims && e.Delivery == 1 && l.known && l.state != engine.InFlight; !moved {
		if l.known && e.Age > 0 {
			e.At = min(e.At, l.born.Add(e.Age))
		}
		return false
	}
	c := &r.claims[number]
	at := engine.Time(math.Round(c.by.sum / float64(c.by.count)))
	e.At = min(e.At, at.Add(time.Duration(c.number)))
	shift := e.At.Add(-e.Age).Sub(l.born)
	l.born, l.since, enqueued.At = l.born.Add(shift), l.since.Add(shift), enqueued.At.Add(shift)
	return true
}

// byLease compares two events by job, then by lease token, then by stage.
func byLease(a, b *engine.Event) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(tokenOf(a), tokenOf(b)), cmp.Compare(stage(a), stage(b)))
}

// tokenOf returns the lease token of an event, by which it is put into order: the highest for the end of a job. A claim
// that sheds it has none, and unless the fence is token, an execution whose lease has passed to another may end it.
func tokenOf(e *engine.Event) engine.Token {
	if ends(e) {
		return math.MaxUint64
	}
	return e.Token
}

// ends reports whether an event ends its job.
func ends(e *engine.Event) bool { return e.Kind == engine.Acked || e.Kind == engine.Buried }

// stage returns the rank of an event within one lease: enqueue, claim, start, end, outcome, promotion, others.
func stage(e *engine.Event) int {
	switch e.Kind {
	case engine.Enqueued:
		return 0
	case engine.Leased, engine.LeaseTaken:
		return 1
	case engine.Started:
		return 2
	case engine.Finished, engine.TimedOut, engine.Aborted:
		return 3
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		return 4
	case engine.Promoted:
		return 5
	}
	return 6
}

// life is the state of a job after its latest event.
type life struct {
	born      engine.Time
	state     engine.State
	since     engine.Time // Ready: time since which; Waiting: time until which
	class     engine.Class
	kind      engine.Kind
	tenant    engine.TenantID
	token     engine.Token // fencing token of the latest lease
	known     bool         // the job was enqueued
	over      bool         // its state at the end of the run is known
	successes int64
}

// job corrects the times of one job's events to when they took effect at the store, and counts the job's outcome.
func (r *reconciler) job(events []engine.Event) {
	var l life
	r.promoted = r.promoted[:0]
	for i := range events {
		if e := &events[i]; e.Kind == engine.Promoted {
			r.promoted = append(r.promoted, e.At)
			e.Kind = 0 // the event is added again at its place
		}
	}
	slices.Sort(r.promoted)
	if r.options.Fence != engine.FenceToken { // others than the holder of the latest lease change a job
		r.byAge(events)
	}
	latest := engine.Time(0)  // time of the latest event at the store
	started := engine.Time(0) // start of the execution under the present token, or of its lease
	var token engine.Token
	for i := range events {
		e := &events[i]
		if e.Token != token {
			token, started = e.Token, 0
		}
		switch e.Kind {
		case engine.Enqueued:
			l = life{known: true, born: e.At, kind: e.JobKind, tenant: e.Tenant, state: engine.Ready, since: e.At,
				over: e.At > r.end}
			if e.Delay > 0 {
				l.state, l.since = r.delayed(), e.At.Add(e.Delay)
			}
			latest = e.At
			r.balance.Enqueued++
		case engine.Leased, engine.LeaseTaken, engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
			if e.Kind == engine.Acked && l.state == engine.Done || e.Kind == engine.Buried && l.state == engine.Dead {
				e.Kind = 0 // it was answered twice
				continue
			}
			if r.executed(e, &events[0], &l) {
				latest = events[0].At
				l.over = latest > r.end
			}
			if e.At = max(e.At, latest, started); r.options.Fence != engine.FenceToken && e.At == latest {
				e.At++ // of one time, events are sorted by token, which need not be their order
			}
			if l.known && e.Age == 0 && stage(e) == 4 { // an answer to a commit sent again says no age
				e.Age = e.At.Sub(l.born)
			}
			if e.At > r.end {
				r.close(&l, e.Job)
			}
			r.become(&l, e)
			latest, started = e.At, e.At
		case engine.Started, engine.Finished, engine.TimedOut, engine.Aborted:
			e.At = max(e.At, started)
			started = e.At
			if e.Kind == engine.Finished {
				r.balance.Executions++
				if e.Error == engine.NoError {
					l.successes++
				}
			}
		}
	}
	r.balance.Duplicates += max(0, l.successes-1)
	r.close(&l, events[0].Job)
	if l.known && l.state != engine.Done && l.state != engine.Dead {
		r.balance.Unresolved++
	}
}

// delayed returns the state of a job that is not due yet.
func (r *reconciler) delayed() engine.State {
	if r.options.Held {
		return engine.Ready
	}
	return engine.Waiting
}

// byAge puts the events of one job, which are in the order of its lease tokens, into the order of the store: that
// differs if outcomes were accepted of executions whose lease had passed to another. An event without an age stays
// behind the one before it, and the end of the job is the last.
func (r *reconciler) byAge(events []engine.Event) {
	r.aged = r.aged[:0]
	age := time.Duration(0)
	for i := range events {
		switch e := &events[i]; {
		case ends(e):
			age = math.MaxInt64
		case e.Age > 0 && (stage(e) == 1 || stage(e) == 4):
			age = e.Age
		}
		r.aged = append(r.aged, agedEvent{age, events[i]})
	}
	byAge := func(a, b agedEvent) int { return cmp.Compare(a.age, b.age) }
	if slices.IsSortedFunc(r.aged, byAge) {
		return
	}
	slices.SortStableFunc(r.aged, byAge)
	for i := range r.aged {
		events[i] = r.aged[i].Event
	}
}

// become updates the state of a job with an event of the store.
func (r *reconciler) become(l *life, e *engine.Event) {
	if l.state == engine.Waiting && e.From != engine.Waiting {
		r.ready(l, e.Job, e.At)
	}
	switch e.Kind {
	case engine.Leased, engine.LeaseTaken:
		l.state, l.class, l.token = engine.InFlight, engine.Retry, e.Token
	case engine.Acked:
		l.state = engine.Done
		r.balance.Done++
	case engine.Buried:
		l.state = engine.Dead
		r.balance.Dead++
	case engine.Returned:
		l.state, l.since, l.class = engine.Ready, e.At, engine.Retry
	case engine.Nacked:
		l.state, l.since, l.class = r.delayed(), e.At.Add(e.Delay), engine.Retry
	}
}

// ready adds the event that a waiting job becomes ready, at its due time or its promotion, but at the latest at limit.
func (r *reconciler) ready(l *life, job engine.JobID, limit engine.Time) {
	at := l.since
	if r.options.Promoted && len(r.promoted) > 0 {
		at = max(at, r.promoted[0])
		r.promoted = r.promoted[1:]
	}
	l.state, l.since = engine.Ready, min(l.since, limit)
	r.added = append(r.added, engine.Event{Kind: engine.Promoted, At: min(at, limit), Class: l.class, JobKind: l.kind,
		Tenant: l.tenant, Job: job, Token: l.token, Node: -1})
}

// close notes the state of a job at the end of a run, once, if it is neither done nor dead then.
func (r *reconciler) close(l *life, job engine.JobID) {
	if !l.known || l.over || l.state == engine.Done || l.state == engine.Dead {
		return
	}
	l.over = true
	promoted := len(r.promoted) > 0 && r.promoted[0] <= r.end
	if l.state == engine.Waiting && (l.since <= r.end && !r.options.Promoted || promoted) {
		r.ready(l, job, r.end)
	}
	u := unfinished.Job{ID: job, Kind: l.kind, Tenant: l.tenant, State: l.state, Class: l.class,
		Age: r.end.Sub(l.born)}
	if l.state != engine.InFlight {
		u.Waited = max(r.end.Sub(l.since), 0)
	}
	r.balance.unresolved = append(r.balance.unresolved, u)
}
