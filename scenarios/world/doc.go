// Package world runs scenarios: it makes the simulated world of one, its arrivals, handlers, dependencies, network
// and storms, hands it to the simulation seed by seed, and measures what happens there.
//
//	sc, problems := scenarios.Load(display, src, nil)
//	runs, err := world.Run(ctx, sc, world.Options{})
//
// What a scenario means lives here, what may be written in one lives in package scenarios: that package knows no
// simulation, this one knows no YAML.
package world
