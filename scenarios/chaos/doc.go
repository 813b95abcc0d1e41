// Package chaos searches for bugs of the engine by random simulations under faults. It draws worlds (small random
// scenarios) from seeds: nodes with their configuration, options of the store, the policy, arrivals and failures of
// jobs, and storms (faults with a window). Each runs with a checker that verifies the invariants of package check after
// every event. Then all storms end, and every job must end within a bound computed from the configuration.
//
//	swarm, err := chaos.Swarm(ctx, chaos.Options{First: 1, Seeds: 1000})
//	for _, f := range swarm.Failures {
//		fmt.Print(f.World.Text) // the smallest world found that breaks the same invariant
//	}
//
// A World is a scenario of package scenarios: a failure is printed as a scenario file for any command, which stays
// valid even if seeds are drawn differently later. Catalogue lists faults of production systems, each with the keys
// that cause it.
package chaos
