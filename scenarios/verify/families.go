package verify

// families are the models that can be measured, by the first part of a row's ID.
var families = map[string]family{
	"mmc":      markovian,
	"md1":      deterministic,
	"mdc":      deterministic,
	"mg1_logn": lognormal,
	"mh2_1":    hyperexponential,
	"prio_mmc": priorities,
	"prio_mg1": prioritiesByMoments,

	"attempts":       attemptsLimited,
	"three_retries":  threeRetries,
	"feedback":       feedback,
	"feedback_mg1":   feedbackAtOnce,
	"decorr_cap":     decorrelatedDrawn,
	"overload_retry": overload,
	"token_bucket":   tokenBucket,

	"fresh_first":      freshFirst,
	"fresh_first_mmc":  freshFirstOrbit,
	"chain_open":       openChain,
	"chain_retry":      policyChain,
	"weighted_sat":     saturated,
	"weighted_sat_mg1": saturatedByMoments,
	"bern":             coins,
	"wrr":              frames,
	"poll":             polling,

	"lease_exp":  leaseExponential,
	"lease_logn": leaseLognormal,
	"hb_fixed":   heartbeatsFixed,
	"hb_exp":     heartbeatsExponential,
	"crash":      crashes,

	"storm":            transientStorm,
	"hotos21":          metastable,
	"collapse":         congested,
	"goodput_collapse": staleWork,
	"budget_threshold": retryBudget,
	"occ_lockstep":     lockstep,

	"jitter": jitterMoments,
	"decorr": decorrelatedMoments,

	"trace.fifo":           traceFIFO,
	"trace.retry_order":    traceRetryOrder,
	"trace.wrr":            traceFrames,
	"trace.lease_unfenced": traceLease,
	"trace.poll":           tracePolling,
}

// wordless are the families that the simulator has no words for, see inexpressible.
var wordless = []string{"mmck", "shuffle"}

// inexpressible is why the simulator has no words for a family; "" if it has.
func inexpressible(family string) string {
	switch family {
	case "mmck":
		return "a queue here refuses no job: there is no bound on how many may be in it"
	case "shuffle":
		return "there is no shuffle sharding: every worker may run every job"
	}
	return ""
}
