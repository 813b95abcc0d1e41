package policies

// kinds are listed in this order; Add appends to them. shipped is how many this package brings.
var kinds = []Kind{
	fifoKind,
	lifoKind,
	freshFirstKind,
	retryFirstKind,
	weightedKind,
	bernoulliKind,
	separateKind,
	inflightCapKind,
	retryBudgetKind,
	tokenBucketKind,
	aimdKind,
	adaptiveLIFOKind,
	breakerKind,
	codelKind,
	agingKind,
	deadlineKind,
	tenantRoundRobinKind,
	tenantDRRKind,
	tenantFairKind,
	queuesKind,
	splitKind,
}

var shipped = len(kinds)
