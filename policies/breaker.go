package policies

import (
	"fmt"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
)

var _ = builtIn(Kind{
	rank: 130, Name: "breaker", Needs: NeedsDependency, Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1},
	Doc: "As fifo, with a circuit breaker for each dependency in each node: it opens when so many executions in a " +
		"row that call the dependency have failed; then no job that calls it is claimed until the time has " +
		"passed (and up to a tenth more, drawn), and then a single one to try: success closes it, failure starts " +
		"the time anew. The jobs stay queued and spend no attempt, and jobs of other dependencies have the " +
		"workers. A dependency that is down gets one call per node and time. Workers idle while its jobs are " +
		"ready.",
	Params: []Param{
		{Name: "failures", Type: TypeNumber, Default: "5", Positive: true, Doc: "failures in a row that open a breaker"},
		{Name: "probe-after", Type: TypeDuration, Default: "1m", Positive: true,
			Doc: "time from opening to a try, and from one try to the next"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		p := &Breaker{Failures: int(a.Number("failures")), ProbeAfter: a.Duration("probe-after")}
		if len(a.Classes) > mostClasses {
			return nil, fmt.Errorf("%d job classes: it can tell %d apart", len(a.Classes), mostClasses)
		}
		var names []string
		for kind, c := range a.Classes {
			k := engine.Kind(kind)
			at := slices.Index(names, c.Calls)
			switch {
			case c.Calls == "":
				p.Others = p.Others.With(k)
			case at < 0:
				names, p.Kinds = append(names, c.Calls), append(p.Kinds, engine.Kinds(0).With(k))
			default:
				p.Kinds[at] = p.Kinds[at].With(k)
			}
		}
		return p, nil
	},
})

// Breaker is the policy breaker, with a circuit breaker for each dependency: after Failures failed executions in a row
// of jobs that call it, no such job is claimed for ProbeAfter, then a single one (the probe) to test it. Each engine
// has breakers of its own and learns of an outage by its own failures: with n engines, n times Failures calls are lost.
// Cancelled executions and lapsed leases show nothing of a dependency and do not count.
type Breaker struct {
	Failures   int           // failed executions in a row that open a breaker: at least 1
	ProbeAfter time.Duration // time from the opening of a breaker to the first probe: above 0
	// Kinds holds, for each dependency, the job kinds that call it; a kind in no set calls none. Sets
	// are not empty and have no kind in common.
	Kinds []engine.Kinds
	// Others is the set of job kinds that call no dependency.
	Others engine.Kinds

	circuits []circuit // breakers, by dependency
	open     int       // number of breakers that are not closed
	probing  int       // dependency probed by the latest plan, plus 1; 0: none, or the plan is answered
	first    int       // dependency considered first for the next probe
}

// circuit is the state of the circuit breaker of one dependency, as one engine has it.
type circuit struct {
	failures int // failed executions in a row
	state    circuitState
	openedAt engine.Time   // time at which it opened, or at which the probe was claimed; means nothing while it is closed
	wait     time.Duration // time from openedAt to the next probe; 0: not drawn yet
}

type circuitState uint8

const (
	circuitClosed  circuitState = iota
	circuitOpen                 // no job of the dependency is claimed
	circuitProbing              // one job, the probe, was claimed and has not ended
)

// Plan appends one term (part of a claim) for any jobs while all breakers are closed. Otherwise it appends terms for a
// single job, the probe, of a dependency due for a try, then for the job kinds that no breaker holds back. At most one
// dependency is tried by one plan: if there was no job for it, the next plan tries another first.
func (p *Breaker) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if p.probing != 0 {
		p.first = p.probing % len(p.circuits)
	}
	p.probing = 0
	if p.open == 0 {
		return term(dst, engine.AnyClass, v.Idle)
	}
	allowed := p.Others
	for k := range p.circuits {
		i := (p.first + k) % len(p.circuits)
		c := &p.circuits[i]
		if c.state == circuitClosed {
			allowed |= p.Kinds[i]
			continue
		}
		if c.wait == 0 {
			c.wait = p.ProbeAfter + time.Duration(v.Draw(uint16(i))*float64(p.ProbeAfter/10))
		}
		if p.probing == 0 && v.Now.Sub(c.openedAt) >= c.wait {
			p.probing = i + 1
			dst = append(dst, engine.Term{Class: engine.AnyClass, Kinds: p.Kinds[i], Limit: 1})
		}
	}
	if allowed != 0 {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Kinds: allowed, Limit: v.Idle})
	}
	return dst
}

// Observe counts failed executions and opens and closes breakers. The first execution that ends after a probe was
// claimed decides the probe; if none ends within the same wait again, as when its process died, another is sent.
func (p *Breaker) Observe(o *engine.Observation) {
	if p.circuits == nil {
		p.circuits = make([]circuit, len(p.Kinds))
	}
	if !o.Ended {
		p.onClaimed(o)
		return
	}
	i := dependencyOf(o.Job, p.Kinds)
	if i < 0 || o.Failed() && (o.Error == engine.Canceled || o.Error == engine.LeaseExpired) {
		return
	}
	c := &p.circuits[i]
	switch {
	case o.Succeeded() && c.state == circuitOpen:
		// It began before the breaker opened: the dependency may have failed since.
	case o.Succeeded():
		p.set(c, circuitClosed, o.Now)
		c.failures = 0
	case c.state == circuitProbing:
		p.set(c, circuitOpen, o.Now)
	case c.state == circuitClosed:
		if c.failures++; c.failures >= p.Failures {
			p.set(c, circuitOpen, o.Now)
		}
	}
}

// onClaimed starts the wait for a probe, the one job that tests a dependency, if that was among the jobs claimed.
func (p *Breaker) onClaimed(o *engine.Observation) {
	if p.probing == 0 || o.Kinds&p.Kinds[p.probing-1] == 0 {
		return
	}
	p.set(&p.circuits[p.probing-1], circuitProbing, o.Now)
	p.probing = 0
}

func (p *Breaker) set(c *circuit, s circuitState, now engine.Time) {
	if c.state == circuitClosed {
		p.open++
	}
	if c.state, c.openedAt, c.wait = s, now, 0; s == circuitClosed {
		p.open--
	}
}

// dependencyOf returns the index of the dependency that jobs of kind k call, or -1 for none; kinds has each one's jobs.
func dependencyOf(k engine.Kind, kinds []engine.Kinds) int {
	return slices.IndexFunc(kinds, func(set engine.Kinds) bool { return set.Has(k) })
}

// Guarantees lists the policy's guarantees for the invariant checker, for each dependency: after Failures failed
// executions in a row none of its jobs is claimed for ProbeAfter, then, at most a tenth of that later, a single one,
// the probe. If it succeeds, claims go on; if it fails or does not end, another follows after the same time. Other jobs
// are claimed as fifo does. Events show the times between claims; a Law verifies when they open, close and probe.
func (p *Breaker) Guarantees() Promise {
	var brakes []bound.Brake
	for _, kinds := range p.Kinds {
		brakes = append(brakes, bound.Brake{Class: engine.AnyClass, Kinds: kinds, Failures: p.Failures, Every: p.ProbeAfter})
	}
	return Promise{Brakes: brakes, Law: p.law, Hesitates: func(fails, _ int) time.Duration {
		// until the probe that succeeds; each failure delays one, here and at another dependency
		return min(multiply(p.ProbeAfter+p.ProbeAfter/10, int64(2*fails+2)), Century)
	}}
}

// outage is the state of one dependency's circuit breaker, followed independently by the Law that checks plans.
type outage struct {
	failed      int         // failed executions in a row
	open, tried bool        // tried: probed since the breaker opened
	at          engine.Time // time at which it opened, or of the last probe
}

// law returns the Law (plan checker) of the policy breaker: plans must not limit jobs of a dependency whose breaker is
// closed, nor claim more than a due probe of one whose breaker is open, nor leave a probe overdue.
func (p *Breaker) law() Law {
	of, after, tries := make([]outage, len(p.Kinds)), p.ProbeAfter, -1 // tries: dependency probed by the latest plan
	return Law{Plan: func(v *engine.View, terms []engine.Term) string {
		overdue := false
		tries = -1
		for i := range of {
			room := 0
			for k := range terms {
				if t := &terms[k]; t.Kinds == 0 || t.Kinds&p.Kinds[i] != 0 {
					room += t.Limit
				}
			}
			d, since := &of[i], v.Now.Sub(of[i].at)
			switch {
			case !d.open && room < v.Idle:
				return fmt.Sprintf("a plan for %d jobs asks for %d that call dependency %d, after %d failures in a row",
					v.Idle, room, i, d.failed)
			case d.open && (room > 1 || room > 0 && (since < after || tries >= 0)):
				return fmt.Sprintf("a plan asks for %d jobs that call dependency %d, %v after it opened or was tried",
					room, i, since)
			case d.open && room == 1:
				tries = i
			}
			overdue = overdue || d.open && since > after+after/10
		}
		if overdue && tries < 0 {
			return "a plan tries no dependency, and some are to be tried"
		}
		return ""
	}, Observe: func(o *engine.Observation) {
		if !o.Ended {
			if tries >= 0 && o.Kinds&p.Kinds[tries] != 0 {
				of[tries].tried, of[tries].at = true, o.Now
			}
			return
		}
		i := dependencyOf(o.Job, p.Kinds)
		if i < 0 || o.Error == engine.Canceled || o.Error == engine.LeaseExpired {
			return
		}
		switch d := &of[i]; {
		case d.open && !d.tried: // it began before
		case o.Error == engine.NoError:
			*d = outage{}
		default:
			if d.failed++; d.failed >= p.Failures {
				*d = outage{failed: d.failed, open: true, at: o.Now}
			}
		}
	}}
}
