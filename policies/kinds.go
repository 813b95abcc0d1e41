package policies

// share is what weighted and bernoulli promise fresh jobs.
func share(a arguments) float64 { return a.of["fresh"].share.Float() }

func everything(arguments) float64 { return 1 }

var (
	freshShare = Param{Name: "fresh", Type: TypeShare, Default: "80%", Doc: "share of the claims that go to fresh jobs while both classes are ready"}
	lend       = Param{Name: "lend", Type: TypeBool, Default: "true", Doc: "lend what a class leaves of its share to the other; false leaves it unclaimed until the next fetch"}
)

// kinds are listed in this order.
var kinds = []kind{
	{
		Kind: Kind{Name: "fifo", WorkConserving: true, Cost: CostNothing, State: StateNone,
			Doc: "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither class anything: a storm of retries delays fresh jobs until it is worked off."},
		build: always(FIFO{}),
	},
	{
		Kind: Kind{Name: "lifo", WorkConserving: true, Cost: CostNothing, State: StateNone,
			Doc: "The job that became ready last. Under a backlog new jobs hardly wait, and the oldest wait until it is gone."},
		build: always(LIFO{}),
	},
	{
		Kind: Kind{Name: "fresh-first", WorkConserving: true, Cost: CostNothing, State: StateNone,
			Doc: "Retries only when no fresh job is ready. Fresh jobs wait as if there were no retries in the queue; retries may starve."},
		build: always(FreshFirst{}), entitled: everything,
	},
	{
		Kind: Kind{Name: "retry-first", WorkConserving: true, Cost: CostNothing, State: StateNone,
			Doc: "Fresh jobs only when no retry is ready, as brokers do that put redeliveries first. Fresh jobs starve in a storm of retries."},
		build: always(RetryFirst{}),
	},
	{
		Kind: Kind{Name: "weighted", WorkConserving: true, Cost: CostJobs, State: StateNode, Params: []Param{freshShare, lend},
			Doc: "A fixed share of all claims for fresh jobs while both classes are ready, exact over any number of claims because fractions are carried to the next; what a class leaves is lent to the other."},
		build: newWeighted, entitled: share,
	},
	{
		Kind: Kind{Name: "bernoulli", WorkConserving: true, Cost: CostJobs, State: StateNone, Params: []Param{freshShare, lend},
			Doc: "As weighted, with a coin tossed for every claim: the share is right in the mean, with runs of bad luck."},
		build: newBernoulli, entitled: share,
	},
	{
		Kind: Kind{Name: "separate", WorkConserving: false, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "retry-workers", Type: TypeCountOrShare, Default: "20%", Doc: "workers of each node for retries; at least one, and one must be left for fresh jobs"},
			{Name: "retry-poll", Type: TypeDuration, Default: "0s", Doc: "least time between two looks for retries: a slower fetch of their own; 0s: none"},
		},
			Doc: "Retries have workers of their own and fresh jobs the others, as with a second queue. Neither can crowd out the other; a lane idles while the other has a backlog."},
		build: newSeparate,
	},
	{
		Kind: Kind{Name: "inflight-cap", WorkConserving: false, Cost: CostJobs, State: StateNone, Params: []Param{
			{Name: "retries", Type: TypeCountOrShare, Default: "20%", Doc: "most retries in flight in each node: a count, or a share of its workers (at least one unless 0%); 0 never runs a retry"},
		},
			Doc: "As fifo, with at most so many retries in flight in each node, prefetched and running; fresh jobs take the rest. Workers idle rather than run a further retry. A cap that no node can reach changes nothing."},
		build: newInFlightCap,
	},
	{
		Kind: Kind{Name: "retry-budget", WorkConserving: false, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "ratio", Type: TypeShare, Default: "20%", Doc: "retries that a first claim pays for"},
			{Name: "min-rate", Type: TypeRate, Default: "10/s", Doc: "retries allowed besides, whatever the first claims; with 0/s, retries left when fresh jobs stop never run"},
			{Name: "window", Type: TypeDuration, Default: "10s", Doc: "how long deposits and spending are remembered"},
		},
			Doc: "As fifo, with retries paid from a budget in each node: every first claim deposits a fraction of a retry, every retry spends one, both are forgotten after the window (Finagle). Workers idle rather than overspend."},
		build: newRetryBudget,
	},
	{
		Kind: Kind{Name: "token-bucket", WorkConserving: false, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "capacity", Type: TypeNumber, Default: "500", Doc: "tokens in a full bucket"},
			{Name: "cost", Type: TypeNumber, Default: "5", Doc: "tokens that a retry takes"},
			{Name: "timeout-cost", Type: TypeNumber, Default: "10", Doc: "tokens that a retry has cost if it fails by timeout"},
			{Name: "refill", Type: TypeNumber, Default: "1", Doc: "tokens that a first attempt adds if it succeeds"},
		},
			Doc: "As fifo, with retries paid from a bucket of tokens in each node that starts full: a retry takes its cost and gives it back if it succeeds; first attempts that succeed refill it (AWS SDKs). Blips are free, outages stop retries. If no fresh job succeeds any more, an empty bucket stays empty."},
		build: newTokenBucket,
	},
	{
		Kind: Kind{Name: "aimd", WorkConserving: false, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "min", Type: TypeCountOrShare, Default: "1", Doc: "lowest cap: a count of at least 1, or a share of the workers of a node"},
			{Name: "max", Type: TypeCountOrShare, Default: "100%", Doc: "highest cap"},
		},
			Doc: "As inflight-cap, with a cap in each node that starts at max, falls to nine tenths at every retry that fails and rises by one whenever as many retries as the cap have succeeded."},
		build: newAIMD,
	},
	{
		Kind: Kind{Name: "adaptive-lifo", WorkConserving: true, Cost: CostNothing, State: StateNone, Params: []Param{
			{Name: "older-than", Type: TypeDuration, Default: "5s", Doc: "how long the oldest must have waited"},
		},
			Doc: "Newest first while the oldest ready job has waited longer than a bound, else oldest first: under a standing backlog it serves those who may still be waiting for an answer."},
		build: newAdaptiveLIFO,
	},
	{
		Kind: Kind{Name: "breaker", WorkConserving: false, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "failures", Type: TypeNumber, Default: "5", Doc: "failures in a row that open a breaker"},
			{Name: "probe-after", Type: TypeDuration, Default: "1m", Doc: "time from opening to a try, and from one try to the next"},
		},
			Doc: "As fifo, with a circuit breaker for each dependency in each node: it opens when so many executions in a row that call the dependency have failed; then no job that calls it is claimed until the time has passed (and up to a tenth more, drawn), and then a single one to try: success closes it, failure starts the time anew. The jobs stay queued and spend no attempt, and jobs of other dependencies have the workers. A dependency that is down gets one call per node and time. Workers idle while its jobs are ready."},
		build: newBreaker,
	},
	{
		Kind: Kind{Name: "codel", WorkConserving: true, Cost: CostNothing, State: StateNode, Params: []Param{
			{Name: "target", Type: TypeDuration, Default: "5s", Doc: "longest wait while there is a standing queue"},
			{Name: "interval", Type: TypeDuration, Default: "1m", Doc: "longest wait otherwise, and how long an empty queue is remembered; at least target"},
			{Name: "then", Type: TypeChoice, Default: "bury", Doc: "what becomes of jobs that have waited longer: bury gives them up, last serves them after all others", Choices: []string{"bury", "last"}},
		},
			Doc: "As fifo, with a bound on the wait while the queue never empties: jobs may wait for interval if the queue of the node was found empty within the last interval (a burst), else for target only (a standing queue). What has waited longer is buried, at a claim and without an attempt, or served after everything else. Under overload what is served was served soon. No worker idles for it."},
		build: newCoDel,
	},
	{
		Kind: Kind{Name: "aging", WorkConserving: true, Cost: CostNothing, State: StateNone, Params: []Param{
			{Name: "every", Type: TypeDuration, Default: "30s", Doc: "waiting time that is worth one step of priority"},
			{Name: "cap", Type: TypeNumber, Default: "0", Doc: "most steps that a job may gain; 0: no bound"},
		},
			Doc: "A job gains a step of priority for every time that it has waited: priority less wait ÷ every, rounded down; among equals the one that has waited longest, fresh or retry. Nothing waits for ever, and urgency still counts: a job n steps behind waits as an urgent one after n times every. A cap takes that promise away from jobs that are further behind than it."},
		build: newAging,
	},
	{
		Kind: Kind{Name: "deadline", WorkConserving: true, Cost: CostNothing, State: StateNone, Params: []Param{
			{Name: "budget", Type: TypeBudget, Default: "30s", Doc: "time from enqueuing to the deadline, for all or by class: {payments: 5s, mail: 1m}; then every class must have one"},
		},
			Doc: "The job whose deadline comes first: the time of its enqueuing and the budget of its class; a retry keeps its deadline. Of all orders it keeps the latest job least late. Under overload it serves those first that are too late already, so that few deadlines are met. Priorities do not matter, and nothing is given up."},
		build: newDeadline,
	},
	{
		Kind: Kind{Name: "tenant-round-robin", WorkConserving: true, Cost: CostJobs, State: StateStore,
			Doc: "One job of each tenant in turn: equal numbers of claims, within one, for all tenants who have jobs ready, over all nodes. Who joins waits for one job of each other, however large their backlogs are. Of one tenant the most urgent job goes first, fresh or retry; no tenant gains by urgency, nor by dear jobs losing."},
		build: always(TenantRoundRobin()),
	},
	{
		Kind: Kind{Name: "tenant-drr", WorkConserving: true, Cost: CostTime, State: StateStore, Params: []Param{
			{Name: "quantum", Type: TypeQuantum, Default: "mean", Doc: "service time that a tenant may spend at each turn, or a number of jobs; mean: the mean cost of a job, over the classes"},
		},
			Doc: "Deficit round robin: at its turn a tenant may spend the quantum, and what it cannot use it keeps while it has jobs ready. A job costs the mean service time that its class declares, so tenants with jobs ready get equal time, within a quantum and the longest job, over all nodes; with a quantum in jobs, turns of so many jobs. Of one tenant the most urgent job goes first."},
		build: newTenantDeficit,
	},
	{
		Kind: Kind{Name: "tenant-fair", WorkConserving: true, Cost: CostTime, State: StateStore, Params: []Param{
			{Name: "share", Type: TypeShare, Default: "10%", Doc: "share of the jobs in flight above which a tenant is noisy"},
			{Name: "at-least", Type: TypeNumber, Default: "30", Doc: "jobs in flight below which that does not make it noisy"},
		},
			Doc: "Quiet tenants first, oldest job first; then the noisy tenant with the fewest jobs in flight. Noisy is who has more than a share of all jobs in flight, and at least so many, or has used more than a tenth of the processing time of the last minutes; who has no job ready or has enqueued nothing for five minutes is quiet again (SQS fair queues). Quiet tenants wait as if the noisy ones were not there, but for what is running; nothing is reserved, so no worker idles."},
		build: newTenantFair,
	},
	{
		Kind: Kind{Name: "queues", WorkConserving: true, Cost: CostJobs, State: StateNone, Params: []Param{
			{Name: "weights", Type: TypeWeights, Default: "{}", Doc: "by class, {high: 10, low: 5}; a class that is not named has 1"},
		},
			Doc: "Every job class is a queue, tried at each fetch in an order drawn by weight, and a fetch takes what it can of each (Sidekiq, Asynq). With a batch of one, classes that have jobs ready get claims in proportion to their weights, in the mean; no class starves. Of one class the jobs go as in fifo."},
		build: newQueues,
	},
	{
		Kind: Kind{Name: "split", WorkConserving: true, Cost: CostJobs, State: StateNode, Params: []Param{
			{Name: "priority", Type: TypeShare, Default: "80%", Doc: "share of the claims that go by priority"},
		},
			Doc: "A share of all claims for the most urgent jobs, the rest for those that have been ready longest, whatever their priority; exact over any number of claims because fractions are carried to the next. Urgent jobs keep most of the workers, and no job of low priority starves."},
		build: newSplit,
	},
}
