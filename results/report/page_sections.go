package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// section is a part of a report page below the table.
type section struct {
	family
	Drawing *Figure // chart of the section; nil: none
	Replay  bool    // the section holds a replay of the queue
	finding
}

// family is a kind of section of the page: its metrics, its figure and its heading.
type family struct {
	ID       string
	standard string // name of its figure; empty: it has tables
	Heading  string
	metrics  string // prefixes of the names of its metrics, with spaces between them
}

// finding is a sentence about the results, with the tables that support it.
type finding struct {
	Finding string
	Tables  []plainTable
	none    bool // nothing to see
	dull    bool // little to see, unless an objective is about it
}

// families lists the sections of a report page, in the standard order.
var families = []family{
	{"backlog", "2-backlog", "Where the queue went",
		"fresh.wait fresh.within start.wait starved claim.gap fresh.deficit recovery slowdown backlog waiting drain " +
			"retry.wait attempt.wait sojourn unfinished idle answered"},
	{"storm", "6-starvation", "Policy by policy through the run", "recovery drain starved claim.gap"},
	{"waits", "1-fresh-p99", "Wait of fresh jobs",
		"fresh.wait fresh.within start.wait fresh.deficit slowdown attempt.wait"},
	{"distribution", "3-ccdf", "Who waits how long", "fresh.wait fresh.within"},
	{"duplicates", "", "Work that is done twice", "duplicates effects wasted stale leases"},
	{"deaths", "", "Jobs that die", "dead deaths retry_exhausted"},
	{"attempts", "5-attempts", "Attempts and utilization",
		"attempts retries retry amplification goodput throughput utilization store claims answered idle"},
	{"tenants", tenantsFigure, "Tenants", "jain"},
	{"comparison", "4-dots", "Gain and price with their intervals", ""},
}

// sections returns all sections of a report page, in the standard order.
func (p *page) sections(figures []Figure, t *results.Table) []section {
	var list []section
	columns := slices.Concat(t.Columns, t.Alike)
	for _, family := range families {
		s := section{family: family}
		for _, f := range figures {
			if f.Name == family.standard {
				s.Finding, s.none, s.dull, s.Drawing = f.Title, f.none, f.dull, &f
			}
		}
		switch s.ID {
		case "duplicates":
			s.finding = duplicates(p.summary)
		case "deaths":
			s.finding = deaths(p.summary)
		case "tenants":
			own := tenants(p.summary)
			if s.Drawing != nil { // what an objective is about comes first
				if slices.ContainsFunc(columns, func(c results.Column) bool { return c.Tenant != "" }) {
					own.Finding, s.Finding = s.Finding, strings.TrimSuffix(own.Finding, ".")
				}
				s.Drawing.Subtitle = s.Finding + ". " + s.Drawing.Subtitle
			}
			s.finding = own
		case "comparison":
			s.Finding, s.none = "", len(p.summary.Policies) == 1 // the headline of the page
		case "backlog":
			s.Replay = s.Drawing != nil && !s.none
		}
		if s.none && s.ID == "comparison" {
			continue // the table has it all
		}
		if s.Drawing != nil || s.Tables != nil || s.Finding != "" {
			list = append(list, s)
		}
	}
	return list
}

// arrange moves the sections about differences between policies to the front, in the order of the results table, and
// folds the sections with nothing to see.
func (p *page) arrange(list []section, t *results.Table) {
	columns := slices.Concat(t.Columns, t.Alike)
	rank := func(s section) int {
		first := slices.IndexFunc(columns, func(c results.Column) bool {
			about := func(begins string) bool { return strings.HasPrefix(c.Metric, begins) }
			return c.Part != results.Pays &&
				(slices.ContainsFunc(strings.Fields(s.metrics), about) || s.ID == "tenants" && c.Tenant != "")
		})
		if first < 0 {
			return len(columns)
		}
		return first
	}
	ranks := map[string]int{}
	for _, s := range list {
		if ranks[s.ID] = rank(s); s.none || s.dull && ranks[s.ID] == len(columns) {
			p.Quiet = append(p.Quiet, s)
		} else {
			p.Sections = append(p.Sections, s)
		}
	}
	if ranks["backlog"] > 0 {
		ranks["comparison"] = 0 // what it is about has no chart over time
	}
	slices.SortStableFunc(p.Sections, func(a, b section) int { return cmp.Compare(ranks[a.ID], ranks[b.ID]) })
}

// cause is a metric that counts events by cause, with the heading of its table column.
type cause struct{ metric, title string }

// duplicateCauses and deathCauses list the columns of the tables of causes: the total first, then parts of it.
var (
	duplicateCauses = []cause{
		{"duplicates.count", "in all"},
		{"duplicates.lease", "lease expired while its holder lived"},
		{"duplicates.crash", "crash after the effect"},
		{"duplicates.ack", "ack lost or late"},
		{"duplicates.timeout", "ran on after its timeout"},
		{"duplicates.other", "another cause"},
		{"duplicates.resubmits", "resubmitted by its caller"},
		{"effects.double", "jobs whose effect came twice"},
	}
	deathCauses = []cause{
		{"deaths.count", "in all"},
		{"deaths.limit", "attempts used up"},
		{"deaths.error", "an error that is not retried"},
		{"deaths.deadline", "past its deadline"},
		{"deaths.reaper", "given up by the reaper"},
		{"deaths.shed", "shed by the policy"},
		{"dead.share", "share of the jobs dead at the end"},
	}
)

// duplicates returns the section about duplicate executions and their causes.
func duplicates(sum *results.Summary) finding {
	f := causesOf(sum, "Duplicate executions", "duplicates", "No job was executed twice with success", duplicateCauses)
	for i := range f.Tables {
		f.Tables[i].Key = "Executions that ended in success after another of the same job had. " +
			"Copies that callers with patience enqueued again and that were done twice are not in the first column."
	}
	return f
}

// deaths returns the section about dead jobs and their causes.
func deaths(sum *results.Summary) finding {
	return causesOf(sum, "Jobs given up", "deaths", "No job dies", deathCauses)
}

// causesOf returns a section about a kind of event, split by cause: the policy with most events, the main cause there,
// and a table of all causes.
func causesOf(sum *results.Summary, caption, what, none string, causes []cause) finding {
	t, worst, most := causeTable(sum, caption+" per seed, by cause", causes)
	switch {
	case t == nil:
		return finding{Finding: plain.Capital(what) + " were not measured.", none: true}
	case worst < 0:
		return finding{Finding: none + under(sum) + ".", none: true}
	}
	p := &sum.Policies[worst]
	if words := causesAlike(sum, causes, most); words != "" {
		return finding{Finding: plain.Capital(what) + ": " + words + ".", Tables: []plainTable{*t}}
	}
	words := fmt.Sprintf("Most %s: %s per seed with %s%s.", what, amount(sum, worst, causes), policyName(p.Label),
		mainCause(p, causes, most))
	return finding{Finding: words, Tables: []plainTable{*t}}
}

// causesAlike returns a sentence with the number of events and their main cause, if both are about the same under all
// policies; "" otherwise.
func causesAlike(sum *results.Summary, causes []cause, most float64) string {
	var means []float64
	main := mainCause(&sum.Policies[0], causes, most)
	for i := range sum.Policies {
		p := &sum.Policies[i]
		e := p.Metric(causes[0].metric)
		if e == nil || !(e.Mean*similar >= most) {
			return ""
		}
		means = append(means, e.Mean)
		if mainCause(p, causes, e.Mean) != main {
			main = ""
		}
	}
	least, largest := extremes(means)
	switch low, high := amount(sum, least, causes), amount(sum, largest, causes); {
	case len(sum.Policies) == 1:
		return ""
	case low != high:
		return low + " to " + high + " per seed under every policy" + main
	default:
		return high + " per seed under every policy" + main
	}
}

// amount returns the number of events of all causes under policy i, formatted as in the table.
func amount(sum *results.Summary, i int, causes []cause) string {
	return results.CellOf(sum, i, measure.Query{Metric: causes[0].metric}).Value
}

// causeTable returns a table with a column for each cause that was measured, and the policy with most events, −1 if
// there were no events. The table is nil if nothing was measured.
func causeTable(sum *results.Summary, caption string, causes []cause) (t *plainTable, worst int, most float64) {
	t, worst = &plainTable{Caption: caption, Header: []string{"policy"}}, -1
	t.Rows = plain.Map(policyNames(sum), func(name string) []string { return []string{name} })
	for k, c := range causes {
		if len(sum.Policies) == 0 || sum.Policies[0].Metric(c.metric) == nil {
			continue
		}
		some := func(p results.PolicySummary) bool { e := p.Metric(c.metric); return e != nil && e.Mean > 0 }
		if k > 0 && !slices.ContainsFunc(sum.Policies, some) {
			continue // no cause of anything
		}
		t.Header = append(t.Header, c.title)
		for i := range sum.Policies {
			e := sum.Policies[i].Metric(c.metric)
			if e != nil && !e.Null() && e.Mean > most && (k == 0 || worst < 0) {
				worst, most = i, e.Mean
			}
			cell := results.CellOf(sum, i, measure.Query{Metric: c.metric})
			t.Rows[i] = append(t.Rows[i], strings.TrimSpace(cell.Value+" "+cell.Half))
		}
	}
	if len(t.Header) == 1 {
		return nil, -1, 0
	}
	return t, worst, most
}

// under returns the phrase "under <policy>", or "under any policy" in a sentence about all of them.
func under(sum *results.Summary) string {
	if len(sum.Policies) == 1 {
		return " with " + policyName(sum.Policies[0].Label)
	}
	return " under any policy"
}

// mainCause returns a clause that names the cause of more than half of all events, "" if no cause has that many.
func mainCause(p *results.PolicySummary, causes []cause, all float64) string {
	for _, c := range causes[1:] {
		if e := p.Metric(c.metric); c.metric != "effects.double" && c.metric != "dead.share" && e != nil && !e.Null() &&
			e.Mean > all/2 {
			return fmt.Sprintf(", %s of them: %s", percent(e.Mean/all), c.title)
		}
	}
	return ""
}

// command returns the command line that runs the scenario again.
func command(sum *results.Summary) string {
	if len(sum.Seeds) == 0 {
		return "qsim run scenario.yaml"
	}
	first, last := sum.Seeds[0], sum.Seeds[len(sum.Seeds)-1]
	return fmt.Sprintf("qsim run scenario.yaml --seed %d --seeds %d", first, last-first+1)
}

// fingerprints returns the table of the policies' fingerprints: hashes of all events, equal for equal runs.
func fingerprints(sum *results.Summary) plainTable {
	const caption = "Fingerprints: digests of every event of every seed. An equal run has equal ones, on any machine."
	rows := plain.Map(sum.Policies, func(p results.PolicySummary) []string {
		return []string{policyName(p.Label), clean0(p.Kind), clean0(p.Fingerprint)}
	})
	return plainTable{Caption: caption, Header: []string{"policy", "kind", "fingerprint"}, Rows: rows}
}
