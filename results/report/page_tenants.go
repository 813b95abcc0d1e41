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

// tenants returns the section about tenants: their shares of the work and their waits, with tables of the busiest ones.
func tenants(sum *results.Summary) finding {
	if sum.Settings == nil || len(sum.Data) != len(sum.Policies) {
		return finding{Finding: "What tenants got was not stored.", none: true}
	}
	all := sum.Settings.Tenants
	if len(all) < 3 { // the first is nobody
		return finding{Finding: "There is one tenant.", none: true}
	}
	oneEach := func(tenant, class string) bool { return tenant == class+"/0" } // as in "orders/0", "imports/0"
	if slices.EqualFunc(all[1:], sum.Settings.Classes, oneEach) {
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
	jain := plain.Map(cellsOf(sum, "jain"), func(cell results.TableCell) string { return cell.Value })
	t.Rows = append(t.Rows, append([]string{"Jain index of all"}, jain...))
	if all, counted := len(sum.Settings.Tenants)-1, mostCounted(sum); len(order) < all && counted < all {
		t.Key = fmt.Sprintf("%d of %d tenants, the busiest of the first %d. ", len(order), all, counted)
	}
	t.Key += "Over all seeds, from the end of the warm-up to the end of arrivals. " +
		"The Jain index is 100 % where every tenant that had work got its max-min fair share."
	return t
}

// mostCounted returns the number of tenants, from the first on, whose executions were counted under every policy.
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
			if served == 1 || mean > s.high {
				s.high, s.slow = mean, k
			}
			if served == 1 || mean < s.low {
				s.low = mean
			}
		}
		claimed = max(claimed, served)
		if s.ratio = s.high / s.low; s.ratio > most.ratio { // infinite if a tenant never waited
			most = s
		}
	}
	switch {
	case claimed == 0:
		return "No fresh job of any tenant was claimed" + under(sum) + "."
	case claimed == 1:
		return "Fresh jobs of one tenant alone were claimed: there is no other to compare it with."
	case most.ratio < similar:
		return tenantsAlike(sum) + "."
	}
	return fmt.Sprintf("Fresh jobs of %s wait %s on the mean with %s, those of the quickest tenant %s.",
		tenantName(sum, most.slow), seconds(most.high), policyName(sum.Policies[most.policy].Label), seconds(most.low))
}

// tenantsAlike returns the beginning of a sentence about tenants whose waits do not differ.
func tenantsAlike(sum *results.Summary) string {
	return "Tenants wait alike" + plain.When(len(sum.Policies) > 1, " under every policy")
}

// tenantsWithWaits returns the number of tenants, from the first on, with a p99 wait under every policy: 0 if an
// earlier version, which did not measure it, made the results.
func tenantsWithWaits(sum *results.Summary, counted int) int {
	for i := range sum.Data {
		counted = min(counted, len(sum.Data[i].TenantWaits))
	}
	return counted
}

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

// enoughJobs is the least number of a tenant's jobs for a comparison of p99 waits: of 1000 jobs, ten wait longer.
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
		return tenantsAlike(sum) + ": their p99 differ by less than a quarter."
	}
	waits := sum.Data[policy].TenantWaits
	return fmt.Sprintf("With %s the p99 of fresh waits is %s for %s and %s for %s.",
		policyName(sum.Policies[policy].Label), waitWords(waits[slow]), tenantName(sum, slow), waitWords(waits[quick]),
		tenantName(sum, quick))
}
