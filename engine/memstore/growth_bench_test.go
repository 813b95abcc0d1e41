package memstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"qsim/engine"
)

// growth is a store of a given size and a call whose cost must not grow with that size.
type growth struct {
	*mill
	size int
}

// fill enqueues as many jobs as the size, with crowds each of a different tenant.
func (g *growth) fill(crowds bool, delay time.Duration) {
	for i := range g.size {
		j := engine.NewJob{ID: engine.JobID(i + 1), Kind: engine.Kind(i % 2), Tenant: 1, Delay: delay}
		if crowds {
			j.Tenant = engine.TenantID(i + 1)
		}
		g.must(g.Enqueue(background, []engine.NewJob{j}))
		g.at++
	}
	g.at += engine.Time(delay)
}

// claim takes up to ten jobs by a term and returns them.
func (g *growth) claim(term engine.Term) {
	var err error
	g.terms = append(g.terms[:0], term)
	g.leases, _, err = g.Claim(background, g.engine, engine.Plan{Limit: 10, Terms: g.terms}, time.Hour, g.leases[:0])
	g.must(err)
	if len(g.leases) != 10 {
		g.t.Fatalf("claimed %d jobs", len(g.leases))
	}
	g.outcomes = g.outcomes[:0]
	for i := range g.leases {
		g.outcomes = append(g.outcomes, engine.Outcome{LeaseKey: g.leases[i].Key(), Verb: engine.Return, Stand: engine.PlaceDue})
	}
	g.seq++
	b := engine.Batch{ID: engine.BatchID{Engine: g.engine, Seq: g.seq}, Settled: g.seq - 1, Outcomes: g.outcomes}
	g.results, err = g.Commit(background, b, g.results[:0])
	g.must(err)
	g.at++
}

var growthRule = engine.Rule{Every: 1, ShareNum: 1, ShareDen: 2, AtLeast: 100}

// growths holds the calls by the growing part of the store: each begins with size elements of it.
var growths = map[string]func(g *growth) (call func()){
	"ready/aging-of-tenant": func(g *growth) func() {
		g.fill(false, 0)
		return func() {
			g.claim(engine.Term{Class: engine.AnyClass, Order: engine.Aging, Tenant: 1, Limit: 10, Rule: &growthRule})
		}
	},
	// A backlog that has been worked off: the jobs are found in the hash table, and free rows are not read.
	"gone/each": func(g *growth) func() {
		g.fill(false, 0)
		leases, _, err := g.Claim(background, g.engine, engine.Plan{Limit: g.size - 10, Terms: []engine.Term{{Class: engine.AnyClass, Limit: g.size}}}, time.Hour, nil)
		g.must(err)
		done := engine.Batch{ID: engine.BatchID{Engine: g.engine, Seq: 1}}
		for i := range leases {
			done.Outcomes = append(done.Outcomes, engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Ack})
		}
		_, err = g.Commit(background, done, nil)
		g.must(err)
		return func() {
			live := 0
			for range g.Each {
				live++
			}
			if live != 10 {
				g.t.Fatalf("%d jobs are left", live)
			}
		}
	},
	"ready/wait-of-tenant": func(g *growth) func() {
		g.fill(false, 0)
		return func() {
			g.claim(engine.Term{Class: engine.AnyClass, Tenant: 1, Limit: 10, MaxWait: time.Hour})
		}
	},
	"ready/passed-over": func(g *growth) func() {
		g.options.CountAhead, g.late.counts = true, true
		g.fill(false, 0)
		return func() { g.claim(engine.Term{Class: engine.AnyClass, Kinds: 2, Order: engine.NewestReady, Limit: 10}) }
	},
	"tenants/capped": func(g *growth) func() {
		g.fill(true, 0)
		return func() { g.claim(engine.Term{Class: engine.AnyClass, PerTenant: 1, Limit: 10}) }
	},
	"tenants/in-turn": func(g *growth) func() {
		g.fill(true, 0)
		first := true
		return func() {
			term := engine.Term{Class: engine.AnyClass, Order: engine.TenantRoundRobin, Limit: 10}
			if !first { // those that were returned stand last, behind all that have fresh jobs alone
				term.Class = engine.Retry
			}
			first = false
			g.claim(term)
		}
	},
	"tenants/fade": func(g *growth) func() {
		g.fill(true, 0)
		return func() {
			g.at = g.at.Add(recentHalfLife)
			g.claim(engine.Term{Class: engine.AnyClass, Order: engine.TenantFair, Limit: 10, Rule: &growthRule})
		}
	},
	"tenants/passed-over": func(g *growth) func() { // each has an older job of a lower priority
		g.fill(true, 0)
		for i := range g.size {
			urgent := engine.NewJob{ID: engine.JobID(g.size + i + 1), Priority: -1, Tenant: engine.TenantID(i + 1)}
			g.must(g.Enqueue(background, []engine.NewJob{urgent}))
			g.at++
		}
		return func() {
			g.at = g.at.Add(recentHalfLife)
			g.claim(engine.Term{Class: engine.AnyClass, Order: engine.TenantFair, Limit: 10, Rule: &growthRule})
		}
	},
	"waiting/refused": func(g *growth) func() {
		for i := range g.size {
			g.must(g.Enqueue(background, []engine.NewJob{{ID: engine.JobID(i + 1), Delay: time.Hour}}))
			g.at++
		}
		refused := []engine.NewJob{{ID: engine.JobID(g.size + 1), Delay: time.Hour}, {ID: 1}}
		return func() {
			if err := g.Enqueue(background, refused); !errors.Is(err, engine.ErrDuplicate) {
				g.t.Fatal(err)
			}
		}
	},
	"leases/of-other-nodes": func(g *growth) func() {
		g.fill(false, 0)
		_, _, err := g.Claim(background, engine.NewEngineID(2, 0), engine.Plan{Limit: g.size - 10, Terms: []engine.Term{{Class: engine.AnyClass, Limit: g.size}}}, time.Hour, nil)
		g.must(err)
		_, _, err = g.Claim(background, g.engine, engine.Plan{Limit: 10, Terms: g.terms}, time.Hour, nil)
		g.must(err)
		return func() {
			g.at++
			if n, err := g.ExtendNode(background, g.engine, false, time.Hour); n != 10 || err != nil {
				g.t.Fatal(n, err)
			}
		}
	},
}

// BenchmarkGrowth measures calls while an unrelated part of the store grows: the cost must be
// constant, or logarithmic.
func BenchmarkGrowth(b *testing.B) {
	for name, start := range growths {
		for _, size := range []int{100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("of=%s/size=%d", name, size), func(b *testing.B) {
				g := &growth{newMill(b, engine.PlaceDue), size}
				call := start(g)
				call() // builds what it needs
				call()
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
	}
}
