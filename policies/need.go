package policies

// Need is a feature of scenarios without which a kind of policy has no effect: it then claims the jobs that fifo would.
type Need uint8

// NeedsNothing and the constants below are features of scenarios, such as tenants, that kinds of policies need.
const (
	NeedsNothing    Need = iota
	NeedsRetries         // jobs that are claimed more than once
	NeedsDependency      // a job class whose handlers call a dependency
	NeedsTenants         // two tenants
	NeedsPriorities      // job classes of two priorities
	NeedsClasses         // two job classes
)

// Lacks describes a scenario without the feature: "no job class calls a dependency".
func (n Need) Lacks() string {
	return [...]string{"nothing is missing", "nothing here can fail, so no job is ever retried", "no job class calls a dependency",
		"all jobs belong to one tenant", "all job classes have one priority", "there is one job class"}[n]
}
