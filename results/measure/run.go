package measure

// Run holds the measurements of one policy under one seed.
type Run struct {
	Policy      int // index into Settings.Policies
	Seed        uint64
	Fingerprint uint64 // sim.Digest of all events
	Events      int64  // simulated
	Jobs        int64  // enqueued, warm-up included
	Values      []Value
	Series      Series
	Histograms  []RunHistogram // fresh.wait, retry.wait, attempt.wait, start.wait, sojourn; then those of filtered quantile queries
	Warnings    []string
	Tenants     []TenantCount // by engine.TenantID, without number 0 and those past the first mostTenants; nil: there are fewer than two

	tenantWaits []tenantWait // of Tenants, the first mostTenantWaits

	means []number // mean fresh waits, for each value of slowdown
}

// Value is one metric of one run. A quantile of a set of which some jobs were
// unresolved, or another estimate that is only a bound, has Bound ">=".
type Value struct {
	Query
	Value  float64
	Null   bool // there is no value, for Reason
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
	// Starved is the share of the bucket in which some fresh job starved of those that Settings.Charted says. Nil: an earlier version did not measure it.
	Starved []float64
	// Classes is FreshWaitP99 by class. Nil: there is one, or so many that they are not told apart, or an
	// earlier version did not.
	Classes [][]float64
}

// MostClassSeries is how many classes have a time series of their own, at the most.
const MostClassSeries = 8
