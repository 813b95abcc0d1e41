package measure

// Run holds the measurements of one simulated run: of a scenario under one policy and one seed.
type Run struct {
	Policy      int // index of the policy in Settings.Policies
	Seed        uint64
	Fingerprint uint64 // sim.Digest of all events: equal for equal runs
	Events      int64  // number of events simulated
	Jobs        int64  // number of jobs enqueued, warm-up included
	Values      []Value
	Series      Series
	Histograms  []NamedHistogram // each family of waits, then those of filtered quantile queries
	Warnings    []string
	Tenants     []TenantCount // counts by engine.TenantID from 1, at most mostTenants; nil: fewer than two tenants

	tenantWaits []Waits // waits of the first mostTenantWaits of Tenants

	means []Value // mean fresh wait for each value of the metric slowdown, in their order
}

// Value is the value of one metric in one run, in the metric's unit, or the reason why it has none.
type Value struct {
	Query
	Value  float64
	Null   bool // no value; Reason explains why
	Reason string
	Bound  string // ">=": a lower bound, as of a quantile whose rank falls among unresolved jobs; or ""
}

// Series are the time series of one run: element i covers the virtual time [i*Bucket, (i+1)*Bucket). NaN marks a bucket
// in which no fresh job was claimed.
type Series struct {
	FreshWaitP50 []float64 // median wait of the fresh jobs claimed in the bucket, in seconds
	FreshWaitP99 []float64 // p99 wait of the fresh jobs claimed in the bucket, in seconds
	FreshReady   []float64 // number of ready fresh jobs, time average
	RetryReady   []float64 // number of ready retries, time average
	Waiting      []float64 // number of jobs not yet due, time average
	Utilization  []float64 // busy workers ÷ workers
	Throughput   []float64 // executions finished per second
	Goodput      []float64 // first successes per second
	FreshClaims  []float64 // claims of fresh jobs per second
	RetryClaims  []float64 // claims of retries per second
	Failures     []float64 // failed executions per second
	// Starved is the share of the bucket's time in which a fresh job starved (waited beyond its class's threshold), of the
	// class or tenant that Settings.Charted returns.
	Starved []float64
	// Classes holds FreshWaitP99 by class. Nil: one class, or more than MostClassSeries.
	Classes [][]float64
}

// MostClassSeries is the highest number of classes that have a time series of their own.
const MostClassSeries = 8
