package check_test

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/quantity"
	"qsim/engine/unfinished"
)

const second = engine.Time(time.Second)

// rules returns the rules for two nodes with two workers, leases of 10 s that a reaper takes one
// second later, and three attempts with delays of 1 to 2 s.
func rules() check.Rules {
	return check.Rules{
		Store: engine.StoreOptions{LapseAfter: -1}, Nodes: 2, Calm: engine.Never,
		Node: engine.Config{Workers: 2, Lease: engine.LeaseConfig{TTL: 10 * time.Second}, Reaper: engine.ReaperConfig{Every: time.Second, Grace: time.Second, Batch: 10},
			Commit: engine.CommitConfig{Tries: 3}},
		Retries: []check.Retry{{MaxAttempts: 3, Never: []engine.ErrorKind{engine.Conflict}, Free: []engine.ErrorKind{engine.Throttled}, FreeMax: 1,
			Delay: func(_, _ int32) (time.Duration, time.Duration) { return time.Second, 2 * time.Second }}},
	}
}

// story is a sequence of events. Each method appends the usual next event.
type story struct {
	events []engine.Event
	at     engine.Time
	token  engine.Token
}

func (s *story) add(e engine.Event) *story {
	e.At = s.at
	s.events = append(s.events, e)
	return s
}

func (s *story) after(d time.Duration) *story { s.at = s.at.Add(d); return s }

func (s *story) up() *story {
	return s.add(engine.Event{Kind: engine.NodeUp, Node: 0}).add(engine.Event{Kind: engine.NodeUp, Node: 1})
}

func (s *story) enqueue(job engine.JobID) *story {
	return s.add(engine.Event{Kind: engine.Enqueued, Job: job, Node: -1, Tenant: 1})
}

func class(delivery int32) engine.Class {
	if delivery > 1 {
		return engine.Retry
	}
	return engine.Fresh
}

func (s *story) lease(job engine.JobID, node int32, delivery int32, waited, age time.Duration) *story {
	s.token++
	return s.add(engine.Event{Kind: engine.Leased, Job: job, Node: node, Delivery: delivery, Class: class(delivery), Token: s.token, Waited: waited, Age: age, Tenant: 1})
}

func (s *story) take(job engine.JobID, delivery int32) *story {
	s.token++
	return s.add(engine.Event{Kind: engine.LeaseTaken, Job: job, Node: 1, Delivery: delivery, Class: class(delivery), Token: s.token})
}

func (s *story) start(job engine.JobID, node int32, slot engine.Slot, delivery int32) *story {
	return s.add(engine.Event{Kind: engine.Started, Job: job, Node: node, Slot: slot, Delivery: delivery, Class: class(delivery), Token: s.token})
}

func (s *story) finish(job engine.JobID, node int32, slot engine.Slot, delivery int32, err engine.ErrorKind) *story {
	return s.add(engine.Event{Kind: engine.Finished, Job: job, Node: node, Slot: slot, Delivery: delivery, Class: class(delivery), Error: err, Token: s.token})
}

func (s *story) commit(kind engine.EventKind, job engine.JobID, delivery int32, err engine.ErrorKind, delay time.Duration) *story {
	return s.add(engine.Event{Kind: kind, Job: job, Node: 0, Delivery: delivery, Error: err, Delay: delay, From: engine.InFlight, Token: s.token})
}

func (s *story) promoted(job engine.JobID) *story {
	return s.add(engine.Event{Kind: engine.Promoted, Job: job, Node: -1, Class: engine.Retry})
}

// later begins when no call is late any more.
func later() *story { return (&story{}).after(time.Second).up().enqueue(1) }

func (s *story) enqueueAs(job engine.JobID, kind engine.Kind) *story {
	return s.add(engine.Event{Kind: engine.Enqueued, Job: job, Node: -1, Tenant: 1, JobKind: kind})
}

func (s *story) claim(node int32) *story {
	return s.add(engine.Event{Kind: engine.Called, Op: engine.OpClaim, Node: node})
}

// lost is the event of a process that counts its lease of job 1 as lost.
var lost = engine.Event{Kind: engine.LeaseLost, Job: 1, Delivery: 1, Token: 1}

// commits appends four calls to commit outcomes, without any.
func (s *story) commits() *story {
	commit := engine.Event{Kind: engine.Called, Op: engine.OpCommit}
	return s.add(commit).add(commit).add(commit).add(commit)
}

func (s *story) reap() *story { return s.add(engine.Event{Kind: engine.Called, Op: engine.OpRecover}) }

// conserving are rules of a policy that leaves no worker idle, where no call is late.
func conserving(r *check.Rules) {
	r.Conserving, r.Calm, r.Heard, r.Trip, r.Node.Fetch.Batch = true, 0, 1, time.Second, 10
}

// idleBesides tells of job 1, which waits for a minute in which the last of the others, up to that one, begins: each of
// those before it has had a lease that a reaper took.
func idleBesides(others engine.JobID) *story {
	s := begun()
	for job := engine.JobID(2); job < others; job++ {
		s.enqueue(job).lease(job, 0, 1, 0, 0).after(11*time.Second).take(job, 1).commit(engine.Returned, job, 1, engine.LeaseExpired, 0)
	}
	waited := time.Duration(s.at)
	return s.enqueue(others).lease(others, 0, 1, 0, 0).start(others, 0, 0, 1).after(time.Minute-waited).lease(1, 0, 1, time.Minute, time.Minute)
}

// awaiting sets the rules for claims that stop with so many outcomes pending, which may then await commits.
func awaiting(backpressure int) func(r *check.Rules) {
	return func(r *check.Rules) {
		conserving(r)
		r.Idle, r.Between, r.Awaits = 40*time.Second, time.Second, 80*time.Second
		r.Node.Commit.Backpressure, r.Node.Commit.Batch, r.Node.Commit.Calls = backpressure, 2, 1
		r.Only = check.Set(0).With(check.Starvation)
	}
}

// beating sets the rules for leases with a heartbeat every two seconds.
func beating(r *check.Rules) {
	r.Heard, r.Trip, r.Node.Lease.Heartbeat = 1, time.Second, 2*time.Second
}

func begun() *story { return (&story{}).up().enqueue(1) }

func running() *story { return begun().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1) }

func succeeded() *story { return running().after(time.Second).finish(1, 0, 0, 1, engine.NoError) }

// restart ends a process and begins its next life.
func (s *story) restart(node int32) *story {
	return s.add(engine.Event{Kind: engine.NodeDown, Node: node}).add(engine.Event{Kind: engine.NodeUp, Node: node})
}

// lapsing sets the rules for leases that lapse one second after they end.
func lapsing(r *check.Rules) { r.Store.LapseAfter = time.Second }

// aged is the event of job 1 that is buried because it is too old for another attempt.
var aged = engine.Event{Kind: engine.Buried, Job: 1, Delivery: 1, Token: 1, Error: engine.Timeout, From: engine.InFlight, Aged: true}

// dropping sets the rules for a reaper that reads leases before it takes them, and for outcomes given up after some tries.
func dropping(r *check.Rules) {
	r.Heard, r.Trip, r.Node.Reaper.Guard, r.Node.Commit.Drop = 1, time.Second, engine.FenceToken, true
}

// fromClaim returns a function that sets the rules for delays of up to 4 s that run from the claim, with a deadline.
func fromClaim(deadline time.Duration) func(r *check.Rules) {
	return func(r *check.Rules) {
		r.Node.Kinds = []engine.KindConfig{{Deadline: deadline, From: engine.Leased}}
		r.Retries[0].Delay = func(_, _ int32) (shortest, longest time.Duration) { return 0, 4 * time.Second }
	}
}

// readAndGivenUp is the event of a reaper that gives up the outcome of job 1, whose lease it read under the first token.
var readAndGivenUp = engine.Event{Kind: engine.GaveUp, Job: 1, Node: 1, Delivery: 1, Token: 1, Error: engine.LeaseExpired}

// recovered is the story of a job whose lease, of the second life of node 0, node 1 takes.
func recovered() *story {
	return (&story{}).up().restart(0).enqueue(1).lease(1, 0, 1, 0, 0).after(11*time.Second).take(1, 1)
}

// expired is the story of a job that node 1 has recovered, and that is retried.
func expired() *story {
	return recovered().
		add(engine.Event{Kind: engine.Nacked, Job: 1, Node: 1, Delivery: 1, Error: engine.LeaseExpired, Delay: time.Second, From: engine.InFlight, Token: 2})
}

// overruled is the story of job 1, which a reaper makes wait until 12 s and its former holder, without a fence, until
// 12.5 s. Job 2 comes at 12 s.
func overruled() *story {
	s := running().after(11*time.Second).take(1, 1).
		add(engine.Event{Kind: engine.Nacked, Job: 1, Node: 1, Delivery: 1, Error: engine.LeaseExpired, Delay: time.Second, From: engine.InFlight, Token: 2})
	late := engine.Event{Kind: engine.Finished, Job: 1, Delivery: 1, Error: engine.Timeout, Token: 1}
	s.after(time.Second / 2).add(late)
	late.Kind, late.Delay, late.From = engine.Nacked, time.Second, engine.Waiting
	return s.add(late).after(time.Second / 2).enqueue(2).after(time.Second / 2).promoted(1).after(1500 * time.Millisecond)
}

// readAndBuried is the event of a reaper that has read the first lease of job 1, and buries the job since it is ready.
var readAndBuried = engine.Event{Kind: engine.Buried, Job: 1, Delivery: 1, Token: 2, Error: engine.LeaseExpired, From: engine.Ready}

// buriedAt returns a function that sets the rules for reapers that read leases first and bury at so many recoveries,
// without any fence.
func buriedAt(recoveries int32) func(r *check.Rules) {
	return func(r *check.Rules) {
		r.Store.Fence, r.Node.Reaper.Guard, r.Node.Reaper.BuryAt = engine.FenceNone, engine.FenceNone, recoveries
	}
}

func failed() *story { return running().after(time.Second).finish(1, 0, 0, 1, engine.Timeout) }

// attempt claims job 1 as soon as it is ready, and runs it in no time.
func (s *story) attempt(delivery int32, err engine.ErrorKind) *story {
	return s.lease(1, 0, delivery, 0, s.at.Sub(0)).start(1, 0, 0, delivery).finish(1, 0, 0, delivery, err)
}

func (s *story) failAgain(delivery int32, err engine.ErrorKind) *story {
	return s.attempt(delivery, err).commit(engine.Nacked, 1, delivery, err, time.Second).after(time.Second).promoted(1)
}

// overslept is the story of a job whose first holder begins it when it has been claimed 64 times more, and the last
// holder after that.
func overslept() *story {
	s := begun().lease(1, 0, 1, 0, 0).after(11*time.Second).take(1, 1).
		commit(engine.Nacked, 1, 1, engine.LeaseExpired, time.Second).after(time.Second).promoted(1)
	for delivery := int32(2); delivery <= 64; delivery++ {
		s.failAgain(delivery, engine.Timeout)
	}
	s.lease(1, 0, 65, 0, s.at.Sub(0))
	return s.add(engine.Event{Kind: engine.Started, Job: 1, Slot: 1, Delivery: 1, Token: 1}).start(1, 0, 0, 65)
}

// TestBreaches plays sequences of events with one breach each, and some without any.
func TestBreaches(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story *story
		rules func(r *check.Rules)
		want  string // the invariant; "": none breaks
	}{
		{"a job's life", succeeded().commit(engine.Acked, 1, 1, engine.NoError, 0), nil, ""},
		{"it fails, waits, succeeds", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Second).promoted(1).attempt(2, engine.NoError).commit(engine.Acked, 1, 2, engine.NoError, 0), nil, ""},
		{"a lease ends and is taken", running().after(11*time.Second).take(1, 1).commit(engine.Nacked, 1, 1, engine.LeaseExpired, time.Second), nil, ""},

		{"nobody enqueued it", (&story{}).up().lease(1, 0, 1, 0, 0), nil, "I-2"},
		{"enqueued twice", begun().enqueue(1), nil, "I-2"},
		{"promoted while ready", begun().promoted(1), nil, "I-2"},
		{"claimed after its end", succeeded().commit(engine.Acked, 1, 1, engine.NoError, 0).lease(1, 0, 2, 0, 0), nil, "I-3"},
		{"acked twice", succeeded().commit(engine.Acked, 1, 1, engine.NoError, 0).commit(engine.Acked, 1, 1, engine.NoError, 0), nil, "I-3"},
		{"done, and redriven", succeeded().commit(engine.Acked, 1, 1, engine.NoError, 0).add(engine.Event{Kind: engine.Redriven, Job: 1}), nil, "I-3"},
		{"dead, and claimed", failed().commit(engine.Buried, 1, 1, engine.Conflict, 0).lease(1, 0, 2, 0, time.Second), nil, "I-3"},
		{"a fourth attempt of three", begun().failAgain(1, engine.Timeout).failAgain(2, engine.Timeout).failAgain(3, engine.Timeout).attempt(4, engine.NoError), nil, "I-4"},
		{"a fourth attempt, one of which was free", begun().failAgain(1, engine.Throttled).failAgain(2, engine.Timeout).failAgain(3, engine.Timeout).attempt(4, engine.NoError), nil, ""},
		{"a fifth attempt, two of which would be free", begun().failAgain(1, engine.Throttled).failAgain(2, engine.Throttled).failAgain(3, engine.Timeout).failAgain(4, engine.Timeout).attempt(5, engine.NoError), nil, "I-4"},
		{"buried at its first attempt", failed().commit(engine.Buried, 1, 1, engine.Timeout, 0), nil, "I-4"},
		{"buried for good reason", begun().attempt(1, engine.Conflict).commit(engine.Buried, 1, 1, engine.Conflict, 0), nil, ""},
		{"tried again against good reason", begun().attempt(1, engine.Conflict).commit(engine.Nacked, 1, 1, engine.Conflict, time.Second), nil, "I-4"},
		{"begun when it was claimed 64 times more", overslept(), func(r *check.Rules) { r.Retries = nil }, ""},
		{"a delivery is left out", begun().failAgain(1, engine.Timeout).attempt(3, engine.NoError), nil, "I-5"},
		{"a delivery is started twice", running().start(1, 0, 1, 1), nil, "I-5"},
		{"claimed while in flight", running().lease(1, 1, 2, 0, 0), nil, "I-6"},
		{"a delivery of another number has another wait", begun().after(time.Second).lease(1, 1, 2, 0, time.Second),
			func(r *check.Rules) { r.Only = check.Set(0).With(check.Recount) }, "I-15"},
		{"taken before its end", running().after(10*time.Second).take(1, 1), nil, "I-6"},
		{"taken although it was extended", running().after(5*time.Second).add(engine.Event{Kind: engine.Extended, Job: 1, Token: 1}).after(6*time.Second).take(1, 1), nil, "I-6"},
		{"redriven while it runs", running().add(engine.Event{Kind: engine.Redriven, Job: 1}), nil, "I-3"},
		{"claimed under a token that stays", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Second).promoted(1).
			add(engine.Event{Kind: engine.Leased, Job: 1, Node: 1, Delivery: 2, Class: engine.Retry, Token: 1, Age: 2 * time.Second}), nil, "I-6"},
		{"claimed as another class", begun().add(engine.Event{Kind: engine.Leased, Job: 1, Node: 1, Delivery: 1, Class: engine.Retry, Token: 1}), nil, "I-1"},
		{"a token that stays", running().after(11 * time.Second).add(engine.Event{Kind: engine.LeaseTaken, Job: 1, Node: 1, Delivery: 1, Token: 1}), nil, "I-6"},
		{"committed by whose lease was taken", succeeded().after(11*time.Second).take(1, 1).add(engine.Event{Kind: engine.Acked, Job: 1, Delivery: 1, Token: 1, From: engine.InFlight, At: 12 * second}), nil, "I-7"},
		{"a current commit is refused", succeeded().commit(engine.Fenced, 1, 1, engine.NoError, 0), nil, "I-7"},
		{"a lease of another is extended", running().after(11*time.Second).take(1, 1).add(engine.Event{Kind: engine.Extended, Job: 1, Token: 1}), nil, "I-7"},
		{"a current lease is not extended", running().add(engine.Event{Kind: engine.ExtendRefused, Job: 1, Token: 1}), nil, "I-7"},
		{"a commit after the lease lapsed", succeeded().after(11*time.Second).commit(engine.Acked, 1, 1, engine.NoError, 0), lapsing, "I-7"},
		{"claimed before it is due", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).lease(1, 0, 2, 0, 0), nil, "I-8"},
		{"promoted before it is due", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).promoted(1), nil, "I-8"},
		{"over the limit of what is in flight", running().enqueue(2).lease(2, 0, 1, 0, time.Second), func(r *check.Rules) { r.Store.MaxInFlight = 1 }, "I-15"},
		{"over the limit of its class", (&story{}).up().enqueue(1).enqueue(2).lease(1, 0, 1, 0, 0).lease(2, 0, 1, 0, 0), func(r *check.Rules) { r.Store.MaxRunning = []int{1} }, "I-8"},
		{"before the one of its serial key", (&story{}).up().enqueue(1).enqueue(2).lease(2, 0, 1, 0, 0), func(r *check.Rules) { r.Serial = func(engine.JobID) uint32 { return 7 } }, "I-8"},
		{"too short a delay", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second-1), nil, "I-9"},
		{"too long a delay", failed().commit(engine.Nacked, 1, 1, engine.Timeout, 2*time.Second+1), nil, "I-9"},
		{"acked without success", failed().commit(engine.Acked, 1, 1, engine.NoError, 0), nil, "I-10"},
		{"nacked without failure", succeeded().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second), nil, "I-10"},
		{"expired, and nobody took it", failed().commit(engine.Nacked, 1, 1, engine.LeaseExpired, time.Second), nil, "I-10"},
		{"ends without having begun", begun().lease(1, 0, 1, 0, 0).finish(1, 0, 0, 1, engine.NoError), nil, "I-10"},
		{"three run on two workers", (&story{}).up().enqueue(1).enqueue(2).enqueue(3).lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1).lease(3, 0, 1, 0, 0).start(3, 0, 2, 1), nil, "I-10"},
		{"goes on without its process", running().add(engine.Event{Kind: engine.NodeDown}), nil, "I-10"},
		{"two retries where one may run", begun().failAgain(1, engine.Timeout).lease(1, 0, 2, 0, time.Second).start(1, 0, 0, 2), func(r *check.Rules) { r.Capped = true }, "I-11"},
		{"a wait that was none", begun().lease(1, 0, 1, time.Second, 0), nil, "I-15"},
		{"an outcome that comes again", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).add(engine.Event{Kind: engine.Fenced, Job: 1, Token: 1, Error: engine.Timeout}), nil, "I-16"},
		{"an outcome of a reaper that comes again", expired().add(engine.Event{Kind: engine.Fenced, Job: 1, Node: 1, Token: 2, Error: engine.LeaseExpired}), nil, "I-16"},
		{"an outcome that comes again, beside a lapsed lease of another", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Second).promoted(1).lease(1, 1, 2, 0, 2*time.Second).after(12 * time.Second).add(engine.Event{Kind: engine.Fenced, Job: 1, Token: 1, Error: engine.Timeout}), lapsing, "I-16"},
		{"an outcome of an earlier life that comes again, beside a lapsed lease", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).restart(0).after(time.Second).promoted(1).lease(1, 0, 2, 0, 2*time.Second).after(12 * time.Second).add(engine.Event{Kind: engine.Fenced, Job: 1, Token: 1, Error: engine.Timeout}), lapsing, ""},
		{"an outcome of an earlier life of a reaper that comes again, beside a lapsed lease", expired().restart(1).after(time.Second).promoted(1).lease(1, 1, 2, 0, 12*time.Second).after(12 * time.Second).add(engine.Event{Kind: engine.Fenced, Job: 1, Node: 1, Token: 2, Error: engine.LeaseExpired}), lapsing, ""},
		{"given up early", succeeded().commit(engine.GaveUp, 1, 1, engine.NoError, 0), nil, "I-16"},
		{"time goes back", begun().after(-time.Second).enqueue(2), nil, "I-17"},
		{"idle beside a ready job", begun().after(time.Minute).enqueue(2), func(r *check.Rules) { r.Calm, r.Idle = 0, 10*time.Second }, "I-12"},
		{"nobody takes an expired lease", running().after(time.Minute).enqueue(2), func(r *check.Rules) { r.Calm, r.Recover = 0, 10*time.Second }, "I-13"},
		{"idle beside a ready job, between other events", begun().after(6 * time.Second).enqueue(2).after(5 * time.Second).enqueue(3), func(r *check.Rules) { r.Calm, r.Idle = 0, 10*time.Second }, "I-12"},
		{"idle once more, after all were claimed", begun().after(8*time.Second).lease(1, 0, 1, 8*time.Second, 8*time.Second).after(time.Second).enqueue(2).after(9 * time.Second).enqueue(3).after(2 * time.Second).enqueue(4), func(r *check.Rules) { r.Calm, r.Idle = 0, 10*time.Second }, "I-12"},
		{"claimed before it is idle for long", begun().after(6*time.Second).enqueue(2).after(3*time.Second).lease(1, 0, 1, 9*time.Second, 9*time.Second).lease(2, 1, 1, 3*time.Second, 3*time.Second).after(9 * time.Second).enqueue(3), func(r *check.Rules) { r.Calm, r.Idle = 0, 10*time.Second }, ""},
		{"idle where each process claims soon", (&story{}).up().after(20 * time.Second).enqueue(1).after(time.Second).enqueue(2).after(2 * time.Second).enqueue(3), func(r *check.Rules) {
			r.Calm, r.Idle, r.Soon.Claim, r.Soon.AllClaim = 0, 10*time.Second, 2*time.Second, true
		}, "I-12"},
		{"nobody takes an expired lease, between other events", running().after(15 * time.Second).enqueue(2).after(6 * time.Second).enqueue(3), func(r *check.Rules) { r.Calm, r.Recover = 0, 10*time.Second }, "I-13"},
		{"it is taken in time, between other events", running().after(15*time.Second).enqueue(2).after(4*time.Second).take(1, 1).after(10 * time.Second).enqueue(3), func(r *check.Rules) { r.Calm, r.Recover = 0, 10*time.Second }, ""},
		{"nobody takes an expired lease of a job that came later", later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).after(24 * time.Second).enqueue(2), func(r *check.Rules) { r.Calm, r.Recover = 0, 10*time.Second }, "I-13"},
		{"nobody takes a lease without a record", running().add(engine.Event{Kind: engine.LeaseForgotten, Job: 1, Node: -1, Delivery: 1, Token: 1}).after(time.Minute).enqueue(2),
			func(r *check.Rules) { r.Calm, r.Recover = 0, 10*time.Second }, ""},
		{"nobody takes an expired lease where some are lost", running().after(time.Minute).enqueue(2), func(r *check.Rules) { r.Calm, r.Recover, r.LostInFlight = 0, 10*time.Second, true }, ""},
		{"nobody takes it soon", running().after(9 * time.Second).enqueue(2).after(3 * time.Second).enqueue(3), func(r *check.Rules) { r.Calm, r.Recover, r.Soon.Recover = 0, 10*time.Second, time.Second }, "I-13"},
		{"a claim leaves a job that there is room for", begun().enqueue(2).after(2*time.Second).claim(0).lease(1, 0, 1, 2*time.Second, 2*time.Second).claim(1), conserving, "I-12"},
		{"a claim leaves what is beyond its batch", begun().enqueue(2).after(2*time.Second).claim(0).lease(1, 0, 1, 2*time.Second, 2*time.Second).claim(1), func(r *check.Rules) { conserving(r); r.Node.Fetch.Batch = 1 }, ""},
		{"a claim leaves what its busy node has no room for", later().enqueue(2).enqueue(3).claim(0).lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).claim(0).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1).after(2 * time.Second).claim(0).claim(1), conserving, ""},
		{"a claim soon after one that was lost", begun().enqueue(2).after(2*time.Second).add(engine.Event{Kind: engine.CallTimedOut, Op: engine.OpClaim}).claim(0).lease(1, 0, 1, 2*time.Second, 2*time.Second).claim(1), conserving, ""},
		{"more jobs than a batch", begun().enqueue(2).enqueue(3).add(engine.Event{Kind: engine.Called, Op: engine.OpClaim, Count: 3}), func(r *check.Rules) { r.Node.Fetch.Batch = 2 }, "I-11"},
		{"a claim with too much to commit", succeeded().claim(0).claim(0), func(r *check.Rules) { conserving(r); r.Node.Commit.Backpressure = 1 }, "I-11"},
		{"a claim when all is committed", succeeded().claim(0).commit(engine.Acked, 1, 1, engine.NoError, 0).claim(0), func(r *check.Rules) { conserving(r); r.Node.Commit.Backpressure = 1 }, ""},
		{"commits with too much to commit", succeeded().claim(0).commits(), func(r *check.Rules) { conserving(r); r.Node.Commit.Backpressure = 1 }, ""},
		{"commits without a pause", later().commits(), func(r *check.Rules) { conserving(r); r.Node.Fetch.Cooldown = time.Second }, ""},
		{"commits again and again", later().commits().commits(), func(r *check.Rules) { conserving(r); r.Node.Reaper.Every = time.Second }, ""},
		{"claims without a pause", later().claim(0).claim(0).claim(0).claim(0), func(r *check.Rules) { conserving(r); r.Node.Fetch.Cooldown = time.Second }, "I-11"},
		{"it looks for leases again and again", later().reap().reap().reap().reap().reap().reap().reap(), func(r *check.Rules) { conserving(r); r.Node.Reaper.Every = time.Second }, "I-11"},
		{"no heartbeat", running().after(5*time.Second).finish(1, 0, 0, 1, engine.NoError), beating, "I-6"},
		{"a heartbeat in between", running().after(2*time.Second).add(engine.Event{Kind: engine.Extended, Job: 1, Token: 1}).after(3*time.Second).finish(1, 0, 0, 1, engine.NoError), beating, ""},
		{"a heartbeat of its node in between", running().after(2*time.Second).add(engine.Event{Kind: engine.Called, Op: engine.OpExtend}).after(3*time.Second).finish(1, 0, 0, 1, engine.NoError), func(r *check.Rules) { beating(r); r.Node.Lease.OfNode = true }, ""},
		{"no heartbeat of a frozen process", running().add(engine.Event{Kind: engine.NodePause}).after(5*time.Second).add(engine.Event{Kind: engine.NodeWake}).finish(1, 0, 0, 1, engine.NoError), beating, ""},
		{"no heartbeat of a lost lease", running().add(engine.Event{Kind: engine.LeaseLost, Job: 1, Delivery: 1, Token: 1}).after(5*time.Second).finish(1, 0, 0, 1, engine.NoError), func(r *check.Rules) { beating(r); r.Node.Lease.Local = true }, ""},
		{"a lease is lost twice", running().add(lost).add(lost), func(r *check.Rules) { r.Store.LapseAfter = 0; r.Node.Lease.TTL = 0 }, "I-7"},
		{"one beside a lost one is lost", running().enqueue(2).add(lost).add(engine.Event{Kind: engine.LeaseLost, Job: 2, Delivery: 1, Token: 2}),
			func(r *check.Rules) { r.Store.LapseAfter = 0; r.Node.Lease.TTL = 0 }, ""},
		{"a current lease is given up", running().add(engine.Event{Kind: engine.LeaseLost, Job: 1, Delivery: 1, Token: 1}), nil, "I-7"},
		{"no heartbeat while it is held and does not run", begun().lease(1, 0, 1, 0, 0).after(6*time.Second).start(1, 0, 0, 1), beating, "I-6"},
		{"no heartbeat until it is committed", running().finish(1, 0, 0, 1, engine.NoError).after(11*time.Second).take(1, 1), beating, "I-6"},
		{"a heartbeat beyond the longest lease", running().after(9 * time.Second).add(engine.Event{Kind: engine.Extended, Job: 1, Token: 1}), func(r *check.Rules) { beating(r); r.Node.Lease.Max = 15 * time.Second }, "I-6"},
		{"an outcome that does not come", later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).finish(1, 0, 0, 1, engine.NoError).after(11*time.Second).take(1, 1), func(r *check.Rules) { conserving(r); r.Commits = 5 * time.Second }, "I-16"},
		{"an outcome that was given up", later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).finish(1, 0, 0, 1, engine.NoError).add(engine.Event{Kind: engine.GaveUp, Job: 1, Token: 1}).after(11*time.Second).take(1, 1), func(r *check.Rules) {
			conserving(r)
			r.Commits, r.Node.Commit.Drop = 5*time.Second, true
		}, ""},
		{"a reaper gives up what the holder has committed", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).add(readAndGivenUp), dropping, ""},
		{"a reaper gives up what it has committed", expired().add(readAndGivenUp), dropping, "I-16"},
		{"too old for another attempt", failed().add(aged), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: time.Second}} }, ""},
		{"too young to be too old, and no delay is so long", failed().add(aged), func(r *check.Rules) {
			r.Node.Kinds = []engine.KindConfig{{Deadline: 6 * time.Second}}
			r.Retries[0].Delay = func(_, _ int32) (shortest, longest time.Duration) { return 0, 4 * time.Second }
		}, "I-4"},
		{"too old after the longest delay", failed().add(aged), func(r *check.Rules) {
			r.Node.Kinds = []engine.KindConfig{{Deadline: 5 * time.Second}}
			r.Retries[0].Delay = func(_, _ int32) (shortest, longest time.Duration) { return 0, 4 * time.Second }
		}, ""},
		{"tried again at its deadline", failed().commit(engine.Nacked, 1, 1, engine.Timeout, 2*time.Second), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: 3 * time.Second}} }, "I-4"},
		{"tried again before its deadline", failed().commit(engine.Nacked, 1, 1, engine.Timeout, 2*time.Second), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: 3*time.Second + 1}} }, ""},
		{"tried again, rounded to its deadline", failed().commit(engine.Nacked, 1, 1, engine.Timeout, 2*time.Second), func(r *check.Rules) {
			r.Node.Kinds = []engine.KindConfig{{Deadline: 3 * time.Second, Grain: time.Second}}
		}, "I-4"},
		{"recovered, and tried again at its deadline", expired(), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: 12 * time.Second}} }, "I-4"},
		{"recovered, and tried again before its deadline", expired(), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: 12*time.Second + 1}} }, ""},
		{"recovered after it had ended, and tried again before its deadline", running().after(time.Second).finish(1, 0, 0, 1, engine.Timeout).restart(0).after(10*time.Second).take(1, 1).
			add(engine.Event{Kind: engine.Nacked, Job: 1, Node: 1, Delivery: 1, Error: engine.LeaseExpired, Delay: time.Second, From: engine.InFlight, Token: 2}), func(r *check.Rules) {
			r.Node.Kinds = []engine.KindConfig{{Deadline: 12*time.Second + 1}}
		}, ""},
		{"recovered at its deadline, and ready at once", recovered().commit(engine.Returned, 1, 1, engine.LeaseExpired, 0), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: 11 * time.Second}} }, "I-4"},
		{"recovered at its deadline, and handed back", recovered().commit(engine.Returned, 1, 1, engine.LeaseExpired, 0), func(r *check.Rules) {
			r.Node.Kinds, r.Node.Reaper.Nothing = []engine.KindConfig{{Deadline: 11 * time.Second}}, true
		}, ""},
		{"too young, as part of the longest delay was over", failed().add(aged), fromClaim(4*time.Second + 1), "I-4"},
		{"too old after what was left of the longest delay", failed().add(aged), fromClaim(4 * time.Second), ""},
		{"recovered later than it was read, when its deadline was farther", expired(), func(r *check.Rules) {
			r.Node.Kinds, r.Node.Reaper.Guard = []engine.KindConfig{{Deadline: 12 * time.Second}}, engine.FenceToken
		}, ""},
		{"too old after the longest delay since its lease was read", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Second).
			add(engine.Event{Kind: engine.Buried, Job: 1, Node: 1, Delivery: 1, Token: 2, Error: engine.LeaseExpired, From: engine.Waiting, Aged: true}), func(r *check.Rules) {
			fromClaim(5 * time.Second)(r)
			r.Node.Reaper.Guard = engine.FenceNone
		}, ""},
		{"without a fence, too old after the delay of an earlier failure", begun().failAgain(1, engine.Timeout).attempt(2, engine.Timeout).add(aged), func(r *check.Rules) {
			r.Store.Fence, r.Node.Kinds = engine.FenceNone, []engine.KindConfig{{Deadline: time.Minute}}
			r.Retries[0].Delay = func(least, _ int32) (shortest, longest time.Duration) { return 0, time.Minute / time.Duration(least) }
		}, ""},
		{"too old, and nothing is too old", failed().add(aged), nil, "I-4"},
		{"dies too early, beside a deadline", failed().commit(engine.Buried, 1, 1, engine.Timeout, 0), func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Deadline: time.Second}} }, "I-4"},
		{"told to stop, it runs on until it wakes", running().after(time.Second).add(engine.Event{Kind: engine.LeaseLost, Job: 1, Delivery: 1, Token: 1}).add(engine.Event{Kind: engine.NodePause}).after(time.Second).add(engine.Event{Kind: engine.NodeWake}).
			finish(1, 0, 0, 1, engine.LeaseExpired), func(r *check.Rules) { r.Heeds, r.Node.Lease.Local = true, true }, ""},
		{"told to stop, it runs on", running().after(time.Second).add(engine.Event{Kind: engine.LeaseLost, Job: 1, Delivery: 1, Token: 1}).after(time.Second).finish(1, 0, 0, 1, engine.LeaseExpired), func(r *check.Rules) { r.Heeds, r.Node.Lease.Local = true, true }, "I-10"},
		{"the less urgent job first", begun().enqueueAs(2, 1).lease(2, 0, 1, 0, 0), func(r *check.Rules) {
			r.Ranked, r.Priorities = true, []int16{0, -1}
		}, ""},
		{"the more urgent job last", begun().enqueueAs(2, 1).lease(1, 0, 1, 0, 0), func(r *check.Rules) {
			r.Ranked, r.Priorities = true, []int16{0, -1}
		}, "I-8"},
		{"in the place that a reaper gave it, and it has failed since", overruled().claim(0).lease(1, 0, 2, 1500*time.Millisecond, 14*time.Second).
			lease(2, 0, 1, 2*time.Second, 2*time.Second), func(r *check.Rules) {
			r.Ordered, r.Store.Fence, r.Node.Reaper.Stand = true, engine.FenceNone, engine.PlaceDue
		}, "I-8"},
		{"the younger job first", begun().after(time.Second).enqueue(2).claim(0).lease(2, 0, 1, 0, 0).lease(1, 0, 1, time.Second, time.Second), func(r *check.Rules) { r.Ordered = true }, "I-8"},
		{"the older job first", begun().after(time.Second).enqueue(2).claim(0).lease(1, 0, 1, time.Second, time.Second).lease(2, 0, 1, 0, 0), func(r *check.Rules) { r.Ordered = true }, ""},
		{"the younger job of a more urgent kind first", begun().after(time.Second).enqueueAs(2, 1).claim(0).lease(2, 0, 1, 0, 0).lease(1, 0, 1, time.Second, time.Second), func(r *check.Rules) { r.Ordered = true }, ""},
		{"it runs before its time", (&story{}).up().add(engine.Event{Kind: engine.Enqueued, Job: 1, Node: -1, Tenant: 1, Delay: time.Second}).lease(1, 0, 1, 0, 0).start(1, 0, 0, 1), func(r *check.Rules) { r.Store.Held = true }, "I-8"},
		{"promoted long after it was due", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Minute).promoted(1), func(r *check.Rules) {
			conserving(r)
			r.Store.Promoted, r.Promote, r.Node.Promoter.Batch = true, 5*time.Second, 1
		}, "I-8"},
		{"no look for leases at a start", later().after(3 * time.Second).claim(0), func(r *check.Rules) { conserving(r); r.Node.Reaper.OnStart = true }, "I-13"},
		{"a look for leases at a start", later().reap().after(3 * time.Second).claim(0), func(r *check.Rules) { conserving(r); r.Node.Reaper.OnStart = true }, ""},
		{"idle workers explain no wait", begun().after(time.Minute).lease(1, 0, 1, time.Minute, time.Minute), func(r *check.Rules) {
			conserving(r)
			r.Idle, r.Between = 40*time.Second, time.Second // a lease before: I-12 is for who claims nothing
			r.Only = check.Set(0).With(check.Starvation)
		}, "I-14"},
		{"busy workers do", begun().enqueue(2).enqueue(3).enqueue(4).enqueue(5).lease(2, 0, 1, 0, 0).lease(3, 0, 1, 0, 0).start(2, 0, 0, 1).start(3, 0, 1, 1).
			lease(4, 1, 1, 0, 0).lease(5, 1, 1, 0, 0).start(4, 1, 0, 1).start(5, 1, 1, 1).after(time.Minute).lease(1, 0, 1, time.Minute, time.Minute), func(r *check.Rules) {
			conserving(r)
			r.Idle, r.Between = 40*time.Second, time.Second
			r.Only = check.Set(0).With(check.Starvation)
		}, ""},
		{"workers that may await commits do", idleBesides(2), awaiting(3), ""},
		{"and do not while fewer outcomes than stop claims can be pending", idleBesides(2), awaiting(4), "I-14"},
		{"nor for longer than commits take", idleBesides(2), func(r *check.Rules) { awaiting(3)(r); r.Awaits = 14 * time.Second }, "I-14"},
		{"leases that were taken may have outcomes pending, too", idleBesides(3), awaiting(4), ""},
		{"recoveries of the job that was in the row before", begun().lease(1, 0, 1, 0, 0).after(11*time.Second).take(1, 1).commit(engine.Returned, 1, 1, engine.LeaseExpired, 0).
			attempt(2, engine.NoError).commit(engine.Acked, 1, 2, engine.NoError, 0).enqueue(2).lease(2, 0, 1, 0, 0).after(11*time.Second).take(2, 1).
			commit(engine.Returned, 2, 1, engine.LeaseExpired, 0), func(r *check.Rules) { r.Node.Reaper.BuryAt = 2 }, ""},
		{"recovered twice, and not buried", begun().lease(1, 0, 1, 0, 0).after(11*time.Second).take(1, 1).commit(engine.Returned, 1, 1, engine.LeaseExpired, 0).
			attempt(2, engine.NoError).after(11*time.Second).take(1, 2).commit(engine.Returned, 1, 2, engine.LeaseExpired, 0),
			func(r *check.Rules) { r.Node.Reaper.BuryAt = 2 }, "I-4"},
		{"buried at its first recovery, of a lease read earlier", failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).after(time.Second).promoted(1).add(readAndBuried), buriedAt(1), ""},
		{"buried at its second recovery of three, of a lease read earlier", overruled().add(readAndBuried), buriedAt(3), "I-4"},
		{"without a fence, buried at its first attempt", failed().commit(engine.Buried, 1, 1, engine.Timeout, 0), func(r *check.Rules) { r.Store.Fence = engine.FenceState }, "I-4"},
		{"without a fence, a third failure goes on", begun().failAgain(1, engine.Timeout).failAgain(2, engine.Timeout).attempt(3, engine.Timeout).commit(engine.Nacked, 1, 3, engine.Timeout, time.Second), func(r *check.Rules) { r.Store.Fence = engine.FenceState }, "I-4"},
		{"a job waits for too long", begun().after(time.Minute).lease(1, 0, 1, time.Minute, time.Minute), func(r *check.Rules) { r.Calm, r.Wait = 0, 10*time.Second }, "I-14"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rules()
			if tt.rules != nil {
				tt.rules(&r)
			}
			c := check.New(r)
			for i := range tt.story.events {
				if b := c.Breach(); b != nil && i < len(tt.story.events)-2 { // an attempt is three events
					t.Fatalf("event %d of %d: %v", i, len(tt.story.events), b)
				}
				c.Record(&tt.story.events[i])
			}
			got := ""
			if b := c.Breach(); b != nil {
				got = b.Invariant.String()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q: %v", got, tt.want, c.Breach())
			}
		})
	}
}

// TestCounts counts what was checked of a job that ran with one heartbeat between.
func TestCounts(t *testing.T) {
	r := rules()
	beating(&r)
	c := check.New(r)
	for _, e := range running().after(2*time.Second).add(engine.Event{Kind: engine.Extended, Job: 1, Token: 1}).after(3*time.Second).finish(1, 0, 0, 1, engine.NoError).events {
		c.Record(&e)
	}
	if checks, probes := c.Checks(), c.Probes(); checks[check.Deliveries] != 2 || checks[check.NoLoss] != 3 || probes[check.Heartbeats] != 1 || probes[check.Turns] != 0 {
		t.Errorf("%d checks of deliveries, %d of jobs, %d of heartbeats and %d of turns, want 2, 3, 1 and 0", checks[check.Deliveries], checks[check.NoLoss], probes[check.Heartbeats], probes[check.Turns])
	}
}

// TestStoreAgainstRecord compares the content of a store with recorded events.
func TestStoreAgainstRecord(t *testing.T) {
	right := unfinished.Job{ID: 1, Tenant: 1, State: engine.InFlight}
	stats := engine.Stats{}
	stats.InFlight[engine.Fresh] = 1
	wrong := stats
	wrong.Dead = 1
	seq := func(all ...unfinished.Job) iter.Seq[unfinished.Job] { return slices.Values(all) }
	changed := func(f func(l *unfinished.Job)) unfinished.Job { l := right; f(&l); return l }
	for _, tt := range []struct {
		name string
		look func(c *check.Checker)
		want string
	}{
		{"all is well, twice", func(c *check.Checker) { c.Balance(stats); c.Sweep(seq(right)); c.Sweep(seq(right)) }, ""},
		{"a count", func(c *check.Checker) { c.Balance(wrong) }, "I-1 broke"},
		{"a job that is gone", func(c *check.Checker) { c.Sweep(seq()) }, "job 1: it is in-flight, and the store does not have it"},
		{"a job that was there", func(c *check.Checker) { c.Sweep(seq(right)); c.Sweep(seq()) }, "job 1: it is in-flight, and the store does not have it"},
		{"a ready job that is gone", func(c *check.Checker) {
			c.Record(&engine.Event{Kind: engine.Enqueued, Job: 2, Node: -1})
			c.Sweep(seq(right))
		}, "job 2: it is ready, and the store does not have it"},
		{"a waiting job that is gone", func(c *check.Checker) {
			c.Record(&engine.Event{Kind: engine.Enqueued, Job: 2, Node: -1, Delay: time.Second})
			c.Sweep(seq(right))
		}, "job 2: it is waiting, and the store does not have it"},
		{"a job twice", func(c *check.Checker) { c.Sweep(seq(right, right)) }, "twice"},
		{"another state", func(c *check.Checker) { c.Sweep(seq(changed(func(l *unfinished.Job) { l.State = engine.Ready }))) }, "the store has it ready"},
		{"another tenant", func(c *check.Checker) { c.Sweep(seq(changed(func(l *unfinished.Job) { l.Tenant = 2 }))) }, "of tenant 2"},
		{"a job from nowhere", func(c *check.Checker) { c.Sweep(seq(right, unfinished.Job{ID: 2, State: engine.Ready})) }, "never enqueued"},
		{"not all has ended", func(c *check.Checker) { c.Settle() }, "I-18 broke"},
		{"what others count", func(c *check.Checker) { c.Complain(check.Recount, 0, "%d of %d", 1, 2) }, "I-15 broke at 0s: 1 of 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := check.New(rules())
			for i := range running().events {
				c.Record(&running().events[i])
			}
			tt.look(c)
			got := ""
			if b := c.Breach(); b != nil {
				got = b.Error()
			}
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

// TestShareOfClaims breaks the share of fresh jobs after some claims, and not by one that
// left a class empty.
func TestShareOfClaims(t *testing.T) {
	r := rules()
	r.Exact, r.Share = true, quantity.Fraction(1, 2)
	c := check.New(r)
	s := (&story{}).up()
	for job := engine.JobID(1); job <= 20; job++ {
		s.enqueue(job)
	}
	// Ten retries stand ready: they were claimed once and came back.
	for job := engine.JobID(1); job <= 10; job++ {
		s.lease(job, 0, 1, 0, 0).add(engine.Event{Kind: engine.Returned, Job: job, Delivery: 1, Error: engine.Canceled, From: engine.InFlight, Token: s.token})
	}
	for n := 1; n <= 6; n++ {
		s.add(engine.Event{Kind: engine.Called, Op: engine.OpClaim, Node: 1, Count: 1})
		s.lease(engine.JobID(10+n), 1, 1, 0, 0)
	}
	s.add(engine.Event{Kind: engine.Called, Op: engine.OpCommit, Node: 1})
	for i := range s.events {
		c.Record(&s.events[i])
	}
	if b := c.Breach(); b == nil || b.Invariant != check.Shares || !strings.Contains(b.What, "node 1 owes fresh jobs -4/2 of 4 claims") {
		t.Errorf("got %v", c.Breach())
	}
}

// TestShareOfOvertakenClaims counts no claims for the share of fresh jobs that their node counts as lost, from the first
// on, and those again that come after one of which it begins a job. The last lost one, of job 11, comes just after one
// at the same time of which it begins a job, too.
func TestShareOfOvertakenClaims(t *testing.T) {
	r := rules()
	r.Exact, r.Share, r.Node.Workers = true, quantity.Fraction(1, 2), 20
	c := check.New(r)
	s, heard := (&story{}).up(), 0
	for job := engine.JobID(1); job <= 30; job++ {
		s.enqueue(job)
	}
	s.lease(1, 0, 1, 0, 0).add(engine.Event{Kind: engine.Returned, Job: 1, Delivery: 1, Error: engine.Canceled, From: engine.InFlight, Token: s.token})
	for job := engine.JobID(2); job <= 20; job++ {
		if job != 11 {
			s.after(time.Second)
		}
		s.claim(1).lease(job, 1, 1, s.at.Sub(0), s.at.Sub(0))
		switch job {
		case 11:
			s.add(engine.Event{Kind: engine.Started, Job: 10, Node: 1, Slot: 1, Delivery: 1, Token: s.token - 1})
		case 12:
			heard = len(s.events)
			s.start(job, 1, 0, 1)
		}
	}
	for i := range s.events {
		if e := &s.events[i]; e.Kind == engine.Called && i < heard-3 {
			c.Overtaken(e.Node, e.At)
		}
		if c.Record(&s.events[i]); c.Breach() != nil && i < heard+6 {
			t.Fatalf("of claims that their node counts as lost: %v", c.Breach())
		}
	}
	if b := c.Breach(); b == nil || !strings.Contains(b.What, "node 1 owes fresh jobs -4/2 of 4 claims") {
		t.Errorf("got %v", b)
	}
}

// TestCountsOverdue counts the instants at which a lease that has ended was waited for.
func TestCountsOverdue(t *testing.T) {
	r := rules()
	r.Calm, r.Recover = 0, 10*time.Second
	c := check.New(r)
	for _, e := range running().after(15 * time.Second).enqueue(2).after(6 * time.Second).enqueue(3).events {
		c.Record(&e)
	}
	if checks := c.Checks(); checks[check.Recovery] != 2 || c.Breach() == nil {
		t.Errorf("%d checks, want 2: %v", checks[check.Recovery], c.Breach())
	}
}

// TestOnly checks only the selected invariants.
func TestOnly(t *testing.T) {
	var none check.Set
	for set, breaks := range map[check.Set]bool{
		none:                    true,
		none.With(check.NoLoss): true,
		none.With(check.NoLoss).With(check.Leases):                           true,
		none.With(check.Final):                                               false,
		none.With(check.Conservation).With(check.Final).With(check.Liveness): false,
	} {
		r := rules()
		r.Only = set
		c := check.New(r)
		s := begun().enqueue(1)
		for i := range s.events {
			c.Record(&s.events[i])
		}
		if (c.Breach() != nil) != breaks {
			t.Errorf("%b: %v", set, c.Breach())
		}
	}
}

// TestContradiction has a claim that contradicts the records of a waiting job, which is no breach of what is checked: it
// leaves the records as they are, and what follows is checked.
func TestContradiction(t *testing.T) {
	for delivery, want := range map[int32]string{2: "", 3: "I-5"} {
		r := rules()
		r.Only = check.Set(0).With(check.Conservation).With(check.Deliveries)
		c := check.New(r)
		s := failed().commit(engine.Nacked, 1, 1, engine.Timeout, time.Second).lease(1, 0, 2, 0, time.Second)
		s.after(time.Second).promoted(1).lease(1, 0, delivery, 0, 2*time.Second)
		for i := range s.events {
			c.Record(&s.events[i])
		}
		got := ""
		if b := c.Breach(); b != nil {
			got = b.Invariant.String()
		}
		if got != want {
			t.Errorf("delivery %d: got %q, want %q: %v", delivery, got, want, c.Breach())
		}
	}
}

// TestHistory stores the events of one job, and of the nodes that held it.
func TestHistory(t *testing.T) {
	h := &check.History{Job: 1, Until: 20 * second}
	s := running().enqueue(2).after(time.Second).add(engine.Event{Kind: engine.NodeDown, Node: 0}).add(engine.Event{Kind: engine.NodeDown, Node: 1}).
		after(10*time.Second).take(1, 1).commit(engine.Nacked, 1, 1, engine.LeaseExpired, time.Second).after(time.Minute).promoted(1)
	for i := range s.events {
		h.Record(&s.events[i])
	}
	want := `  0s             enqueued
  0s             leased node 0, fresh, delivery 1, token 1
  0s             started node 0, fresh, delivery 1, token 1
  1s             node-down node 0
  11s            lease-taken node 1 from node 0, delivery 1, token 2
  11s            nacked node 0, delivery 1, token 2, was in-flight, error lease-expired, delay 1s
`
	if got := h.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRecordDoesNotAllocate follows a job's life over and over.
func TestRecordDoesNotAllocate(t *testing.T) {
	c := check.New(rules())
	for _, e := range begun().events {
		c.Record(&e)
	}
	at, token, delivery := engine.Time(0), engine.Token(0), int32(0)
	e := engine.Event{}
	record := func(kind engine.EventKind) {
		e.At, e.Kind, e.Job, e.Delivery, e.Class, e.Token = at, kind, 1, delivery, class(delivery), token
		c.Record(&e)
		e = engine.Event{}
	}
	allocated := testing.AllocsPerRun(100, func() {
		delivery++
		token++
		e.Age = at.Sub(0)
		record(engine.Leased)
		record(engine.Started)
		e.Error = engine.Throttled
		record(engine.Finished)
		e.From, e.Error = engine.InFlight, engine.Canceled
		record(engine.Returned)
	})
	if b := c.Breach(); b != nil {
		t.Fatal(b)
	}
	if allocated > 0 {
		t.Errorf("%v allocations for each life of a job", allocated)
	}
}
