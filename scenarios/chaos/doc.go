// Package chaos searches for bugs of the engine by random simulations under faults. It draws small worlds from seeds:
// how many nodes, how each is configured, what the store promises, which policy claims, how jobs come and fail, and the
// storms that befall all of it. Each runs with a checker that holds the invariants of package check after every event.
// Then all storms end, and every job must come to its end within a time that the configuration explains.
//
//	swarm, err := chaos.Swarm(ctx, chaos.Options{First: 1, Seeds: 1000})
//	for _, f := range swarm.Failures {
//		fmt.Print(f.World.Text) // the smallest world found that breaks the same invariant
//	}
//
// A World is a scenario of package scenarios: what is found is printed as a file that every
// command takes, and can be kept as it was, however seeds are drawn later. Catalogue lists the
// troubles that production knows, each with the keys that bring it about.
package chaos
