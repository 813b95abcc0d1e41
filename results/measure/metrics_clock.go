package measure

import (
	"time"

	"qsim/engine"
)

func clockMetrics() []metric {
	perSecond := func(of func(w *clockWindow) uint64) func(a *answer) number {
		return func(a *answer) number { return ratio(float64(of(a.clock)), a.clock.span.Seconds(), noTime) }
	}
	list := []metric{
		ofClock(more("goodput", "1/s", byClock, "jobs executed with success for the first time, per second"), perSecond(func(w *clockWindow) uint64 { return w.firsts })),
		ofClock(fact("throughput", "1/s", byClock, "executions finished, per second"), perSecond(func(w *clockWindow) uint64 { return w.finished })),
		ofClock(share(fact("utilization", "1", byClock, "share of the workers' time that was busy")), func(a *answer) number {
			return ratio(a.clock.area[busyArea], float64(a.workers.all)*float64(a.clock.span), noTime)
		}),
		ofClock(less("idle.ready", "worker·s", byClock, "integral of the idle workers while a job was ready"),
			func(a *answer) number { return some(a.clock.area[idleArea] / float64(time.Second)) }),
	}
	for class, name := range []string{"fresh", "retry"} {
		list = append(list,
			ofClock(less("backlog."+name+".max", "jobs", byClock, "most jobs ready at once, as "+name), func(a *answer) number { return count(a.clock.peak[class]) }),
			ofClock(less("backlog."+name+".mean", "jobs", byClock, "jobs ready, as "+name+", on the average over time"),
				func(a *answer) number { return ratio(a.clock.area[class], float64(a.clock.span), noTime) }))
	}
	return append(list,
		ofClock(less("waiting.max", "jobs", byClock, "most jobs waiting at once for their due time"), func(a *answer) number { return count(a.clock.peak[waitingArea]) }),
		ofClock(less("backlog.area", "job·s", ByClass|ByTenant, "integral, from the first storm on, of the jobs ready above their mean before it"), func(a *answer) number {
			if a.storms.calm == nil {
				return none(noStorms)
			}
			if a.storms.calm.span == 0 {
				return none(noCalm)
			}
			return some(a.storms.excess / float64(time.Second))
		}))
}

// recoveryTime is the name of the one metric computed from sliding windows of waits after a storm.
const recoveryTime = "recovery.time"

const noCalm = "there is no time between warm-up and the first storm"

// allClaims returns how many claims of fresh jobs and retries were made in the window.
func (w *clockWindow) allClaims() uint64 { return w.claims[engine.Fresh] + w.claims[engine.Retry] }

func stormMetrics() []metric {
	ofStorm := func(info MetricInfo, of func(a *answer) number) metric {
		return metric{MetricInfo: info, basis: onStorm, of: func(a *answer) number {
			switch {
			case a.storm == nil:
				return none(noStorms)
			case a.storms.calm.span == 0:
				return none(noCalm)
			case a.storm.over > a.end:
				return none("the run ended before the storm did")
			}
			return of(a)
		}}
	}
	return []metric{
		ofStorm(less("drain.time", "s", ByAfter|ByClass|ByTenant, "from the end of the storm (without a filter: of the last one) until the jobs ready are at or below their "+
			"95th percentile before the first storm"), func(a *answer) number { return a.storm.drained(a.end) }),
		ofStorm(less(recoveryTime, "s", ByAfter|ByClass, "from the end of the storm (without a filter: of the last one) until the p95 of fresh waits over a "+
			"sliding window is back in its range before the first storm and stays there; without any effect of the storm it is above 0 by chance in one run of six"), func(a *answer) number { return a.storm.recovered(a.end, a.left > 0) }),
	}
}

func storeMetrics() []metric {
	var list []metric
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		list = append(list, ofClock(fact("store.calls."+op.String(), "calls", byWindow, op.String()+" calls that the store executed"),
			func(a *answer) number { return count(a.clock.calls[op]) }))
	}
	list = append(list, ofClock(fact("store.rows", "rows", byWindow, "jobs that calls brought or changed"), func(a *answer) number {
		rows := uint64(0)
		for _, n := range a.clock.rows {
			rows += n
		}
		return count(rows)
	}))
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		list = append(list, ofClock(fact("store.fill."+op.String(), "rows", byWindow, "jobs per "+op.String()+" call"), func(a *answer) number {
			return ratio(float64(a.clock.rows[op]), float64(a.clock.calls[op]), "there was no such call")
		}))
	}
	return list
}
