package policies

import "qsim/engine"

// InFlightCap is FIFO with at most Retries retries in flight in one engine, prefetched
// and running, and fresh jobs on all other workers. It promises fresh jobs that
// retries never hold more than the cap. It is not work-conserving: at the cap, workers
// idle rather than run a further retry. While the cap cannot bind it plans as FIFO
// does, so that a cap no smaller than what the engine can hold changes nothing. It
// keeps no state: the engine's own in-flight count is exact, and a cap for a fleet is
// the cap divided by the engines.
type InFlightCap struct {
	stateless
	Retries int // at least 0; 0 never runs a retry
}

// Plan appends the terms of capped.
func (p InFlightCap) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return capped(dst, v.Idle, p.Retries-v.InFlight[engine.Retry])
}

// capped appends terms that claim up to idle jobs and at most room retries among
// them. While room is the smaller, the first room claims go by ready order, whatever
// their class, and the others to fresh jobs. [retry room][fresh idle] would keep the
// cap as well, but would serve a retry that is due last before a fresh job that has
// waited longest or is more urgent: a cap would then be a priority. The price is that a plan
// may bring fewer retries than there is room for; the next one makes up for it.
func capped(dst []engine.Term, idle, room int) []engine.Term {
	if room >= idle {
		return append(dst, engine.Term{Class: engine.AnyClass, Limit: idle})
	}
	room = max(0, room)
	if room > 0 {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: room})
	}
	return append(dst, engine.Term{Class: engine.Fresh, Limit: idle - room})
}
