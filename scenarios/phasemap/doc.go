// Package phasemap finds where in the plane of two keys of a scenario a policy still
// recovers, and where it never does. It measures a coarse grid, and then halves, again and
// again, only the cells of which the corners disagree: the edge is drawn as finely as a full
// grid would, for the price of a line.
package phasemap
