package measure

import (
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

func clockMetrics() []metric {
	perSecond := func(of func(w *clockWindow) uint64) func(q *question) Value {
		return func(q *question) Value { return ratio(float64(of(q.clock)), q.clock.span.Seconds(), noTime) }
	}
	list := []metric{
		ofClock(more("goodput", "1/s", "jobs done per second", "jobs executed with success for the first time, per second"),
			perSecond(func(w *clockWindow) uint64 { return w.firsts })),
		ofClock(fact("throughput", "1/s", "executions per second", "executions finished, per second"),
			perSecond(func(w *clockWindow) uint64 { return w.finished })),
		ofClock(share(fact("utilization", "1", "busy workers", "share of the workers' time that was busy")),
			func(q *question) Value {
				return ratio(q.clock.area[busyArea], float64(q.workers.all)*float64(q.clock.span), noTime)
			}),
		ofClock(less("idle.ready", "worker·s", "idle worker-seconds beside ready jobs",
			"integral of the idle workers while a job was ready"),
			func(q *question) Value { return some(q.clock.area[idleArea] / float64(time.Second)) }),
	}
	for class, name := range []string{"fresh", "retry"} {
		list = append(list,
			ofClock(less("backlog."+name+".max", "jobs", "largest "+name+" backlog", "most jobs ready at once, as "+name),
				func(q *question) Value { return count(q.clock.peak[class]).unless(q.clock.span == 0, noTime) }),
			ofClock(less("backlog."+name+".mean", "jobs", "mean "+name+" backlog",
				"jobs ready, as "+name+", on the average over time"),
				func(q *question) Value { return ratio(q.clock.area[class], float64(q.clock.span), noTime) }))
	}
	return append(list,
		ofClock(less("waiting.max", "jobs", "most jobs in backoff", "most jobs waiting at once for their due time"),
			func(q *question) Value {
				return count(q.clock.peak[waitingArea]).unless(q.clock.span == 0, noTime).unless(q.Collector.settings.Held,
					"jobs that wait are claimable, and count as ready")
			}),
		ofClock(less(backlogArea, "job·s", "job-seconds of backlog above normal", "integral, from the first storm on, "+
			"of the jobs ready above their mean before it").only(ByClass|ByTenant, ""), func(q *question) Value {
			if q.storms.calm == nil {
				return none(noStorms)
			}
			if q.storms.calm.span == 0 {
				return none(noCalm)
			}
			return some(q.storms.excess / float64(time.Second))
		}))
}

// recoveryTime and the constants below are the names of the metrics of how a queue returns to normal after storms.
const (
	recoveryTime = "recovery.time" // by the waits in sliding windows
	backlogArea  = "backlog.area"  // by the backlog, compared with that from before the storms
	drainTime    = "drain.time"    // by the same
)

const noCalm = "there is no time between warm-up and the first storm"

// allClaims returns how many claims, of fresh jobs and of retries, were made in a window of virtual time.
func (w *clockWindow) allClaims() uint64 { return w.claims[engine.Fresh] + w.claims[engine.Retry] }

func stormMetrics() []metric {
	ofStorm := func(info MetricInfo, of func(q *question) Value) metric {
		return metric{MetricInfo: info, basis: onStorm, of: func(q *question) Value {
			switch {
			case q.storm == nil:
				return none(noStorms)
			case q.storms.calm.span == 0:
				return none(noCalm)
			case q.storm.over > q.end:
				return none("the run ended before the storm did")
			}
			return of(q)
		}}
	}
	const over = "from the end of the storm (without a filter: of the last one) until the "
	return []metric{
		ofStorm(less(drainTime, "s", "backlog drained", over+"jobs ready are at or below their 95th percentile before "+
			"the first storm").only(ByAfter|ByClass|ByTenant, ""),
			func(q *question) Value { return q.storm.drained(q.end) }),
		ofStorm(less(recoveryTime, "s", "back to normal", over+"p95 of fresh waits over a sliding window, those of "+
			"unclaimed jobs included, is back in its range before the first storm and stays there for three windows; without "+
			"any effect of the storm it is above 0 by chance in one run of six, and in more if the time before it is "+
			"short").only(ByAfter|ByClass, "how often a tenant's jobs come is not known beforehand; of one tenant: "+
			"drain.time, fresh.wait.p99 after the storm"),
			func(q *question) Value { return q.storm.recovered(q.end, q.left > 0) }),
	}
}

func storeMetrics() []metric {
	ofCalls := func(info MetricInfo, of func(q *question) Value) metric {
		return ofClock(info.only(byWindow, "a call brings jobs of several classes; of one class: claims, stale.commits"), of)
	}
	var list []metric
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		name := op.String()
		list = append(list, ofCalls(fact("store.calls."+name, "calls", name+" calls", name+" calls that the store executed"),
			func(q *question) Value { return count(q.clock.calls[op]) }))
	}
	list = append(list, ofCalls(fact("store.rows", "rows", "store rows", "jobs that calls brought or changed"),
		func(q *question) Value { return count(plain.Sum(q.clock.rows[:], func(n uint64) uint64 { return n })) }))
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		name := op.String()
		list = append(list, ofCalls(fact("store.fill."+name, "rows", "jobs per "+name+" call", "jobs per "+name+" call"),
			func(q *question) Value {
				return ratio(float64(q.clock.rows[op]), float64(q.clock.calls[op]), "there was no such call")
			}))
	}
	return list
}
