// Package results joins the runs of all policies and seeds of a scenario to a Summary, and keeps it in files.
//
// A scenario describes a job queue with its load, and is simulated under each of its policies (rules of what is claimed
// next) with the same seeds. A storm is a failure or a burst of jobs that it injects in a window of time. A fresh job
// has had no attempt yet; later attempts are retries. An objective is a bound on a metric.
//
// What a simulation records becomes a measure.Run. Summarize joins runs: means and quantiles with 95 % intervals,
// differences to the baseline policy paired by seed, and a Verdict for each objective. Files encodes a Summary, Write
// stores the files, and ReadStored reads them again, for a report. Packages text and report show a Summary.
//
//	summary, err := results.Summarize(settings, runs, results.Options{}) // runs of all policies and seeds
//	fmt.Print(text.Summary(summary, text.TableOptions{Width: 80}))
//
// Equal settings and runs give equal bytes, whatever the order of the runs: nothing here reads a clock, draws a number
// or depends on the order of a map.
package results
