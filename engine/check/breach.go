package check

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"qsim/engine"
)

// Breach describes a broken invariant: which one, when, for which job and how.
type Breach struct {
	Invariant Invariant
	At        engine.Time
	Job       engine.JobID // job concerned; 0: none in particular
	What      string       // description of the breach, a sentence without a full stop
}

// Error returns the message: the number of the invariant, the time, the job, what happened and what must hold.
func (b *Breach) Error() string {
	who := ""
	if b.Job != 0 {
		who = fmt.Sprintf(", job %d", b.Job)
	}
	return fmt.Sprintf("%v broke at %v%s: %s (%s)", b.Invariant, time.Duration(b.At), who, b.What, b.Invariant.Says())
}

// complain records that the event being checked breaks an invariant, unless another breach came first or the invariant
// is not among those checked. It always returns true, so that a rule can return it: the rule has applied.
func (c *Checker) complain(i Invariant, format string, arguments ...any) bool {
	e := c.at.Event
	return c.Complain(i, e.Job, "%v by node %d: "+format, append([]any{e.Kind, e.Node}, arguments...)...)
}

// astray records a breach by an event that contradicts the checker's records, which it then does not change.
func (c *Checker) astray(i Invariant, format string, arguments ...any) bool {
	c.at.lost = true
	return c.complain(i, format, arguments...)
}

// Complain records a breach found now, unless one was recorded before; job is 0 if it concerns no job. Times among the
// arguments are printed as durations since the start of the run. It always returns true, as complain does.
func (c *Checker) Complain(i Invariant, job engine.JobID, format string, arguments ...any) bool {
	if c.caughtUp().breach != nil || !c.rules.Only.Has(i) {
		return true
	}
	for k := range arguments {
		if t, ok := arguments[k].(engine.Time); ok {
			arguments[k] = time.Duration(t)
		}
	}
	c.breach = &Breach{Invariant: i, At: c.now, Job: job, What: fmt.Sprintf(format, arguments...)}
	return true
}

// Recounted counts one check of the invariant Recount, made by the caller: it compared other totals with the events.
func (c *Checker) Recounted() { c.checks[Recount]++ }

// History is a recorder that stores the events of one job, and the deaths and pauses of the nodes that held it. A run
// that broke an invariant is repeated with it, to print how that came about.
type History struct {
	Job   engine.JobID
	Until engine.Time // later events are not stored

	events []engine.Event
	nodes  map[int32]bool
}

// mostHistory is the number of events that a History prints; of more events, it prints the last ones.
const mostHistory = 60

// Record stores an event if it is about the job, or a death or pause of a node that has held it.
func (h *History) Record(e *engine.Event) {
	if e.At > h.Until {
		return
	}
	machine := e.Kind >= engine.NodeUp && e.Kind <= engine.NodeWake
	switch {
	case machine && !h.nodes[e.Node], !machine && (e.Job != h.Job || h.Job == 0):
		return
	case h.nodes == nil:
		h.nodes = make(map[int32]bool)
	}
	h.nodes[e.Node] = true
	if len(h.events) == 2*mostHistory {
		h.events = append(h.events[:0], h.events[mostHistory:]...)
	}
	h.events = append(h.events, *e)
}

// String returns the stored events, a line for each.
func (h *History) String() string {
	var text strings.Builder
	events := h.events[max(0, len(h.events)-mostHistory):]
	if len(events) < len(h.events) {
		fmt.Fprintf(&text, "  (the last %d events)\n", mostHistory)
	}
	for i := range events {
		text.WriteString("  " + Line(&events[i]) + "\n")
	}
	return text.String()
}

// Line returns an event as a line of text: its time, kind and node, then the fields that are set.
func Line(e *engine.Event) string {
	var line strings.Builder
	fmt.Fprintf(&line, "%-14v %s", time.Duration(e.At), e.Kind)
	say := func(when bool, format string, arguments ...any) {
		if when {
			fmt.Fprintf(&line, format, arguments...)
		}
	}
	say(e.Node >= 0, " node %d", e.Node)
	switch e.Kind {
	case engine.Leased, engine.Started, engine.Promoted, engine.Redriven:
		say(true, ", %v", e.Class)
	case engine.LeaseTaken:
		say(true, " from node %d", e.Holder.Node())
	}
	say(e.Delivery > 0, ", delivery %d", e.Delivery)
	say(e.Token > 0, ", token %d", e.Token)
	say(e.From != engine.NoState, ", was %v", e.From)
	say(e.Error != engine.NoError, ", error %s", cmp.Or(e.Error.Name(), fmt.Sprint(uint16(e.Error))))
	say(e.Delay > 0 || e.Kind == engine.Nacked, ", delay %v", e.Delay)
	say(e.Ran > 0, ", ran %v", e.Ran)
	say(e.Waited > 0, ", waited %v", e.Waited)
	return line.String()
}
