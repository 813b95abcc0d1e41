package sim_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
)

// seldom reports true one time in n.
func (d *die) seldom(n int) bool { return d.below(n) == 0 }

// share draws a share of up to a percentage.
func (d *die) share(most int) float64 { return float64(d.between(1, most)) / 100 }

// swarmFurther draws rarely used settings, each seldom, so that most worlds still work.
func swarmFurther(t testing.TB, d *die, w *world) {
	must := drawn(t)
	c := &w.node
	if d.seldom(4) {
		c.Fetch.ErrorPause = []time.Duration{-1, d.milliseconds(1, 5000)}[d.below(2)]
	}
	if d.seldom(4) {
		w.free = engine.ErrorKind(d.between(int(engine.Timeout), int(engine.LeaseExpired)))
	}
	if d.seldom(4) {
		w.serialKeys = uint32(d.between(1, 30))
	}
	w.delayed = zeroOr(d, d.milliseconds(100, 20000))
	w.store.Held = d.seldom(6)
	if d.seldom(4) {
		w.store.MaxRunning = []int{d.between(1, 8)}
	}
	if d.seldom(4) {
		w.store.MaxInFlight = d.between(1, 20)
	}
	w.config.Held, w.config.MakesRoom = w.store.Held, d.coin()
	if c.Promoter.Every > 0 && d.seldom(4) {
		c.Promoter.First, c.Promoter.Tick = must(dist.Uniform(0.5, 1)).Duration, must(dist.Uniform(0, 2)).Duration
	}
	if c.Promoter.Every > 0 && d.seldom(4) {
		c.Promoter.Gap = d.milliseconds(1, 2000)
		w.lost.waiting = true
	}
	swarmReaper(d, w)
	swarmLeases(d, w)
	if d.seldom(4) { // calls are shorter then: a store that serves few at once must keep up
		w.config.Parallel = d.between(2, 8)
		for op := range w.links.OneWay {
			w.links.OneWay[op] = must(dist.Exponential(float64(d.between(1, 4)) / 1000))
		}
		c.Fetch.Poll = d.milliseconds(300, 2000)
	}
	if d.seldom(4) {
		w.config.CountRows, w.store.CountAhead = true, true
		for op := range w.links.Scan {
			us := func() time.Duration { return zeroOr(d, time.Duration(d.between(1, 20))*time.Microsecond) }
			w.links.Scan[op] = sim.RowCosts{Ready: us(), Ahead: us(), Waiting: us(), InFlight: us(), Ended: us()}
		}
	}
}

func swarmReaper(d *die, w *world) {
	r := &w.node.Reaper
	if d.seldom(3) {
		r.BuryAt = int32(d.between(1, 4))
		w.store.RecoveriesWithin = zeroOr(d, d.milliseconds(1000, 20000))
	}
	r.After, r.Stand = [...]engine.Verb{0, engine.Redo, engine.Bury}[max(0, d.between(-2, 2))], engine.Place(d.below(5))
	if r.Every > 0 && d.seldom(3) {
		r.Guard, r.Gap = engine.Fence(d.between(1, 3)), zeroOr(d, d.milliseconds(1, 3000))
	}
	w.store.Orphans = d.coin()
}

// swarmLeases draws leases of other kinds than usual. Where one may never end, so may
// its job.
func swarmLeases(d *die, w *world) {
	c := &w.node
	l := &c.Lease
	switch d.below(10) {
	case 0:
		l.Max = l.TTL + d.milliseconds(0, 20000)
	case 1, 2: // a node keeps alive what it never heard of
		l.OfNode, l.Kept, l.Heartbeat = true, d.coin(), l.TTL/3
		w.lost.inFlight = true
	case 3, 4:
		l.Local = true
	case 5: // the claim is the ack
		*l = engine.LeaseConfig{TTL: engine.Forever, RunLate: l.RunLate, IgnoreLate: l.IgnoreLate}
		c.Reaper.Off, w.store.LapseAfter = true, -1
		w.lost.inFlight = true
	}
	if d.seldom(4) {
		w.config.Controls = append(w.config.Controls, fault.Control{Kind: fault.LoseLeases, At: engine.Time(d.milliseconds(0, 30000)), Share: d.share(100),
			Draw: 1, Times: d.between(0, 3), Every: d.milliseconds(1, 3000)})
		w.lost.forgotten = !w.store.Orphans
	}
	if w.lost.inFlight || w.lost.forgotten || c.Reaper.Off {
		// What is in flight for ever must not keep others waiting.
		w.store.MaxInFlight, w.store.MaxRunning, w.serialKeys = 0, nil, 0
	}
	if w.lost.waiting {
		w.serialKeys = 0
	}
}

// swarmTroubles draws faults of the store and the nodes other than lost calls and crashes. All are over when the
// swarm is healed.
func swarmTroubles(d *die, w *world) {
	window := func() fault.Window {
		from := engine.Time(d.milliseconds(0, 30000))
		for range zeroOr(d, 1) {
			return fault.Window{From: from, For: d.milliseconds(1, 1000), Times: d.between(2, 5), Every: d.milliseconds(1001, 2000)}
		}
		return fault.Window{From: from, For: min(healed.Sub(from), d.milliseconds(100, 15000))}
	}
	control := func(kind fault.ControlKind) fault.Control {
		at := window()
		return fault.Control{Kind: kind, Node: int32(d.below(w.nodes)), At: at.From, For: at.For, Times: at.Times, Every: at.Every}
	}
	for _, kind := range []fault.ControlKind{fault.StallReaper, fault.StallPromoter, fault.StallStore} {
		if d.seldom(5) {
			w.config.Controls = append(w.config.Controls, control(kind))
		}
	}
	if d.seldom(2) {
		c := control(fault.ShiftClock)
		c.Offset = d.milliseconds(-30000, 30000)
		w.config.Controls = append(w.config.Controls, c)
	}
	if d.seldom(6) {
		c := control(fault.Crash)
		c.Rolls, c.For = true, d.milliseconds(1, 3000)
		w.config.Controls = append(w.config.Controls, c)
	}
	if d.seldom(4) {
		w.store.KeepDead = true
		for i := range d.between(1, 3) {
			w.config.Controls = append(w.config.Controls, fault.Control{Kind: fault.Redrive, At: engine.Time(d.milliseconds(1000, 60000)), Share: d.share(100),
				Reset: d.coin(), Draw: uint64(i)})
		}
		w.serialKeys = 0 // one that comes back comes out of its order
	}
	if d.seldom(4) {
		w.links.Slows = append(w.links.Slows, fault.Slow{Window: window(), Factor: float64(d.between(0, 20))})
	}
}

// lostJobs reports which jobs may be unfinished at the end of a run.
type lostJobs struct {
	inFlight  bool // any that are in flight: a lease never ends
	forgotten bool // jobs in flight whose lease record is lost
	waiting   bool // any that wait: their promoter died
}
