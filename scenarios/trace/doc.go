// Package trace says what happened in one simulation of a scenario, one policy under one seed: the life of one job, all
// that happened in a window of time, or which job is worth a look. A simulation is repeated for each question: it is
// cheaper than keeping what happened, and equal to the byte.
//
// What happens is told as it happens and not kept, so that a window of a run of any length takes no memory.
package trace
