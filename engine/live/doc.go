// Package live drives engines on the wall clock, with real handlers and any store: the code that package sim drives on
// a virtual clock, byte for byte.
//
// Run starts the engines of a process. Each has a loop, the only goroutine that touches it: it takes what has happened
// since it last looked, passes that to the engine, and does what the engine asks for. Handlers and calls to the store
// run in other goroutines of the loop, which return their results through a mailbox:
//
//	handlers --ended--+                       +--starts--> handlers
//	store ---replies--+-> mailbox -> engine --+--calls---> store
//	listener --woken--+                       +--cancels-> contexts
//
// A slow loop takes more at once, so its batches grow with the load. What is needed for one job is allocated in blocks:
// a job costs no allocation of its own, unless its handler looks at the Done channel or a value of its context.
//
// A store that announces ready jobs wakes engines, so that they need not wait for their next poll. All durations go by
// the monotonic clock: a wall clock that jumps changes nothing.
package live
