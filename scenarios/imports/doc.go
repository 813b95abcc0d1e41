// Package imports turns records of jobs that really ran into a scenario: when they were enqueued becomes a trace of
// arrivals, how long they ran a fitted distribution for each class, how they failed and were tried again the keys of
// `fails` and `retry`. The scenario is then simulated, and its waits are compared with those on record.
//
//	found, err := imports.Read(ctx, []imports.File{{Name: "jobs.csv", Reader: file}}, imports.Options{From: "csv"})
//	...
//	written, err := found.Write(imports.Target{Scenario: "jobs.yaml"})
//
// Records are read once, in any order, and sorted in memory, at most MostRecords of them; samples of them are chosen by
// a hash of the job's identity. So what is found does not depend on the order of rows.
package imports
