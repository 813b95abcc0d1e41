package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
)

// life is the course of one job in a random world: it is ready, runs, and fails or is done, again and again.
type life struct {
	kind   engine.Kind
	tenant engine.TenantID
	tries  []try
}

// try is one attempt of a job: the times, in s, from which it waits to be due, is ready, runs, and has ended.
type try struct{ waits, ready, runs, ends float64 }

// world returns random jobs (see life) of two classes and three tenants, with up to three attempts each.
func world(r *rand.Rand) []life {
	list := make([]life, 60)
	for i := range list {
		l := &list[i]
		l.kind, l.tenant = engine.Kind(r.IntN(2)), engine.TenantID(1+r.IntN(3))
		at := 12 + 80*r.Float64()
		for n := range 1 + r.IntN(3) {
			t := try{waits: at, ready: at}
			if n > 0 {
				t.ready += 3 * r.Float64()
			}
			t.runs = t.ready + 6*r.Float64()*r.Float64()
			t.ends = t.runs + 4*r.Float64()
			at = t.ends
			if at > 98 {
				break
			}
			l.tries = append(l.tries, t)
		}
	}
	return slices.DeleteFunc(list, func(l life) bool { return len(l.tries) == 0 })
}

// playLives records the events of all jobs of a random world (see life), in order of time.
func playLives(c *Collector, list []life) {
	var events []engine.Event
	for i, l := range list {
		id := engine.JobID(i + 1)
		add := func(s float64, kind engine.EventKind, n int, class engine.Class, from engine.State) *engine.Event {
			events = append(events, engine.Event{At: at(s), Kind: kind, Job: id, JobKind: l.kind, Tenant: l.tenant, Class: class, From: from,
				Token: engine.Token(4*i + n + 1), Delivery: int32(n + 1), Age: seconds(s - l.tries[0].ready)})
			return &events[len(events)-1]
		}
		for n, t := range l.tries {
			class := engine.Fresh
			if n > 0 {
				class = engine.Retry
				add(t.ready, engine.Promoted, n, class, 0)
			} else {
				add(t.ready, engine.Enqueued, n, class, 0)
			}
			add(t.runs, engine.Leased, n, class, 0).Waited = at(t.runs).Sub(at(t.ready))
			add(t.runs, engine.Started, n, class, 0)
			finished := add(t.ends, engine.Finished, n, class, 0)
			finished.Ran = seconds(t.ends - t.runs)
			if n+1 < len(l.tries) {
				finished.Error = engine.FirstErrorKind
				add(t.ends, engine.Nacked, n, 0, engine.InFlight).Delay = time.Second
			} else {
				add(t.ends, engine.Acked, n, 0, engine.InFlight)
			}
		}
	}
	slices.SortStableFunc(events, func(a, b engine.Event) int { return cmp.Compare(a.At, b.At) })
	for i := range events {
		c.Record(&events[i])
	}
}

// byHand returns metrics by their definitions, instant by instant in [from, to), for the jobs for which in is true.
func byHand(list []life, in func(l *life) bool, from, to float64, workers int) map[string]float64 {
	times := []float64{from, to}
	for _, l := range list {
		for _, t := range l.tries {
			times = append(times, t.waits, t.ready, t.runs, t.ends)
		}
	}
	slices.Sort(times)
	m := map[string]float64{}
	span := to - from
	lastClaim, passed := from, 0.0
	var before float64 // fresh jobs ready so far
	for k, now := range times {
		if now < from || now >= to || k+1 == len(times) {
			continue
		}
		// Nothing happens at two times that are equal but the steps of one job.
		next := min(times[k+1], to)
		fresh, retry, waiting, busy, all, anyone := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
		for i := range list {
			l := &list[i]
			for n, t := range l.tries {
				running := t.runs <= now && now < t.ends
				ready := t.ready <= now && now < t.runs
				if running {
					all++
				}
				if t.runs == now && n == 0 && !in(l) {
					passed = 0
				}
				if t.runs == now && n > 0 {
					if before > 0 {
						passed++
						m["starved.claims"] = max(m["starved.claims"], passed)
					}
				}
				if !in(l) {
					continue
				}
				if t.runs == now && n == 0 {
					if now > lastClaim && before > 0 {
						m["claim.gap.longest"] = max(m["claim.gap.longest"], now-lastClaim)
					}
					lastClaim, passed = now, 0
				}
				switch {
				case ready && n == 0:
					fresh++
				case ready:
					retry++
				case running:
					busy++
				case t.waits <= now && now < t.ready:
					waiting++
				}
				if ready {
					anyone = 1
				}
			}
		}
		if before == 0 && fresh > 0 {
			lastClaim = now
		}
		if fresh == 0 {
			passed = 0
		}
		before = fresh
		d := next - now
		m["utilization"] += busy * d / span / float64(workers)
		m["idle.ready"] += anyone * max(float64(workers)-all, 0) * d
		m["backlog.fresh.mean"] += fresh * d / span
		m["backlog.retry.mean"] += retry * d / span
		m["backlog.fresh.max"] = max(m["backlog.fresh.max"], fresh)
		m["backlog.retry.max"] = max(m["backlog.retry.max"], retry)
		m["waiting.max"] = max(m["waiting.max"], waiting)
		if next == to && fresh > 0 {
			m["claim.gap.longest"] = max(m["claim.gap.longest"], to-lastClaim)
		}
	}
	return m
}

// Metrics of the clock for a class, a tenant or both equal their definitions in random worlds, over
// the run, during a storm and after it.
func TestPartsByHand(t *testing.T) {
	names := []string{"utilization", "idle.ready", "backlog.fresh.mean", "backlog.fresh.max", "backlog.retry.mean", "backlog.retry.max",
		"waiting.max", "claim.gap.longest", "starved.claims"}
	tenants := []string{"", "a", "b", "c"}
	differ := map[string]bool{}
	for seed := range uint64(40) {
		list := world(rand.New(rand.NewPCG(seed, 4)))
		s := settings()
		s.Workers, s.Tenants = 50, tenants // some are always idle
		type asked struct {
			Query
			want float64
		}
		var queries []asked
		for _, window := range []struct {
			during, after string
			from, to      float64
		}{{"", "", 10, 100}, {"down", "", 40, 50}, {"", "down", 50, 110}} {
			for class := -1; class < 2; class++ {
				for tenant := range tenants {
					want := byHand(list, func(l *life) bool {
						return (class < 0 || class == int(l.kind)) && (tenant == 0 || tenant == int(l.tenant))
					}, window.from, window.to, s.Workers)
					for _, name := range names {
						q := Query{Metric: name, During: window.during, After: window.after, Tenant: tenants[tenant]}
						if class >= 0 {
							q.Class = s.Classes[class]
						}
						s.Objectives = append(s.Objectives, Objective{Query: q})
						queries = append(queries, asked{q, want[name]})
					}
				}
			}
		}
		c := NewCollector(s, 0)
		playLives(c, list)
		r := c.Finish(at(110), nil)
		for _, q := range queries {
			if (q.Metric == "starved.claims" || strings.HasPrefix(q.Metric, "claim.gap")) && (q.During != "" || q.After != "") {
				continue // byHand does not know who was passed over before its window
			}
			v := r.Find(q.Query)
			if v.Null || math.Abs(v.Value-q.want) > 1e-6 {
				t.Errorf("seed %d: %s = %v, want %v", seed, q.Query, v.Value, q.want)
			}
			whole := r.Find(Query{Metric: q.Metric, During: q.During, After: q.After})
			differ[q.Metric] = differ[q.Metric] || whole.Value != v.Value
		}
	}
	for _, name := range names {
		if !differ[name] {
			t.Errorf("%s of a part is always that of the whole", name)
		}
	}
}

// With a single class, all metrics of the class equal those of all jobs.
func TestPartThatIsTheWhole(t *testing.T) {
	list := world(rand.New(rand.NewPCG(7, 4)))
	s := settings()
	s.Workers, s.Tenants, s.Classes = 50, []string{"", "a", "b", "c"}, []string{"mail"}
	s.Rate = 40 // half as long windows as the storm
	s.Loads = []Load{{s.Rate, s.Service}}
	s.Patience = []time.Duration{3 * time.Second}
	for i := range list {
		list[i].kind = 0
	}
	var queries []Query
	for _, m := range Metrics() {
		if !m.Filters.Has(ByClass) || lookup(m.Name).basis == onJobs {
			continue
		}
		windows := []Query{{}, {During: "down"}, {After: "down"}}
		for _, w := range windows {
			q := Query{Metric: m.Name, During: w.During, After: w.After}
			if m.Filters.Has(filtersOf(q)) {
				queries = append(queries, q)
			}
		}
	}
	for _, q := range queries {
		ofClass := q
		ofClass.Class = "mail"
		s.Objectives = append(s.Objectives, Objective{Query: q}, Objective{Query: ofClass})
	}
	c := NewCollector(s, 0)
	if windows := c.views[1].storms.recoveries; len(windows) != 1 || windows[0].window != c.views[0].storms.recoveries[0].window || windows[0].window != 5*time.Second {
		t.Errorf("windows of the class %+v, of all %+v", windows, c.views[0].storms.recoveries)
	}
	playLives(c, list)
	r := c.Finish(at(110), nil)
	values := 0
	for _, q := range queries {
		whole := r.Find(q)
		q.Class = "mail"
		part := r.Find(q)
		whole.Class = "mail"
		if part != whole {
			t.Errorf("%s: %+v, of all %+v", q, part, whole)
		}
		if !part.Null && part.Value != 0 {
			values++
		}
	}
	if len(queries) < 40 || values < 30 {
		t.Errorf("%d queries, %d values", len(queries), values)
	}
}
