package chaos

import (
	"fmt"
	"strings"

	"qsim/engine"
)

// The lease protocol as a relation between the state of one job before and after each step. testdata/lease.pml is the
// same protocol in Promela; TestLeaseProtocolIsTheModel proves the two equal, step by step.

// leasePhase is the stage of a lease on the node that holds it.
type leasePhase byte

const (
	phaseLent leasePhase = iota + 1
	phaseRunning
	phaseLost // running; the node has been told that the lease is gone
	phaseGood // ended well: the commit says so
	phaseBad  // ended badly; a reaper's from the start
	phaseGone // nothing comes of it
	phaseBack // handed back before it ran
)

// leaseRecord is a lease of a job, or a token spent on a lapse: the store made the job ready by itself.
type leaseRecord struct {
	holder int32
	reaps  bool
	phase  leasePhase
	over   bool // its node has died since
	judged bool // its outcome was applied or refused
}

// jobLeases is a state of the lease protocol: that of a job and of all its leases, by token from 1 on.
type jobLeases struct {
	state                      engine.State
	expired, lapsed, forgotten bool
	leases                     []leaseRecord
}

// leaseRules are the options of a store on which the steps of the lease protocol depend.
type leaseRules struct {
	fence           engine.Fence
	lapses, forgets bool
	orphans         bool // leases without a record are recovered
}

// leaseStep is one step of the protocol. kind is the letter that lease.pml prints:
//
//	L, l  the job is claimed by a node, or by a life of it that has ended
//	K     its lease is taken by a reaper
//	X, Y  its lease expires; lapses
//	E     the lease of a token is extended, or that is refused
//	S, F  an execution under a token starts; ends
//	O     a node learns that a lease is lost
//	C, Z  the outcome of a token is applied, to end in a state; refused
//	D     a node dies
//	P, H, R, M  the job is promoted; shed; redriven; the record of its lease is lost
type leaseStep struct {
	kind  byte
	node  int32
	token int
	ok    bool         // E: extended; F: it succeeded
	to    engine.State // C
}

// passes reports whether the store accepts an outcome under a token.
func (r *leaseRules) passes(j *jobLeases, token int) bool {
	switch inFlight := j.state == engine.InFlight; r.fence {
	case engine.FenceNone:
		return j.state >= engine.Ready && j.state <= engine.InFlight
	case engine.FenceState:
		return inFlight
	default:
		return inFlight && token == len(j.leases)
	}
}

func (j *jobLeases) recorded() bool { return j.state == engine.InFlight && !j.lapsed && !j.forgotten }

// prolongs reports whether the store accepts an extension of the lease with a token.
func (r *leaseRules) prolongs(j *jobLeases, token int) bool {
	return j.recorded() && (r.fence != engine.FenceToken || token == len(j.leases))
}

func (j *jobLeases) lend(l leaseRecord) {
	j.leases = append(j.leases, l)
	j.leave(engine.InFlight)
}

func (j *jobLeases) leave(to engine.State) {
	j.state, j.expired, j.lapsed, j.forgotten = to, false, false, false
}

// next takes a step of the lease protocol, which changes j, and returns true; or leaves j and returns false, if the
// protocol has no such step in this state.
func (r *leaseRules) next(j *jobLeases, s leaseStep) bool {
	if s.token > 0 {
		if s.token > len(j.leases) {
			return false
		}
		l := &j.leases[s.token-1]
		return l.holder == s.node && r.nextOfLease(j, l, s)
	}
	ok := false
	switch s.kind {
	case 'L':
		if ok = j.state == engine.Ready; ok {
			j.lend(leaseRecord{holder: s.node, phase: phaseLent})
		}
	case 'l':
		if ok = j.state == engine.Ready; ok {
			j.lend(leaseRecord{holder: s.node, phase: phaseGone})
		}
	case 'K':
		if ok = j.state == engine.InFlight && (j.expired || j.lapsed || j.forgotten && r.orphans); ok {
			j.lend(leaseRecord{holder: s.node, reaps: true, phase: phaseBad})
		}
	case 'X':
		if ok = j.recorded() && !j.expired; ok {
			j.expired = true
		}
	case 'Y':
		if ok = r.lapses && j.recorded() && j.expired; ok {
			j.leases, j.lapsed = append(j.leases, leaseRecord{reaps: true, phase: phaseGone}), true
		}
	case 'M':
		if ok = r.forgets && j.recorded(); ok {
			j.expired, j.forgotten = false, true
		}
	case 'P':
		if ok = j.state == engine.Waiting; ok {
			j.state = engine.Ready
		}
	case 'H':
		if ok = j.state == engine.Ready; ok {
			j.state = engine.Dead
		}
	case 'R':
		if ok = j.state == engine.Dead; ok {
			j.state = engine.Ready
		}
	case 'D':
		ok = true
		for i := range j.leases {
			j.leases[i].dies(s.node)
		}
	}
	return ok
}

// dies changes a lease when a node dies; one that another node holds stays as it is.
func (l *leaseRecord) dies(node int32) {
	switch {
	case l.holder != node || l.phase == phaseGone:
	case l.phase == phaseRunning || l.phase == phaseLost:
		l.gone()
	default:
		l.over = true
	}
}

func (l *leaseRecord) gone() { l.phase, l.over, l.judged = phaseGone, false, false }

// nextOfLease is next for a step of one lease of j.
func (r *leaseRules) nextOfLease(j *jobLeases, l *leaseRecord, s leaseStep) bool {
	ok := false
	switch s.kind {
	case 'E':
		if ok = !l.reaps && s.ok == r.prolongs(j, s.token); ok && s.ok {
			j.expired = false
		}
	case 'S':
		if ok = l.phase == phaseLent && !l.over; ok {
			l.phase = phaseRunning
		}
	case 'F':
		switch ok = true; {
		case l.phase == phaseLost:
			l.gone()
		case l.phase != phaseRunning:
			ok = false
		case s.ok:
			l.phase = phaseGood
		default:
			l.phase = phaseBad
		}
	case 'O':
		switch ok = !l.over && !r.prolongs(j, s.token); {
		case !ok:
		case l.phase == phaseLent:
			l.gone()
		case l.phase == phaseRunning:
			l.phase = phaseLost
		default:
			ok = false
		}
	case 'C':
		if ok = l.speaks() && l.says(s.to) && r.passes(j, s.token); ok {
			l.judge()
			j.leave(s.to)
		}
	case 'Z':
		if ok = l.speaks() && !r.passes(j, s.token); ok {
			l.judge()
		}
	}
	return ok
}

// speaks reports whether the store may yet be told the outcome of l: it was not judged, or comes from a node that has
// died since, whose calls the store does not remember.
func (l *leaseRecord) speaks() bool {
	switch l.phase {
	case phaseLent, phaseBack, phaseGood, phaseBad:
		return !l.judged || l.over
	}
	return false
}

// says reports whether the outcome of l, see speaks, leads to a state of the job.
func (l *leaseRecord) says(to engine.State) bool {
	switch l.phase {
	case phaseGood:
		return to == engine.Done
	case phaseBad:
		return to == engine.Waiting || to == engine.Ready || to == engine.Dead
	}
	return to == engine.Ready
}

func (l *leaseRecord) judge() {
	if l.judged = true; l.phase == phaseLent {
		l.phase = phaseBack
	}
}

// String returns j as lease.pml prints it: digits of the job's state, then of each lease.
func (j *jobLeases) String() string {
	digit := func(is bool) byte {
		if is {
			return '1'
		}
		return '0'
	}
	var b strings.Builder
	b.Write([]byte{'0' + byte(j.state-engine.Ready), digit(j.expired), digit(j.lapsed), digit(j.forgotten)})
	for _, l := range j.leases {
		b.Write([]byte{' ', '0' + byte(l.holder), digit(l.reaps), '0' + byte(l.phase), digit(l.over), digit(l.judged)})
	}
	return b.String()
}

// String returns s as lease.pml prints it: its kind, node, token, and what becomes of it.
func (s leaseStep) String() string {
	what := 0
	switch {
	case s.kind == 'C':
		what = int(s.to - engine.Ready)
	case s.ok:
		what = 1
	}
	return fmt.Sprintf("%c%d%d%d", s.kind, s.node, s.token, what)
}
