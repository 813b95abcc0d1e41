package engine

import "time"

// EventKind is the kind of a recorded event in the life of a job, a node or the store. The first group are the effects
// of calls, recorded by the driver where they happen; the second are an engine's own actions and perceptions; the third
// are events of machines, the fourth actions on the store from outside. Duplicate processing shows as a difference
// between the first two.
type EventKind uint8

const (
	Enqueued      EventKind = iota + 1 // a job was added; it is ready, or waits for Delay
	Promoted                           // a waiting job became ready, as Class
	Leased                             // claimed by an engine, which may never receive the answer
	Acked                              // committed as done
	Nacked                             // committed as failed: waiting for Delay (ready at once if 0 and nothing promotes)
	Buried                             // dead: moved to the dead-letter set
	Returned                           // ready again at once: not run, or its lease expired
	Fenced                             // a commit came too late: the lease had passed to another, or the job had ended
	LeaseTaken                         // an expired lease was taken by a reaper, which commits an outcome of the job
	Extended                           // a lease was prolonged
	ExtendRefused                      // a lease was not prolonged: another engine has it, or the job has ended
	Called                             // a call was executed at the store: Op, Count rows; recorded before its effects

	Started      // the handler began
	Finished     // the handler returned after Ran, with Error
	TimedOut     // the handler ran longer than its execution timeout
	LeaseLost    // the engine learned of the loss of its lease
	CallTimedOut // a call (Op) went unanswered for too long
	GaveUp       // the committer dropped an outcome after its tries
	RefusedLate  // a claim's answer came after it counted as lost: Count jobs were refused

	NodeUp    // a process started
	NodeDown  // a process died with all its jobs
	NodePause // a process froze
	NodeWake  // a frozen process went on
	Aborted   // an execution died with its process, after Ran

	Redriven       // a dead job was made ready again, as Class
	LeaseForgotten // the store lost the record of a lease: the job stays in flight
	NumEventKinds
)

var eventKindNames = [NumEventKinds]string{"?",
	"enqueued", "promoted", "leased", "acked", "nacked", "buried", "returned", "fenced", "lease-taken", "extended",
	"extend-refused", "called",
	"started", "finished", "timed-out", "lease-lost", "call-timed-out", "gave-up", "refused-late",
	"node-up", "node-down", "node-pause", "node-wake", "aborted",
	"redriven", "lease-forgotten"}

// String returns the event kind's name in the spelling of traces.
func (k EventKind) String() string { return eventKindNames[k] }

// Event is one recorded fact about a job, an engine, a node or the store. It holds no pointers. Fields that its kind
// does not use are zero.
type Event struct {
	At   Time
	Kind EventKind
	// Class is fresh or retry, of Enqueued, Promoted, Leased, Started, Finished...; of Acked, Nacked, Buried from Ready or
	// Waiting its class there.
	Class    Class
	From     State // Acked, Nacked, Buried, Returned: the former state
	Op       Op    // Called, CallTimedOut: the operation
	Error    ErrorKind
	JobKind  Kind
	Tenant   TenantID
	Delivery int32 // number of the claim, from 1
	Node     int32 // node of the engine concerned; -1: none
	Slot     Slot  // Started, Finished, TimedOut, Aborted: the worker slot of the engine
	Count    int32 // Called: number of rows; RefusedLate: number of jobs
	Reaped   bool  // Buried: by the rules of the reaper, not by the retry policy
	Aged     bool  // Buried: as too old for another attempt, see KindConfig.Deadline
	Freed    bool  // TimedOut: its worker is free for the next job
	WaitsOut bool  // TimedOut: its attempt has not failed, see KindConfig.WaitOut
	Job      JobID
	Token    Token
	Holder   EngineID      // LeaseTaken: the former holder
	Waited   time.Duration // Leased: ready to leased; Started: ready to started, as the engine's clock saw it
	// Age is the time since the job was enqueued, by the store's clock: of Leased, LeaseTaken and outcomes (Acked...).
	Age   time.Duration
	Delay time.Duration // Enqueued, Nacked: time until the job is ready
	Ran   time.Duration // Finished, TimedOut, Aborted: run time
}

// Recorder receives events in order, from one goroutine. It must not block, and must copy what it keeps of an Event.
type Recorder interface{ Record(e *Event) }

// Record reports to a recorder what a store call, just executed, did to each job. scratch is memory for the events.
func (c *Call) Record(at Time, rec JobRecorder, scratch *Event) {
	r := &c.Reply
	node := c.Engine.Node()
	rec.Called(at, node, c.Op, int32(r.Rows()))
	if r.Err != nil {
		return
	}
	switch c.Op {
	case OpClaim:
		for i := range r.Leases {
			if l := &r.Leases[i]; !l.Shed {
				rec.Leased(at, node, l)
			} else {
				scratch.fill(at, Buried, node, l)
				scratch.From = Ready
				rec.Record(scratch)
			}
		}
	case OpRecover:
		if c.Step > 0 {
			return // nothing has changed
		}
		for i := range r.Leases {
			scratch.fill(at, LeaseTaken, node, &r.Leases[i])
			rec.Record(scratch)
		}
	case OpCommit:
		c.recordOutcomes(at, r, rec, scratch)
	case OpExtend:
		for i, status := range r.Extensions { // none of a node
			k := &c.Keys[i]
			*scratch = Event{At: at, Kind: Extended, Node: node, Job: k.Job, Token: k.Token}
			switch status {
			case Unapplied:
				continue // nothing has changed
			case Stale:
				scratch.Kind = ExtendRefused
			}
			rec.Record(scratch)
		}
	case OpPromote:
		if c.Step == 1 {
			return // they are Waiting still
		}
		for i := range r.Promoted {
			rec.Promoted(at, node, &r.Promoted[i])
		}
	}
}

// fill sets the fields of an event about a job that a claim or a recovery has returned, from its lease.
func (e *Event) fill(at Time, kind EventKind, node int32, l *Lease) {
	// Fields are set one by one: a composite literal would be built elsewhere and
	// copied.
	*e = Event{}
	e.At, e.Kind, e.Node, e.Class, e.Delivery = at, kind, node, l.Class(), l.Delivery
	e.JobKind, e.Tenant, e.Job, e.Token, e.Holder = l.Kind, l.Tenant, l.ID, l.Token, l.Holder
	e.Waited, e.Age = max(0, l.Waited), l.Age
}

var verbEvents = [...]EventKind{Ack: Acked, Nack: Nacked, Bury: Buried, Return: Returned, Redo: Returned,
	Snooze: Nacked}

func (c *Call) recordOutcomes(at Time, r *Reply, rec JobRecorder, scratch *Event) {
	node, outcomes := c.Engine.Node(), c.Batch.Outcomes
	results := r.Results[:len(outcomes)]
	for i := range outcomes {
		o, result := &outcomes[i], &results[i]
		switch {
		case result.Status == Applied && o.Guard == FenceDefault:
			rec.Committed(at, node, verbEvents[o.Verb], o, result)
		case result.Status == Applied:
			// It takes the lease, if there is one, and ends it in one.
			if result.From == InFlight {
				c.recordTaken(at, o, result, rec, scratch)
			}
			scratch.judge(at, verbEvents[o.Verb], node, o, result)
			scratch.Token = result.Token
			rec.Record(scratch)
		case result.Status == Stale:
			scratch.judge(at, Fenced, node, o, result)
			rec.Record(scratch)
		}
	}
}

// judge fills in an event about a committed outcome, from the outcome and the store's answer to it.
func (e *Event) judge(at Time, kind EventKind, node int32, o *Outcome, r *Result) {
	*e = Event{}
	e.At, e.Kind, e.Node, e.Class, e.From = at, kind, node, r.Class, r.From
	e.Error, e.JobKind, e.Tenant, e.Delivery = o.Error, o.Kind, o.Tenant, o.Delivery
	e.Reaped, e.Aged = o.Reaped && kind == Buried, o.Aged && kind == Buried
	e.Job, e.Token, e.Age, e.Delay = o.Job, o.Token, r.Age, o.Delay
}

func (c *Call) recordTaken(at Time, o *Outcome, r *Result, rec JobRecorder, scratch *Event) {
	*scratch = Event{At: at, Kind: LeaseTaken, Node: c.Engine.Node(), JobKind: o.Kind, Tenant: o.Tenant,
		Delivery: r.Delivery, Job: o.Job, Token: r.Token, Holder: r.Holder, Age: r.Age}
	if r.Delivery > 1 {
		scratch.Class = Retry
	}
	rec.Record(scratch)
}
