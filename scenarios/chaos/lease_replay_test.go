package chaos

import (
	"fmt"

	"qsim/engine"
	"qsim/engine/check"
)

// leaseReplay is an engine.Recorder that follows each event of a run as steps of the lease protocol, and stores the
// first illegal event. It shares no code with package check, and only the configuration of the run with its rules.
//
// It adds time, which the protocol lacks: a lease expires when its TTL has passed since it was granted or extended.
// If events do not show that time, because extensions apply to all leases of a node, or last for ever, or clocks
// differ, it may have expired at any time.
type leaseReplay struct {
	rules leaseRules
	r     *check.Rules
	timed bool
	jobs  map[engine.JobID]*replayed
	down  map[int32]bool
	steps int
	wrong string // the first event that the protocol does not allow; "": all were
}

// replayed is a job in a leaseReplay, with its executions.
type replayed struct {
	jobLeases
	delivery         int32
	granted, renewed engine.Time // its lease
	runs             []execution // executions by token
}

// execution is one run of a handler in a replayed trace: its delivery, and whether it has overrun its timeout.
type execution struct {
	delivery int32
	overruns bool // the execution has timed out and goes on
	refused  bool // a heartbeat under its token was refused, of which its process may yet have to hear
	aborted  bool // its process is about to die
}

func newLeaseReplay(r *check.Rules) *leaseReplay {
	store, lease := r.Store.Complete(), &r.Node.Lease
	return &leaseReplay{
		rules: leaseRules{fence: store.Fence, lapses: store.LapseAfter >= 0, forgets: true, orphans: store.Orphans},
		r:     r, timed: !lease.Local && !lease.OfNode && !lease.AckAtStart,
		jobs: map[engine.JobID]*replayed{}, down: map[int32]bool{},
	}
}

// Record implements engine.Recorder: it follows events until one is no step of the lease protocol.
func (p *leaseReplay) Record(e *engine.Event) {
	if p.wrong != "" {
		return
	}
	what := ""
	switch e.Kind {
	case engine.Called, engine.CallTimedOut, engine.RefusedLate, engine.NodePause, engine.NodeWake:
		return
	case engine.NodeDown, engine.NodeUp:
		what = p.restart(e)
	case engine.Enqueued:
		what = p.enqueued(e)
	default:
		if j := p.jobs[e.Job]; j == nil {
			what = "there is no such job"
		} else if p.passTime(j, e.At); !p.follow(j, e) {
			what = fmt.Sprintf("it is %v", &j.jobLeases)
		}
	}
	if what != "" {
		p.wrong = fmt.Sprintf("job %d: %s: %s", e.Job, check.Line(e), what)
	}
}

func (p *leaseReplay) enqueued(e *engine.Event) string {
	if p.jobs[e.Job] != nil {
		return "it was enqueued before"
	}
	j := &replayed{jobLeases: jobLeases{state: engine.Ready}}
	if e.Delay > 0 && !p.r.Store.Held {
		j.state = engine.Waiting
	}
	p.jobs[e.Job] = j
	return ""
}

// restart follows a node's death or start, which ends the life in which it claimed jobs. It returns what is wrong, or
// "".
func (p *leaseReplay) restart(e *engine.Event) string {
	p.down[e.Node] = e.Kind == engine.NodeDown
	for id, j := range p.jobs {
		for i, l := range j.leases {
			if l.holder == e.Node && (l.phase == phaseRunning || l.phase == phaseLost || j.runs[i].overruns) && !j.runs[i].aborted {
				return fmt.Sprintf("job %d runs there", id)
			}
			j.runs[i].aborted = j.runs[i].aborted && l.holder != e.Node
		}
		p.take(j, leaseStep{kind: 'D', node: e.Node})
	}
	return ""
}

// take takes a step of the lease protocol for j, and reports whether there is such a step.
func (p *leaseReplay) take(j *replayed, s leaseStep) bool {
	ok := p.rules.next(&j.jobLeases, s)
	if p.steps++; len(j.runs) < len(j.leases) {
		j.runs = append(j.runs, execution{delivery: j.delivery})
	}
	return ok
}

// passTime has the lease of j expire, and lapse, if it must have by now.
func (p *leaseReplay) passTime(j *replayed, now engine.Time) {
	if end := j.renewed.Add(p.r.Node.Lease.TTL); p.timed && j.recorded() && now >= end {
		if !j.expired {
			p.take(j, leaseStep{kind: 'X'})
		}
		if p.rules.lapses && now >= end.Add(p.r.Store.LapseAfter) {
			p.take(j, leaseStep{kind: 'Y'})
		}
	}
}

// ends has the lease of j expire, and lapse if lapsed, when an event shows that and its time is not known (see timed).
func (p *leaseReplay) ends(j *replayed, lapsed bool) {
	if !p.timed && j.recorded() {
		if !j.expired {
			p.take(j, leaseStep{kind: 'X'})
		}
		if lapsed && p.rules.lapses {
			p.take(j, leaseStep{kind: 'Y'})
		}
	}
}

// follow takes the steps of an event about j, and reports whether the lease protocol has them.
func (p *leaseReplay) follow(j *replayed, e *engine.Event) bool {
	token := int(e.Token)
	switch e.Kind {
	case engine.Leased:
		return p.leased(j, e)
	case engine.LeaseTaken:
		return p.taken(j, e)
	case engine.Promoted:
		return p.take(j, leaseStep{kind: 'P'})
	case engine.Redriven:
		return p.take(j, leaseStep{kind: 'R'})
	case engine.LeaseForgotten:
		return p.take(j, leaseStep{kind: 'M'})
	case engine.GaveUp:
		return p.r.Node.Commit.Tries > 0 && p.r.Node.Commit.Drop
	case engine.Extended, engine.ExtendRefused:
		ok := e.Kind == engine.Extended
		if !ok && p.rules.prolongs(&j.jobLeases, token) {
			p.ends(j, true)
		}
		if ok {
			j.renewed = e.At
		} else if token >= 1 && token <= len(j.runs) {
			j.runs[token-1].refused = true
		}
		return p.take(j, leaseStep{kind: 'E', node: e.Node, token: token, ok: ok})
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		return p.committed(j, e)
	case engine.Fenced:
		return p.fenced(j, e)
	case engine.Aborted:
		return p.aborted(j, e)
	}
	if token < 1 || token > len(j.leases) || j.runs[token-1].delivery != e.Delivery {
		return false
	}
	return p.perceived(j, e)
}

func (p *leaseReplay) leased(j *replayed, e *engine.Event) bool {
	if p.rules.lapses && !p.timed && p.rules.fence != engine.FenceToken && int(e.Token) == len(j.leases)+2 {
		// The lease before had lapsed when its outcome came, which such a fence lets through.
		j.leases, j.runs = append(j.leases, leaseRecord{reaps: true, phase: phaseGone}), append(j.runs, execution{})
	}
	if j.delivery++; int(e.Token) != len(j.leases)+1 || e.Delivery != j.delivery {
		return false
	}
	j.granted, j.renewed = e.At, e.At
	kind := byte('L')
	if p.down[e.Node] {
		kind = 'l'
	}
	return p.take(j, leaseStep{kind: kind, node: e.Node})
}

func (p *leaseReplay) taken(j *replayed, e *engine.Event) bool {
	reaper, ttl := &p.r.Node.Reaper, p.r.Node.Lease.TTL
	switch {
	case reaper.Guard > engine.FenceToken: // it goes by what it has read, whatever has become of the lease since
		j.expired = j.expired || j.recorded() || j.forgotten
		j.forgotten = false
	case reaper.Guard == engine.FenceToken && e.At >= j.granted.Add(ttl).Add(reaper.Grace): // it had expired when it was read
		j.expired = j.expired || j.recorded()
		j.expired, j.forgotten = j.expired || j.forgotten, false
	case p.timed && j.recorded() && e.At < j.renewed.Add(ttl).Add(reaper.Grace):
		return false
	default:
		p.ends(j, int(e.Token) == len(j.leases)+2)
	}
	if int(e.Token) != len(j.leases)+1 || e.Delivery != j.delivery {
		return false
	}
	j.granted, j.renewed = e.At, e.At
	return p.take(j, leaseStep{kind: 'K', node: e.Node})
}

// ofGuard reports whether an outcome is that of a reaper which has read the lease first, and writes in a second call.
func (p *leaseReplay) ofGuard(e *engine.Event) bool {
	return p.r.Node.Reaper.Guard != engine.FenceDefault && e.Error == engine.LeaseExpired
}

func (p *leaseReplay) committed(j *replayed, e *engine.Event) bool {
	to := map[engine.EventKind]engine.State{engine.Acked: engine.Done, engine.Buried: engine.Dead, engine.Returned: engine.Ready, engine.Nacked: engine.Waiting}[e.Kind]
	if e.Kind == engine.Nacked && p.r.Store.Held {
		to = engine.Ready
	}
	switch {
	case e.From != j.state:
		return false
	case e.Token == 0:
		return p.r.Sheds > 0 && e.Kind == engine.Buried && p.take(j, leaseStep{kind: 'H'})
	case p.ofGuard(e) && e.From != engine.InFlight: // the weakest guard: it takes whatever has not ended
		if p.r.Node.Reaper.Guard != engine.FenceNone || j.state > engine.InFlight || int(e.Token) != len(j.leases)+1 {
			return false
		}
		j.leases, j.runs = append(j.leases, leaseRecord{holder: e.Node, reaps: true, phase: phaseBad, judged: true}), append(j.runs, execution{delivery: j.delivery})
		j.leave(to)
		return true
	case int(e.Token) > len(j.leases) || j.leases[e.Token-1].reaps != (e.Error == engine.LeaseExpired),
		j.runs[e.Token-1].delivery != e.Delivery && !p.ofGuard(e): // that of what was read
		return false
	}
	return p.take(j, leaseStep{kind: 'C', node: e.Node, token: int(e.Token), to: to})
}

func (p *leaseReplay) fenced(j *replayed, e *engine.Event) bool {
	rules := p.rules
	if p.ofGuard(e) {
		rules.fence = p.r.Node.Reaper.Guard
		return !rules.passes(&j.jobLeases, int(e.Token))
	}
	if rules.passes(&j.jobLeases, int(e.Token)) {
		p.ends(j, true)
	}
	return p.take(j, leaseStep{kind: 'Z', node: e.Node, token: int(e.Token)})
}

// aborted follows an event of an execution that ends as its node dies, and reports whether the protocol allows it.
func (p *leaseReplay) aborted(j *replayed, e *engine.Event) bool {
	for i := range j.leases {
		if l, run := &j.leases[i], &j.runs[i]; run.delivery == e.Delivery && !l.reaps && l.holder == e.Node {
			run.aborted, run.overruns = true, false
			return l.phase == phaseRunning || l.phase == phaseLost || l.phase == phaseBad
		}
	}
	return false
}

// perceived follows an event of an execution, as its node sees it, and reports whether the lease protocol allows it.
func (p *leaseReplay) perceived(j *replayed, e *engine.Event) bool {
	token := int(e.Token)
	l, run := &j.leases[token-1], &j.runs[token-1]
	switch e.Kind {
	case engine.Started:
		return p.take(j, leaseStep{kind: 'S', node: e.Node, token: token})
	case engine.TimedOut: // its outcome is that; the handler goes on
		if e.WaitsOut { // it has none yet
			return l.phase == phaseRunning
		}
		run.overruns = true
		return l.phase == phaseRunning && p.take(j, leaseStep{kind: 'F', node: e.Node, token: token})
	case engine.Finished:
		if run.overruns {
			run.overruns = false
			return l.holder == e.Node
		}
		return p.take(j, leaseStep{kind: 'F', node: e.Node, token: token, ok: e.Error == engine.NoError})
	case engine.LeaseLost:
		switch {
		case p.r.Node.Lease.Local, // by the node's own clock, whatever the store thinks
			run.refused && p.rules.prolongs(&j.jobLeases, token): // without a fence a reaper has made it good since
			if l.phase == phaseRunning {
				l.phase = phaseLost
			} else if !run.overruns {
				l.gone()
			}
			return l.holder == e.Node
		case p.rules.prolongs(&j.jobLeases, token):
			p.ends(j, true)
		}
		if run.overruns {
			return !p.rules.prolongs(&j.jobLeases, token)
		}
		return p.take(j, leaseStep{kind: 'O', node: e.Node, token: token})
	}
	return false
}
