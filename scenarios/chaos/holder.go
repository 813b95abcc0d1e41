package chaos

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
	"qsim/results/plain"
)

// What a process may ask of the store by its own clock: how long it leads, how long its leases are and when they end,
// and when a retry is due. The times at which calls set out and answers arrive give that exactly.

// shift is a virtual time at which a storm changes the wall clock of a node.
type shift struct {
	node int32
	at   engine.Time
}

// attempt is a map key for an attempt of a job on a node. error is set only in keys of wire.answers.
type attempt struct {
	node     int32
	job      engine.JobID
	delivery int32
	error    engine.ErrorKind
}

// answer records a delay that a retry policy returned for a failed attempt, and when it did.
type answer struct {
	at    engine.Time
	delay time.Duration
}

// held is what a process knows about a lease that it holds: when it got it, and when it ends by its own clock.
type held struct {
	from engine.Time // the answer to its claim arrives
	ends engine.Time // by the wall clock of the holder, at the latest; Never: that does not count
}

// asks checks a call when a process sends it to the store: the process must not be frozen, must be the leader if the
// call needs one, must give the right lease TTL, and must send no outcome after the lease's end by its own clock.
func (w *wire) asks(now engine.Time, c *engine.Call) {
	node, cfg := c.Engine.Node(), &w.setup.Node
	if w.checker.Froze(node, engine.Never) {
		w.checker.Complain(check.Effects, 0, "node %d is frozen, and makes a %v", node, c.Op)
	}
	led := c.Op == engine.OpRecover && cfg.Reaper.LeaderOnly ||
		c.Op == engine.OpPromote && cfg.Promoter.LeaderOnly && c.Step < 2
	if until := w.nodes[node].leads[c.Op]; led && now >= until {
		w.checker.Complain(check.Recovery, 0, "node %d makes a %v, and leads no longer than until %v",
			node, c.Op, time.Duration(until))
	}
	if c.Op == engine.OpClaim || c.Op == engine.OpExtend {
		if want := w.ttl(c); c.TTL != want {
			w.checker.Complain(check.Leases, 0, "node %d asks in a %v for leases of %v, want %v", node, c.Op, c.TTL, want)
		}
	}
	for i, k := range c.Keys {
		if c.Op == engine.OpExtend && slices.Contains(c.Keys[:i], k) {
			w.checker.Complain(check.Leases, k.Job, "node %d asks for it twice in a heartbeat", node)
		}
	}
	w.takesOver(now, c)
	w.claimsPromoted(now, c)
	if c.Op == engine.OpClaim {
		w.checker.Claims(node, true)
		w.takesTurns(now, c)
	}
	if c.Op != engine.OpCommit || w.sent[c.Batch.ID] {
		return
	}
	w.sent[c.Batch.ID] = true
	for i := range c.Batch.Outcomes {
		o := &c.Batch.Outcomes[i]
		late := o.Error == engine.Canceled || o.Error == engine.LeaseExpired // handed back, or a reaper's
		if h, ok := w.held[o.LeaseKey]; ok && !late && now.Add(w.setup.sim.Ahead(node)) >= h.ends {
			w.checker.Complain(check.Leases, o.Job, "node %d sends the outcome of a lease that ended at %v by its clock",
				node, time.Duration(h.ends))
		}
		w.dated(now, node, o)
	}
}

// takesOver checks that a process which has become the leader for recovery searches for expired leases at once.
func (w *wire) takesOver(now engine.Time, c *engine.Call) {
	node, n, cfg := c.Engine.Node(), &w.nodes[c.Engine.Node()], w.setup.Node
	begins := w.heeds(now, node)
	alone := begins > n.looks // no such call was under way
	looks := begins > 0 && cfg.Reaper.Guard == engine.FenceDefault && !w.setup.checked.Stalls
	if looks && now > begins && alone && !w.checker.Froze(node, begins) && !w.checker.Stops(node) {
		w.checker.Complain(check.Recovery, 0, "node %d leads since %v, and has not looked for expired leases",
			node, time.Duration(begins))
	}
	if c.Op == engine.OpLead && c.Role == engine.OpRecover {
		n.asks = c.ID
	}
	if c.Op == engine.OpRecover {
		n.recovers, n.looks = c.ID, now.Add(cfg.CallTimeout)
	}
}

// heeds applies the replies that have come by now to a process's requests to lead the recovery, as its elector does:
// the reply to the latest request counts, and an earlier one unless it timed out or a later one has come. It returns
// when the process began to lead; 0 if it did not.
func (w *wire) heeds(now engine.Time, node int32) (begins engine.Time) {
	n, cfg := &w.nodes[node], w.setup.Node
	slices.SortStableFunc(n.told, func(a, b told) int { return cmp.Compare(a.comes, b.comes) })
	for ; len(n.told) > 0 && n.told[0].comes <= now; n.told = n.told[1:] {
		a := &n.told[0]
		if a.request <= n.heard || a.request != n.asks && a.comes.Sub(a.sent) >= cfg.CallTimeout {
			continue
		}
		until := plain.Either(a.leads, a.sent.Add(cfg.Leader.TTL), 0)
		if begins == 0 && n.until <= a.comes && a.comes < until {
			begins = a.comes
		}
		n.heard, n.until = a.request, plain.Either(w.checker.Froze(node, a.comes), engine.Never, until)
	}
	return begins
}

// claimsPromoted checks that a process with idle workers plans a claim once it has made waiting jobs ready.
func (w *wire) claimsPromoted(now engine.Time, c *engine.Call) {
	node, n := c.Engine.Node(), &w.nodes[c.Engine.Node()]
	if n.promoted > 0 && now > n.promoted {
		if w.checker.Idles(node, n.promoted) && w.checker.MayClaim(node) && !w.checker.HasPlanned(node, n.promoted) {
			w.checker.Complain(check.Idleness, 0, "node %d has promoted jobs by %v and idle workers, and plans no claim",
				node, time.Duration(n.promoted))
		}
		n.promoted = 0
	}
	if c.Op == engine.OpPromote {
		n.promotes = c.ID
	}
}

// woken counts the latest claims in a row that were caused by wakes and came from one node, since the first of them.
type woken struct {
	node  int32
	times int
	since engine.Time
}

// takesTurns checks, in worlds where a new job wakes just one node, that idle nodes are woken in turn.
func (w *wire) takesTurns(now engine.Time, c *engine.Call) {
	r := &w.setup.checked
	byTurns := w.setup.config.Wake == sim.WakeOne && r.Soon.Claim > 0 && w.setup.Node.Fetch.Cooldown == 0
	if !c.Woken || !byTurns || now < r.Soon.From {
		return
	}
	if x := &w.woken; x.times > 0 && x.node == c.Engine.Node() {
		x.times++
	} else {
		*x = woken{c.Engine.Node(), 1, now}
	}
	for i := range int32(len(w.nodes)) {
		if w.woken.times > 6 && now.Sub(w.woken.since) > r.Trip && i != w.woken.node && w.checker.Idles(i, w.woken.since) {
			w.checker.Complain(check.Idleness, 0, "node %d was woken %d times in a row, and node %d idles",
				w.woken.node, w.woken.times, i)
		}
	}
}

// ttl returns the lease TTL that a process must send with a call, with its clock's lead if it ends leases by that.
func (w *wire) ttl(c *engine.Call) time.Duration {
	switch l := &w.setup.Node.Lease; {
	case l.AckAtStart && c.Op == engine.OpExtend:
		return engine.Forever
	case l.Local:
		return l.TTL + w.setup.sim.Ahead(c.Engine.Node())
	default:
		return l.TTL
	}
}

// dated checks the delay in the outcome of a failed job when its batch is first sent: it must be what the retry policy
// returned, counted from the event that the scenario's key retry.from selects.
func (w *wire) dated(now engine.Time, node int32, o *engine.Outcome) {
	answers := w.answers[attempt{node, o.Job, o.Delivery, o.Error}]
	if len(answers) == 0 || o.Verb != engine.Nack && o.Verb != engine.Snooze {
		return
	}
	kinds := w.setup.Node.Kinds
	k, want := &kinds[min(int(o.Kind), len(kinds)-1)], time.Duration(0)
	for _, a := range answers {
		from := a.at
		h, claimed := w.held[o.LeaseKey]
		switch {
		case k.From == 0:
			from = now
		case k.From != engine.Leased:
		case o.Guard != engine.FenceDefault || claimed && w.checker.Froze(node, h.from):
			return // it is not known
		case claimed:
			from = h.from
		}
		due := from.Add(a.delay)
		if k.Grain > 0 {
			due -= due % engine.Time(k.Grain)
		}
		if want = max(0, due.Sub(now)); want == o.Delay {
			return
		}
	}
	w.checker.Complain(check.Delays, o.Job, "node %d asks for a delay of %v after delivery %d, want %v",
		node, o.Delay, o.Delivery, want)
}

// learns records what a process knows from the time comes on, when the store's reply reaches it: that it leads, which
// leases it holds until when, and that it has made waiting jobs ready.
func (w *wire) learns(c *engine.Call, r *engine.Reply, s *sent, comes engine.Time) {
	l, n := &w.setup.Node.Lease, &w.nodes[c.Engine.Node()]
	ends := engine.Never
	if l.Local && !l.OfNode && !l.AckAtStart {
		ends = s.clock.Add(l.TTL)
	}
	if c.Op == engine.OpRecover && n.engine == c.Engine && c.ID == n.recovers && !s.fate.LoseReply {
		n.looks = min(n.looks, comes)
	}
	if c.Op == engine.OpLead && c.Role == engine.OpRecover && n.engine == c.Engine && r.Err == nil && !s.fate.LoseReply {
		n.told = append(n.told, told{c.ID, s.at, comes, r.Leading})
	}
	switch {
	case r.Err != nil:
	case c.Op == engine.OpLead && n.engine != c.Engine: // of a former life
	case c.Op == engine.OpLead && !r.Leading:
		if until := n.leads[c.Role]; w.setup.sim.Now() < until {
			w.checker.Complain(check.Recovery, 0, "node %d leads until %v and may not renew that",
				c.Engine.Node(), time.Duration(until))
		}
	case c.Op == engine.OpLead:
		n.leads[c.Role] = max(n.leads[c.Role], s.at.Add(w.setup.Node.Leader.TTL))
	case c.Op == engine.OpPromote && n.engine == c.Engine && c.ID == n.promotes:
		heard := !s.fate.LoseReply && !s.fate.Duplicate && comes.Sub(s.at) < w.setup.Node.CallTimeout
		if c.Step != 1 && len(r.Promoted) > 0 && heard && !w.setup.Node.Fetch.IgnoreDue {
			n.promoted = comes
		}
	case c.Op == engine.OpClaim:
		if l.RunLate {
			ends = engine.Never // if it comes late it counts from its arrival
		}
		for i := range r.Leases {
			lease := &r.Leases[i]
			w.held[lease.Key()] = held{comes, ends}
			w.leases[attempt{c.Engine.Node(), lease.ID, lease.Delivery, 0}] = lease.Key()
		}
	case c.Op == engine.OpExtend && !c.OfNode:
		for i, k := range c.Keys {
			if h, ok := w.held[k]; ok && r.Extensions[i] == engine.Applied {
				w.held[k] = held{h.from, max(h.ends, ends)}
			}
		}
	}
}

// over checks that an execution which obeys cancellation has ended by the end of its lease, by its node's clock.
func (w *wire) over(node int32, j *engine.Job) {
	h, ok := w.held[w.leases[attempt{node, j.ID, j.Delivery, 0}]]
	if !ok || h.ends == engine.Never || !w.setup.checked.Heeds || w.checker.Froze(node, h.from) {
		return
	}
	now, ended := w.setup.sim.Now(), h.ends.Add(-w.setup.sim.Ahead(node))
	for _, s := range w.setup.shifts {
		if s.node == node && s.at <= now {
			ended = max(ended, s.at)
		}
	}
	if now > ended {
		w.checker.Complain(check.Effects, j.ID, "it runs at node %d until %v, and its lease ended there at %v",
			node, time.Duration(now), time.Duration(ended))
	}
}
