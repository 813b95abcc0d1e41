package phasemap

import (
	"context"
	"fmt"
	"math"
	"sync"

	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// Plan is a map to be made.
type Plan struct {
	X, Y  Axis
	Depth int // how often cells at the edge are halved
	Query results.Query
	// Edge is where the far side begins: values above it and all lower bounds, or values below it
	// for a metric of which more is better. NaN: the far side is where the value is but a bound.
	Edge float64
	// Load returns the scenario with a value for each axis laid upon it. It is called from
	// several goroutines at once.
	Load func(x, y string) (*scenarios.Scenario, error)
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// Progress is told of each round, from one goroutine: it returns what is to be called when
	// one of its points has been measured, from one goroutine at a time.
	Progress func(policy string, round, points int) (measured func())
}

// Run makes a map for each policy of the scenario, with all its seeds. When ctx is done it
// returns ctx.Err(); a simulation that breaks an invariant makes it return a *scenarios.Broken.
func Run(ctx context.Context, p *Plan, policies []string) ([]*Map, error) {
	lattice, err := NewLattice(p.X, p.Y, p.Depth)
	if err != nil {
		return nil, err
	}
	for y := 0; y < len(lattice.Y); y += lattice.Steps {
		for x := 0; x < len(lattice.X); x += lattice.Steps {
			if _, err := p.load(lattice, Point{x, y}); err != nil {
				return nil, err
			}
		}
	}
	var maps []*Map
	for _, policy := range policies {
		round := 0
		m, err := Explore(lattice, func(points []Point) ([]Value, error) {
			measured := p.Progress(policy, round, len(points))
			round++
			return p.measure(ctx, lattice, policy, points, measured)
		})
		if err != nil {
			return nil, err
		}
		maps = append(maps, m)
	}
	return maps, nil
}

func (p *Plan) load(l *Lattice, at Point) (*scenarios.Scenario, error) {
	sc, err := p.Load(l.X[at.X].Text, l.Y[at.Y].Text)
	if err != nil {
		return nil, fmt.Errorf("%s=%s, %s=%s: %w", p.X.Key, l.X[at.X].Text, p.Y.Key, l.Y[at.Y].Text, err)
	}
	return sc, nil
}

// measure measures points, several at once.
func (p *Plan) measure(ctx context.Context, l *Lattice, policy string, points []Point, measured func()) ([]Value, error) {
	values := make([]Value, len(points))
	var mutex sync.Mutex
	err := pool.Each(ctx, pool.Width(p.Parallel), len(points), func(ctx context.Context, i int) (err error) {
		if values[i], err = p.point(ctx, l, policy, points[i]); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		measured()
		return nil
	})
	return values, err
}

// point measures one point: every seed.
func (p *Plan) point(ctx context.Context, l *Lattice, policy string, at Point) (Value, error) {
	sc, err := p.load(l, at)
	if err == nil {
		sc, err = sc.Select([]string{policy})
	}
	if err != nil {
		return Value{}, err
	}
	runs, err := world.Run(ctx, sc, world.Options{Parallel: 1})
	if err != nil {
		return Value{}, err
	}
	return p.value(runs)
}

// value is what the seeds of a point say together.
func (p *Plan) value(runs []results.Run) (Value, error) {
	info, _ := results.Lookup(p.Query.Metric)
	v := Value{Mean: math.NaN(), Seeds: len(runs)}
	sum, numbers, beyond, never := 0.0, 0, 0, 0
	for i := range runs {
		found := false
		for k := range runs[i].Values {
			value := &runs[i].Values[k]
			if value.Query != p.Query {
				continue
			}
			found = true
			if value.Null {
				v.Reason = value.Reason
				continue
			}
			// A bound counts for as much as it says: without it the mean would be that of the seeds
			// that came off lightly.
			sum, numbers = sum+value.Value, numbers+1
			far := p.beyond(value, info.MoreIsBetter)
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
		if !found {
			return v, fmt.Errorf("the run has no %s", p.Query)
		}
	}
	if numbers > 0 {
		v.Mean, v.Reason = sum/float64(numbers), ""
	}
	v.Never, v.Beyond = 2*never > len(runs), 2*beyond > len(runs)
	return v, nil
}

// beyond reports on which side of the edge a value lies. A lower bound says that what is measured
// had not come when the run ended: that is beyond whatever is too much, though not all of
// it has been seen. Where too little is beyond, it is inside if it is enough.
func (p *Plan) beyond(value *results.Value, moreIsBetter bool) bool {
	switch {
	case math.IsNaN(p.Edge):
		return value.Bound != ""
	case moreIsBetter:
		return value.Value < p.Edge
	}
	return value.Bound != "" || value.Value > p.Edge
}
