package sim

import (
	"fmt"
	"strings"

	"qsim/engine"
)

// Endless is the panic value for a simulation whose clock stands still because events cause each other without end. The
// same configuration ends in it again, at the same event.
type Endless struct {
	At     engine.Time
	Events int64    // number of events at that instant
	Last   []string // the latest events, oldest first
}

// Error returns the number of events at one instant and, after "; the last", the latest of them.
func (e *Endless) Error() string {
	return fmt.Sprintf("the clock stands still: %d events at one instant, and no end; the last of them: %s",
		e.Events, strings.Join(e.Last, ", "))
}

// tally counts events and jobs, in all and at the present instant, to find an instant without end (Endless).
type tally struct {
	all      int64 // number of events
	enqueued int64 // number of jobs
	events   int64 // number of events at the present instant
	patience int64 // number of events at one instant above which linger is called
	last     []string
}

// eventsEach and the constants below bound the events of one instant. Each job, lease, call, execution, worker and node
// of that instant may cause eventsEach events at each node, since WakeAll wakes all of them; there is a minimum for
// tiny simulations. The number of leases of each job is bounded too: scenarios allow at most a thousand attempts of a
// job at one instant. lastEvents is the number of last events in an Endless.
const (
	eventsEach   = 8
	fewestEvents = 4096
	mostLeases   = 4096
	lastEvents   = 8
)

// linger panics with an Endless if more events have happened at one instant than all jobs, leases, calls, executions,
// workers and nodes can cause, after noting the last few. It is called at each event after the first tally.patience.
func (s *Sim) linger() {
	i := &s.tally
	things := s.witness.moves + s.witness.live + int64(s.messages.used+s.runs.used+s.late.used)
	for n := range s.cfg.Nodes {
		things += 1 + int64(s.cfg.Nodes[n].Workers)
	}
	most := fewestEvents + eventsEach*things*int64(eventsEach+len(s.nodes))
	if i.events <= most && s.witness.moves <= mostLeases*(1+i.enqueued) {
		i.patience = most
		return
	}
	if i.last = append(i.last, s.next()); len(i.last) == lastEvents {
		panic(&Endless{At: s.now, Events: i.events, Last: i.last})
	}
}

// inWords describes each kind of event (rank) for an error text; the ones for calls and deadlines are Sprintf formats.
var inWords = [...]string{control: "a fault begins or ends", promotion: "a waiting job becomes due",
	request: "%v of node %d reaches the store", reply: "the answer to %v reaches node %d", finish: "an execution ends",
	arrival: "a job arrives", timer: "a deadline of node %d comes", announcement: "nodes are woken for ready jobs"}

// next describes the simulation's next event in words, for Endless.
func (s *Sim) next() string {
	e := s.queue.next()
	from := rank(e.order >> rankBits)
	switch from {
	case request, reply:
		m := s.messages.at(e.ref)
		return fmt.Sprintf(inWords[from], m.Op, m.Engine.Node())
	case timer:
		return fmt.Sprintf(inWords[timer], s.queue.timers.soonest())
	}
	return inWords[from]
}
