package measure

import (
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// tenantCounts counts executions, demand (jobs ready or in flight) and waits of fresh jobs, each by tenant.
type tenantCounts struct {
	all   []tenantTally
	fresh []Waits // waits of the first MostTenantWaits tenants; number 0 (jobs of no tenant) stays empty
	dense []dense // waits of claimed fresh jobs, in place of those in fresh; nil: too many tenants
}

// mostDense is the number of tenants up to which a run records their waits densely: faster than in a Histogram, in more
// memory.
const mostDense = 16

// tenantTally holds the counts of one tenant.
type tenantTally struct {
	served  int64   // executions finished
	wanting int64   // jobs ready or in flight: each demands at least one more execution
	claims  int64   // fresh jobs claimed
	sum     float64 // sum of their waits in ns
	longest int64   // longest of them in ns
}

// TenantCount counts executions and waits of one tenant between the end of the warm-up and the end of arrivals.
type TenantCount struct {
	Executions  int64   // executions finished
	FreshClaims int64   // number of first claims
	WaitSum     float64 // sum of the waits of the first claims, in seconds
	WaitMax     float64 // longest wait of the first claims, in seconds
}

// TenantWait is the p99 wait of the fresh jobs of one tenant, pooled over all seeds.
type TenantWait struct {
	Jobs    int64   // fresh jobs that were ready, claimed or not
	P99     float64 // p99 wait in seconds; 0 without jobs
	AtLeast bool    // P99 is a lower bound: its rank falls among jobs never claimed
}

// MostTenantWaits is the highest number of tenants with their own distributions of waits, a kilobyte each per run.
const MostTenantWaits = 256

// mostTenants is the highest number of tenants listed one by one in the results of a run, and the highest for which
// metrics of the worst tenant are computed.
const mostTenants = 1000

// want adds a change, 1 or −1, to a tenant's demand (its number of jobs ready or in flight), if tenants are counted.
func (v *view) want(tenant engine.TenantID, more int64) {
	if v.tenants != nil {
		reach(&v.tenants.all, tenant).wanting += more
	}
}

// tenantShares counts, for each tenant, the executions finished in a window of time and its jobs ready or in flight.
type tenantShares struct {
	begun, ended bool
	before       []int64 // executions by tenant up to the begin of the window
	served       []int64
	demand       []int64 // by tenant, executions plus jobs ready or in flight at the end
}

func (s *tenantShares) begin(t *tenantCounts) {
	s.begun, s.before = true, plain.Map(t.all, func(of tenantTally) int64 { return of.served })
}

func (s *tenantShares) end(t *tenantCounts) {
	if !s.begun || s.ended {
		return
	}
	s.ended, s.served = true, make([]int64, len(t.all))
	for i := range t.all {
		s.served[i] = t.all[i].served - element(s.before, i)
		s.demand = append(s.demand, s.served[i]+max(t.all[i].wanting, 0))
	}
}

// jain returns Jain's fairness index (Σx)² ÷ (n·Σx²) over the n tenants with a demand (Jain, Chiu and Hawe, 1984),
// where x is a tenant's executions ÷ its max-min fair share of all executions. Jobs of no tenant are left out.
func (s *tenantShares) jain() Value {
	if !s.ended {
		return none(noTime)
	}
	var served, demands []int64
	total := int64(0)
	for i := 1; i < len(s.demand); i++ {
		if s.demand[i] > 0 {
			served, demands = append(served, s.served[i]), append(demands, s.demand[i])
			total += s.served[i]
		}
	}
	switch {
	case len(demands) < 2:
		return none("fewer than two tenants had work")
	case total == 0:
		return none("nothing was executed")
	}
	fair := fairShares(total, demands)
	sum, squares := 0.0, 0.0
	for i, got := range served {
		x := float64(got) / fair[i]
		sum += x
		squares += float64(x * x)
	}
	return some(min(float64(sum*sum)/(float64(len(served))*squares), 1))
}

// fairShares divides total, at most the sum of demands, by max-min fairness: no share exceeds its demand, and every
// share below its demand is as large as any other.
func fairShares(total int64, demands []int64) []float64 {
	order := plain.Order(demands, func(demand int64) (int64, bool) { return demand, true })
	shares := make([]float64, len(demands))
	left := float64(total)
	for k, i := range order {
		shares[i] = min(float64(demands[i]), left/float64(len(order)-k))
		left -= shares[i]
	}
	return shares
}

// freshOf returns the distribution of the fresh waits of a tenant, nil if it has none of its own.
func (t *tenantCounts) freshOf(tenant engine.TenantID) *Waits {
	if tenant == 0 || tenant > MostTenantWaits {
		return nil
	}
	return reach(&t.fresh, tenant)
}

// leftOver counts a tenant's fresh job that was never claimed, with its wait so far.
func (t *tenantCounts) leftOver(tenant engine.TenantID, ready time.Duration) {
	if w := t.freshOf(tenant); w != nil {
		w.Unresolved.Record(ready)
	}
}

// claimedOfTenant counts the first claim of a job for its tenant; inSet is true if metrics of jobs count the job.
func (v *view) claimedOfTenant(k *claim, inSet bool) {
	t := v.tenants
	if v.measured {
		w := reach(&t.all, k.Tenant)
		w.claims++
		w.sum += float64(k.waited)
		w.longest = max(w.longest, k.waited)
	}
	switch {
	case !inSet:
	case k.Tenant > 0 && int(k.Tenant) < len(t.dense):
		t.dense[k.Tenant].record(k.bucket, k.waited)
	default:
		if w := t.freshOf(k.Tenant); w != nil {
			w.Ended.record(k.bucket, k.waited)
		}
	}
}

// distributions returns the distributions of the fresh waits of the first n tenants, of MostTenantWaits at most.
func (t *tenantCounts) distributions(n int) []Waits {
	list := make([]Waits, min(n, MostTenantWaits))
	if len(t.fresh) > 0 {
		copy(list, t.fresh[1:])
	}
	for i := 1; i < len(t.dense) && i <= n; i++ {
		list[i-1].Ended = t.dense[i].histogram()
	}
	return list
}

// counted returns, for each tenant but number 0 (no tenant), executions and waits of claimed fresh jobs; nil: unknown.
func (t *tenantCounts) counted(names int, shares *tenantShares) []TenantCount {
	n := min(names-1, mostTenants)
	if n < 2 || shares == nil || !shares.ended {
		return nil
	}
	counts := make([]TenantCount, n)
	for i := range counts {
		w := element(t.all, i+1)
		counts[i] = TenantCount{element(shares.served, i+1), w.claims, w.sum / 1e9, float64(w.longest) / 1e9}
	}
	return counts
}
