package world

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results/measure"
)

// Mechanism summarises the store calls and executions of the engines in one phase of a run, to explain waits and
// throughput. Times are those of the wall clock.
type Mechanism struct {
	Phase    string        // names of the storms, or "calm", or "drain" when no more jobs arrive
	From, To time.Duration // scenario time of the phase; the last phase ends with the last execution
	Lasts    time.Duration // length on the wall clock, over all runs
	Attempts int64
	Busy     time.Duration // run time of all executions together
	Claims   Calls
	Woken    int64         // number of claims caused by a wake
	Gap      time.Duration // sum over all claims of the time since the previous answer to a claim of the same engine
	Commits  Calls
}

// Calls sums the answered store calls of one operation, such as claims: their number, rows and time.
type Calls struct {
	Count, Rows int64
	Took        time.Duration
}

func (c *Calls) add(rows int, took time.Duration) {
	c.Count++
	c.Rows += int64(rows)
	c.Took += took
}

// Mechanics sums the store calls and executions of all runs of one scenario by phase. Its methods take times of the
// wall clock.
type Mechanics struct {
	Phases   []Mechanism
	speed    Speed
	answered []time.Duration // by node, time of the latest answer to a claim
	last     time.Duration   // end of the latest execution
}

// NewMechanics returns sums of zero for each phase of a scenario: a phase ends where a storm begins or ends, and where
// arrivals end.
func NewMechanics(s *measure.Settings, speed Speed) *Mechanics {
	m := &Mechanics{speed: speed}
	cuts := []time.Duration{0, s.Duration}
	for _, w := range s.Storms {
		cuts = append(cuts, min(w.From, s.Duration), min(w.To, s.Duration))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i, from := range cuts {
		p := Mechanism{Phase: "drain", From: from, To: time.Duration(engine.Never)}
		if i+1 < len(cuts) {
			blowing := ""
			for _, w := range s.Storms {
				if w.From <= from && from < w.To {
					blowing += "+" + w.Name
				}
			}
			p.Phase, p.To = cmp.Or(strings.TrimPrefix(blowing, "+"), "calm"), cuts[i+1]
		}
		m.Phases = append(m.Phases, p)
	}
	return m
}

// at returns the phase of a scenario (between starts and ends of storms) that a time of the wall clock falls in.
func (m *Mechanics) at(t time.Duration) *Mechanism {
	of := m.speed.Virtual(t)
	i := len(m.Phases) - 1
	for i > 0 && m.Phases[i].From > of {
		i--
	}
	return &m.Phases[i]
}

// Call counts a store call, with the number of rows that it returned or changed, in the phase in which it ended.
func (m *Mechanics) Call(c *engine.Call, rows int, began, ended time.Duration) {
	p := m.at(ended)
	switch c.Op {
	case engine.OpCommit:
		p.Commits.add(rows, ended-began)
	case engine.OpClaim:
		p.Claims.add(rows, ended-began)
		if c.Woken {
			p.Woken++
		}
		node := int(c.Engine.Node())
		for len(m.answered) <= node {
			m.answered = append(m.answered, 0)
		}
		p.Gap += max(0, began-m.answered[node])
		m.answered[node] = ended
	}
}

// Attempt counts an execution in the phase in which it began, and adds its run time to each phase that it overlaps.
func (m *Mechanics) Attempt(began, ended time.Duration) {
	m.at(began).Attempts++
	m.last = max(m.last, ended)
	for i := range m.Phases {
		p := &m.Phases[i]
		from, to := m.bounds(p)
		p.Busy += max(0, min(ended, to)-max(began, from))
	}
}

// bounds returns the start and the end of a phase on the wall clock. The last phase has no end.
func (m *Mechanics) bounds(p *Mechanism) (from, to time.Duration) {
	return m.speed.Real(p.From), m.speed.Real(p.To)
}

// Over ends one run and adds how long each phase lasted to its total; later calls and executions are of the next run.
func (m *Mechanics) Over() {
	for i := range m.Phases {
		p := &m.Phases[i]
		from, to := m.bounds(p)
		p.Lasts += max(0, min(to, m.last)-from)
	}
	m.answered, m.last = nil, 0
}
