package trace

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// Fact is an event of the run with its time, job, node and sentence.
type Fact struct {
	At      Span   `json:"at_s"`              // virtual time
	Event   string `json:"event"`             // name of the engine's event, or storm-begins or storm-ends
	Job     string `json:"job,omitempty"`     // name of the job; missing: the event has none
	Attempt int32  `json:"attempt,omitempty"` // attempt of the job, from 1; missing: none
	Node    NodeID `json:"node,omitzero"`     // number of the node; missing: none
	Error   string `json:"error,omitempty"`   // name of an error kind; missing: none
	Wait    Span   `json:"wait_s,omitzero"`   // leased: how long the job had been ready; missing: another event
	Delay   Span   `json:"delay_s,omitzero"`  // pause before a retry or a scheduled job is ready; missing: none
	Due     Span   `json:"due_s,omitzero"`    // end of that pause; missing: none
	Words   string `json:"words"`             // a sentence without its subject and full stop
}

func newFact(at Span, event, words string) Fact {
	return Fact{At: at, Event: event, Node: noNode, Wait: none, Delay: none, Due: none, Words: words}
}

// NodeID is the number of a node, below 0 for none.
type NodeID int32

const noNode NodeID = -1

// IsZero reports whether the number stands for no node, which JSON leaves out.
func (n NodeID) IsZero() bool { return n < 0 }

// tell converts an engine's event to a Fact, a line of the trace, with the sentence that describes the event.
func (s *Simulation) tell(e *engine.Event) Fact {
	f := newFact(Span(e.At), e.Kind.String(), s.words(e))
	f.Attempt, f.Node = deliveries(e), NodeID(e.Node)
	if e.Job != 0 {
		f.Job = s.seen.JobName(e.Job)
	}
	if e.Error != engine.NoError {
		f.Error = s.errorName(e.Error)
	}
	if e.Kind == engine.Enqueued || e.Kind == engine.Redriven || e.Kind == engine.LeaseForgotten {
		f.Node = noNode
	}
	switch {
	case e.Kind == engine.Leased:
		f.Wait = Span(e.Waited)
	case e.Kind == engine.Nacked, e.Kind == engine.Enqueued && e.Delay > 0:
		f.Delay, f.Due = Span(e.Delay), Span(e.At.Add(e.Delay))
	}
	return f
}

// deliveries returns the number of attempts at a job up to an event; a shed (buried, not claimed) job had one fewer.
func deliveries(e *engine.Event) int32 {
	return plain.Either(world.Shed(e), e.Delivery-1, e.Delivery)
}

// stateAfter returns the name of a job's state after an event, such as "ready"; "" if the event leaves it as it is.
func stateAfter(e *engine.Event) string {
	switch e.Kind {
	case engine.Nacked: // with no delay, too, until it is promoted
		return "waiting"
	case engine.Enqueued:
		return plain.Either(e.Delay > 0, "waiting", "ready")
	case engine.Promoted, engine.Redriven, engine.Returned:
		return "ready"
	case engine.Leased:
		return "in-flight"
	case engine.Acked, engine.Buried:
		return statusAfter[e.Kind]
	}
	return ""
}

func (s *Simulation) errorName(kind engine.ErrorKind) string {
	if names := s.seen.ErrorKinds(); int(kind) < len(names) {
		return names[kind]
	}
	return "error " + strconv.Itoa(int(kind))
}

// sentences maps kinds of events to sentences without subject and full stop, with placeholders such as $node.
var sentences = map[engine.EventKind]string{
	engine.Enqueued: "enqueued$tenant: ready, as a fresh job",
	engine.Promoted: "its delay is over: ready again, as a retry",
	engine.Redriven: "redriven: ready again after it was dead",
	engine.Started:  "attempt $attempt starts on node $node",
	engine.TimedOut: "attempt $attempt has run for its timeout of $ran: node $node tells it to stop",
	engine.Aborted:  "attempt $attempt dies with the process of node $node after $ran",
	engine.Finished: "attempt $attempt succeeds on node $node after $ran",
	engine.Acked:    "acked by $who: done, $age after it was enqueued$was",
	engine.Nacked:   "nacked by $who$why: to be ready again in $delay$was",
	engine.Buried:   "buried by $who$why: dead after $attempts, $age after it was enqueued$was",
	engine.Returned: "handed back by $who: ready again at once$was",
	engine.Fenced: "what node $node commits under token $token$why is refused: fenced, " +
		"the lease is no longer its own",
	engine.GaveUp: "node $node gives up telling the store what became of attempt $attempt$why",
	engine.Leased: "claimed by node $node after a wait of $waited, as a $class job: attempt $attempt, " +
		"token $token",
	engine.LeaseTaken:     "the lease that node $holder held has expired: the reaper of node $node takes it, token $token",
	engine.Extended:       "a heartbeat of node $node prolongs the lease",
	engine.ExtendRefused:  "a heartbeat of node $node under token $token is refused: the lease is no longer its own",
	engine.LeaseLost:      "node $node learns that its lease is gone",
	engine.LeaseForgotten: "the store loses the record of its lease: in flight, and held by nobody it knows",
	engine.Called:         "node $node calls $op: $rows",
	engine.CallTimedOut:   "node $node gets no answer to its $op in time",
	engine.RefusedLate:    "node $node gets the answer to a claim that it had given up on: $jobs",
	engine.NodeUp:         "node $node starts",
	engine.NodeDown:       "the process of node $node dies",
	engine.NodePause:      "node $node freezes",
	engine.NodeWake:       "node $node goes on, as if nothing had been",
}

// words returns the sentence for an event, which may depend on its details.
func (s *Simulation) words(e *engine.Event) string {
	sentence, known := sentences[e.Kind]
	switch {
	case !known:
		return e.Kind.String()
	case e.Kind == engine.Enqueued && e.Delay > 0:
		sentence = "enqueued$tenant, to become ready in $delay"
	case e.Kind == engine.Promoted && e.Class == engine.Fresh:
		sentence = "its time has come: ready, as a fresh job"
	case e.Kind == engine.Finished && e.Error != engine.NoError:
		sentence = "attempt $attempt fails on node $node after $ran: $error"
	case e.Kind == engine.Nacked && e.Delay == 0:
		when := plain.Either(s.seen.Engine.Promoter.On(), "when it is promoted", "at once")
		sentence = "nacked by $who$why: to be ready again " + when + "$was"
	case world.Shed(e) && deliveries(e) == 0:
		sentence = "shed by $who: dead without having been claimed, $age after it was enqueued"
	case world.Shed(e):
		sentence = "shed by $who: dead without being claimed again, $age after it was enqueued"
	case e.Kind == engine.Returned && e.Error == engine.LeaseExpired:
		sentence = "$who makes it ready again$was"
	}
	return os.Expand(sentence, func(name string) string { return fields[name](s, e) })
}

// fields maps each placeholder of a sentence, such as $node, to a function that returns the text of an event for it.
var fields = map[string]func(s *Simulation, e *engine.Event) string{
	"attempt":  func(_ *Simulation, e *engine.Event) string { return fmt.Sprint(e.Delivery) },
	"attempts": func(_ *Simulation, e *engine.Event) string { return plain.Plural(int(e.Delivery), "attempt") },
	"node":     func(_ *Simulation, e *engine.Event) string { return fmt.Sprint(e.Node) },
	"holder":   func(_ *Simulation, e *engine.Event) string { return fmt.Sprint(e.Holder.Node()) },
	"token":    func(_ *Simulation, e *engine.Event) string { return fmt.Sprint(e.Token) },
	"class":    func(_ *Simulation, e *engine.Event) string { return e.Class.String() },
	"op":       func(_ *Simulation, e *engine.Event) string { return e.Op.String() },
	"rows":     func(_ *Simulation, e *engine.Event) string { return plain.Plural(int(e.Count), "row") },
	"jobs":     func(_ *Simulation, e *engine.Event) string { return plain.Plural(int(e.Count), "job") },
	"ran":      func(_ *Simulation, e *engine.Event) string { return Length(e.Ran) },
	"age":      func(_ *Simulation, e *engine.Event) string { return Length(e.Age) },
	"delay":    func(_ *Simulation, e *engine.Event) string { return Length(e.Delay) },
	"waited":   func(_ *Simulation, e *engine.Event) string { return Length(e.Waited) },
	"error":    func(s *Simulation, e *engine.Event) string { return s.errorName(e.Error) },
	"who": func(_ *Simulation, e *engine.Event) string {
		// A holder that knows of the expiry has nothing to tell.
		return plain.When(e.Error == engine.LeaseExpired, "the reaper of ") + fmt.Sprintf("node %d", e.Node)
	},
	"why": func(s *Simulation, e *engine.Event) string {
		return plain.When(e.Error != engine.NoError, " ("+s.errorName(e.Error)+")")
	},
	"was": func(_ *Simulation, e *engine.Event) string {
		return plain.When(e.From == engine.Ready || e.From == engine.Waiting, ", although it was "+e.From.String()+" again")
	},
	"tenant": func(s *Simulation, e *engine.Event) string {
		names := s.seen.TenantNames()
		if !s.manyTenants(e.JobKind) || int(e.Tenant) >= len(names) {
			return ""
		}
		return " for tenant " + names[e.Tenant]
	},
}

func (s *Simulation) manyTenants(kind engine.Kind) bool {
	if int(kind) >= len(s.seen.Jobs) {
		return false
	}
	tenants := &s.seen.Jobs[kind].Tenants
	return tenants.Count > 1 || len(tenants.Names) > 0
}

// Length returns a duration as text: 4m13s, 8.8s, 120ms.
func Length[T ~int64](d T) string { return plain.Duration(time.Duration(d).Seconds()) }

// Clock returns a time of the run as text, to the millisecond: 3.250s, 10m03.250s, 1h02m03.250s. Distinct instants may
// have the same text.
func Clock[T ~int64](at T) string {
	n := time.Duration(max(at, -at)).Milliseconds()
	text := fmt.Sprintf("%dh%02dm%02d.%03ds", n/3600_000, n/60_000%60, n/1000%60, n%1000)
	for _, none := range []string{"0h", "0", "0m", "0"} {
		text = strings.TrimPrefix(text, none)
	}
	return plain.When(at < 0, "-") + text
}
