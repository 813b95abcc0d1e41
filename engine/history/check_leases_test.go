package history

import (
	"cmp"
	"slices"

	"qsim/engine"
)

// common holds the parts of the histories that concern no single job: heartbeats of nodes, leaders.
type common struct {
	extends  map[int32][]*Call // answered extensions of all leases of a node, in the order in which they began
	redrives []*Call           // without an answer: of any jobs
}

func newCommon(calls []Call) *common {
	s := &common{extends: map[int32][]*Call{}}
	for i := range calls {
		switch c := &calls[i]; {
		case c.Op == ExtendNode && c.Answer == Answered:
			node := c.Batch.Engine.Node()
			s.extends[node] = append(s.extends[node], c)
		case c.Op == Redrive && c.Answer == Unknown:
			s.redrives = append(s.redrives, c)
		}
	}
	for _, some := range s.extends {
		slices.SortStableFunc(some, callsByBegin)
	}
	return s
}

func callsByBegin(a, b *Call) int { return cmp.Compare(a.Began, b.Began) }

// checkLeases checks that tokens rise and leases do not overlap.
func (j *jobHistory) checkLeases(found finder) {
	for i, a := range j.leases {
		for k, b := range j.leases {
			if k > i && a.item.Token == b.item.Token || a.call.Ended <= b.call.Began && a.item.Token > b.item.Token {
				found(TokenNotRising, "%v, then %v", a, b)
			}
			if k != i && j.overlap(a, b) {
				found(Overlapping, "%v, before the end of %v", b, a)
			}
		}
	}
}

// overlap reports whether b was certainly granted while a was held: after a was, before its end, and before its holder
// may have given it up. Of two that were granted at the same time, the one of the lower token was the first, if it
// matters which.
func (j *jobHistory) overlap(a, b sighting) bool {
	if a.call.Ended <= b.call.Began {
		return j.holds(a, b.call, b.item.Token)
	}
	return b.call.Ended > a.call.Began && a.item.Token < b.item.Token && j.holds(a, b.call, b.item.Token) && j.holds(b, a.call, a.item.Token)
}

// holds reports whether a lease, if it was granted before a call took effect, was certainly held at that time. token is
// of the lease that the call granted, 0: none. The store counts a TTL from when it granted or extended a lease, which
// was not before that call began.
func (j *jobHistory) holds(a sighting, call *Call, token engine.Token) bool {
	end := a.call.Began.Add(a.call.TTL)
	for _, s := range j.extends {
		// An extension that came after the call tells nothing of the time of it.
		if s.item.Token == a.item.Token && s.call.Ended <= call.Began {
			end = max(end, s.call.Began.Add(s.call.TTL))
		}
	}
	if a.call.Op == Claim && token == a.item.Token+1 { // so nobody else had it in between
		end = max(end, j.common.extended(a.call, call.Began))
	}
	return call.Ended < end && !slices.ContainsFunc(j.commits, func(s sighting) bool {
		return s.item.Token == a.item.Token && s.possible() && s.call.Began <= call.Ended
	})
}

// extended returns the time until which the node of claim has extended all its leases, by calls that were made after
// claim and had ended at a time.
func (s *common) extended(claim *Call, before engine.Time) (end engine.Time) {
	holder := claim.Batch.Engine
	all := s.extends[holder.Node()]
	from, _ := slices.BinarySearchFunc(all, claim.Ended, func(c *Call, at engine.Time) int { return cmp.Compare(c.Began, at) })
	for _, c := range all[from:] {
		if c.Began >= before {
			break
		}
		if c.Ended <= before && (c.Kept || c.Batch.Engine == holder) {
			end = max(end, c.Began.Add(c.TTL))
		}
	}
	return end
}

// checkLeaders checks that no engine becomes leader before the term of another one is over.
func (r *Report) checkLeaders(calls []Call) {
	var granted []*Call
	for i := range calls {
		if c := &calls[i]; c.Op == Lead && c.Answer == Answered && c.Granted > 0 {
			granted = append(granted, c)
		}
	}
	slices.SortStableFunc(granted, callsByBegin)
	var leading []*Call
	for _, b := range granted {
		leading = slices.DeleteFunc(leading, func(a *Call) bool { return a.Began.Add(a.TTL) <= b.Began })
		for _, a := range leading {
			if a.Role == b.Role && a.Batch.Engine != b.Batch.Engine && a.Ended <= b.Began && b.Ended < a.Began.Add(a.TTL) {
				r.Anomalies = append(r.Anomalies, Anomaly{Kind: TwoLeaders, Text: b.tell(&Item{}) + ", before the end of " + a.tell(&Item{})})
				break
			}
		}
		leading = append(leading, b)
	}
}
