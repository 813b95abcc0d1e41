// Package measure turns the events of a simulated run into numbers.
//
// A Collector is an engine.Recorder for one run: it computes the queries of its Settings, each a metric, possibly
// narrowed to a storm, a class or a tenant. The result is a Run: values, time series and histograms of waits, which
// package results joins over seeds.
//
//	collector := measure.NewCollector(settings, policy)
//	// ... the simulation calls collector.Record(&event) for each event ...
//	run := collector.Finish(end, unresolved)
//	run.Seed, run.Fingerprint = seed, digest
//
// # What is counted
//
// Metrics of jobs (waits, attempts, duplicates) cover the jobs enqueued between the end of the warm-up and the end of
// arrivals; metrics of time (utilization, backlogs, goodput) cover that period. A filter narrows either to a storm or
// to the time after it, to a class or to a tenant.
//
// A job that is neither done nor dead when a run ends (censored) is never dropped, nor its age taken for its wait: it
// ranks above all others, and a value that depends on its unknown wait is marked as a lower bound, ">=". A set without
// jobs has no value, which is not 0: null, with a reason.
//
// Equal settings and events give equal numbers: nothing here reads a clock, draws a number or depends on the order of a
// map.
package measure
