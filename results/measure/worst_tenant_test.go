package measure

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// TestBoundOfTheWorst takes the worst of two tenants, of one of whom only a lower bound may be known: that is a lower
// bound on the highest value, but none on the lowest unless it is the lowest itself.
func TestBoundOfTheWorst(t *testing.T) {
	for _, tt := range []struct {
		name   string
		metric string
		took   float64 // s, from when the job of the first tenant is enqueued until it is claimed and done
		left   float64 // s, when a job of the second tenant is enqueued that is never claimed
		value  float64
		bound  string
	}{
		{"the highest is known, the other may be higher", "fresh.wait.max", 10, 95, 10, ">="},
		{"the highest is a bound", "fresh.wait.max", 1, 95, 5, ">="},
		{"the lowest is known", "answered.share", 50, 95, 0, ""},
		{"the lowest is a bound", "answered.share", 10, 95, 0.5, ">="},
		{"all are known", "answered.share", 10, 60, 0.5, ""},
	} {
		q := Query{Metric: tt.metric, Tenant: WorstTenant}
		s := settings()
		s.Tenants, s.Patience, s.Asked = []string{"", "one", "two"}, []time.Duration{30 * time.Second}, []Query{q}
		tp := newTape(s, 0)
		done := func(s float64, id engine.JobID, tenant engine.TenantID, took float64) {
			e := engine.Event{At: at(s), Kind: engine.Enqueued, Job: id, Tenant: tenant, Delivery: 1, Token: 1}
			tp.play(e)
			e.At, e.Kind, e.Waited, e.Age = at(s+took), engine.Leased, seconds(took), seconds(took)
			tp.play(e)
			e.Kind, e.From = engine.Acked, engine.InFlight
			tp.play(e)
		}
		done(20, 1, 2, 0.5)
		done(21, 2, 1, tt.took)
		tp.play(engine.Event{At: at(tt.left), Kind: engine.Enqueued, Job: 3, Tenant: 2})
		age := seconds(100 - tt.left)
		r := tp.Finish(at(100), left(unfinished.Job{ID: 3, Tenant: 2, State: engine.Ready, Age: age, Waited: age}))
		checkQuery(t, r, q, tt.value)
		if got := r.Find(q).Bound; got != tt.bound {
			t.Errorf("%s: bound %q, want %q", tt.name, got, tt.bound)
		}
	}
}

// TestWorstOfNoTime: in a storm within the warm-up no job counts, for the worst tenant as for all; in one in which
// jobs count, no tenant has one.
func TestWorstOfNoTime(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "one", "two"}
	s.Storms = append(s.Storms, Window{"early", 2 * time.Second, 8 * time.Second})
	for during, want := range map[string]string{"early": noJobCounts, "down": "no tenant has a job"} {
		for _, metric := range []string{"fresh.wait.p99", "dead.share"} {
			s.Asked = append(s.Asked, Query{Metric: metric, During: during, Tenant: WorstTenant}, Query{Metric: metric, During: "early"})
			r := newTape(s, 0).Finish(at(100), nil)
			for k, want := range []string{want, noJobCounts} {
				if got := r.Find(s.Asked[len(s.Asked)-2+k]); !got.Null || got.Reason != want {
					t.Errorf("%s: got %+v, want %q", s.Asked[len(s.Asked)-2+k], got, want)
				}
			}
		}
	}
}
