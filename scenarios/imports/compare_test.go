package imports

import (
	"testing"
	"time"

	"qsim/results/measure"
)

func spreadOfWaits(t *testing.T, n int, wait func(i int) time.Duration) *measure.Histogram {
	t.Helper()
	h := new(measure.Histogram)
	for i := range n {
		h.Record(wait(i))
	}
	return h
}

// Two percent of jobs that wait an hour are no tenth of all jobs, but they are the end of the
// distribution.
func TestCloseLooksAtTheTail(t *testing.T) {
	t.Parallel()
	usual := func(i int) time.Duration { return time.Duration(100+i%100) * time.Millisecond }
	tail := func(i int) time.Duration {
		if i%50 == 0 {
			return time.Hour
		}
		return usual(i)
	}
	for _, tt := range []struct {
		name  string
		n     int
		other func(i int) time.Duration
		want  bool
	}{{"the same", 5000, usual, true}, {"a tail", 5000, tail, false}, {"a little more", 5000, func(i int) time.Duration { return usual(i) * 104 / 100 }, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := spreadOfWaits(t, tt.n, usual), spreadOfWaits(t, tt.n, tt.other)
			for _, pair := range [][2]*measure.Histogram{{a, b}, {b, a}} {
				c := Comparison{Recorded: pair[0], Simulated: pair[1], Distance: apart(pair[0], pair[1], Slack)}
				if c.Close() != tt.want {
					t.Errorf("close is %v of %+v", c.Close(), c)
				}
			}
		})
	}
}

func TestCloseNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		simulated float64
		want      bool
	}{{1.5, true}, {1.6, true}, {1.3, false}, {1.8, false}} {
		c := Comparison{Number: &NumberPair{Recorded: 1.5, Simulated: tt.simulated, Tolerance: closeNumber * 1.5}}
		if c.Close() != tt.want {
			t.Errorf("1.5 and %v: close is %v", tt.simulated, c.Close())
		}
	}
}
