package report

import (
	"fmt"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
)

// tenantLimit is the highest number of tenants with a table row of their own.
const tenantLimit = 12

// tenants returns the section about tenants: shares of the work and waits of the busiest ones.
func tenants(sum *results.Summary) finding {
	if sum.Settings == nil || len(sum.Data) != len(sum.Policies) {
		return finding{Finding: "What tenants got was not stored.", none: true}
	}
	all := sum.Settings.Tenants
	if len(all) < 3 { // the first is nobody
		return finding{Finding: "There is one tenant.", none: true}
	}
	if eachClassIsATenant(sum.Settings) {
		return finding{Finding: "No class has several tenants: what is said of classes is said of them.", none: true}
	}
	counted := mostCounted(sum)
	if counted < 2 {
		return finding{Finding: "What tenants got was not stored: an earlier version did not count it.", none: true}
	}
	order := busiest(sum, counted)
	f := finding{Finding: tenantFinding(sum, order)}
	known := tenantsWithWaits(sum, counted)
	if known > 0 {
		if slow := slowestTenant(sum, known); slow != "" {
			f.Finding = slow
		}
		f.Tables = append(f.Tables, tenantWaits(sum, order, known))
	}
	f.Tables = append(f.Tables, tenantShares(sum, order))
	f.none = strings.HasPrefix(f.Finding, "Tenants wait alike")
	return f
}

// eachClassIsATenant reports whether every class has exactly one tenant, as in "orders/0", "imports/0".
func eachClassIsATenant(s *measure.Settings) bool {
	return slices.EqualFunc(s.Tenants[1:], s.Classes, func(tenant, class string) bool { return tenant == class+"/0" })
}

// tenantTable returns a table with a row for each tenant in order and a column for each policy.
func tenantTable(sum *results.Summary, caption string, order []int, cell func(policy, tenant int) string) plainTable {
	t := plainTable{Caption: caption, Header: []string{"tenant"}}
	for i := range sum.Policies {
		t.Header = append(t.Header, policyName(sum.Policies[i].Label))
	}
	for _, k := range order {
		t.add(tenantName(sum, k), len(sum.Policies), func(policy int) string { return cell(policy, k) })
	}
	return t
}

// add appends a row with a name and the given cells to the table.
func (t *plainTable) add(name string, cells int, cell func(i int) string) {
	row := []string{name}
	for i := range cells {
		row = append(row, cell(i))
	}
	t.Rows = append(t.Rows, row)
}

func tenantName(sum *results.Summary, k int) string {
	return policyName(sum.Settings.Tenants[k+1])
}

// tenantShares returns the table of each tenant's share of the executions.
func tenantShares(sum *results.Summary, order []int) plainTable {
	rate := 0.0 // of one execution of all seeds
	if span := (sum.Settings.Duration - sum.Settings.Warmup).Seconds() * float64(len(sum.Seeds)); span > 0 {
		rate = 1 / span
	}
	t := tenantTable(sum, "Share of the executions, executions per second, and mean wait of fresh jobs, by tenant; busiest first", order,
		func(policy, tenant int) string { return tenantWords(sum.Data[policy].Tenants, tenant, rate) })
	t.add("Jain index of all", len(sum.Policies), func(i int) string { return results.CellOf(sum, i, measure.Query{Metric: "jain"}).Value })
	if all := len(sum.Settings.Tenants) - 1; len(order) < all {
		t.Key = fmt.Sprintf("The %d busiest of %d tenants. ", len(order), all)
		if all > mostCounted(sum) {
			t.Key = fmt.Sprintf("%d of %d tenants, the busiest of the first %d. ", len(order), all, mostCounted(sum))
		}
	}
	t.Key += "Over all seeds, from the end of the warm-up to the end of arrivals. The Jain index is 100 % where every tenant that had work got its max-min fair share."
	return t
}

// mostCounted returns how many of the first tenants have a count of executions under every policy.
func mostCounted(sum *results.Summary) int {
	counted := len(sum.Settings.Tenants) - 1
	for i := range sum.Data {
		counted = min(counted, len(sum.Data[i].Tenants))
	}
	return counted
}

// busiest returns the indexes, from 0 on, of the tenants with most executions over all policies.
func busiest(sum *results.Summary, counted int) []int {
	totals := make([]int64, counted)
	order := make([]int, counted)
	for k := range totals {
		order[k] = k
		for i := range sum.Data {
			totals[k] += sum.Data[i].Tenants[k].Executions
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(totals[b]-totals[a], -1), 1)) })
	return order[:min(len(order), tenantLimit)]
}

// tenantWords returns the share, rate and mean wait of tenant k as text; rate is the rate of one execution, per second.
func tenantWords(list []measure.TenantCount, k int, rate float64) string {
	var all int64
	for i := range list {
		all += list[i].Executions
	}
	words := "nothing"
	if all > 0 && list[k].Executions > 0 {
		words = percent(float64(list[k].Executions)/float64(all)) + ", " + count(float64(list[k].Executions)*rate) + "/s"
	}
	if n := list[k].FreshClaims; n > 0 {
		words += ", " + seconds(list[k].WaitSum/float64(n))
	}
	return words
}

// tenantFinding returns a sentence about the policy under which the mean waits of tenants differ most.
func tenantFinding(sum *results.Summary, order []int) string {
	type spread struct {
		ratio, low, high float64
		policy, slow     int
	}
	var most spread
	claimed := 0 // tenants of which a fresh job was claimed, under the policy with most
	for i := range sum.Data {
		s, served := spread{policy: i}, 0
		for _, k := range order {
			t := sum.Data[i].Tenants[k]
			if t.FreshClaims == 0 {
				continue
			}
			served++
			mean := t.WaitSum / float64(t.FreshClaims)
			if s.high == 0 || mean > s.high {
				s.high, s.slow = mean, k
			}
			if s.low == 0 || mean < s.low {
				s.low = mean
			}
		}
		claimed = max(claimed, served)
		if s.low > 0 {
			s.ratio = s.high / s.low
		}
		if s.ratio > most.ratio {
			most = s
		}
	}
	switch {
	case claimed == 0:
		return "No fresh job of any tenant was claimed" + under(sum) + "."
	case claimed == 1:
		return "Fresh jobs of one tenant alone were claimed: there is no other to compare it with."
	case most.ratio < similar:
		return "Tenants wait alike" + map[bool]string{true: " under every policy", false: ""}[len(sum.Policies) > 1] + "."
	}
	return fmt.Sprintf("Fresh jobs of %s wait %s on the mean with %s, those of the quickest tenant %s.", tenantName(sum, most.slow),
		seconds(most.high), policyName(sum.Policies[most.policy].Label), seconds(most.low))
}
