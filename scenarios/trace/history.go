package trace

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/spec"
	"qsim/scenarios/world"
)

// JobHistory is the history of one job: its events, attempts and end.
type JobHistory struct {
	Job    string       `json:"job"`              // class and number of its arrival: payments/1234
	ID     engine.JobID `json:"id"`               // number of the job in the engine
	Class  string       `json:"class"`            // job class
	Tenant string       `json:"tenant,omitempty"` // name of the tenant; missing: the class has one
	// At the end of the run: ready, waiting, in-flight, done, dead
	State    string `json:"state"`
	Enqueued Span   `json:"enqueued_s"` // time of its enqueueing
	// When it was done or dead; null: not, or it was made ready again
	Ended     Span      `json:"ended_s"`
	Successes int       `json:"successes"`      // executions that ended in success
	Lapsed    int       `json:"leases_expired"` // leases that a reaper took back
	Fenced    int       `json:"commits_fenced"` // commits that were refused
	Attempts  []Attempt `json:"attempts"`       // attempts in the order of the claims
	// Other jobs that the same caller enqueued for the same work
	Copies  []string `json:"copies,omitempty"`
	Facts   []Fact   `json:"events"`                    // events of the job and its nodes, in order
	LeftOut int      `json:"events_left_out,omitempty"` // number of events beyond the limit, which are missing
}

// Attempt is one delivery of a job to a worker.
type Attempt struct {
	Number int32 `json:"attempt"` // number of the attempt, from 1
	// Status is the outcome: done, retried, dead, lapsed, handed-back, dropped, succeeded, failed, running or claimed.
	Status  string       `json:"status"`
	Node    int32        `json:"node"`             // node that claimed it
	Token   engine.Token `json:"token"`            // token of its lease
	Fresh   bool         `json:"fresh"`            // the job had not been claimed before
	Leased  Span         `json:"claimed_s"`        // time of the claim
	Waited  Span         `json:"waited_s"`         // time that the job had been ready
	Started Span         `json:"started_s"`        // start of its handler; null: it did not start
	Ran     Span         `json:"ran_s"`            // run time of its handler; null: it did not end
	Delay   Span         `json:"delay_s"`          // delay set by the retry policy after it; null: none
	Due     Span         `json:"due_s"`            // end of that delay; null: none
	Error   string       `json:"error,omitempty"`  // error kind of the failure; missing: it did not fail, or has not ended
	Storms  []string     `json:"storms,omitempty"` // storms during the attempt
	Notes   []string     `json:"notes,omitempty"`  // further facts, in words

	until      time.Duration // time of its last event in the job's history; 0: not yet
	taken      bool          // a reaper took its lease
	aborted    bool          // it ended with the death of its process
	deaths     uint32        // how often its node had died when it claimed the job
	heartbeats int
}

// Began reports whether the attempt's handler has started.
func (a *Attempt) Began() bool { return a.Started != none }

// Ended reports whether the attempt's handler ran to its end.
func (a *Attempt) Ended() bool { return a.Ran != none }

// held reports whether a crash or freeze of its node, which has the given state, affects an attempt: the process that
// claimed it runs still, or none has followed it, and has the lease or runs the handler.
func (a *Attempt) held(node nodeState) bool {
	latest := node.deaths == a.deaths || node.down && node.deaths == a.deaths+1
	return latest && (a.until == 0 && !a.taken || a.Began() && !a.Ended())
}

func (a *Attempt) note(format string, arguments ...any) {
	if len(a.Notes) < 20 {
		a.Notes = append(a.Notes, fmt.Sprintf(format, arguments...))
	}
}

// become sets the status of an attempt, such as running or lapsed, unless a commit has given it a final one.
func (a *Attempt) become(status string) {
	if a.until == 0 {
		a.Status = status
	}
}

// mostFacts is the highest number of events in one history: some jobs are retried without end.
const mostFacts = 20_000

// Job simulates the run and returns the history of one job; nil if the run has no such job.
func (s *Simulation) Job(ctx context.Context, id engine.JobID) (*JobHistory, error) {
	t := &jobTracer{s: s, id: id, byToken: map[engine.Token]int{}, nodes: map[int32]nodeState{}}
	err := s.watch(ctx, s.End(), func(e *engine.Event) bool {
		t.see(e)
		return true
	})
	if t.history != nil {
		t.finish()
	}
	return t.history, err
}

// jobTracer builds the history of a job from the events of a run.
type jobTracer struct {
	s       *Simulation
	id      engine.JobID
	history *JobHistory
	byToken map[engine.Token]int // by fencing token of a lease, the index of its attempt
	nodes   map[int32]nodeState
	due     engine.Time // end of the job's latest delay
}

// nodeState is the state of a node: down, frozen, and how often it died.
type nodeState struct {
	down, frozen bool
	deaths       uint32
}

func (t *jobTracer) see(e *engine.Event) {
	switch {
	case e.Job == t.id:
		t.own(e)
	case e.Job == 0:
		t.machine(e)
	case t.history != nil && e.Kind == engine.Enqueued && spec.FirstCopy(e.Job) == spec.FirstCopy(t.id):
		name := t.s.seen.JobName(e.Job)
		t.history.Copies = append(t.history.Copies, name)
		f := newFact(Span(e.At), "resubmitted", "its caller waits no longer and enqueues "+name)
		f.Job = t.history.Job
		t.add(f)
	}
}

// machine records that a node went up or down, froze or woke, in the job's history, too, if it holds or runs the job.
func (t *jobTracer) machine(e *engine.Event) {
	was := t.nodes[e.Node]
	node := was
	switch e.Kind {
	case engine.NodeUp:
		node.down = false
	case engine.NodeDown:
		node = nodeState{down: true, deaths: node.deaths + 1}
	case engine.NodePause, engine.NodeWake:
		node.frozen = e.Kind == engine.NodePause
	default:
		return
	}
	t.nodes[e.Node] = node
	if t.history == nil {
		return
	}
	concerned := false
	for i := range t.history.Attempts {
		if a := &t.history.Attempts[i]; a.Node == e.Node && a.held(was) {
			concerned = true
			if e.Kind == engine.NodeDown && was.deaths == a.deaths {
				a.dies()
			}
		}
	}
	if concerned {
		t.add(t.s.tell(e))
	}
}

// dies notes that the process that claimed an attempt has died.
func (a *Attempt) dies() {
	switch {
	case a.Status == "dropped", a.aborted: // nobody would have heard of it, or that is noted
	case !a.Began():
		a.note("its process died before it began")
	default:
		a.note("its process died before the store knew how it had ended")
	}
}

func (t *jobTracer) own(e *engine.Event) {
	if t.history == nil {
		t.history = &JobHistory{Job: t.s.seen.JobName(t.id), ID: t.id, Enqueued: Span(e.At), Ended: none, State: "ready",
			Class: t.s.seen.Jobs[e.JobKind].Class, Attempts: []Attempt{}}
		if t.s.manyTenants(e.JobKind) {
			t.history.Tenant = t.s.seen.TenantNames()[e.Tenant]
		}
	}
	fact, at := t.s.tell(e), t.attempt(e)
	if fact.Attempt == 0 && at >= 0 {
		fact.Attempt = t.history.Attempts[at].Number
	}
	t.add(fact)
	t.move(e)
	if at >= 0 {
		t.track(e, at)
	}
}

func (t *jobTracer) add(f Fact) {
	if len(t.history.Facts) == mostFacts {
		t.history.LeftOut++
		return
	}
	t.history.Facts = append(t.history.Facts, f)
}

// attempt returns the index of the attempt that an event belongs to, -1 for none.
func (t *jobTracer) attempt(e *engine.Event) int {
	if i, ok := t.byToken[e.Token]; ok && e.Token != 0 {
		return i
	}
	all := t.history.Attempts
	for i := len(all) - 1; i >= 0 && e.Delivery > 0; i-- {
		if all[i].Number == e.Delivery {
			return i
		}
	}
	return plain.Either(e.Kind == engine.Leased || e.Kind == engine.Enqueued, -1, len(all)-1)
}

func (t *jobTracer) move(e *engine.Event) {
	h := t.history
	h.State = cmp.Or(stateAfter(e), h.State)
	switch e.Kind {
	case engine.Enqueued, engine.Nacked:
		t.due = e.At.Add(e.Delay)
	case engine.Redriven:
		h.Ended = none
	case engine.Leased:
		t.byToken[e.Token] = len(h.Attempts)
		h.Attempts = append(h.Attempts, Attempt{Number: e.Delivery, Node: e.Node, Token: e.Token, Leased: Span(e.At),
			Waited: Span(e.Waited), Fresh: e.Class == engine.Fresh, Status: "claimed", deaths: t.nodes[e.Node].deaths,
			Started: none, Ran: none, Delay: none, Due: none})
	case engine.Acked, engine.Buried:
		if h.Ended == none {
			h.Ended = Span(e.At)
		}
	}
}

func (t *jobTracer) track(e *engine.Event, index int) {
	a, h := &t.history.Attempts[index], t.history
	after := Length(Span(e.At)-a.Leased) + " after the claim"
	switch e.Kind {
	case engine.Acked, engine.Buried, engine.Nacked, engine.Returned:
		if e.Kind == engine.Nacked {
			a.Delay, a.Due = Span(e.Delay), Span(e.At.Add(e.Delay))
		}
		t.settle(e, a)
	case engine.Started:
		a.Started = Span(e.At)
		a.become("running")
	case engine.Finished:
		t.finished(e, a)
	case engine.Aborted:
		a.aborted, a.Ran = true, Span(e.Ran)
		a.note("died with the process of node %d", e.Node)
	case engine.TimedOut:
		a.note("ran into its timeout of %s", Length(e.Ran))
	case engine.LeaseTaken:
		h.Lapsed++
		t.byToken[e.Token] = index
		t.lapse(e, a)
	case engine.LeaseLost:
		a.note("node %d learned %s that its lease was gone", e.Node, after)
	case engine.LeaseForgotten:
		a.note("the store lost the record of its lease")
	case engine.Extended:
		a.heartbeats++
	case engine.ExtendRefused:
		a.note("a heartbeat of node %d was refused", e.Node)
	case engine.Fenced:
		h.Fenced++
		whose := plain.Either(e.Token == a.Token, "its", "the reaper's")
		if h.Ended != none {
			a.note("%s commit %s was refused: the job had ended", whose, after)
		} else {
			a.note("%s commit %s was fenced: token %d, the lease had gone on", whose, after, e.Token)
		}
	case engine.GaveUp:
		a.note("node %d gave up telling the store", e.Node)
		a.become("dropped")
	}
}

func (t *jobTracer) finished(e *engine.Event, a *Attempt) {
	a.Ran = Span(e.Ran)
	if e.Error != engine.NoError {
		a.Error = t.s.errorName(e.Error)
		a.become("failed")
		return
	}
	a.become("succeeded")
	if a.Status == "lapsed" || a.until > 0 {
		a.note("it succeeded all the same")
	}
	if t.history.Successes++; t.history.Successes > 1 {
		a.note("a duplicate: the job's %s success", ordinal(t.history.Successes))
	}
}

// lapse records that the lease of an attempt expired, and the reason: its node was down, frozen or alive.
func (t *jobTracer) lapse(e *engine.Event, a *Attempt) {
	holder := e.Holder.Node()
	node, own := t.nodes[holder], holder == a.Node && !a.taken
	how := "was alive"
	switch dead := node.deaths > e.Holder.Generation(); {
	case dead && node.down:
		how = "was down"
	case dead:
		how = "had died and started again"
	case node.frozen:
		how = "was frozen"
	case own && !a.Began():
		how = "was alive, and had not begun it"
	case own && !a.Ended():
		how = "was alive and running it: a false alarm"
	}
	what := plain.Either(a.taken, "that of the reaper", "its lease")
	a.note("%s expired, node %d took it; node %d %s", what, e.Node, holder, how)
	a.taken = true
	a.become("lapsed")
}

// statusAfter maps each kind of event of a commit, such as Nacked, to the status that it gives to the attempt: retried.
var statusAfter = map[engine.EventKind]string{engine.Acked: "done", engine.Buried: "dead", engine.Nacked: "retried",
	engine.Returned: "handed-back"}

// settle records in the history what a commit (ack, retry and so on) did, as the status of the attempt.
func (t *jobTracer) settle(e *engine.Event, a *Attempt) {
	if world.Shed(e) {
		return
	}
	did, status := "moved", statusAfter[e.Kind]
	if e.Kind == engine.Acked || e.Kind == engine.Buried {
		did = "ended"
	} else if a.Status == "lapsed" {
		status = a.Status
	}
	if a.Error == "" && e.Error != engine.NoError {
		a.Error = t.s.errorName(e.Error)
	}
	if e.From == engine.Ready || e.From == engine.Waiting {
		a.note("its commit %s a job that was %s again", did, e.From)
	}
	a.Status, a.until = status, time.Duration(e.At)
}

// finish completes the history of a job at the end of the run: the storms, heartbeats and remarks of each attempt.
func (t *jobTracer) finish() {
	if t.history.State == "waiting" && t.s.seen.Engine.Waiting.Value() && t.due <= engine.Time(t.s.End()) {
		t.history.State = "ready" // no event tells when a held job that nobody claims is due
	}
	for i := range t.history.Attempts {
		a := &t.history.Attempts[i]
		end := plain.Either(a.until > 0, max(a.until, time.Duration(a.Leased)), t.s.End())
		a.Storms = t.s.Storms(time.Duration(a.Leased), end)
		if a.heartbeats > 0 {
			a.note("%s prolonged its lease", plain.Plural(a.heartbeats, "heartbeat"))
		}
		if a.Status == "claimed" && !a.Began() && t.nodes[a.Node].deaths == a.deaths {
			a.note("node %d never began it", a.Node)
		}
	}
}

func ordinal(n int) string {
	if n >= 1 && n <= 3 {
		return []string{"first", "second", "third"}[n-1]
	}
	return fmt.Sprintf("%dth", n)
}
