package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 80, Name: "inflight-cap", Needs: NeedsRetries, Cost: CostJobs, State: StateNone,
	Drawn: Drawn{Weight: 2, Params: []string{"retries: 1", "retries: 2", "retries: 3"}},
	Doc: "As fifo, with at most so many retries in flight in each node, prefetched and running; fresh jobs take " +
		"the rest. Workers idle rather than run a further retry. A cap that no node can reach changes nothing.",
	Params: []Param{
		{Name: "retries", Type: TypeCountOrShare, Default: "20%",
			Doc: "most retries in flight in each node: a count, or a share of its workers (at least one unless " +
				"0%); 0 never runs a retry"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		return InFlightCap{Retries: a.OfWorkers("retries")}, nil
	},
})

// InFlightCap is the policy inflight-cap, a fixed cap on retries in flight. It keeps no state: the engine counts what
// is in flight exactly. For a fleet, divide the cap by the number of engines.
type InFlightCap struct {
	classwise
	Retries int // most retries in flight, at least 0; 0: no retry ever runs
}

// Plan appends terms (parts of a claim) for any ready jobs, but for retries only up to the cap on those in flight.
func (p InFlightCap) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return capped(dst, v.Idle, p.Retries-v.InFlight[engine.Retry])
}

// Guarantees declares for the invariant checker: retries in flight never exceed the cap, and reach it if they can.
func (p InFlightCap) Guarantees() Promise {
	return Promise{Ranked: true, Capped: true, Cap: p.Retries, Starves: p.Retries == 0, Law: func() Law {
		return ration(func(v *engine.View) (least, most int64) {
			most = int64(p.Retries - v.InFlight[engine.Retry])
			return most, most
		}, nil)
	}}
}

// capped appends terms (parts of a claim) that take jobs for idle workers, of which at most room retries. If room is
// less than idle, the first room claims go by ready order, whatever their class, and the rest to fresh jobs. A term for
// retries and then one for fresh jobs would keep the cap as well, but would serve a retry that is due last before a
// fresh job that has waited longest or is more urgent: a cap would then be a priority. A plan may therefore claim fewer
// retries than the cap allows; the next one makes up for it.
func capped(dst []engine.Term, idle, room int) []engine.Term {
	room = min(max(0, room), idle)
	return term(term(dst, engine.AnyClass, room), engine.Fresh, idle-room)
}
