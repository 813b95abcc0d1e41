package verify

// families maps the first part of a verify row's ID to the function that builds experiments for its model.
var families = map[string]family{
	"mmc":      plainQueue(exponentialService, true),
	"md1":      plainQueue(constantService("D"), false),
	"mdc":      plainQueue(constantService("D"), false),
	"mg1_logn": plainQueue(variedService("lognormal"), false),
	"mh2_1":    plainQueue(variedService("hyperexponential"), false),
	"prio_mmc": priorities,
	"prio_mg1": prioritiesByMoments,

	"attempts":       independentFailures(func(p *params) (float64, int) { return p.share("p"), p.limit("max_attempts") }),
	"three_retries":  independentFailures(func(p *params) (float64, int) { return p.share("failure"), 4 }),
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

	"lease_exp":  lapsing(exponentialService),
	"lease_logn": lapsing(variedService("lognormal")),
	"hb_fixed":   heartbeats(constantService("service")),
	"hb_exp":     heartbeats(exponentialService),
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

// wordless maps the families of models that a scenario cannot express to the reason.
var wordless = map[string]string{
	"mmck":    "a queue here refuses no job: there is no bound on how many may be in it",
	"shuffle": "there is no shuffle sharding: every worker may run every job",
}
