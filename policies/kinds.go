package policies

// kinds lists the kinds of policies in their order; Add appends to it. shipped is the number of built-in ones.
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
