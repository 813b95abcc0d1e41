package report

import (
	"fmt"
	"slices"
	"strings"

	"qsim/results"
)

// causes are the columns of the table of duplicates, with what is said in one row of all.
var causes = []struct{ metric, title string }{
	{"duplicates.lease", "lease expired while its holder lived"},
	{"duplicates.crash", "crash after the effect"},
	{"duplicates.ack", "ack lost or late"},
	{"duplicates.timeout", "ran on after its timeout"},
	{"duplicates.other", "another cause"},
	{"duplicates.count", "in all"},
	{"duplicates.resubmits", "resubmitted by its caller"},
}

// duplicates says why executions were duplicates.
func duplicates(sum *results.Summary) finding {
	var f finding
	known, any := false, false
	most, worst := 0.0, -1
	t := plainTable{Caption: "Duplicate executions per seed, by cause", Header: []string{"policy"}}
	for _, c := range causes {
		t.Header = append(t.Header, c.title)
	}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		row := []string{shorten(clean(p.Label), nameLimit)}
		total := 0.0
		for _, c := range causes {
			e := p.Metric(c.metric)
			if e != nil && c.metric != "duplicates.count" {
				known = true
			}
			if e != nil && !e.Null() && e.Mean > 0 {
				any = true
				if c.metric == "duplicates.count" || c.metric == "duplicates.resubmits" {
					total += e.Mean
				}
			}
			cell := sum.Cell(i, results.Query{Metric: c.metric})
			row = append(row, strings.TrimSpace(cell.Value+" "+cell.Half))
		}
		if total > most {
			most, worst = total, i
		}
		t.Rows = append(t.Rows, row)
	}
	switch {
	case !known:
		f.Finding = "The causes of duplicates were not stored: an earlier version did not measure them."
	case !any:
		f.Finding = "No job was executed twice with success" + under(sum) + "."
	default:
		f.Finding = fmt.Sprintf("Most duplicates: %s per seed with %s%s.", count(most), shorten(clean(sum.Policies[worst].Label), nameLimit), mainCause(&sum.Policies[worst], most))
	}
	if any {
		t.Key = "Executions that ended in success after another of the same job had. The last column counts copies that callers with patience enqueued again and that were done twice; they are not in the sum before it."
		f.Table = &t
	}
	return f
}

// under names whom a finding about all policies is about.
func under(sum *results.Summary) string {
	if len(sum.Policies) == 1 {
		return " with " + shorten(clean(sum.Policies[0].Label), nameLimit)
	}
	return " under any policy"
}

// mainCause names the cause of most of so many duplicates, if there is one.
func mainCause(p *results.PolicySummary, all float64) string {
	for _, c := range causes {
		if e := p.Metric(c.metric); c.metric != "duplicates.count" && e != nil && !e.Null() && e.Mean > all/2 {
			return fmt.Sprintf(", %s of them: %s", percent(e.Mean/all), c.title)
		}
	}
	return ""
}

// tenantLimit is how many tenants have a row of their own.
const tenantLimit = 12

// tenants says what each of the busiest tenants got.
func tenants(sum *results.Summary) finding {
	if sum.Settings == nil || len(sum.Data) != len(sum.Policies) {
		return finding{Finding: "What tenants got was not stored."}
	}
	all := sum.Settings.Tenants
	if len(all) < 3 { // the first is nobody
		return finding{Finding: "There is one tenant: all jobs are equal."}
	}
	counted := len(all) - 1
	for i := range sum.Data {
		counted = min(counted, len(sum.Data[i].Tenants))
	}
	if counted < 2 {
		return finding{Finding: "What tenants got was not stored: an earlier version did not count it."}
	}
	order := busiest(sum, counted)
	t := plainTable{Caption: "Share of the executions, and mean wait of fresh jobs, by tenant; busiest first", Header: []string{"tenant"}}
	for i := range sum.Policies {
		t.Header = append(t.Header, shorten(clean(sum.Policies[i].Label), nameLimit))
	}
	for _, k := range order {
		row := []string{shorten(clean(all[k+1]), nameLimit)}
		for i := range sum.Data {
			row = append(row, tenantWords(sum.Data[i].Tenants, k))
		}
		t.Rows = append(t.Rows, row)
	}
	row := []string{"Jain index of all"}
	for i := range sum.Policies {
		row = append(row, sum.Cell(i, results.Query{Metric: "jain"}).Value)
	}
	t.Rows = append(t.Rows, row)
	if len(order) < len(all)-1 {
		t.Key = fmt.Sprintf("%d of %d tenants, the busiest of the first %d. ", len(order), len(all)-1, counted)
	}
	t.Key += "Over all seeds, from the end of the warm-up to the end of arrivals. The Jain index is 100 % where every tenant that had work got its max-min fair share."
	return finding{tenantFinding(sum, order), &t}
}

// busiest are the numbers less 1 of the tenants with most executions, over all policies.
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

func tenantWords(list []results.TenantCount, k int) string {
	var all int64
	for i := range list {
		all += list[i].Executions
	}
	words := "nothing"
	if all > 0 && list[k].Executions > 0 {
		words = percent(float64(list[k].Executions) / float64(all))
	}
	if n := list[k].FreshClaims; n > 0 {
		words += ", " + seconds(list[k].WaitSum/float64(n))
	}
	return words
}

// tenantFinding tells the policy under which tenants' waits differ most.
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
	return fmt.Sprintf("Fresh jobs of %s wait %s on the mean with %s, those of the quickest tenant %s.", shorten(clean(sum.Settings.Tenants[most.slow+1]), nameLimit),
		seconds(most.high), shorten(clean(sum.Policies[most.policy].Label), nameLimit), seconds(most.low))
}

// command is what runs the scenario again.
func command(sum *results.Summary) string {
	if len(sum.Seeds) == 0 {
		return "qsim run scenario.yaml"
	}
	first, last := sum.Seeds[0], sum.Seeds[len(sum.Seeds)-1]
	return fmt.Sprintf("qsim run scenario.yaml --seed %d --seeds %d", first, last-first+1)
}

// fingerprints are what a run must have that is to be the same.
func fingerprints(sum *results.Summary) plainTable {
	t := plainTable{Caption: "Fingerprints: digests of every event of every seed. An equal run has equal ones, on any machine.", Header: []string{"policy", "kind", "fingerprint"}}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		t.Rows = append(t.Rows, []string{shorten(clean(p.Label), nameLimit), clean0(p.Kind), clean0(p.Fingerprint)})
	}
	return t
}
