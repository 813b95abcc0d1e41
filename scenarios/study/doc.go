// Package study simulates one scenario under many values of its keys: all combinations (a sweep), those at the edge
// beyond which nothing recovers (a map), or those that a search asks for (tuning).
//
// A Plan is made of a scenario and axes: keys with the values that they take. Each combination is a cell, numbered in
// the order of the product, in which the last axis varies fastest. All cells have the scenario's seeds, so that the
// same jobs arrive in all of them (common random numbers) and what differs between cells is due to the values. What
// comes of a study does not depend on how many simulations run at once.
//
// # Sweeps
//
//	plan, err := study.New(source, axes, version)
//	work, err := study.Open(dir, plan, study.Shard{Index: 0, Of: 4}, false)
//	err = plan.Run(ctx, work.Left(), study.Options{Keep: work.Keep})
//	err = work.Finish()                // dir/shard-0-of-4.jsonl
//	merged, err := study.Merge(dir)    // when all four are there
//
// Shard I of N computes the cells whose index leaves I when divided by N. A cell that has been simulated is a file of
// its own until its shard is complete, so that a process that ends early loses only the cells it was at. What is
// merged does not depend on the number of shards, on who computed them or in which order.
//
// # Maps
//
// A Map measures a coarse grid over two keys, and then halves, again and again, only the cells of which the corners
// disagree: the edge is drawn as finely as a full grid would, for the price of a line.
//
// # Tuning
//
// A Problem asks for the setting that serves the objectives best, with few simulations. How it searches depends on
// the goal:
//
//   - The smallest or the largest value of one key that meets all objectives: bisection, which
//     takes for granted that who meets them at one value does so at all easier ones. Each value
//     gets 20 seeds, then 40, 80, ..., until the intervals of all objectives lie on one side of
//     their bounds; what stays unclear counts as not met. The neighbours of the answer
//     are looked at: where they contradict it, all values are.
//   - The least or greatest value of a metric, or else the greatest margin to the objectives,
//     of at most 32 settings: KN of Kim and Nelson: A fully sequential procedure for
//     indifference-zone selection in simulation, ACM TOMACS 11 (2001), which compares all
//     with all after every seed and drops who has fallen behind. A setting may drop others
//     only once it is known to meet all objectives (Andradóttir, Kim: Fully sequential procedures
//     for comparing constrained systems via simulation, Naval Research Logistics 57, 2010).
//   - The same of more settings: successive halving (Karnin, Koren, Somekh: Almost optimal
//     exploration in multi-armed bandits, ICML 2013) until 32 are left, by 4 seeds, then 8, ...;
//     then KN with other seeds. Nothing is promised about those that were dropped before.
//
// The chance to say anything wrong of a policy is at most 1 - Confidence, shared out evenly
// (Bonferroni): half to objectives and half to comparisons. It is that of t-intervals, over means
// of seeds: of a quantile, the mean of each seed's own.
package study
