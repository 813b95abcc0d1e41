package measure

import (
	"slices"
	"time"

	"qsim/engine"
)

// tenantCounts are kept by tenant.
type tenantCounts struct {
	served  []int64 // executions finished
	wanting []int64 // jobs ready or in flight: each wants an execution, or more than one
	waits   []tenantWaits
	fresh   []tenantWait // of the first MostTenantWaits; number 0 stays empty: those are jobs of no tenant
	dense   []Histogram  // of the fresh jobs that were claimed, in place of those of fresh; nil: there are too many tenants
}

// mostDense is how many tenants have a whole Histogram while a run lasts: it is faster than one without its
// empty buckets, and larger.
const mostDense = 16

// tenantWaits are those of a tenant's fresh jobs that were claimed.
type tenantWaits struct {
	claims  int64
	sum     float64 // ns
	longest int64   // ns
}

// TenantCount counts the executions of one tenant, in the window of time metrics: from the end of the warm-up to the
// end of arrivals.
type TenantCount struct {
	Executions  int64   // finished
	FreshClaims int64   // first claims
	WaitSum     float64 // s, of those
	WaitMax     float64 // s
}

// tenantWait is how long a tenant's fresh jobs waited that were enqueued between the end of the warm-up and
// the end of arrivals: those that were claimed, and the ages of those that were not.
type tenantWait struct{ ended, ages Packed }

// TenantWait is the p99 wait of fresh jobs of one tenant, over the jobs of all seeds.
type TenantWait struct {
	Jobs    int64   // that were ready, claimed or not
	P99     float64 // s; 0 of no job
	AtLeast bool    // it lies among jobs that were not claimed: a bound
}

// MostTenantWaits is how many tenants have a distribution of their own: each takes about a kilobyte
// of every run.
const MostTenantWaits = 256

// mostTenants is how many tenants are told apart in what a run keeps.
const mostTenants = 1000

// grow makes room for a tenant.
func (t *tenantCounts) grow(tenant engine.TenantID) {
	for int(tenant) >= len(t.served) {
		t.served, t.wanting, t.waits = append(t.served, 0), append(t.wanting, 0), append(t.waits, tenantWaits{})
	}
}

// want counts so many more jobs that want an execution.
func (t *tenantCounts) want(tenant engine.TenantID, more int64) {
	if int(tenant) >= len(t.served) {
		t.grow(tenant)
	}
	t.wanting[tenant] += more
}

// serve counts an execution.
func (t *tenantCounts) serve(tenant engine.TenantID) {
	if int(tenant) >= len(t.served) {
		t.grow(tenant)
	}
	t.served[tenant]++
}

// tenantShares is what tenants got, and would have taken, in a window of time.
type tenantShares struct {
	begun, ended bool
	before       []int64 // executions, until the window began
	served       []int64
	demand       []int64 // executions, and jobs that want one at the end
}

func (s *tenantShares) begin(t *tenantCounts) {
	s.begun, s.before = true, slices.Clone(t.served)
}

func (s *tenantShares) end(t *tenantCounts) {
	if !s.begun || s.ended {
		return
	}
	s.ended, s.served = true, slices.Clone(t.served)
	for i := range s.served {
		if i < len(s.before) {
			s.served[i] -= s.before[i]
		}
		s.demand = append(s.demand, s.served[i]+max(t.wanting[i], 0))
	}
}

// jain is (Σx)² ÷ (n·Σx²) of the n tenants with a demand (Jain, Chiu and Hawe, 1984), where
// x is what a tenant got ÷ its max-min fair share of all that was executed. Who belongs to
// no tenant in particular is none.
func (s *tenantShares) jain() number {
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

// fairShares divides total, at most the sum of demands, by max-min fairness: nobody gets more than
// it demands, and who gets less gets as much as anybody.
func fairShares(total int64, demands []int64) []float64 {
	order := make([]int, len(demands))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(demands[a]-demands[b], -1), 1)) })
	shares := make([]float64, len(demands))
	left := float64(total)
	for k, i := range order {
		shares[i] = min(float64(demands[i]), left/float64(len(order)-k))
		left -= shares[i]
	}
	return shares
}

// claimed counts a first claim of a job of tenant, after so many nanoseconds.
func (t *tenantCounts) claimed(tenant engine.TenantID, waited int64) {
	t.grow(tenant)
	w := &t.waits[tenant]
	w.claims++
	w.sum += float64(waited)
	w.longest = max(w.longest, waited)
}

// freshOf is the distribution of a tenant, nil if it has none.
func (t *tenantCounts) freshOf(tenant engine.TenantID) *tenantWait {
	if tenant == 0 || tenant > MostTenantWaits {
		return nil
	}
	for int(tenant) >= len(t.fresh) {
		t.fresh = append(t.fresh, tenantWait{})
	}
	return &t.fresh[tenant]
}

// waitedFor counts how long a fresh job of tenant waited for its first claim, which lies in that bucket.
func (t *tenantCounts) waitedFor(tenant engine.TenantID, waited int64, bucket int) {
	if tenant > 0 && int(tenant) < len(t.dense) {
		t.dense[tenant].recordAt(bucket, waited)
	} else if w := t.freshOf(tenant); w != nil {
		w.ended.record(bucket, waited)
	}
}

// leftOver counts a fresh job that was not claimed.
func (t *tenantCounts) leftOver(tenant engine.TenantID, ready time.Duration) {
	if w := t.freshOf(tenant); w != nil {
		v := max(int64(ready), 0)
		w.ages.record(bucketOf(v), v)
	}
}

// claimedOfTenant counts the first claim of a job after so many nanoseconds, which lie in that bucket; inSet
// says that the job is one of those that metrics of jobs are about.
func (v *view) claimedOfTenant(tenant engine.TenantID, waited int64, bucket int, inSet bool) {
	if v.windows[0].covers(v.now) {
		v.tenants.claimed(tenant, waited)
	}
	if inSet {
		v.tenants.waitedFor(tenant, waited, bucket)
	}
}

// distributions are those of the first of n tenants.
func (t *tenantCounts) distributions(n int) []tenantWait {
	list := make([]tenantWait, min(n, MostTenantWaits))
	if len(t.fresh) > 0 {
		copy(list, t.fresh[1:])
	}
	for i := 1; i < len(t.dense) && i <= n; i++ {
		list[i-1].ended = t.dense[i].Pack()
	}
	return list
}

// counted returns what the tenants numbered from 1 got, of which there are names, in the window
// of shares; nil if there are fewer than two.
func (t *tenantCounts) counted(names int, shares *tenantShares) []TenantCount {
	n := min(names-1, mostTenants)
	if n < 2 || shares == nil || !shares.ended {
		return nil
	}
	counts := make([]TenantCount, n)
	for i := range counts {
		if k := i + 1; k < len(shares.served) {
			counts[i].Executions = shares.served[k]
		}
		if k := i + 1; k < len(t.waits) {
			w := &t.waits[k]
			counts[i].FreshClaims, counts[i].WaitSum, counts[i].WaitMax = w.claims, w.sum/1e9, float64(w.longest)/1e9
		}
	}
	return counts
}
