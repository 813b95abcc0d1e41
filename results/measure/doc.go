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
// A run is a simulation of a scenario under one of its policies and one seed. A storm is a failure or a burst of jobs
// that the scenario injects in a window of time. A fresh job has had no attempt yet; a claim of a job after a failed or
// lost attempt is a retry. A fresh job starves while it has waited beyond the threshold of its class. A caller is who
// enqueues a job; one with patience gives up when that is over, and may enqueue the same job again, as a further copy.
//
// Metrics of jobs (waits, attempts) cover the jobs enqueued between the end of the warm-up and the end of arrivals;
// metrics of time (utilization, backlogs) cover that period. A filter narrows either to a storm or the time after it,
// to a class or to a tenant: a job set holds the metrics of jobs for one filter, a view those of time.
//
// A job that is neither done nor dead when a run ends (censored) is never dropped, nor its age taken for its wait: it
// ranks above all others, and a value that depends on its unknown wait is marked as a lower bound, ">=". A set without
// jobs has no value, which is not 0: null, with a reason.
//
// Equal settings and events give equal numbers: nothing here reads a clock, draws a number or depends on map order.
package measure
