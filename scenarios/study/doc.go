// Package study simulates one scenario under many values of its keys: all combinations (a sweep), those near the edge
// between recovery and collapse (a map), or those that a search needs (tuning).
//
// A Plan has a scenario and axes: keys with their values. Each combination is a cell, numbered in the order of the
// product, in which the last axis varies fastest. All cells have the scenario's seeds, so that the same jobs arrive in
// all of them (common random numbers) and what differs between cells is due to the values. The results do not depend on
// how many simulations run in parallel.
//
// # Sweeps
//
//	plan, err := study.New(source, axes)
//	work, err := study.Open(dir, plan, study.Shard{Index: 0, Of: 4}, false)
//	err = plan.Run(ctx, work.Left(), study.Options{Keep: work.Keep})
//	err = work.Finish()                // dir/shard-0-of-4.jsonl
//	merged, err := study.Merge(dir)    // when all four are there
//
// Shard I of N computes the cells whose index modulo N is I. Each finished cell is a line in a
// journal until its shard is complete, so that an interrupted process loses only the cells under way. The merged result
// does not depend on the number, the place or the order of the shards' computations. A search keeps a journal, too.
//
// # Maps
//
// A Map measures a metric on a coarse grid over two keys, and then repeatedly halves only the cells whose corners lie
// on different sides of the edge, a bound of the metric: it is as fine there as a full grid, with far fewer points.
//
// # Tuning
//
// A Problem is a search for the best setting (values of the keys) under the objectives, with few simulations. The
// method depends on the goal:
//
//   - The smallest or the largest value of one key that meets all objectives: bisection, which assumes that a policy
//     that meets them at one value meets them at all easier values. Each value gets 20 seeds, then 40, 80, ..., until
//     the intervals of all objectives lie on one side of their bounds; an objective still unclear counts as not met.
//     The neighbours of the result are judged too: if they contradict it, all values are.
//   - The least or greatest value of a metric, or else the greatest margin to the objectives:
//     KN of Kim and Nelson: A fully sequential procedure for indifference-zone selection in simulation, ACM TOMACS 11
//     (2001), which compares all pairs after every seed and drops settings that have fallen behind. A setting may drop
//     others only once it is known to meet all objectives (Andradóttir, Kim: Fully sequential procedures for comparing
//     constrained systems via simulation, Naval Research Logistics 57, 2010).
//
// The probability of any wrong statement about a policy is at most 1 - Confidence, divided evenly (Bonferroni): half
// for objectives and half for comparisons. It is that of t-intervals of means over seeds; for a quantile, of the mean
// of the seeds' quantiles.
//
// # The doctor
//
// A Doctor applies incidents, built-in scenarios that reproduce known failures of job queues, to another scenario, the
// patient. It adds an incident's trouble (its storms and job classes) and judges a metric, with and without the cure, a
// change of settings that helps in the incident.
package study
