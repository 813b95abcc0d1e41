package engine

import (
	"math/bits"
	"time"
)

// EventKind is a point in a job's life. The first group is the truth, recorded by
// the driver where a call takes effect; the second is what an engine perceives;
// the third is what happens to the machines, the fourth what is done to the store
// from outside. Duplicate processing is the gap
// between the first two.
type EventKind uint8

const (
	Enqueued      EventKind = iota + 1 // a job was added; it is ready, or waits for Delay
	Promoted                           // a waiting job became ready, as Class
	Leased                             // claimed by an engine, which may never hear of it
	Acked                              // done
	Nacked                             // failed: waiting for Delay (ready at once if 0 and nothing promotes)
	Buried                             // dead
	Returned                           // ready again at once: not run, or its lease expired
	Fenced                             // a commit came too late: the lease had passed to another, or the job had ended
	LeaseTaken                         // an expired lease was taken by a reaper, which commits what becomes of the job
	Extended                           // a lease was prolonged
	ExtendRefused                      // a lease was not prolonged: it is somebody else's, or the job has ended
	Called                             // a call was executed at the store: Op, Count rows; before what it did

	Started      // the handler began
	Finished     // the handler returned after Ran, with Error
	TimedOut     // the handler ran longer than its execution timeout
	LeaseLost    // the engine learned that its lease is gone
	CallTimedOut // a call (Op) went unanswered for too long
	GaveUp       // the committer dropped an outcome after its tries
	RefusedLate  // a claim's answer came after it counted as lost: Count jobs

	NodeUp    // a process started
	NodeDown  // a process died with all it held
	NodePause // a process froze
	NodeWake  // a frozen process went on
	Aborted   // an execution died with its process, after Ran

	Redriven       // a dead job was made ready again, as Class
	LeaseForgotten // the store lost the record of a lease: the job stays in flight
	NumEventKinds
)

var eventKindNames = [NumEventKinds]string{"?",
	"enqueued", "promoted", "leased", "acked", "nacked", "buried", "returned", "fenced", "lease-taken", "extended", "extend-refused", "called",
	"started", "finished", "timed-out", "lease-lost", "call-timed-out", "gave-up", "refused-late",
	"node-up", "node-down", "node-pause", "node-wake", "aborted",
	"redriven", "lease-forgotten"}

// String returns the event kind's name as traces spell it.
func (k EventKind) String() string { return eventKindNames[k] }

// Event is one recorded fact. It holds no pointers. Fields that a kind does not
// speak of are zero.
type Event struct {
	At       Time
	Kind     EventKind
	Class    Class // Enqueued, Promoted, Leased, Started, Finished...: fresh or retry; Acked, Nacked, Buried from Ready or Waiting: as which it stood there
	From     State // Acked, Nacked, Buried, Returned: what the job was before
	Op       Op    // Called, CallTimedOut
	Error    ErrorKind
	JobKind  Kind
	Tenant   TenantID
	Delivery int32
	Node     int32
	Slot     Slot  // Started, Finished, TimedOut, Aborted: the worker slot of the engine
	Count    int32 // Called: rows; RefusedLate: jobs
	Job      JobID
	Token    Token
	Holder   EngineID      // LeaseTaken: who let it expire
	Waited   time.Duration // Leased: ready to leased; Started: leased to started, by the engine's clock
	Age      time.Duration // since the job was enqueued, by the store's clock: Leased, Acked, Nacked, Buried, Returned, LeaseTaken
	Delay    time.Duration // Enqueued, Nacked
	Ran      time.Duration // Finished, Aborted
}

// Recorder observes events in order, from one goroutine. It must not block, and
// must copy what it keeps: e is reused.
type Recorder interface{ Record(e *Event) }

// Record reports to rec what c, just executed, did to each job. scratch is what the events
// are written in.
func (c *Call) Record(at Time, rec Recorder, scratch *Event) {
	r := &c.Reply
	node := c.Engine.Node()
	// Fields are set one by one: a composite literal would be built elsewhere and
	// copied.
	*scratch = Event{}
	scratch.At, scratch.Kind, scratch.Node, scratch.Op, scratch.Count = at, Called, node, c.Op, int32(r.Rows())
	rec.Record(scratch)
	if r.Err != nil {
		return
	}
	switch c.Op {
	case OpClaim, OpRecover:
		if c.Form == ReadOnly {
			return // nothing has changed
		}
		kind := Leased
		if c.Op == OpRecover {
			kind = LeaseTaken
		}
		for i := range r.Leases {
			l := &r.Leases[i]
			*scratch = Event{}
			scratch.At, scratch.Kind, scratch.Node, scratch.Class, scratch.Delivery = at, kind, node, l.Class(), l.Delivery
			scratch.JobKind, scratch.Tenant, scratch.Job, scratch.Token, scratch.Holder = l.Kind, l.Tenant, l.ID, l.Token, l.Holder
			scratch.Waited, scratch.Age = max(0, l.Waited), l.Age
			if l.Shed {
				scratch.Kind, scratch.From = Buried, Ready
			}
			rec.Record(scratch)
		}
	case OpCommit:
		c.recordOutcomes(at, r, rec, scratch)
	case OpExtend:
		for i := range r.Current { // none of OfNode
			k := &c.Keys[i]
			*scratch = Event{At: at, Kind: Extended, Node: node, Job: k.Job, Token: k.Token}
			if !r.Current[i] {
				scratch.Kind = ExtendRefused
			}
			rec.Record(scratch)
		}
	case OpPromote:
		if c.Form == TakeDue {
			return // they are Waiting still
		}
		for _, p := range r.Promoted {
			*scratch = Event{At: at, Kind: Promoted, Node: node, Class: p.Class, JobKind: p.Kind, Tenant: p.Tenant, Job: p.Job}
			rec.Record(scratch)
		}
	}
}

var verbEvents = [...]EventKind{Ack: Acked, Nack: Nacked, Bury: Buried, Return: Returned, Redo: Returned, Snooze: Nacked}

func (c *Call) recordOutcomes(at Time, r *Reply, rec Recorder, scratch *Event) {
	for i := range c.Batch.Outcomes {
		o, result := &c.Batch.Outcomes[i], &r.Results[i]
		kind := verbEvents[o.Verb]
		switch result.Status {
		case Applied:
		case Stale:
			kind = Fenced
		default:
			continue
		}
		token := o.Token
		if o.Guard != FenceDefault && kind != Fenced {
			// It takes the lease, if there is one, and ends it in one.
			token = result.Token
			if result.From == InFlight {
				c.recordTaken(at, o, result, rec, scratch)
			}
		}
		*scratch = Event{}
		scratch.At, scratch.Kind, scratch.Node, scratch.Class, scratch.From = at, kind, c.Engine.Node(), result.Class, result.From
		scratch.Error, scratch.JobKind, scratch.Tenant, scratch.Delivery = o.Error, o.Kind, o.Tenant, o.Delivery
		scratch.Job, scratch.Token, scratch.Age, scratch.Delay = o.Job, token, result.Age, o.Delay
		rec.Record(scratch)
	}
}

func (c *Call) recordTaken(at Time, o *Outcome, r *Result, rec Recorder, scratch *Event) {
	*scratch = Event{At: at, Kind: LeaseTaken, Node: c.Engine.Node(), JobKind: o.Kind, Tenant: o.Tenant, Delivery: r.Delivery,
		Job: o.Job, Token: r.Token, Holder: r.Holder, Age: r.Age}
	if r.Delivery > 1 {
		scratch.Class = Retry
	}
	rec.Record(scratch)
}

// Digest is a fingerprint of a sequence of events: equal sequences have equal
// digests on any processor. It ignores nothing that an Event holds.
type Digest uint64

// Add folds e into the digest: all fields, each turned by an amount of its own,
// into three words, and each word by a multiply-xorshift round. The constants are
// those of Steele's SplitMix64 and of the golden ratio.
func (d *Digest) Add(e *Event) {
	// Rotations, not shifts: of shifts the compiler makes one wide load, which must wait until the
	// narrow stores before it have left the store buffer.
	kinds := uint64(e.Kind) | bits.RotateLeft64(uint64(e.Class), 8) | bits.RotateLeft64(uint64(e.From), 16) | bits.RotateLeft64(uint64(e.Op), 24) |
		bits.RotateLeft64(uint64(e.Error), 32) | bits.RotateLeft64(uint64(e.JobKind), 48)
	who := uint64(uint32(e.Delivery)) | bits.RotateLeft64(uint64(uint32(e.Node)), 32)
	where := uint64(uint32(e.Slot)) | bits.RotateLeft64(uint64(uint32(e.Count)), 32)
	a := uint64(e.At) ^ bits.RotateLeft64(uint64(e.Waited), 23) ^ bits.RotateLeft64(uint64(e.Age), 47) ^ bits.RotateLeft64(uint64(e.Tenant), 13)
	b := uint64(e.Job) ^ bits.RotateLeft64(uint64(e.Delay), 19) ^ bits.RotateLeft64(uint64(e.Ran), 41) ^ bits.RotateLeft64(where, 53)
	c := kinds ^ bits.RotateLeft64(uint64(e.Token), 11) ^ bits.RotateLeft64(uint64(e.Holder), 29) ^ bits.RotateLeft64(who, 37)
	h := (uint64(*d)^a)*0xbf58476d1ce4e5b9 ^ b*0x94d049bb133111eb ^ c*0x9e3779b97f4a7c15
	*d = Digest(h ^ h>>31)
}
