// Package sweep simulates a scenario under many combinations of values of its keys, in
// parts that different machines can compute.
//
// A Plan is made of a scenario and axes: keys with the values that they take. Each
// combination is a cell, numbered in the order of the product, in which the last axis
// varies fastest. All cells have the scenario's seeds, so that the same jobs arrive in all of
// them and what differs between cells is due to the values.
//
//	plan, err := sweep.New(source, axes, version)
//	work, err := sweep.Open(dir, plan, sweep.Shard{Index: 0, Of: 4}, false)
//	err = plan.Run(ctx, work.Left(), sweep.Options{Keep: work.Keep})
//	err = work.Finish()                // dir/shard-0-of-4.jsonl
//	merged, err := sweep.Merge(dir)    // when all four are there
//
// Shard I of N computes the cells whose index leaves I when divided by N. A cell that has
// been simulated is a file of its own until its shard is complete, so that a process that
// ends early loses only the cells it was at. What is merged does not depend on the number of
// shards, on who computed them or in which order.
package sweep
