package chaos

import (
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
	"qsim/scenarios/world"
)

// listen returns a checker of the simulation's invariants. Wrappers around parts of the simulation pass it what no
// event records: stop signals to processes, calls on their way, and the inputs of policies.
func (s *setup) listen() *check.Checker {
	w := &wire{Network: s.config.Network, setup: s, nodes: make([]caller, s.Nodes),
		calls: map[callID]sent{}, taken: map[engine.JobID]taker{}, sent: map[engine.BatchID]bool{},
		held: map[engine.LeaseKey]held{}, answers: map[attempt][]answer{}, leases: map[attempt]engine.LeaseKey{}}
	if s.checked.LostWaiting != nil {
		s.checked.LostWaiting = w.mayHaveLost
	}
	c := check.New(s.checked)
	w.checker, s.wire = c, w
	s.config.Network, s.config.Claimed = w, w.overtaken
	for i := range s.config.Nodes {
		n := &s.config.Nodes[i]
		kinds := append([]engine.KindConfig(nil), n.Kinds...)
		for k := range kinds {
			kinds[k].Retry = asked{kinds[k].Retry, w, int32(i)}
		}
		n.Kinds = kinds
	}
	s.config.Policy = world.Watch(s.config.Policy, s.Policy, c, true)
	return c
}

// asked is a retry policy that reports its calls and results to the checker.
type asked struct {
	engine.RetryPolicy
	wire *wire
	node int32
}

func (a asked) Next(j *engine.Job, e engine.ErrorKind, u float64) (engine.Verb, time.Duration) {
	now := a.wire.setup.sim.Now()
	a.wire.checker.Asked(now, a.node, j, u)
	verb, delay := a.RetryPolicy.Next(j, e, u)
	of := attempt{a.node, j.ID, j.Delivery, e}
	a.wire.answers[of] = append(a.wire.answers[of], answer{now, delay})
	return verb, delay
}

// wire wraps the simulated network between processes and store. It checks what processes may send by what they know,
// that calls reach the store unchanged, and that a process pauses after a refused claim; and it knows which process
// holds the jobs that a promoter has taken.
type wire struct {
	sim.Network
	setup   *setup
	checker *check.Checker
	calls   map[callID]sent        // calls on their way to the store
	taken   map[engine.JobID]taker // takers of waiting jobs, from the answer to TakeDue on
	nodes   []caller
	sent    map[engine.BatchID]bool // batches that have set out
	held    map[engine.LeaseKey]held
	answers map[attempt][]answer
	leases  map[attempt]engine.LeaseKey // leases of attempts
	woken   woken
}

// taker is the process that took a waiting job in the first of a promotion's two steps, and when its call was sent.
type taker struct {
	engine engine.EngineID
	at     engine.Time
}

type callID struct {
	engine engine.EngineID
	id     uint64
}

// sent is the record of a call that is on its way to the store: when it was sent, and what the network does to it.
type sent struct {
	at      engine.Time
	clock   engine.Time // wall clock of the sender at that time
	content sim.Digest
	fate    sim.Fate
}

// caller is what the network knows about a process since its latest start, such as when it may claim again.
type caller struct {
	engine   engine.EngineID            // its latest life
	claims   engine.Time                // earliest time of its next claim, unless it is woken
	leads    [engine.NumOps]engine.Time // by role, latest end of its leadership
	asks     uint64                     // ID of its latest request to lead the recovery
	heard    uint64                     // ID of the latest such request whose answer counted
	told     []told                     // answers to such requests that have not come yet
	until    engine.Time                // end of that leadership as the process knows it; Never: not known
	recovers uint64                     // ID of its latest call to recover
	looks    engine.Time                // end of that call: its answer arrives, or it has timed out
	claim    uint64                     // ID of its latest claim
	promotes uint64                     // ID of its latest call to promote
	promoted engine.Time                // arrival of an answer with promoted jobs, at which it must plan a claim; 0: none
}

// told is the reply to a request to lead the recovery: the request's ID, when that was sent, and when the reply comes.
type told struct {
	request     uint64
	sent, comes engine.Time
	leads       bool
}

// content returns a fingerprint of the jobs in a call, by which wire finds a call that was changed on its way.
func content(c *engine.Call) (d sim.Digest) {
	for _, k := range c.Keys {
		d.Add(&engine.Event{Job: k.Job, Token: k.Token})
	}
	for i := range c.Batch.Outcomes {
		o := &c.Batch.Outcomes[i]
		d.Add(&engine.Event{Job: o.Job, Token: o.Token, Slot: engine.Slot(o.Verb), Delay: o.Delay})
	}
	for _, j := range c.Jobs {
		d.Add(&engine.Event{Job: j})
	}
	return d
}

func (w *wire) Request(now engine.Time, c *engine.Call) sim.Fate {
	n := &w.nodes[c.Engine.Node()]
	if n.engine != c.Engine {
		*n = caller{engine: c.Engine}
	}
	w.asks(now, c)
	if c.Op == engine.OpClaim {
		if !c.Woken && now < n.claims {
			w.checker.Complain(check.Shares, 0, "node %d claims, and was to pause until %v since a claim was refused",
				c.Engine.Node(), time.Duration(n.claims))
		}
		n.claims, n.claim = 0, c.ID
	}
	if c.Op == engine.OpCommit {
		for i := range c.Batch.Outcomes { // it waits anew, and whoever takes it then is not known yet
			delete(w.taken, c.Batch.Outcomes[i].Job)
		}
	}
	fate := w.Network.Request(now, c)
	if !fate.LoseRequest {
		w.calls[callID{c.Engine, c.ID}] = sent{now, now.Add(w.setup.sim.Ahead(c.Engine.Node())), content(c), fate}
		if c.Op == engine.OpExtend {
			w.checker.Extends(c.Engine.Node())
		}
	}
	return fate
}

// overtaken tells the checker that a claim reached the store after its process had given it up and sent another.
func (w *wire) overtaken(c *engine.Call) {
	if n := &w.nodes[c.Engine.Node()]; n.engine != c.Engine || n.claim != c.ID {
		w.checker.Overtaken(c.Engine.Node(), w.setup.sim.Now())
	}
}

func (w *wire) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *sim.Rows) time.Duration {
	d := w.Network.Reply(now, c, r, rows)
	id := callID{c.Engine, c.ID}
	s := w.calls[id]
	if !s.fate.Duplicate {
		delete(w.calls, id)
	}
	if got := content(c); got != s.content {
		w.checker.Complain(check.Recount, 0, "a %v of node %d names other jobs at the store than when it was sent",
			c.Op, c.Engine.Node())
	}
	node := &w.setup.Node
	comes := now.Add(d)
	heard := !s.fate.LoseReply && !s.fate.Duplicate && comes.Sub(s.at) < node.CallTimeout
	w.learns(c, r, &s, comes)
	switch {
	case c.Op == engine.OpPromote && c.Step == 1:
		for i := range r.Promoted {
			delete(w.taken, r.Promoted[i].Job)
			if heard {
				w.taken[r.Promoted[i].Job] = taker{c.Engine, s.at}
			}
		}
	case c.Op == engine.OpClaim && r.Err != nil && heard && w.pausesAlone() && w.nodes[c.Engine.Node()].engine == c.Engine:
		w.nodes[c.Engine.Node()].claims = comes.Add(w.pause())
	}
	return d
}

// pausesAlone reports whether, in this world, nothing but a wake may end the pause after a refused claim early.
func (w *wire) pausesAlone() bool {
	n := &w.setup.Node
	// With backpressure a claim may follow a wake that came when there was too much to commit.
	return n.Fetch.Prefetch == 0 && n.Fetch.Cooldown == 0 && n.Promoter.Every == 0 && !n.Lease.RunLate &&
		!w.setup.Options.Held && n.Commit.Backpressure == 0
}

// pause returns how long a process must not claim after a claim was refused: the error pause or else the poll.
func (w *wire) pause() time.Duration {
	f := &w.setup.Node.Fetch
	if f.ErrorPause == 0 {
		return f.Poll
	}
	return max(0, f.ErrorPause)
}

// mayHaveLost reports whether a waiting job that a promoter took may be lost: its process has died since, was frozen
// when the reply came, or is not known.
func (w *wire) mayHaveLost(job engine.JobID) bool {
	t, ok := w.taken[job]
	return !ok || w.nodes[t.engine.Node()].engine != t.engine || w.checker.Froze(t.engine.Node(), t.at)
}
