// Package policies holds the fetch policies and the retry policies that scenarios
// compare.
//
// A fetch policy (engine.Policy) says what an engine claims next. It is asked for a
// plan whenever workers are free, and a plan is a list of terms, each of which claims
// from what the earlier ones left:
//
//	fifo                        [any idle]
//	fresh-first                 [fresh idle] [retry idle]
//	weighted, share s           [fresh ⌈carry + s·idle⌉] [retry the rest] [any idle]
//	separate, r retry workers   [fresh workers−r−running] [retry r−running]
//	inflight-cap, m             [any m−running] [fresh the rest], or [any idle] while m is slack
//	split, share s              [any ⌈carry + s·idle⌉] [oldest of any priority the rest]
//	breaker, open               [one to try] [kinds that do not call it idle]
//	queues                      [kind idle] for each kind, in the order drawn
//	codel                       [any idle, burying what has waited longer than allowed]
//	aging, deadline, tenant-…   [any idle, in that order]
//
// The orders of the last line, and waits with a bound, not every store offers.
//
// A policy value belongs to one engine and may keep state; New makes a fresh one by
// the name and parameters that scenario files use, and Kinds lists them all. NewFor
// tells it besides what job classes there are and what they call. What a
// policy counts, it counts in its own engine: a cap for a fleet is the cap divided by
// the number of engines, as one would deploy it.
//
// A retry policy (engine.RetryPolicy) says what becomes of a job that failed. Backoff
// is the only one here: a limit, a backoff, a jitter, and the errors that bury at once.
//
// # Writing one's own
//
// A policy is two methods. Plan appends terms to dst; it may read the View (time, idle
// workers, what is in flight by class) and the policy's own fields, and nothing else:
// no clock, no global randomness (View.Draw is there), no map iteration, so that a run
// can be repeated. Observe is told how many jobs of each class the latest plan brought
// and how each execution ended. A policy that must know the backlog is an
// engine.StatsReader besides and reads View.Store. A last term of engine.AnyClass that
// is as large as View.Idle makes a policy work-conserving: no worker stays idle while
// any job is ready. The package example shows one.
package policies
