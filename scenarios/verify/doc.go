// Package verify compares the simulator with results known independently: closed forms of queueing theory, exact Markov
// chains, fluid models and traces computed by hand, each with its source. A Row (verify row) has the parameters of a
// model and the expected values of some quantities; Check builds the model as a scenario, runs it through the whole
// queue (store, fetcher, committer, leases; calls to the store take no time) and compares. Fresh jobs have had no
// attempt yet; a storm is a timed fault.
//
//	for _, row := range verify.Rows() {
//		result, err := verify.Check(ctx, row, verify.Options{})
//		fmt.Println(row.ID, result.Verdict)
//	}
//
// # What is measured
//
// A quantity with a metric is measured by that metric of package results/measure. An observer counts the same events
// independently; in every replication each metric that both have must be equal to within 1e-6, and quantiles to within
// half a percent, the error of their histograms. Quantities without a metric, exact rows and values that are only
// bounds, since some jobs have not ended, come from the observer.
//
// # The rule
//
// The expected value of a sim row is measured by as many independent replications as needed: it is met if the mean of R
// replications is within t(0.9995, R-1)·s/√R of it, and if this half-width is at most
//
//   - 1 % of what is expected, 2 % for a 99th percentile;
//   - 5 % for the variance or second moment of waits for lognormal services of a coefficient of
//     variation above 1, for the mean number of jobs that a poll leaves, and for the standard deviation
//     of fresh claims in random windows, where 1 % would take 25 times as long as all else in the row;
//   - for a probability 1 % of it or 0.002, whichever is more, but not more than half of it
//     or 1e-5; the half-width is never less than the bound for an event not seen in so many trials;
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
