package chaos

import (
	"slices"
	"time"

	"qsim/engine"
)

// deployed makes a world whose processes are told to stop while they hold jobs that they have
// claimed ahead, and have the time for it. No call is held up there.
func (d *die) deployed(w *World) {
	e := &w.Engine
	w.recovers()
	w.Store.Fence, w.Store.Held, w.Store.MaxInFlight, w.Store.MaxRunning, w.Load.Keys = engine.FenceToken, false, 0, nil, 0
	e.Lease.Local, e.Reaper.Guard, e.Reaper.Gap = false, min(e.Reaper.Guard, engine.FenceToken), 0
	w.Links.Parallel, w.Links.PerRow = 0, 0
	e.Workers, e.Fetch.Prefetch, e.Commit.Backpressure = d.between(1, 3), d.between(2, 8), 0
	if w.Policy.Kind == "separate" {
		w.Policy = Policy{Kind: "fifo"}
	}
	w.Load.Gap, w.Work.P50, w.Work.P99 = d.milliseconds(5, 50), 700*time.Millisecond, 1900*time.Millisecond // more than is worked off
	w.Timeout = zeroOr(d, 3*time.Second)
	w.Faults = slices.DeleteFunc(w.Faults, func(f Fault) bool { return f.Kind.ofCalls() })
	if d.coin() {
		for range d.between(1, 3) {
			w.Faults = append(w.Faults, Fault{Kind: Stop, Node: int32(d.below(w.Nodes)), At: d.milliseconds(2000, 8000), For: d.milliseconds(4000, 15000)})
		}
		return
	}
	// Or they freeze until they have lost their leases, and the store takes commits in part.
	// When all is over there is more than they can hold.
	e.Lease.TTL = d.milliseconds(4000, 6000)
	e.Lease.Heartbeat = e.Lease.TTL / 3
	if d.seldom(3) {
		e.Lease.Max = e.Lease.TTL + time.Second
		e.Fetch.Prefetch = min(e.Fetch.Prefetch, 2*e.Workers) // what waits longer is lost, again and again
	}
	w.Policy = Policy{Kind: busyPolicies[3+d.below(len(busyPolicies)-3)]}
	e.Fetch.Batch, e.Fetch.Cooldown = 10, 0
	e.Commit.Batch, e.Commit.Linger, e.Commit.Calls = 8, 5*time.Millisecond, 3 // what is taken must be committed before its lease ends
	w.Faults = append(w.Faults, Fault{Kind: Pause, Node: int32(d.below(w.Nodes)), At: d.milliseconds(2000, 8000), For: d.milliseconds(8000, 12000)},
		Fault{Kind: Calls, Node: EveryNode, Ops: [engine.NumOps]bool{engine.OpCommit: true}, At: d.milliseconds(0, 5000), For: d.milliseconds(5000, 20000), Part: d.share(60)},
		Fault{Kind: Burst, At: w.Heal + d.milliseconds(20000, 60000), Count: 2 * w.Nodes * (e.Workers + e.Fetch.Prefetch), ID: mostJobs + 2_000_000})
}
