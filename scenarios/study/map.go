package study

import (
	"context"
	"math"
	"slices"
	"sync"

	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// MapPlan is the plan of a map: a metric measured over two keys of a scenario, with an edge at a bound of the metric.
type MapPlan struct {
	Source Source // scenario; its objectives and Queries are ignored
	X, Y   Axis
	Depth  int // number of times that cells at the edge are halved
	Query  measure.Query
	// Edge is the bound of the far side: values above it and all lower bounds, or values below it if
	// more is better. NaN: the far side has the points whose value is only a lower bound.
	Edge     float64
	EdgeText string // Edge as the user wrote it; empty: NaN
	// Parallel is the highest number of simulations at once; 0: one per core that Go uses.
	Parallel int
	// Progress is called at each round, from one goroutine: it returns a function to call after each
	// measured point, from one goroutine at a time.
	Progress func(policy string, round, points int) (measured func())
}

// Mapped holds the finished maps of a plan, one for each policy of the scenario.
type Mapped struct {
	*MapPlan
	Scenario, ConfigHash string
	Seeds                int
	Labels               []string // labels of the policies
	Maps                 []*Map
}

// PointValue is the measured value of the metric at one point of a map.
type PointValue struct {
	Mean   float64 // mean over the seeds with a value or a bound, see AtLeast; NaN: no such seed
	Never  bool    // most seeds have only a lower bound, beyond the edge: the event did not happen
	Beyond bool    // the point lies on the far side of the edge under most seeds
	Seeds  int
	Bounds int    // number of seeds with only a lower bound
	Reason string // reason why there is no value
}

// AtLeast reports whether the mean is only a lower bound, because the value of at least one seed is.
func (v *PointValue) AtLeast() bool { return v.Bounds > 0 }

// Run makes a map for each policy of base, the unchanged scenario, with all its seeds. When ctx is done it returns
// ctx.Err(); a point that cannot be simulated makes it return a *SettingError, before anything is simulated if it is
// one of the coarse grid.
func (p *MapPlan) Run(ctx context.Context, base *scenarios.Scenario) (*Mapped, error) {
	lattice, err := NewLattice(p.X, p.Y, p.Depth)
	if err != nil {
		return nil, err
	}
	source := p.Source
	source.Sets = append(slices.Clip(source.Sets), scenarios.Override{Path: "objectives", Value: "[]"})
	source.Queries = []measure.Query{p.Query}
	grid := lattice.corners()
	err = pool.Each(ctx, pool.Width(p.Parallel), len(grid), func(_ context.Context, i int) error {
		_, err := source.setting(p.sets(lattice, grid[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &simulator{source: &source, parallel: p.Parallel, each: int(base.Seeds)}
	maps := &Mapped{MapPlan: p, Scenario: base.Name, ConfigHash: base.ConfigHash(), Seeds: int(base.Seeds)}
	for i := range base.Policies {
		label, round := base.Policies[i].Label, 0
		m, err := Explore(lattice, func(points []Point) ([]PointValue, error) {
			measured := p.Progress(label, round, len(points))
			round++
			return p.measure(ctx, s, lattice, label, points, measured)
		})
		if err != nil {
			return nil, err
		}
		maps.Labels, maps.Maps = append(maps.Labels, label), append(maps.Maps, m)
	}
	return maps, nil
}

func (p *MapPlan) sets(l *Lattice, at Point) []scenarios.Override {
	return []scenarios.Override{{Path: p.X.Key, Value: l.X[at.X].Text}, {Path: p.Y.Key, Value: l.Y[at.Y].Text}}
}

// measure simulates points under one policy, with every seed, and returns their values.
func (p *MapPlan) measure(ctx context.Context, s *simulator, l *Lattice, policy string, points []Point,
	measured func()) ([]PointValue, error) {
	tasks, values := make([]task, len(points)), make([]PointValue, len(points))
	for i, at := range points {
		tasks[i] = task{sets: p.sets(l, at), policy: policy}
	}
	var mutex sync.Mutex
	err := s.run(ctx, tasks, func(i int, _ *measure.Settings, runs []measure.Run) error {
		mutex.Lock()
		defer mutex.Unlock()
		values[i] = p.value(runs)
		measured()
		return nil
	})
	return values, err
}

// value returns the mean of a point over its runs, one for each seed, and whether it lies beyond the edge.
func (p *MapPlan) value(runs []measure.Run) PointValue {
	info, _ := measure.Lookup(p.Query.Metric)
	v := PointValue{Mean: math.NaN(), Seeds: len(runs)}
	sum, numbers, beyond, never := 0.0, 0, 0, 0
	for i := range runs {
		value := runs[i].Find(p.Query)
		if value.Null {
			v.Reason = value.Reason
			continue
		}
		// A bound counts for as much as it says: without it the mean would be that of the seeds
		// that came off lightly.
		sum, numbers = sum+value.Value, numbers+1
		far := p.beyond(&value, info.MoreIsBetter)
		if value.Bound != "" {
			v.Bounds++
		}
		if far {
			beyond++
		}
		if far && value.Bound != "" {
			never++
		}
	}
	if numbers > 0 {
		v.Mean, v.Reason = sum/float64(numbers), ""
	}
	v.Never, v.Beyond = 2*never > len(runs), 2*beyond > len(runs)
	return v
}

// beyond reports whether a value lies beyond the edge of the map. A lower bound means that the event had not come when
// the run ended: it lies beyond any upper edge. If more is better, it counts as its value.
func (p *MapPlan) beyond(value *measure.Value, moreIsBetter bool) bool {
	switch {
	case math.IsNaN(p.Edge):
		return value.Bound != ""
	case moreIsBetter:
		return value.Value < p.Edge
	}
	return value.Bound != "" || value.Value > p.Edge
}
