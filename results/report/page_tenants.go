package report

import (
	"fmt"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// tenantLimit is the highest number of tenants with a table row of their own.
const tenantLimit = 12

// enoughJobs is the least number of a tenant's jobs for a comparison of p99 waits: of 1000 jobs, ten wait longer.
const enoughJobs = 1000

// tenants returns the section about tenants: their shares of the work and their waits, with tables of the busiest ones.
func tenants(sum *results.Summary) finding {
	all := sum.Settings.Tenants
	if len(all) < 3 { // the first is nobody
		return finding{Finding: "There is one tenant.", none: true}
	}
	oneEach := func(tenant, class string) bool { return tenant == class+"/0" } // as in "orders/0", "imports/0"
	if slices.EqualFunc(all[1:], sum.Settings.Classes, oneEach) {
		return finding{Finding: "No class has several tenants: what is said of classes is said of them.", none: true}
	}
	counted, known := countedTenants(sum)
	if counted < 2 {
		return finding{Finding: "What tenants got was not measured.", none: true}
	}
	order := busiest(sum, counted)
	words, waits := tenantFinding(sum, order, "mean", func(policy, k int) (float64, string, bool) {
		t := &sum.Data[policy].Tenants[k]
		mean := t.WaitSum / float64(t.FreshClaims)
		return mean, seconds(mean), t.FreshClaims > 0
	})
	switch waits {
	case 0:
		words = "No fresh job of any tenant was claimed" + under(sum) + "."
	case 1:
		words = "Fresh jobs of one tenant alone were claimed: there is no other to compare it with."
	}
	var measured []int
	for k := range known {
		measured = append(measured, k)
	}
	slowest, waits := tenantFinding(sum, measured, "p99", func(policy, k int) (float64, string, bool) {
		w := sum.Data[policy].TenantWaits[k]
		return w.P99, waitWords(w), w.Jobs >= enoughJobs
	})
	if waits > 1 {
		words = slowest
	}
	tables := []plainTable{tenantWaits(sum, order, known), tenantShares(sum, order)}
	return finding{Finding: words, Tables: tables, none: strings.HasPrefix(words, alikeTenants)}
}

// tenantTable returns a table with a row for each tenant in order and a column for each policy.
func tenantTable(sum *results.Summary, caption string, order []int, cell func(policy, tenant int) string) plainTable {
	t := plainTable{Caption: caption + "; busiest first", Header: slices.Concat([]string{"tenant"}, policyNames(sum))}
	for _, k := range order {
		row := []string{tenantName(sum, k)}
		for i := range sum.Policies {
			row = append(row, cell(i, k))
		}
		t.Rows = append(t.Rows, row)
	}
	if all := len(sum.Settings.Tenants) - 1; len(order) < all {
		t.Key = fmt.Sprintf("The %d busiest of %d tenants. ", len(order), all)
	}
	return t
}

func tenantName(sum *results.Summary, k int) string {
	return policyName(sum.Settings.Tenants[k+1])
}

// tenantShares returns the table of tenants' shares of the executions and their Jain index, the tenants in order.
func tenantShares(sum *results.Summary, order []int) plainTable {
	rate := 0.0 // of one execution of all seeds
	if span := (sum.Settings.Duration - sum.Settings.Warmup).Seconds() * float64(len(sum.Seeds)); span > 0 {
		rate = 1 / span
	}
	t := tenantTable(sum, "Share of the executions, executions per second, and mean wait of fresh jobs, by tenant", order,
		func(policy, tenant int) string { return tenantWords(sum.Data[policy].Tenants, tenant, rate) })
	cells := results.ColumnOf(sum, measure.Query{Metric: "jain"}).Cells
	jain := plain.Map(cells, func(cell results.TableCell) string { return cell.Value })
	t.Rows = append(t.Rows, append([]string{"Jain index of all"}, jain...))
	counted, _ := countedTenants(sum)
	if all := len(sum.Settings.Tenants) - 1; len(order) < all && counted < all {
		t.Key = fmt.Sprintf("%d of %d tenants, the busiest of the first %d. ", len(order), all, counted)
	}
	t.Key += "Over all seeds, from the end of the warm-up to the end of arrivals. " +
		"The Jain index is 100 % where every tenant that had work got its max-min fair share."
	return t
}

// countedTenants returns the number of tenants, from the first on, whose executions were counted under every policy,
// and of those with a p99 wait.
func countedTenants(sum *results.Summary) (counted, known int) {
	counted = len(sum.Settings.Tenants) - 1
	known = counted
	for i := range sum.Data {
		counted, known = min(counted, len(sum.Data[i].Tenants)), min(known, len(sum.Data[i].TenantWaits))
	}
	return counted, known
}

// busiest returns the indexes, from 0 on, of the tenants with most executions over all policies.
func busiest(sum *results.Summary, counted int) []int {
	totals := make([]int64, counted)
	for k := range totals {
		totals[k] = plain.Sum(sum.Data, func(data results.PolicyData) int64 { return data.Tenants[k].Executions })
	}
	order := plain.Order(totals, func(n int64) (int64, bool) { return -n, true })
	return order[:min(len(order), tenantLimit)]
}

// tenantWords returns the share, rate and mean wait of tenant k as text; executions × rate are executions per second.
func tenantWords(list []measure.TenantCount, k int, rate float64) string {
	all := plain.Sum(list, func(t measure.TenantCount) int64 { return t.Executions })
	words := "nothing"
	if all > 0 && list[k].Executions > 0 {
		own := float64(list[k].Executions)
		words = percent(own/float64(all)) + ", " + plain.Amount(own*rate) + "/s"
	}
	if n := list[k].FreshClaims; n > 0 {
		words += ", " + seconds(list[k].WaitSum/float64(n))
	}
	return words
}

// tenantFinding returns a sentence about the policy under which a statistic of the waits of some tenants, such as their
// p99, differs most, and the highest number of tenants with a wait under one policy. wait returns the statistic of one
// tenant in s and as text, if it is known.
func tenantFinding(sum *results.Summary, tenants []int, statistic string,
	wait func(policy, tenant int) (seconds float64, words string, ok bool)) (finding string, waits int) {
	ratio := 0.0 // the largest of the longest wait to the shortest under one policy
	for policy := range sum.Data {
		order := plain.Order(tenants, func(k int) (float64, bool) {
			w, _, ok := wait(policy, k)
			return -w, ok
		})
		if len(order) == 0 {
			continue
		}
		slow, quick := tenants[order[0]], tenants[order[len(order)-1]]
		longest, high, _ := wait(policy, slow)
		shortest, low, _ := wait(policy, quick)
		waits = max(waits, len(order))
		if own := longest / shortest; own > ratio { // infinite if one of them never waited
			ratio, finding = own, fmt.Sprintf("With %s the %s of fresh waits is %s for %s and %s for %s.",
				policyName(sum.Policies[policy].Label), statistic, high, tenantName(sum, slow), low, tenantName(sum, quick))
		}
	}
	if ratio < similar {
		finding = alikeTenants + plain.When(len(sum.Policies) > 1, " under every policy") +
			": the " + statistic + " of their fresh waits differs by less than a quarter."
	}
	return finding, waits
}

// alikeTenants is the beginning of a finding about tenants whose waits do not differ.
const alikeTenants = "Tenants wait alike"

// tenantWaits returns the table of the p99 waits of fresh jobs by tenant: the tenants in order and, if there are more,
// the median and the slowest of all. known is how many tenants, from the first on, have a p99.
func tenantWaits(sum *results.Summary, order []int, known int) plainTable {
	t := tenantTable(sum, "p99 of the wait of fresh jobs, by tenant", order, func(policy, tenant int) string {
		if tenant >= known {
			return "not measured"
		}
		return waitWords(sum.Data[policy].TenantWaits[tenant])
	})
	all := len(sum.Settings.Tenants) - 1
	if len(order) < all {
		whole := plain.Either(known < all, fmt.Sprintf("the first %d", known), fmt.Sprintf("all %d", all))
		median, slowest := []string{"median of " + whole}, []string{"slowest of " + whole}
		for i := range sum.Data {
			waits, middle, most := sum.Data[i].TenantWaits, "–", "–"
			if list := slowestFirst(waits[:known]); len(list) > 0 {
				middle = waitWords(waits[list[len(list)/2]])
				most = waitWords(waits[list[0]]) + " (" + tenantName(sum, list[0]) + ")"
			}
			median, slowest = append(median, middle), append(slowest, most)
		}
		t.Rows = append(t.Rows, median, slowest)
	}
	t.Key += "Of all jobs of all seeds that were enqueued between the end of the warm-up and the end of arrivals, " +
		"as an objective on the fresh.wait.p99 of a tenant takes them. Of fewer than 100 jobs it is the longest wait; " +
		"≥ = at least: it lies among jobs that were not claimed."
	return t
}

// slowestFirst returns the indexes, from 0 on, of the tenants that had fresh jobs, slowest first.
func slowestFirst(waits []measure.TenantWait) []int {
	return plain.Order(waits, func(w measure.TenantWait) (float64, bool) { return -w.P99, w.Jobs > 0 })
}

func waitWords(w measure.TenantWait) string {
	return plain.Either(w.Jobs == 0, "–", plain.When(w.AtLeast, "≥ ")+seconds(w.P99))
}
