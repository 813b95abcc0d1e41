package chaos

import (
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/sim"
)

// answered is a network that changes answers after the recorder has seen them, as if the engine misread them.
type answered struct {
	sim.Network
	request func(c *engine.Call, f *sim.Fate) // changes a request; nil: unchanged
	reply   func(c *engine.Call, r *engine.Reply)
}

func (n answered) Request(now engine.Time, c *engine.Call) sim.Fate {
	f := n.Network.Request(now, c)
	if n.request != nil {
		n.request(c, &f)
	}
	return f
}

func (n answered) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *sim.Rows) time.Duration {
	if n.reply != nil {
		n.reply(c, r)
	}
	return n.Network.Reply(now, c, r, rows)
}

// answers returns a plant, see bug, of a mistake in how engines handle the store's answers: reply changes each.
func answers(reply func(c *engine.Call, r *engine.Reply)) func(*setup) {
	return func(s *setup) { s.config.Network = answered{s.config.Network, nil, reply} }
}

// becalmed is a store in which a waiting job never becomes ready when its delay is over.
type becalmed struct{ *memstore.Store }

func (becalmed) PromoteDue(dst []engine.Promotion) []engine.Promotion { return dst }

// callBugs lists bugs in sent calls, the handling of answers, wakes, and clocks that stand still.
var callBugs = []bug{
	{name: "what is due at this instant stays waiting", plant: func(s *setup) {
		s.wrap = func(m *memstore.Store) sim.Store { return becalmed{m} }
	}},
	{name: "heartbeats of a node prolong the leases of its dead life", plant: calls(func(c *engine.Call) { c.Kept = c.Kept || c.OfNode })},
	{name: "a promoter forgets what it took when the insert is refused", plant: func(s *setup) {
		s.config.Network = answered{s.config.Network, func(c *engine.Call, f *sim.Fate) {
			if c.Op == engine.OpPromote && c.Step == 2 && f.Refuse != nil {
				f.Refuse, c.Jobs = nil, nil
			}
		}, nil}
	}},
	{name: "a lease counts as lost that is not", plant: func(s *setup) {
		seldom := every(20)
		answers(func(_ *engine.Call, r *engine.Reply) {
			if len(r.Extensions) > 0 && seldom() {
				r.Extensions[0] = engine.Stale
			}
		})(s)
	}},
	{name: "a reaper does not hear when the next lease ends", plant: answers(func(c *engine.Call, r *engine.Reply) {
		if c.Op == engine.OpRecover {
			r.Next = engine.Forever
		}
	})},
	{name: "nobody is woken", plant: func(s *setup) { s.config.Wake = sim.WakeNone }},
	{name: "a retry policy is not told the latest delay", plant: store(func(_ *setup, t *tampered) {
		t.claim = func(_ engine.Plan, leases []engine.Lease) []engine.Lease {
			for i := range leases {
				leases[i].LastDelay = 0
			}
			return leases
		}
	})},
	{name: "a recovered job goes to the end of the line", plant: node(func(_ *setup, c *engine.Config) {
		if c.Reaper.Stand != engine.PlaceDefault {
			c.Reaper.Stand = engine.PlaceTail
		}
	})},
	{name: "no pause after a claim that was refused", plant: node(func(_ *setup, c *engine.Config) { c.Fetch.ErrorPause = -1 })},
	{name: "who leads goes on after its time", plant: node(func(_ *setup, c *engine.Config) { c.Leader.TTL *= 2 })},
	{name: "who holds leases asks as if every clock were right", plant: node(func(_ *setup, c *engine.Config) {
		c.Lease.Local = false
	})},
	{name: "a retry is due at any time", plant: kinds(func(k *engine.KindConfig) { k.Grain = 0 })},
	{name: "every delay begins with the commit", plant: kinds(func(k *engine.KindConfig) { k.From = 0 })},
	{name: "an engine begins what it holds after the stop signal", plant: heedsLate},
}

// heedsLate is a plant, see bug: for three seconds after a stop signal, of which the checker knows at once, an engine goes
// on as before.
func heedsLate(s *setup) {
	const late = 3 * time.Second
	given, befell, signals := len(s.config.Controls), s.config.Befell, map[int]bool{}
	for i, c := range s.config.Controls {
		if signals[i] = c.Kind == fault.StopNode; signals[i] {
			s.config.Controls[i].Kind, s.config.Controls[i].Limit = fault.LimitStore, math.MaxInt // which does nothing
			c.At, c.For = c.At.Add(late), max(0, c.For-late)
			s.config.Controls = append(s.config.Controls, c)
		}
	}
	s.config.Befell = func(control int, node int32, at engine.Time) {
		if control < given {
			befell(control, node, at)
		}
		if signals[control] && s.wire != nil && !s.wire.checker.Froze(node, at) {
			s.wire.checker.Stopped(node, at)
		}
	}
}

// kinds returns a plant, see bug, of a mistake in how engines treat a job class: f changes the configuration of each.
func kinds(f func(k *engine.KindConfig)) func(*setup) {
	return node(func(_ *setup, c *engine.Config) {
		c.Kinds = slices.Clone(c.Kinds)
		for i := range c.Kinds {
			f(&c.Kinds[i])
		}
	})
}

func init() { bugs = append(bugs, callBugs...) }
