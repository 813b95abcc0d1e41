package measure

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestWants(t *testing.T) {
	s := settings()
	s.Objectives, s.Asked = []Objective{{Query: Query{Metric: "goodput"}}}, []Query{{Metric: "jain"}}
	for metric, want := range map[string]bool{"goodput": true, "jain": true, "wasted": false} {
		if got := s.Wants(metric); got != want {
			t.Errorf("%s is wanted: %t, want %t", metric, got, want)
		}
	}
}

func TestCharted(t *testing.T) {
	of := func(metric, class, tenant string) Objective {
		return Objective{Query: Query{Metric: metric, Class: class, Tenant: tenant}}
	}
	for _, tt := range []struct {
		name       string
		objectives []Objective
		want       Query
	}{
		{"no objective", nil, Query{Class: "mail"}},
		{"one of all jobs", []Objective{of("goodput", "", "")}, Query{}},
		{"the first that names a class", []Objective{of("goodput", "", ""), of("goodput", "sums", ""), of("wasted", "mail", "")}, Query{Class: "sums"}},
		{"starvation before others", []Objective{of("goodput", "sums", ""), of("starved.share", "mail", "a")}, Query{Class: "mail", Tenant: "a"}},
		{"nobody is the worst tenant", []Objective{of("starved.share", "", WorstTenant)}, Query{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := settings()
			s.Objectives = tt.objectives
			if got := s.Charted(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestUnpackPacked packs histograms and unpacks them, one of them with a sum beyond 64 bits, and refuses buckets that do
// not ascend.
func TestUnpackPacked(t *testing.T) {
	for _, list := range [][]time.Duration{{5}, {0}, {0, time.Second, 2 * time.Hour}, {math.MaxInt64, math.MaxInt64, math.MaxInt64}} {
		var h Histogram
		for _, d := range list {
			h.Record(d)
		}
		p := h.Pack()
		if slices.Contains(p.Counts, 0) || len(p.Counts) != len(p.Buckets) {
			t.Errorf("%v: %d buckets with counts %v", list, len(p.Buckets), p.Counts)
		}
		got, err := p.Unpack()
		if err != nil || got.Mean() != h.Mean() || got.Count() != h.Count() || got.Max() != h.Max() || got.Quantile(0.5) != h.Quantile(0.5) {
			t.Errorf("%v: got %v of mean %v, %v, want mean %v", list, got.Count(), got.Mean(), err, h.Mean())
		}
		if len(p.Buckets) > 1 {
			slices.Reverse(p.Buckets)
			if _, err := p.Unpack(); err == nil {
				t.Errorf("%v: buckets that descend are taken", list)
			}
		}
	}
}

// TestUnpackNothing unpacks an empty histogram.
func TestUnpackNothing(t *testing.T) {
	p := new(Histogram).Pack()
	if h, err := p.Unpack(); h != nil || err != nil || p.Buckets != nil {
		t.Errorf("%+v gives %v, %v", p, h, err)
	}
}

// TestSpellsThatMeet starves one job until the instant at which another begins to: that is one stretch.
func TestSpellsThatMeet(t *testing.T) {
	s := settings()
	s.Warmup, s.StarvedAfter = 0, []time.Duration{time.Second}
	tp := newTape(s, 0)
	tp.enqueue(10, 1, 0)
	tp.enqueue(14, 2, 0)
	tp.run(15, 1, 10, 1) // starved from 11 to 15
	tp.run(20, 2, 14, 1) // and this one from 15 to 20
	check(t, tp.Finish(at(100), nil), map[string]float64{"starved.longest": 9, "starved.share": 0.09})
}
