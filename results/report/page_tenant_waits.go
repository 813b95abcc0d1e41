package report

import (
	"cmp"
	"fmt"
	"slices"

	"qsim/results"
	"qsim/results/measure"
)

// tenantsWithWaits returns how many of the first tenants have a p99 wait under every policy; 0: results of an earlier
// version, which did not measure it.
func tenantsWithWaits(sum *results.Summary, counted int) int {
	for i := range sum.Data {
		counted = min(counted, len(sum.Data[i].TenantWaits))
	}
	return counted
}

// tenantWaits returns the table of the p99 waits of fresh jobs by tenant: the tenants in order and, if there are more,
// the median and the slowest of all. The first known tenants have a p99.
func tenantWaits(sum *results.Summary, order []int, known int) plainTable {
	t := tenantTable(sum, "p99 of the wait of fresh jobs, by tenant; busiest first", order, func(policy, tenant int) string {
		if tenant >= known {
			return "not measured"
		}
		return waitWords(sum.Data[policy].TenantWaits[tenant])
	})
	all := len(sum.Settings.Tenants) - 1
	if len(order) < all {
		ranked := make([][]int, len(sum.Policies))
		for i := range ranked {
			ranked[i] = slowestFirst(sum.Data[i].TenantWaits[:known])
		}
		whole := fmt.Sprintf("all %d", all)
		if known < all {
			whole = fmt.Sprintf("the first %d", known)
		}
		t.add("median of "+whole, len(sum.Policies), func(policy int) string {
			if list := ranked[policy]; len(list) > 0 {
				return waitWords(sum.Data[policy].TenantWaits[list[len(list)/2]])
			}
			return "–"
		})
		t.add("slowest of "+whole, len(sum.Policies), func(policy int) string {
			if list := ranked[policy]; len(list) > 0 {
				return waitWords(sum.Data[policy].TenantWaits[list[0]]) + " (" + tenantName(sum, list[0]) + ")"
			}
			return "–"
		})
		t.Key = fmt.Sprintf("The %d busiest of %d tenants. ", len(order), all)
	}
	t.Key += "Of all jobs of all seeds that were enqueued between the end of the warm-up and the end of arrivals, as an objective on the fresh.wait.p99 of a tenant takes them. Of fewer than 100 jobs it is the longest wait; ≥ = at least: it lies among jobs that were not claimed."
	return t
}

// slowestFirst returns the indexes, from 0 on, of the tenants that had fresh jobs, slowest first.
func slowestFirst(waits []measure.TenantWait) []int {
	var list []int
	for k := range waits {
		if waits[k].Jobs > 0 {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(waits[b].P99, waits[a].P99) })
	return list
}

func waitWords(w measure.TenantWait) string {
	switch {
	case w.Jobs == 0:
		return "–"
	case w.AtLeast:
		return "≥ " + seconds(w.P99)
	}
	return seconds(w.P99)
}

// enoughJobs is the least number of jobs that a tenant needs for its p99 wait to be compared with other tenants': ten
// jobs wait longer than that p99.
const enoughJobs = 1000

// slowestTenant returns a sentence about the policy under which the p99 waits of tenants differ most; "" if fewer than
// two tenants have enough jobs.
func slowestTenant(sum *results.Summary, known int) string {
	policy, slow, quick, most := 0, 0, 0, 0.0
	for i := range sum.Data {
		waits := sum.Data[i].TenantWaits
		list := slices.DeleteFunc(slowestFirst(waits[:known]), func(k int) bool { return waits[k].Jobs < enoughJobs })
		if len(list) < 2 {
			continue
		}
		high, low := list[0], list[len(list)-1]
		ratio := 1.0 // of two that did not wait
		if waits[high].P99 > 0 {
			ratio = waits[high].P99 / max(waits[low].P99, waits[high].P99/1e6)
		}
		if ratio > most {
			policy, slow, quick, most = i, high, low, ratio
		}
	}
	switch {
	case most == 0:
		return ""
	case most < similar:
		return "Tenants wait alike" + map[bool]string{true: " under every policy", false: ""}[len(sum.Policies) > 1] + ": their p99 differ by less than a quarter."
	}
	waits := sum.Data[policy].TenantWaits
	return fmt.Sprintf("With %s the p99 of fresh waits is %s for %s and %s for %s.", policyName(sum.Policies[policy].Label),
		waitWords(waits[slow]), tenantName(sum, slow), waitWords(waits[quick]), tenantName(sum, quick))
}
