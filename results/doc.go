// Package results turns the events of simulated runs into numbers, and numbers into
// tables and files.
//
// A Collector watches one run: it is an engine.Recorder. What it saw becomes a Run. Summarize
// joins the runs of all policies and seeds to a Summary: means and quantiles with 95 %
// intervals, differences to the baseline paired by seed, and a Verdict for each objective.
// WriteTable prints a Summary, Files encodes it, Write stores the files, and ReadStored reads
// them again, for a report.
//
//	collector := results.NewCollector(settings, policy)
//	// ... the simulation calls collector.Record(&event) for each event ...
//	run := collector.Finish(end, unresolved)
//	run.Seed, run.Fingerprint = seed, digest
//	// ... and so for all policies and seeds ...
//	summary, err := results.Summarize(settings, runs, results.Options{})
//	err = results.WriteTable(os.Stdout, summary, results.TableOptions{Width: 80})
//
// # What is counted
//
// Metrics of jobs (waits, attempts, duplicates) are of the jobs enqueued between the end
// of the warm-up and the end of arrivals; metrics of time (utilization, backlogs, goodput) of that stretch
// of the clock. A filter narrows either to a storm or to what follows it, to a class or to a tenant.
//
// A job that is neither done nor dead when a run ends is never dropped, and its age never
// taken for its wait: it ranks above all others, and a value that depends on how long it would have taken is marked as a lower
// bound, ">=". A set without jobs has no value, which is not 0: null, with a reason.
//
// # What is the same
//
// Equal settings and runs give equal bytes, whatever the order of the runs: nothing here reads a
// clock, draws a number or depends on the order of a map.
package results
