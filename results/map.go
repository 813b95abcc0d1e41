package results

import "qsim/results/measure"

// Map holds the values of a metric over a grid of values of two scenario keys, and the edge beyond which a condition on
// the metric holds, under each policy.
type Map struct {
	Scenario, ConfigHash, Version string

	Query            measure.Query
	Seeds            int // number of seeds at each point
	XKey, YKey       string
	XValues, YValues []string // values of the two keys on the axes, ascending
	// Steps is the number of grid positions from one value to the next, and the first value has position 0: tiles and
	// edges are placed by grid positions.
	Steps int
	// Edge is the condition on the metric that holds beyond the edge: "above 10s"; empty: its event does not happen.
	Edge   string
	Panels []MapPanel // maps of the policies, at least one
}

// MapPanel is the part of a Map (a metric over the values of two scenario keys) about one policy.
type MapPanel struct {
	Label string
	Tiles []MapTile    // rectangles that together cover the map
	Edge  [][4]float64 // X0, Y0, X1, Y1: horizontal and vertical lines between tiles on different sides of the edge
	// Beyond is the share of the map's area beyond the edge. Measured of Full points were measured.
	Beyond         float64
	Measured, Full int
}

// MapTile is a rectangle in a panel of a Map, in grid positions (Steps), with the value at the nearest point simulated.
type MapTile struct {
	X0, X1, Y0, Y1 float64
	Value          MapValue
}

// MapValue is the measured value of the metric at one point of a map.
type MapValue struct {
	Mean   float64 // mean over the seeds with a value or a bound, see AtLeast; NaN: no such seed
	Never  bool    // most seeds have only a lower bound, beyond the edge: the event did not happen
	Beyond bool    // the condition (Map.Edge) holds at the point under most seeds
	Seeds  int
	Bounds int    // number of seeds with only a lower bound
	Reason string // reason why there is no value
}

// AtLeast reports whether the mean at a map's point is only a lower bound, as the value of at least one seed is.
func (v *MapValue) AtLeast() bool { return v.Bounds > 0 }
