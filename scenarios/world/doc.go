// Package world runs scenarios: it makes the simulated world of one, its arrivals, handlers, dependencies, network
// and storms, hands it to the simulation seed by seed, and measures what happens there.
//
//	sc, problems := scenarios.Load(display, src, nil)
//	runs, err := world.Run(ctx, sc, world.Options{})
//
// This package defines the meaning of scenarios, package scenarios their syntax: that package has no simulation,
// this one no YAML.
package world
