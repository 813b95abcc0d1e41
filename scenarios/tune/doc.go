// Package tune searches for the setting of some keys of a scenario that serves its
// objectives best, with few simulations. All settings are simulated under the same seeds
// (common random numbers), so that differences between them show early.
//
// How it searches depends on the goal:
//
//   - The smallest or the largest value of one key that meets all objectives: bisection, which
//     takes for granted that who meets them at one value does so at all easier ones. Each value
//     gets 5 seeds, then 10, 20, ..., until the intervals of all objectives lie on one side of
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
package tune
