// Package imports turns records of executed jobs into a scenario: enqueue times become a trace of arrivals, run times a
// fitted distribution for each class, failures and retries the keys of `fails` and `retry`. The scenario is then
// simulated, and its waits are compared with those on record.
//
//	found, err := imports.Read(ctx, []imports.File{{Name: "jobs.csv", Reader: file}}, imports.Options{From: "csv"})
//	...
//	written, err := found.Write(imports.Target{Scenario: "jobs.yaml"})
//
// Records are read once, in any order, and sorted in memory, at most MostRecords of them; samples of them are chosen by
// a hash of the job's identity. So what is found does not depend on the order of rows.
package imports
