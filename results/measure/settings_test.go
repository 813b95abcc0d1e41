package measure

import (
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
