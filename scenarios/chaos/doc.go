// Package chaos looks for what breaks the engine. It draws small worlds from seeds: how
// many nodes, how each is configured, what the store promises, which policy claims, how
// jobs come and fail, and the troubles that befall all of it. Each runs with a checker
// that holds the invariants of package check after every event. Then all troubles end,
// and every job must come to its end within a time that the configuration explains.
//
//	swarm, err := chaos.Swarm(ctx, chaos.Options{First: 1, Seeds: 1000})
//	for _, f := range swarm.Failures {
//		fmt.Print(f.World) // the smallest world found that breaks the same invariant
//	}
//
// A World is data with a text, one line for each part of it that is not as usual, and one
// for each trouble:
//
//	world seed=17 heal=40s nodes=2 workers=3
//	load jobs=100 gap=100ms
//	store fence=token
//	fault crash node=1 at=3s for=2s times=3 every=4s
//	fault calls ops=claim,commit at=5s for=10s lose-reply=0.3
//
// String and Parse are inverse to each other, so that a world that once failed can be
// kept as it was, however seeds are drawn later. Catalogue lists the troubles that
// production knows, each with the lines that bring it about.
package chaos
