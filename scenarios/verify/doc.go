// Package verify holds the simulator against what is known without it: closed forms of queueing theory, exact Markov
// chains, fluid models and traces worked out by hand, each with its source. A Row says what a model yields; Check
// builds the model as a scenario, runs it through the whole queue (store, fetcher, committer, leases; calls to the
// store take no time) and compares.
//
//	for _, row := range verify.Rows() {
//		result, err := verify.Check(ctx, row, verify.Options{})
//		fmt.Println(row.ID, result.Verdict)
//	}
//
// # What is measured
//
// A quantity that users read as a metric is measured by that metric, as the collector of package results/measure has
// it. An observer counts the same events in its own way; in every replication each metric that both have must be equal
// to within 1e-6, and quantiles to within half a percent, which is what their histograms may be off. Quantities without
// a metric, exact rows and what is only a bound, as not all jobs have ended, are the observer's own.
//
// # The rule
//
// What a sim row expects is measured by independent replications, as many as it takes: it is met if the mean of R
// replications is within t(0.9995, R-1)·s/√R of it, and if this half-width is at most
//
//   - 1 % of what is expected, 2 % for a 99th percentile;
//   - 5 % for the variance or second moment of waits for lognormal services of a coefficient of
//     variation above 1, for what a poll seldom leaves over and for the spread of a coin's
//     windows, where 1 % would take 25 times as long as all else in the row;
//   - for a probability 1 % of it or 0.002, whichever is more, but not more than half of it
//     or 1e-5; it is never less than what may go unseen in so many trials;
//   - where the load is above 0.8, 4 % of it, also for a 99th percentile, and 10 % for a
//     second moment;
//   - for the levels in and after a storm 1 % of the highest one, and 4 % of each.
//
// A quantile's centre is that of the pooled data, the spread that of the quantiles of the replications about it. A
// model row is met if the mean and the half-width are within 2 % of the fluid value. An exact row is met to within
// 1e-9, relative, unless it is about draws.
//
// # False alarms
//
// One quantity of a right program is missed with probability 0.001, so of the some 250 that are measured by
// replications one in five full runs would miss one. What is missed is therefore measured again, with other seeds and
// twice the replications, and counts as failed only if it is missed again: 1e-6 for each quantity, 3e-4 for a full run.
// The seeds are fixed, so that the chance is taken once for each change of the program, not at every run of it.
package verify
