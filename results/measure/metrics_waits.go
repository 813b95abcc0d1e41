package measure

import (
	"strings"
	"time"
)

// family is a kind of wait (fresh.wait, sojourn and so on) whose distribution metrics describe.
type family uint8

const (
	noFamily family = iota
	freshWait
	retryWait
	attemptWait // freshWait and retryWait together
	startWait
	sojourn
	numFamilies
)

// families describes each family of waits, such as fresh.wait; empty is the reason given where there is no such wait.
var families = [numFamilies]struct{ name, label, doc, empty string }{
	freshWait: {"fresh.wait", "wait of fresh jobs",
		"from ready to the first claim of a job, over jobs that are not shed before", "no fresh job was ready"},
	retryWait:   {"retry.wait", "wait of retries", "from due to a later claim of a job", "no retry was ready"},
	attemptWait: {"attempt.wait", "wait of all claims", "from ready or due to claim, over all claims", "no job was ready"},
	startWait: {"start.wait", "wait until the handler starts", "from ready or due until the handler starts",
		"no job was ready"},
	sojourn: {"sojourn", "time until done", "from enqueued to done, over jobs that are not dead", "no job was done"},
}

// waitQuantiles lists the quantiles for which each family of waits has a metric.
var waitQuantiles = []struct {
	name, label string
	q           float64
}{{"p50", "median", 0.5}, {"p90", "p90", 0.9}, {"p99", "p99", 0.99}, {"p999", "p99.9", 0.999}}

func waitMetrics() []metric {
	var list []metric
	for id := freshWait; id < numFamilies; id++ {
		f := &families[id]
		add := func(name, label, doc string, q float64, of func(w *Waits) Value) {
			info := less(f.name+"."+name, "s", label+" "+f.label, doc+" of the time "+f.doc)
			info.Quantile = q
			if info.KM = strings.HasSuffix(name, ".km"); info.KM {
				info.OnRequest, info.Label = true, info.Label+" (Kaplan–Meier)"
			}
			list = append(list, metric{MetricInfo: info, family: id, ofWait: of, of: func(q *question) Value {
				w := q.jobs.wait(id)
				if w.Count() == 0 {
					return none(f.empty)
				}
				return of(w)
			}})
		}
		add("mean", "mean", "mean", 0, (*Waits).mean)
		for _, p := range waitQuantiles {
			add(p.name, p.label, p.name, p.q, func(w *Waits) Value { return w.quantile(p.q) })
		}
		add("max", "longest", "mean over seeds of the longest", 0, (*Waits).longest)
		add("mean.km", "mean", "Kaplan–Meier mean, up to the longest seen,", 0,
			func(w *Waits) Value { return w.kaplanMeier().mean() })
		for _, p := range waitQuantiles {
			add(p.name+".km", p.label, "Kaplan–Meier "+p.name, p.q,
				func(w *Waits) Value { return w.kaplanMeier().quantile(p.q) })
		}
	}
	within := share(more("fresh.within", "1", "fresh jobs claimed in time",
		"share of fresh jobs claimed within the limit; an unclaimed one counts against it once it has waited longer"))
	within.Filters, within.OnRequest = byAny|NeedsLimit, true
	return append(list, ofJobs(within, func(q *question) Value { return q.jobs.within(q.Limit) }))
}

// mean returns the mean wait, a lower bound if some waits have not ended: they count with their age so far.
func (w *Waits) mean() Value {
	n := w.Count()
	sum := w.Ended.sum() + w.Unresolved.sum()
	return atLeast(sum/float64(n)/float64(time.Second), w.Unresolved.Count() > 0)
}

func (w *Waits) longest() Value {
	return atLeast(max(w.Ended.Max(), w.Unresolved.Max()).Seconds(), w.Unresolved.Count() > 0)
}

// quantile returns a quantile of the waits. Where its rank falls among waits that have not ended, it is a lower bound,
// computed as if they ended now.
func (w *Waits) quantile(q float64) Value {
	rank := rankOf(q, uint64(w.Count()))
	if rank <= uint64(w.Ended.Count()) {
		return some(w.Ended.atRank(rank).Seconds())
	}
	var all Histogram
	all.Merge(&w.Ended)
	all.Merge(&w.Unresolved)
	return atLeast(all.atRank(rank).Seconds(), true)
}

// survival is a Kaplan–Meier estimate: share[i] of the waits last longer than at[i].
// Kaplan, Meier: Nonparametric estimation from incomplete observations (1958).
type survival struct {
	at    []time.Duration
	share []float64
	last  time.Duration // longest wait seen, ended or not
}

func (w *Waits) kaplanMeier() *survival {
	s := &survival{last: max(w.Ended.Max(), w.Unresolved.Max())}
	atRisk, share := float64(w.Count()), 1.0
	for i := range bucketOf(int64(s.last)) + 1 {
		ended, left := w.Ended.in(i), w.Unresolved.in(i) // at the same time, those that end do so first
		if ended > 0 {
			share = float64(share * (1 - ended/atRisk))
			s.at, s.share = append(s.at, min(time.Duration(bucketMiddle(i)), s.last)), append(s.share, share)
		}
		atRisk -= ended + left
	}
	return s
}

func (s *survival) quantile(q float64) Value {
	for i, share := range s.share {
		if share <= (1-q)*(1+1e-12) {
			return some(s.at[i].Seconds())
		}
	}
	return atLeast(s.last.Seconds(), true)
}

// mean returns the mean wait that the Kaplan–Meier curve gives: the area below it up to the longest wait seen.
func (s *survival) mean() Value {
	area, before, share := 0.0, time.Duration(0), 1.0
	for i, at := range s.at {
		area += float64(share * (at - before).Seconds())
		before, share = at, s.share[i]
	}
	area += float64(share * (s.last - before).Seconds())
	return atLeast(area, share > 1e-12)
}
