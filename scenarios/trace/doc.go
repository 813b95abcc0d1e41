// Package trace prints the events of one simulation of a scenario, one policy under one seed: the history of one job,
// all events in a window of time, or jobs that are extreme in some way. A simulation is repeated for each question: it
// is cheaper than keeping what happened, and equal to the byte.
//
// Events are printed as they happen and not kept, so that a window of a run of any length takes no memory.
package trace
