// Package policies holds the fetch policies and the retry policies that scenarios compare.
//
// A fetch policy (engine.Policy) decides what an engine claims next: asked for a plan whenever workers are free, it
// answers with terms, each of which claims from what the earlier ones left. A retry policy (engine.RetryPolicy) decides
// the outcome of a job that failed; Backoff is the only one here. Each kind of policy has a file: its Kind, with prose
// and parameters, and its type, with what it guarantees. An invariant checker verifies guarantees by the recorded
// events of a run; those that events do not show, a Law verifies by the policy's plans.
//
// A policy value belongs to one engine and may keep state; New makes one from the name, parameters and job
// classes in a scenario file, and Kinds lists all kinds. Each engine's policy counts for itself: divide a cap for a
// fleet by the number of engines.
//
// # Writing one's own
//
// A policy is two methods. Plan appends terms to dst; it may read the View (time, idle workers, what is in flight by
// class) and the policy's own fields, and nothing else: no clock, no global randomness (View.Draw is there), no map
// iteration, so that a run can be repeated. Observe receives the number of jobs of each class that the latest plan
// claimed, and the result of each execution. A policy that depends on the backlog also implements engine.StatsReader
// and reads View.Store. A last term of engine.AnyClass that is as large as View.Idle makes a policy work-conserving: no
// worker stays idle while any job is ready. The package example shows one.
package policies
