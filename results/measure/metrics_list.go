package measure

import (
	"qsim/engine"
)

const (
	noJobs   = "no job was enqueued"
	noTime   = "the window is empty"
	noStorms = "there is no storm"
)

// less, more and fact return the description of a metric for which low is better, high is better, or neither. It allows
// every filter; MetricInfo.only restricts that.
func less(name, unit, label, doc string) MetricInfo {
	info := fact(name, unit, label, doc)
	info.LessIsBetter = true
	return info
}

func more(name, unit, label, doc string) MetricInfo {
	info := fact(name, unit, label, doc)
	info.MoreIsBetter = true
	return info
}

func fact(name, unit, label, doc string) MetricInfo {
	return MetricInfo{Name: name, Unit: unit, Label: label, Doc: doc, Filters: byAny}
}

// only returns a metric's description with the given filters as the only ways to narrow it, and why it has no others.
func (m MetricInfo) only(f Filters, why string) MetricInfo {
	m.Filters, m.NotNarrower = f, why
	return m
}

// share returns a metric's description that marks its values as shares, at most 1.
func share(info MetricInfo) MetricInfo {
	info.Share = true
	return info
}

func ofJobs(info MetricInfo, of func(q *question) Value) metric {
	return metric{MetricInfo: info, basis: onJobs, of: of}
}

func ofClock(info MetricInfo, of func(q *question) Value) metric {
	return metric{MetricInfo: info, basis: onClock, of: of}
}

func fairnessMetrics() []metric {
	return []metric{
		ofClock(less("claim.gap.longest", "s", "longest gap between fresh claims",
			"longest stretch in which some fresh job was ready and none was claimed"),
			func(q *question) Value { return some(q.clock.longest.Seconds()).unless(q.clock.span == 0, noTime) }),
		ofClock(less("starved.claims", "claims", "most retries claimed in a row",
			"most consecutive claims of retries while a fresh job was ready"),
			func(q *question) Value { return count(q.clock.streak).unless(q.clock.span == 0, noTime) }),
		ofClock(share(less("claim.gap.share", "1", "time without fresh claims",
			"share of the time fresh jobs were ready in which none had been claimed for more than "+
				"10 times the mean fresh wait before the first storm, or 1 s if that is more")), (*question).gapShare),
		ofClock(less("fresh.deficit", "claims", "fresh claims short of the promised share", "most claims by which fresh "+
			"jobs fell short of the share the policy promises them, over stretches with fresh jobs ready").only(0,
			"the share is promised to the fresh jobs of all together; of some: starved.share, fresh.within"),
			func(q *question) Value {
				return some(q.deficit.worst).unless(q.entitled == 0, "the policy promises fresh jobs no share")
			}),
		ofClock(share(more("jain", "1", "fairness between tenants (Jain)", "Jain index over the tenants that had work "+
			"of executions finished ÷ the tenant's max-min fair share of them")).only(byWindow|ByClass,
			"it compares the tenants; of one tenant: throughput, fresh.wait.p99"),
			func(q *question) Value { return q.clock.shares.jain() }),
		slowdownMetric(),
	}
}

func attemptMetrics() []metric {
	perJob := func(of func(s *jobSet) float64) func(q *question) Value {
		return func(q *question) Value { return ratio(of(q.jobs), float64(q.jobs.enqueued), noJobs) }
	}
	return []metric{
		ofJobs(less("attempts.mean", "1", "attempts per job", "claims ÷ jobs enqueued"),
			perJob(func(s *jobSet) float64 { return float64(s.claims) })),
		ofJobs(less("attempts.max", "claims", "most attempts of a job", "most claims of one job"),
			func(q *question) Value { return count(q.jobs.attemptsMax()).unless(q.jobs.enqueued == 0, noJobs) }),
		ofJobs(less("retries.total", "claims", "retries", "claims of jobs claimed before"),
			func(q *question) Value { return count(q.jobs.retries) }),
		ofJobs(fact("retries.succeeded", "jobs", "jobs done by a retry", "jobs done by a later claim than their first"),
			func(q *question) Value { return count(q.jobs.retriesDone) }),
		ofJobs(share(more("retries.success-rate", "1", "retries that succeed", "retries.succeeded ÷ retries.total")),
			func(q *question) Value {
				return ratio(float64(q.jobs.retriesDone), float64(q.jobs.retries), "no job was retried")
			}),
		ofClock(share(fact("retry.share", "1", "claims that are retries", "share of the claims that were of retries")),
			func(q *question) Value {
				return ratio(float64(q.clock.claims[engine.Retry]), float64(q.clock.allClaims()), "nothing was claimed")
			}),
		ofJobs(less("retry.rate", "1", "retries per job", "retries ÷ jobs enqueued"),
			perJob(func(s *jobSet) float64 { return float64(s.retries) })),
		ofJobs(fact("retry.delay.mean", "s", "mean backoff", "mean delay that the retry policy set"), (*question).retryDelay),
		ofJobs(fact("retry.delay.p99", "s", "p99 backoff", "p99 of the delay that the retry policy set"),
			func(q *question) Value {
				return some(secondsOf(0.99, q.jobs.delays)).unless(q.jobs.delays.total.N == 0, "no retry was delayed")
			}),
		ofJobs(less("dead.count", "jobs", "dead jobs", "jobs dead at the end"),
			func(q *question) Value { return count(q.jobs.deaths - q.jobs.revived) }),
		ofJobs(share(less("dead.share", "1", "share of dead jobs", "share of the jobs enqueued that are dead at the end")),
			perJob(func(s *jobSet) float64 { return float64(s.deaths - s.revived) })),
		ofJobs(less("deaths.count", "jobs", "deaths", "deaths, whether or not the job was made ready again"),
			func(q *question) Value { return count(q.jobs.deaths) }),
		ofJobs(less("unfinished.count", "jobs", "unfinished jobs", "jobs neither done nor dead at the end"),
			func(q *question) Value { return count(q.jobs.unresolved) }),
		ofJobs(share(less("unfinished.share", "1", "share of unfinished jobs",
			"share of the jobs enqueued that are neither done nor dead at the end")),
			perJob(func(s *jobSet) float64 { return float64(s.unresolved) })),
	}
}

func (q *question) retryDelay() Value {
	return ratio(q.jobs.delaySum/1e9, float64(q.jobs.nacks), "no retry was delayed")
}

func duplicateMetrics() []metric {
	return []metric{
		ofJobs(less("duplicates.count", "executions", "duplicates",
			"executions that ended in success after another of the same job had"),
			func(q *question) Value { return count(q.jobs.duplicates) }),
		ofJobs(less("duplicates.per10k", "executions", "duplicates per 10k jobs", "duplicates.count per 10,000 jobs"),
			func(q *question) Value {
				return ratio(10000*float64(q.jobs.duplicates), float64(q.jobs.enqueued), noJobs)
			}),
		ofJobs(less("duplicates.executions", "executions", "executions past their lease",
			"executions run to the end, of whatever outcome but cancelled, whose lease had been taken"),
			func(q *question) Value { return count(q.jobs.lapsed) }),
		ofJobs(less("effects.double", "jobs", "double effects",
			"jobs whose side effect was applied more than once, under any guard of their class"),
			func(q *question) Value { return count(q.jobs.doubled) }),
		ofJobs(share(less("wasted", "1", "wasted worker time",
			"share of the busy worker time not in the execution whose ack was accepted")), func(q *question) Value {
			return some(max(0, 1-q.jobs.accepted/q.jobs.busy)).unless(q.jobs.busy == 0, "no execution ended")
		}),
		ofClock(less("stale.commits", "commits", "stale commits refused",
			"commits refused because the lease had passed to another or the job had ended; to the end of the run"),
			func(q *question) Value { return count(q.clock.fenced) }),
		ofJobs(less("leases.expired", "leases", "expired leases", "leases that expired and were recovered"),
			func(q *question) Value { return count(q.jobs.leasesExpired) }),
		ofJobs(less("leases.false", "leases", "leases taken from live holders",
			"leases that expired and were recovered while the process that held them was alive"),
			func(q *question) Value { return count(q.jobs.leasesFalse) }),
	}
}

func countMetrics() []metric {
	return []metric{
		ofClock(fact("claims", "claims", "claims", "jobs claimed"),
			func(q *question) Value { return count(q.clock.allClaims()) }),
		ofClock(fact("events", "events", "events", "events recorded, warm-up included").only(0, "it is of the whole run"),
			func(q *question) Value { return count(q.events) }),
		ofJobs(fact("jobs", "jobs", "jobs", "jobs enqueued"), func(q *question) Value { return count(q.jobs.enqueued) }),
		ofJobs(less("retries_total", "claims", "retries", "retries.total, by the name that operators use"),
			func(q *question) Value { return count(q.jobs.retries) }),
		ofJobs(less("retry_exhausted_total", "jobs", "deaths by the attempt limit",
			"deaths.limit, by the name that operators use"),
			func(q *question) Value { return count(q.jobs.deathsBy[byLimit]) }),
		ofJobs(fact("retry_latency_seconds", "s", "mean time in backoff", "mean time in backoff, from a failure until the "+
			"retry is due: retry.delay.mean, by the name that operators use"), (*question).retryDelay),
	}
}
