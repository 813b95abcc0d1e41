package chaos

import (
	"time"

	"qsim/engine"
)

// rarely is how many drawn worlds there are to one that has a trouble of a kind.
var rarely = [numFaultKinds]int{Crash: 2, Stop: 4, Pause: 2, Skew: 3, StallStore: 5, StallReaper: 5, StallPromoter: 6, Pool: 6, LoseLeases: 6, Redrive: 5,
	Calls: 2, SlowStore: 5, Fail: 2, Slow: 5, Hang: 5, Overload: 6, Kill: 8, Burst: 4}

// faults draws the troubles of w. All are over when it is healed.
func (d *die) faults(w *World) {
	for kind := Crash; kind < numFaultKinds; kind++ {
		if !d.seldom(rarely[kind]) || !w.minds(kind) {
			continue
		}
		most := 1
		if kind == Calls || kind == Crash || kind == Pause {
			most = 3
		}
		for range d.between(1, most) {
			w.Faults = append(w.Faults, d.fault(w, kind))
		}
	}
}

// minds reports whether a trouble of that kind can make a difference. Clocks that are off
// must make none where nothing goes by them, so they are always among them.
func (w *World) minds(kind FaultKind) bool {
	switch kind {
	case StallReaper:
		return !w.Engine.Reaper.Off
	case StallPromoter:
		return w.Engine.Promoter.Every > 0
	case Redrive: // somebody must die
		return w.Retry.Never != engine.NoError && w.Work.Error == w.Retry.Never || w.Retry.Attempts > 0 && w.Work.Poison > 0 || w.Retry.Attempts > 0 && w.Retry.Attempts < 4 && w.Work.Fails > 0
	case LoseLeases:
		return w.Engine.Lease.TTL < longest
	}
	return true
}

func (d *die) fault(w *World, kind FaultKind) Fault {
	f := Fault{Kind: kind}
	d.window(w, &f)
	d.detail(w, &f)
	switch kind {
	case Crash, Stop, Pause, Pool, StallStore, StallReaper:
		if d.seldom(3) {
			d.script(w, &f)
		}
	}
	return f
}

// window draws when f is.
func (d *die) window(w *World, f *Fault) {
	// While jobs come, and a while longer: later there may be nothing left to befall.
	comes := time.Duration(w.Load.Jobs)*w.Load.Gap + 2*time.Second
	f.At = d.milliseconds(0, int(min(latestStart, comes)/time.Millisecond))
	if d.seldom(3) {
		f.For, f.Times, f.Every = d.milliseconds(1, 1000), d.between(2, 5), d.milliseconds(1001, 2000)
		return
	}
	longest := 10000
	if d.seldom(4) {
		longest = 40000 // longer than any lease
	}
	f.For = min(d.milliseconds(100, longest), healing-f.At)
}

// script makes f follow an event instead of beginning at a known time.
func (d *die) script(w *World, f *Fault) {
	events := []engine.EventKind{engine.Leased, engine.Started, engine.Finished, engine.Called, engine.LeaseTaken, engine.Extended, engine.Acked, engine.Nacked, engine.CallTimedOut}
	f.On, f.Nth = events[d.below(len(events))], d.between(1, 40)
	if f.On == engine.Called {
		f.Op = engine.Op(d.between(int(engine.OpClaim), int(engine.OpPromote)))
	}
	f.Rolls = false
	f.At, f.Times, f.Every = zeroOr(d, d.milliseconds(1, 500)), 0, 0
	f.For = d.milliseconds(1, 10000)
	if f.Kind.ofNode() && d.coin() {
		f.Node = ThatNode
	}
}

func (d *die) detail(w *World, f *Fault) {
	node := int32(d.below(w.Nodes))
	if d.seldom(8) {
		node = EveryNode
	}
	switch f.Kind {
	case Crash:
		f.Node, f.Rolls = node, node >= 0 && d.seldom(4)
	case Stop, Pause:
		f.Node = node
	case Skew:
		f.Node, f.Offset = node, d.milliseconds(0, 60000)-30*time.Second
		if d.seldom(4) && !w.Engine.Lease.Local {
			f.For, f.Times, f.Every = 0, 0, 0 // it stays so
		}
	case Pool:
		f.Limit = d.between(1, 4)
	case LoseLeases:
		f.Share, f.For, f.Times = d.share(100), 0, d.between(0, 3)
		f.Every = d.milliseconds(1, 3000)
	case Redrive:
		f.Share, f.Reset, f.For, f.Times, f.Every = d.share(100), d.coin(), 0, 0, 0
		f.At = d.milliseconds(5000, 60000)
	case Calls:
		d.calls(w, f, node)
	case SlowStore:
		f.Factor = float64(d.between(0, 20))
	case Fail:
		f.Share = d.share(100)
	case Slow:
		f.Factor = float64(d.between(2, 20))
	case Hang:
		f.Share, f.Extra = d.share(10), d.milliseconds(1000, 40000)
	case Overload:
		f.Share, f.Limit = d.share(100), d.between(1, 5)
	case Kill:
		f.Share = d.share(5)
	case Burst:
		f.For, f.Times, f.Every = 0, 0, 0
		f.Count, f.ID, f.Tenant, f.Extra = d.between(10, 100), mostJobs+1_000_000, engine.TenantID(d.below(4)), zeroOr(d, d.milliseconds(1, 10000))
	}
}

func (d *die) calls(w *World, f *Fault, node int32) {
	f.Node = EveryNode
	if d.coin() {
		f.Node = node
	}
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		f.Ops[op] = d.coin()
	}
	f.Ops[[]engine.Op{engine.OpClaim, engine.OpCommit}[d.below(2)]] = true // which every world has
	share := func() float64 { return zeroOr(d, d.share(100)) }
	f.LoseRequest, f.LoseReply, f.Duplicate, f.Err, f.Part = share(), share(), share(), share(), share()
	if d.coin() || f.LoseRequest+f.LoseReply+f.Duplicate+f.Err+f.Part == 0 {
		f.Delay = d.milliseconds(1, 2000)
	}
}
