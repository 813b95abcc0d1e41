package bench

import (
	"cmp"
	"slices"
	"time"

	"qsim/results/plain"
	"qsim/scenarios/world"
)

// stallFrom is the shortest delay that counts as a stall: a pause of a whole engine (an answer is not read), of the
// feeder (jobs come late) or of the store (no call is answered).
const stallFrom = 2 * time.Millisecond

// merged sorts spans of time and joins those that overlap or touch.
func merged(spans []world.Span) (all []world.Span) {
	slices.SortFunc(spans, func(a, b world.Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		if n := len(all); n > 0 && s.From <= all[n-1].From+all[n-1].For {
			all[n-1].For = max(all[n-1].For, s.From+s.For-all[n-1].From)
		} else {
			all = append(all, s)
		}
	}
	return all
}

// within returns the length of the part of [from, to) covered by spans, which are in order and do not overlap.
func within(spans []world.Span, from, to time.Duration) (sum time.Duration) {
	i, _ := slices.BinarySearchFunc(spans, from,
		func(s world.Span, t time.Duration) int { return cmp.Compare(s.From+s.For, t) })
	for ; i < len(spans) && spans[i].From < to; i++ {
		sum += max(0, min(to, spans[i].From+spans[i].For)-max(from, spans[i].From))
	}
	return sum
}

// shareOf returns the total length of spans as a share of the time whole, which they may be part of.
func shareOf(spans []world.Span, whole time.Duration) float64 {
	sum := plain.Sum(spans, func(s world.Span) int64 { return int64(s.For) })
	return time.Duration(sum).Seconds() / max(whole.Seconds(), 1e-9)
}

// stalls returns the spans of time in which the engine was stalled: it did not read an answer, or begin a call.
func (p *probe) stalls() []world.Span {
	var all []world.Span
	for op := range p.samples {
		for _, s := range p.samples[op] {
			if s.hop > stallFrom {
				all = append(all, world.Span{From: time.Duration(s.ended), For: s.hop})
			}
			if s.start > stallFrom {
				all = append(all, world.Span{From: s.asked(), For: s.start})
			}
		}
	}
	return merged(all)
}

// storeCall holds when a store call began, when it would have ended after the median duration of such calls (usual),
// and when it ended.
type storeCall struct{ began, usual, ended time.Duration }

// storeCalls returns the times of all calls of a run.
func storeCalls(probes []*probe, enqueues []world.Span) (all []storeCall) {
	for _, p := range probes {
		for op := range p.samples {
			calls := plain.Map(p.samples[op], func(s callSample) world.Span { return world.Span{From: s.began(), For: s.took} })
			all = append(all, withUsual(calls)...)
		}
	}
	return append(all, withUsual(enqueues)...)
}

// likely is the number of consecutive calls whose median duration counts as usual: enough to outlast a stall, but few
// enough to follow a storm, which slows all calls for longer.
const likely = 250

// withUsual returns calls of one kind, roughly in order, each with its end if it had lasted as long as usual (median).
func withUsual(calls []world.Span) (all []storeCall) {
	parts := max(1, len(calls)/likely)
	for i := range parts {
		part := calls[i*len(calls)/parts : (i+1)*len(calls)/parts]
		usual := quantile(plain.Map(part, func(c world.Span) time.Duration { return c.For }), .5)
		for _, c := range part {
			all = append(all, storeCall{c.From, c.From + usual, c.From + c.For})
		}
	}
	return all
}

// storeStalls returns the spans of time in which the store answered no call although one was overdue (under way for
// longer than usual): from when that was due or, if later, the previous answer, to the next answer. A slow call while
// others are answered is no stall, but a pause for all, such as the sync of a log, is one.
func storeStalls(calls []storeCall) (all []world.Span) {
	slices.SortFunc(calls, func(a, b storeCall) int { return cmp.Compare(a.began, b.began) })
	ends := slices.Clone(calls)
	slices.SortFunc(ends, func(a, b storeCall) int { return cmp.Compare(a.ended, b.ended) })
	var underway []storeCall
	next, last := 0, time.Duration(0)
	for _, e := range ends {
		for ; next < len(calls) && calls[next].began < e.ended; next++ {
			underway = append(underway, calls[next])
		}
		due := e.usual
		for _, c := range underway {
			due = min(due, c.usual)
		}
		if due = max(due, last); e.ended-due > stallFrom {
			all = append(all, world.Span{From: due, For: e.ended - due})
		}
		last = e.ended
		underway = slices.DeleteFunc(underway, func(c storeCall) bool { return c.ended <= last })
	}
	return all
}
