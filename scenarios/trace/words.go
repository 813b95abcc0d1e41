package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results"
)

// Fact is something that happened.
type Fact struct {
	At      time.Duration // virtual time
	Event   string        // the name of the engine's event, or storm-begins or storm-ends
	Job     string        // empty: it is about no job
	Attempt int32         // of the job; 0: none in particular
	Node    int32         // -1: none
	Error   string        // name of an error kind; empty: none
	Words   string        // a sentence without its subject and stop
}

// tell says what an event means.
func (s *Simulation) tell(e *engine.Event) Fact {
	f := Fact{At: time.Duration(e.At), Event: e.Kind.String(), Attempt: deliveries(e), Node: e.Node, Words: s.words(e)}
	if e.Job != 0 {
		f.Job = s.seen.JobName(e.Job)
	}
	if e.Error != engine.NoError {
		f.Error = s.errorName(e.Error)
	}
	if e.Kind == engine.Enqueued || e.Kind == engine.Redriven || e.Kind == engine.LeaseForgotten {
		f.Node = -1
	}
	return f
}

// shed reports whether e buried a job in place of claiming it.
func shed(e *engine.Event) bool {
	return e.Kind == engine.Buried && e.From == engine.Ready && e.Error == engine.NoError
}

// deliveries is which attempt e is about. That of a job that is shed names the one that
// would have been.
func deliveries(e *engine.Event) int32 {
	if shed(e) {
		return e.Delivery - 1
	}
	return e.Delivery
}

func (s *Simulation) errorName(kind engine.ErrorKind) string {
	if names := s.seen.ErrorKinds(); int(kind) < len(names) {
		return names[kind]
	}
	return "error " + strconv.Itoa(int(kind))
}

func (s *Simulation) words(e *engine.Event) string {
	switch e.Kind {
	case engine.Enqueued, engine.Promoted, engine.Redriven:
		return s.arrivalWords(e)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned, engine.Fenced, engine.GaveUp:
		return s.outcomeWords(e)
	case engine.Started, engine.Finished, engine.TimedOut, engine.Aborted:
		return s.executionWords(e)
	case engine.Leased, engine.LeaseTaken, engine.Extended, engine.ExtendRefused, engine.LeaseLost, engine.LeaseForgotten:
		return leaseWords(e)
	}
	return machineWords(e)
}

func (s *Simulation) arrivalWords(e *engine.Event) string {
	switch {
	case e.Kind == engine.Promoted && e.Class == engine.Fresh:
		return "its time has come: ready, as a fresh job"
	case e.Kind == engine.Promoted:
		return "its delay is over: ready again, as a retry"
	case e.Kind == engine.Redriven:
		return "redriven: ready again after it was dead"
	}
	words := "enqueued"
	if names := s.seen.TenantNames(); s.manyTenants(e.JobKind) && int(e.Tenant) < len(names) {
		words += " for tenant " + names[e.Tenant]
	}
	if e.Delay > 0 {
		return words + ", to become ready in " + Length(e.Delay)
	}
	return words + ": ready, as a fresh job"
}

func (s *Simulation) manyTenants(kind engine.Kind) bool {
	return int(kind) < len(s.seen.Jobs) && (s.seen.Jobs[kind].Tenants.Count > 1 || len(s.seen.Jobs[kind].Tenants.Names) > 0)
}

func (s *Simulation) executionWords(e *engine.Event) string {
	switch {
	case e.Kind == engine.Started:
		return fmt.Sprintf("attempt %d starts on node %d", e.Delivery, e.Node)
	case e.Kind == engine.TimedOut:
		return fmt.Sprintf("attempt %d has run for its timeout of %s: node %d tells it to stop", e.Delivery, Length(e.Ran), e.Node)
	case e.Kind == engine.Aborted:
		return fmt.Sprintf("attempt %d dies with the process of node %d after %s", e.Delivery, e.Node, Length(e.Ran))
	case e.Error == engine.NoError:
		return fmt.Sprintf("attempt %d succeeds on node %d after %s", e.Delivery, e.Node, Length(e.Ran))
	}
	return fmt.Sprintf("attempt %d fails on node %d after %s: %s", e.Delivery, e.Node, Length(e.Ran), s.errorName(e.Error))
}

func (s *Simulation) outcomeWords(e *engine.Event) string {
	was := ""
	if e.From == engine.Ready || e.From == engine.Waiting {
		was = ", although it was " + e.From.String() + " again"
	}
	why := ""
	if e.Error != engine.NoError {
		why = " (" + s.errorName(e.Error) + ")"
	}
	who := fmt.Sprintf("node %d", e.Node)
	if e.Error == engine.LeaseExpired { // a holder that knows it has nothing to tell
		who = "the reaper of " + who
	}
	switch e.Kind {
	case engine.Acked:
		return fmt.Sprintf("acked by %s: done, %s after it was enqueued%s", who, Length(e.Age), was)
	case engine.Nacked:
		again := "to be ready again in " + Length(e.Delay)
		if e.Delay == 0 {
			again = "to be ready again at once"
		}
		return fmt.Sprintf("nacked by %s%s: %s%s", who, why, again, was)
	case engine.Buried:
		switch {
		case shed(e) && deliveries(e) == 0:
			return fmt.Sprintf("shed by %s: dead without having been claimed, %s after it was enqueued", who, Length(e.Age))
		case shed(e):
			return fmt.Sprintf("shed by %s: dead without being claimed again, %s after it was enqueued", who, Length(e.Age))
		}
		return fmt.Sprintf("buried by %s%s: dead after %s, %s after it was enqueued%s", who, why, attempts(e.Delivery), Length(e.Age), was)
	case engine.Returned:
		if e.Error == engine.LeaseExpired {
			return who + " makes it ready again" + was
		}
		return fmt.Sprintf("handed back by %s: ready again at once%s", who, was)
	case engine.Fenced:
		return fmt.Sprintf("what node %d commits under token %d%s is refused: fenced, the lease is no longer its own", e.Node, e.Token, why)
	}
	return fmt.Sprintf("node %d gives up telling the store what became of attempt %d%s", e.Node, e.Delivery, why)
}

func leaseWords(e *engine.Event) string {
	switch e.Kind {
	case engine.Leased:
		return fmt.Sprintf("claimed by node %d after a wait of %s, as a %s job: attempt %d, token %d", e.Node, Length(e.Waited), e.Class, e.Delivery, e.Token)
	case engine.LeaseTaken:
		return fmt.Sprintf("the lease that node %d held has expired: the reaper of node %d takes it, token %d", e.Holder.Node(), e.Node, e.Token)
	case engine.Extended:
		return fmt.Sprintf("a heartbeat of node %d prolongs the lease", e.Node)
	case engine.ExtendRefused:
		return fmt.Sprintf("a heartbeat of node %d under token %d is refused: the lease is no longer its own", e.Node, e.Token)
	case engine.LeaseLost:
		return fmt.Sprintf("node %d learns that its lease is gone", e.Node)
	}
	return "the store loses the record of its lease: in flight, and held by nobody it knows"
}

// machineWords are for what is about no job.
func machineWords(e *engine.Event) string {
	switch e.Kind {
	case engine.Called:
		return fmt.Sprintf("node %d calls %s: %s", e.Node, e.Op, rows(e.Count))
	case engine.CallTimedOut:
		return fmt.Sprintf("node %d gets no answer to its %s in time", e.Node, e.Op)
	case engine.RefusedLate:
		return fmt.Sprintf("node %d gets the answer to a claim too late: it does not run the %s", e.Node, plural(int(e.Count), "job"))
	case engine.NodeUp:
		return fmt.Sprintf("node %d starts", e.Node)
	case engine.NodeDown:
		return fmt.Sprintf("the process of node %d dies", e.Node)
	case engine.NodePause:
		return fmt.Sprintf("node %d freezes", e.Node)
	case engine.NodeWake:
		return fmt.Sprintf("node %d goes on, as if nothing had been", e.Node)
	}
	return e.Kind.String()
}

func rows(n int32) string { return plural(int(n), "row") }

func attempts(n int32) string { return plural(int(n), "attempt") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Length writes a length of time for people: 4m13s, 8.8s, 120ms.
func Length(d time.Duration) string { return results.FormatDuration(d.Seconds()) }

// Clock writes a time of the run to the millisecond: 3.250s, 10m03.250s, 1h02m03.250s. What
// is at distinct instants may read alike.
func Clock(at time.Duration) string {
	milliseconds := at.Milliseconds()
	sign := ""
	if milliseconds < 0 {
		sign, milliseconds = "-", -milliseconds
	}
	seconds := fmt.Sprintf("%d.%03ds", milliseconds/1000%60, milliseconds%1000)
	minutes := milliseconds / 60_000
	if minutes == 0 {
		return sign + seconds
	}
	if len(strings.TrimSuffix(seconds, "s")) < len("03.250") {
		seconds = "0" + seconds
	}
	if minutes < 60 {
		return fmt.Sprintf("%s%dm%s", sign, minutes, seconds)
	}
	return fmt.Sprintf("%s%dh%02dm%s", sign, minutes/60, minutes%60, seconds)
}
