package memstore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"qsim/engine"
)

// mill passes jobs through a store as engines do: it enqueues, claims, fails some and
// acks the others, in batches.
type mill struct {
	*client
	crowds   engine.JobID // number of tenants; 0: jobs have none
	serials  bool         // jobs have serial keys
	next     engine.JobID
	jobs     []engine.NewJob
	terms    []engine.Term
	leases   []engine.Lease
	outcomes []engine.Outcome
	results  []engine.Result
}

func newMill(t testing.TB, place engine.Place) *mill {
	m := &mill{client: &client{t: t, engine: engine.NewEngineID(1, 0)}, terms: []engine.Term{{Class: engine.AnyClass, Limit: 100}}}
	m.Store = NewSingle(func() engine.Time { return m.at }, engine.StoreOptions{LapseAfter: 0, Place: place})
	return m
}

// turn enqueues n jobs, a tenth of them delayed, and claims up to 100: one in eight
// of those fails, one in sixteen is returned.
func (m *mill) turn(n int) {
	m.at = m.at.Add(time.Second)
	m.jobs = m.jobs[:0]
	for range n {
		m.next++
		j := engine.NewJob{ID: m.next, Kind: engine.Kind(m.next % 3)}
		if m.crowds > 0 {
			j.Tenant = engine.TenantID(m.next % m.crowds)
		}
		if m.serials {
			j.Serial = uint32(m.next % 301)
		}
		if m.next%10 == 0 {
			j.Delay = time.Duration(m.next%7) * time.Second
		}
		m.jobs = append(m.jobs, j)
	}
	m.must(m.Enqueue(background, m.jobs))
	m.cycle()
}

func (m *mill) cycle() {
	var err error
	m.leases, _, err = m.Claim(background, m.engine, engine.Plan{Limit: 100, Terms: m.terms}, 30*time.Second, m.leases[:0])
	m.must(err)
	m.outcomes = m.outcomes[:0]
	for i := range m.leases {
		l := &m.leases[i]
		o := engine.Outcome{LeaseKey: l.Key(), Verb: engine.Ack}
		switch {
		case l.Delivery == 1 && l.ID%8 == 0:
			o.Verb, o.Delay = engine.Nack, time.Duration(l.ID%5)*time.Second
		case l.Delivery == 1 && l.ID%16 == 1:
			o.Verb = engine.Return
		}
		m.outcomes = append(m.outcomes, o)
	}
	m.seq++
	m.results, err = m.Commit(background, engine.Batch{ID: engine.BatchID{Engine: m.engine, Seq: m.seq}, Settled: m.seq - 1, Outcomes: m.outcomes}, m.results[:0])
	m.must(err)
}

// TestMemoryFollowsLiveJobs passes two million jobs through a store that never holds
// more than a thousand at once.
func TestMemoryFollowsLiveJobs(t *testing.T) {
	m := newMill(t, engine.PlaceCreated)
	m.index.need(&m.rows) // as after a look-up of a job by its ID
	most := 0
	for m.next < 2_000_000/slowdown {
		m.turn(80)
		most = max(most, m.Live())
	}
	if most > 1000 || most < 50 {
		t.Fatalf("up to %d jobs were live: the test means to have up to 1000", most)
	}
	check(t, m.Store)
	if n := len(m.rows.chunks); n != 1 {
		t.Errorf("%d chunks of rows, want 1", n)
	}
	if n := len(m.index.slots); n > 4*max(most, smallestIndex/4) {
		t.Errorf("%d slots of index for %d jobs", n, most)
	}
	if n := cap(m.waiting.batch); n > 2048 {
		t.Errorf("room for %d jobs due at one instant", n)
	}
	if a := m.batches[1]; len(a.batches) > 2 {
		t.Errorf("%d answered batches remembered", len(a.batches))
	}
	if len(m.lines.lanes) != 1 {
		t.Errorf("%d lanes, want one: nobody asks for kinds", len(m.lines.lanes))
	}
}

// TestSteadyStateDoesNotAllocate enqueues, claims and commits jobs while the number of live jobs
// stays constant: no call allocates.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for place := engine.PlaceDue; place <= engine.PlaceCreated; place++ {
		t.Run(place.String(), func(t *testing.T) {
			m := newMill(t, place)
			m.turn(300)
			for range 500 {
				m.turn(80)
			}
			if n := testing.AllocsPerRun(200, func() { m.turn(80) }); n != 0 {
				t.Errorf("%v allocations for 80 jobs", n)
			}
		})
	}
}

// specials returns stores and plans with features beyond priority and place.
func specials() map[string]func(m *mill) {
	options := func(m *mill, change func(o *engine.StoreOptions)) {
		o := engine.StoreOptions{LapseAfter: 0}
		change(&o)
		m.Store = NewSingle(func() engine.Time { return m.at }, o)
	}
	all := map[string]func(m *mill){
		"bounded": func(m *mill) {
			options(m, func(o *engine.StoreOptions) { o.MaxRunning, o.MaxInFlight, o.CountAhead = []int{500, 400}, 1000, true })
		},
		"held":   func(m *mill) { options(m, func(o *engine.StoreOptions) { o.Held = true }) },
		"serial": func(m *mill) { m.serials = true },
		"shed":   func(m *mill) { m.terms[0].MaxWait, m.terms[0].Shed = 3*time.Second, 1000 },
		"timely": func(m *mill) {
			m.terms[0].MaxWait = 3 * time.Second
			m.terms = append(m.terms, engine.Term{Class: engine.AnyClass, Limit: 100})
		},
		"capped": func(m *mill) { m.crowds, m.terms[0].PerTenant = 7, 30 },
		"watched": func(m *mill) {
			m.crowds, m.terms[0].Tenant = 7, 3
			m.terms = append(m.terms, engine.Term{Class: engine.AnyClass, Limit: 100})
		},
	}
	for o := engine.OldestOfAny; o <= engine.TenantFair+1; o++ {
		name, tenants := o, engine.JobID(7)
		if o > engine.TenantFair {
			name, tenants = engine.TenantFair, 1000
		}
		all[fmt.Sprint(name, " ", tenants)] = func(m *mill) {
			m.crowds = tenants
			o := name
			m.terms[0].Order, m.terms[0].Rule = o, &engine.Rule{Every: time.Second, Budgets: []time.Duration{9e9, 5e9}, Quantum: 1e8, ShareNum: 1, ShareDen: 10, AtLeast: 5}
		}
	}
	return all
}

// TestSpecialsDoNotAllocate is TestSteadyStateDoesNotAllocate with all other features of the store.
func TestSpecialsDoNotAllocate(t *testing.T) {
	for name, special := range specials() {
		t.Run(name, func(t *testing.T) {
			m := newMill(t, engine.PlaceDue)
			special(m)
			m.turn(300)
			for range 500 {
				m.turn(80)
			}
			check(t, m.Store)
			if n := testing.AllocsPerRun(100, func() { m.turn(80) }); n != 0 {
				t.Errorf("%v allocations for 80 jobs", n)
			}
			if n := len(m.rows.chunks); n > 3 || m.Live() < 10 {
				t.Errorf("%d chunks of rows for %d live jobs", n, m.Live())
			}
		})
	}
}

func BenchmarkSpecial(b *testing.B) {
	for name, special := range specials() {
		b.Run("plan="+name, func(b *testing.B) {
			m := newMill(b, engine.PlaceDue)
			special(m)
			m.turn(20_000)
			b.ReportAllocs()
			jobs := m.next
			for b.Loop() {
				m.turn(80)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(m.next-jobs), "ns/job")
		})
	}
}

// TestSharedStoreIsSafe lets goroutines work on one store: each job is done once.
// The race detector watches.
func TestSharedStoreIsSafe(t *testing.T) {
	const workers, jobs = 4, 500
	c := newClient(t, plain)
	done := make([][]engine.JobID, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			own := &client{t: t, Store: c.Store, engine: engine.NewEngineID(int32(w), 0)}
			for i := range jobs {
				if err := own.Enqueue(background, []engine.NewJob{{ID: engine.JobID(w*jobs + i + 1)}}); err != nil {
					t.Error(err)
				}
				l, _, err := own.Claim(background, own.engine, engine.Plan{Limit: 2, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 2}}}, time.Hour, nil)
				if err != nil {
					t.Error(err)
				}
				for k := range l {
					own.seq++
					b := engine.Batch{ID: engine.BatchID{Engine: own.engine, Seq: own.seq}, Settled: own.seq - 1, Outcomes: []engine.Outcome{{LeaseKey: l[k].Key(), Verb: engine.Ack}}}
					if r, err := own.Commit(background, b, nil); err != nil || r[0].Status != engine.Applied {
						t.Error(r, err)
					}
					done[w] = append(done[w], l[k].ID)
				}
				own.Live()
			}
		})
	}
	wait.Wait()
	seen := map[engine.JobID]bool{}
	for _, d := range done {
		for _, id := range d {
			if seen[id] {
				t.Errorf("job %d was claimed twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen)+c.Live() != workers*jobs {
		t.Errorf("%d jobs are done and %d live of %d", len(seen), c.Live(), workers*jobs)
	}
	check(t, c.Store)
}

func BenchmarkCycle(b *testing.B) {
	for _, live := range []int{100, 100_000} {
		b.Run("live="+map[int]string{100: "100", 100_000: "100000"}[live], func(b *testing.B) {
			m := newMill(b, engine.PlaceDue)
			m.jobs = make([]engine.NewJob, 0, live)
			m.turn(live)
			b.ReportAllocs()
			jobs := m.next
			for b.Loop() {
				m.turn(80)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(m.next-jobs), "ns/job")
		})
	}
}
