package reference

// MostNodes and the constants below limit the size of one run.
const (
	MostNodes    = 100_000
	MostWorkers  = 1_000_000 // workers of all nodes
	mostSeeds    = 10_000
	MostClasses  = 64 // a plan names classes by the bits of a word
	MostStorms   = 1000
	MostPolicies = 64            // policies of one scenario
	MostJobs     = 1_000_000_000 // jobs of one run
	MostTicks    = 1_000_000_000 // ticks of any one timer in one run
	MostBatch    = 100_000
)

// mostTenants and the constants below limit the jobs of one scenario.
const (
	mostTenants      = 100_000
	mostKeys         = 1_000_000
	MostResubmits    = 255
	MostDependencies = 64
	MostPhases       = 10_000_000 // pairs of on and off phases
)
