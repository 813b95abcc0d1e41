package results

import (
	"slices"

	"qsim/engine"
)

// tenantCounts are kept by tenant.
type tenantCounts struct {
	served  []int64 // executions finished
	wanting []int64 // jobs ready or in flight: each wants an execution, or more than one
}

func (t *tenantCounts) grow(tenant engine.TenantID) {
	for int(tenant) >= len(t.served) {
		t.served, t.wanting = append(t.served, 0), append(t.wanting, 0)
	}
}

// want counts so many more jobs that want an execution.
func (t *tenantCounts) want(tenant engine.TenantID, more int64) {
	t.grow(tenant)
	t.wanting[tenant] += more
}

// serve counts an execution.
func (t *tenantCounts) serve(tenant engine.TenantID) {
	t.grow(tenant)
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
