package measure

import (
	"slices"

	"qsim/engine"
)

// cohorts finds the job sets (counters for the jobs of one window of time, class or tenant) that count a job. A cohort
// is all jobs counted by the same sets: of one class and tenant, where sets tell these apart, and enqueued between the
// same two window edges.
type cohorts struct {
	lists []*membership // by cohort; nil: no set counts its jobs
	low   engine.Time   // the earlier of the two edges between which the latest job was enqueued
	span  uint64        // time from there to the later one, which may be longer than an engine.Time
	here  []*membership // the lists of the cohorts between these edges
	alike bool          // no set is narrowed to a class or tenant: each span between edges is one cohort
	kinds uint32        // number of classes told apart, plus 1 for all others
	named uint32        // number of tenants named by a set, plus 1 for all others
	slots []uint32      // by tenant, its index among the named tenants; 0, or beyond the end: not named
	edges []engine.Time
}

// membership is a list of the job sets that count a job, each followed by the next.
type membership struct {
	*jobSet
	next *membership
}

func newCohorts(sets []*jobSet) cohorts {
	c := cohorts{named: 1, kinds: 1}
	tenants := []engine.TenantID{0}
	for _, s := range sets {
		c.edges = append(c.edges, s.from, s.to)
		c.kinds = max(c.kinds, uint32(s.kind+2))
		if slices.Contains(tenants, s.tenant) { // skip tenants already listed, and 0
			continue
		}
		*reach(&c.slots, s.tenant) = c.named
		c.named++
		tenants = append(tenants, s.tenant)
	}
	slices.Sort(c.edges)
	c.edges = slices.Compact(c.edges)
	c.alike = c.kinds*c.named == 1
	for _, enqueued := range append([]engine.Time{-1}, c.edges...) {
		for kind := range c.kinds {
			for _, tenant := range tenants {
				var list *membership
				for _, s := range slices.Backward(sets) {
					if s.has(enqueued, engine.Kind(kind), tenant) {
						list = &membership{s, list}
					}
				}
				c.lists = append(c.lists, list)
			}
		}
	}
	return c
}

// setsOf returns the job sets that count a job, given its enqueue time, class and tenant.
func (c *cohorts) setsOf(enqueued engine.Time, kind engine.Kind, tenant engine.TenantID) *membership {
	if uint64(enqueued-c.low) >= c.span {
		c.seek(enqueued)
	}
	if c.alike {
		return c.here[0]
	}
	return c.here[min(uint32(kind), c.kinds-1)*c.named+element(c.slots, tenant)]
}

// seek finds the two window edges around an enqueue time and remembers them, since the next jobs mostly lie there too.
func (c *cohorts) seek(enqueued engine.Time) {
	i, found := slices.BinarySearch(c.edges, enqueued)
	if found {
		i++
	}
	high := engine.Never
	c.here, c.low = c.lists[i*int(c.kinds*c.named):], -engine.Never
	if i > 0 {
		c.low = c.edges[i-1]
	}
	if i < len(c.edges) {
		high = c.edges[i]
	}
	c.span = uint64(high - c.low)
}
