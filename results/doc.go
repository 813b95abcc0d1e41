// Package results joins the runs of all policies and seeds of a scenario to a Summary, and keeps it in files.
//
// What a simulation records becomes a measure.Run. Summarize joins runs: means and quantiles with 95 %
// intervals, differences to the baseline paired by seed, and a Verdict for each objective.
// Files encodes a Summary, Write stores the files, and ReadStored reads
// them again, for a report. Package text prints a Summary, package report draws it.
//
//	run := collector.Finish(end, unresolved)
//	// ... and so for all policies and seeds ...
//	summary, err := results.Summarize(settings, runs, results.Options{})
//	err = text.WriteTable(os.Stdout, summary, text.TableOptions{Width: 80})
//
// # What is the same
//
// Equal settings and runs give equal bytes, whatever the order of the runs: nothing here reads a
// clock, draws a number or depends on the order of a map.
package results
