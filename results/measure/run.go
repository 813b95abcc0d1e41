package measure

// Run holds the measurements of one policy under one seed.
type Run struct {
	Policy      int // index into Settings.Policies
	Seed        uint64
	Fingerprint uint64 // sim.Digest of all events: equal for equal runs
	Events      int64  // number of events simulated
	Jobs        int64  // enqueued, warm-up included
	Values      []Value
	Series      Series
	Histograms  []RunHistogram // fresh.wait, retry.wait, attempt.wait, start.wait, sojourn; then those of filtered quantile queries
	Warnings    []string
	Tenants     []TenantCount // by engine.TenantID, without number 0 and those past the first mostTenants; nil: there are fewer than two

	tenantWaits []tenantWait // of the first mostTenantWaits of Tenants

	means []number // mean fresh waits, in the order of the slowdown values
}

// Value is the value of one metric in one run. A quantile of a set of which some jobs were unresolved, or another
// estimate that is only a bound, has Bound ">=".
type Value struct {
	Query
	Value  float64
	Null   bool // no value; Reason explains why
	Reason string
	Bound  string // "" or ">="
}

// Series are the time series of one run: element i covers the virtual time [i*Bucket, (i+1)*Bucket). NaN marks a bucket
// in which no fresh job was claimed.
type Series struct {
	FreshWaitP50 []float64 // s, of the fresh jobs claimed in the bucket
	FreshWaitP99 []float64 // s
	FreshReady   []float64 // jobs: fresh backlog, time average
	RetryReady   []float64 // jobs: retries ready, time average
	Waiting      []float64 // jobs: not yet due, time average
	Utilization  []float64 // busy workers ÷ workers
	Throughput   []float64 // executions finished per second
	Goodput      []float64 // first successes per second
	FreshClaims  []float64 // per second
	RetryClaims  []float64 // per second
	Failures     []float64 // failed executions per second
	// Starved is the share of the bucket's time in which a fresh job starved (waited beyond its class's threshold), of the
	// class or tenant that Settings.Charted returns. Nil: an earlier version did not measure it.
	Starved []float64
	// Classes is FreshWaitP99 by class. Nil: there is one, or so many that they are not told apart, or an earlier version
	// did not.
	Classes [][]float64
}

// MostClassSeries is the highest number of classes that have a time series of their own.
const MostClassSeries = 8
