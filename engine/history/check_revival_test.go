package history

import (
	"math"
	"slices"

	"qsim/engine"
)

// mayLive reports whether the job may have been redriven after the call s ended it, and before a time. Only dead
// jobs can be: acked ones cannot.
func (j *jobHistory) mayLive(s sighting, until engine.Time) bool {
	if s.item.Verb != engine.Bury {
		return false
	}
	began := s.call.Began
	for _, copied := range j.commits { // an earlier copy of the batch took effect
		if s.item.Status == engine.Applied.Again() && copied.call.Batch == s.call.Batch {
			began = min(began, copied.call.Began)
		}
	}
	between := func(c *Call) bool { return c.Ended >= began && c.Began <= until }
	return slices.ContainsFunc(j.common.redrives, between) || slices.ContainsFunc(j.redrives, func(r sighting) bool { return between(r.call) })
}

// lastRevived returns the begin of the latest redrive of the job.
func (j *jobHistory) lastRevived() engine.Time {
	at := engine.Time(math.MinInt64)
	for _, r := range j.redrives {
		at = max(at, r.call.Began)
	}
	return at
}

// checkRedrives checks that only dead jobs are redriven.
func (j *jobHistory) checkRedrives(found finder) {
	for _, r := range j.redrives {
		buried := j.shed
		for _, s := range j.commits {
			if s.item.Verb == engine.Ack && s.accepted() && s.call.Ended <= r.call.Began {
				found(Redelivered, "%v, after %v", r, s)
			}
			buried = buried || s.item.Verb == engine.Bury && s.possible() && s.call.Began <= r.call.Ended
		}
		if !buried {
			found(NotDead, "%v, and nobody had buried it", r)
		}
	}
}

// checkPromotions checks that only waiting jobs are promoted: not leased, not ended, and not promoted before unless
// they were given up since.
func (j *jobHistory) checkPromotions(found finder) {
	for i, p := range j.promotes {
		for _, s := range j.commits {
			if s.ends() && s.accepted() && s.call.Ended <= p.call.Began && !j.mayLive(s, p.call.Ended) {
				found(Redelivered, "%v, after %v", p, s)
			}
		}
		for _, l := range j.leases {
			if l.call.Ended <= p.call.Began && j.holds(l, p.call, 0) {
				found(NotWaiting, "%v, before the end of %v", p, l)
			}
		}
		if i == 0 || j.promotes[i-1].call.Ended > p.call.Began {
			continue
		}
		before := j.promotes[i-1].call
		if !slices.ContainsFunc(j.commits, func(s sighting) bool {
			return !s.ends() && s.possible() && s.call.Began <= p.call.Ended && s.call.Ended >= before.Began
		}) {
			found(NotWaiting, "%v, after %v", p, j.promotes[i-1])
		}
	}
}
