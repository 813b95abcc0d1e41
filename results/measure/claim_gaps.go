package measure

import (
	"slices"
	"time"

	"qsim/engine"
)

// claimGaps measures the claim gaps of a view's jobs: times in which one was ready and fresh, and no fresh one claimed.
type claimGaps struct {
	since  engine.Time   // begin of the gap under way: a fresh job is ready since then, and none was claimed
	streak uint64        // consecutive claims of retries while a fresh job was ready
	long   []stretch     // gaps longer than a second, of the whole run, except those already folded into windows
	hint   time.Duration // longest gap that changes no figure of a current window
}

// endStretch ends the claim gap under way (a fresh job was ready, none was claimed) and adds it to the current windows.
func (v *view) endStretch() {
	length := v.now.Sub(v.gaps.since)
	if length <= v.gaps.hint {
		return
	}
	v.noteStretch(v.gaps.since)
	if length > gapAtLeast {
		if len(v.gaps.long) == mostStretches {
			v.foldStretches()
		}
		v.gaps.long = append(v.gaps.long, stretch{v.gaps.since, v.now})
	}
}

// mostStretches is the highest number of long claim gaps kept one by one; beyond it histograms hold them.
const mostStretches = 4096

// foldStretches replaces the claim gaps kept so far by histograms of their lengths, one for each window of measurement,
// except gaps across the edge of a window, since only a part of them counts in it.
func (v *view) foldStretches() {
	kept := v.gaps.long[:0]
	for _, s := range v.gaps.long {
		across := slices.ContainsFunc(v.windows, func(w *clockWindow) bool {
			return s.from < w.from && s.to > w.from || s.from < w.to && s.to > w.to
		})
		if across {
			kept = append(kept, s)
			continue
		}
		for _, w := range v.windows {
			if w.part(s) > 0 {
				w.folded.Record(s.to.Sub(s.from))
			}
		}
	}
	v.gaps.long = kept
}

// noteStretch updates the longest claim gap of every current window of measurement with a gap that lasted until now.
func (v *view) noteStretch(since engine.Time) {
	shortest := gapAtLeast
	for _, w := range v.open {
		w.longest = max(w.longest, w.part(stretch{since, v.now}))
		shortest = min(shortest, w.longest)
	}
	v.gaps.hint = shortest
}

// passOver counts, for starved.claims, a claim of a retry made while a fresh job was ready.
func (v *view) passOver() {
	v.gaps.streak++
	for _, w := range v.open {
		w.streak = max(w.streak, v.gaps.streak-w.skip)
	}
}

// endStreak resets the count of consecutive claims of retries made while a fresh job was ready.
func (v *view) endStreak() {
	if v.gaps.streak == 0 {
		return
	}
	v.gaps.streak = 0
	for _, w := range v.open {
		w.skip = 0
	}
}

const (
	gapAtLeast  = time.Second
	gapMultiple = 10 // threshold, as a multiple of the mean fresh wait before the first storm
)

// gapShare returns the metric claim.gap.share: of the time in which fresh jobs were ready, the share in which none had
// been claimed for longer than 10 times the mean fresh wait before the first storm, at least a second.
func (q *question) gapShare() Value {
	present := q.clock.area[presentArea]
	if present == 0 {
		if q.clock.claims[engine.Fresh] == 0 {
			return none("no fresh job was ready")
		}
		return some(0)
	}
	calm := q.storms.calm
	if calm == nil || calm.span == 0 {
		calm = q.windows[0]
	}
	threshold := max(gapAtLeast, gapMultiple*calm.meanFreshWait())
	long := time.Duration(0)
	for _, s := range q.gaps.long {
		long += max(0, q.clock.part(stretch{s.from.Add(threshold), s.to}))
	}
	sum := float64(long)
	for _, b := range q.clock.folded.Ranges() {
		if over := b.Low + (b.High-b.Low)/2 - threshold; over > 0 {
			sum += float64(float64(b.Count) * float64(over))
		}
	}
	return some(sum / present)
}
