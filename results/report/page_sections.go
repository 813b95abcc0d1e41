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

// section is a part of a report page below the main table: a heading, a finding, and a chart or tables.
type section struct {
	family
	Drawing *Figure // chart of the section; nil: none
	Replay  bool    // the section holds a replay of the queue
	finding
}

// family is a kind of section of a report page: its metrics, its heading, and its figure or the events that it counts.
type family struct {
	rank    int // place among the sections in the standard order: lower ones come first
	ID      string
	figure  string                // name of its figure; empty: it has tables
	chart   func(*drawing) *sheet // draws the figure; nil: it has tables
	Heading string
	metrics []string // prefixes of the names of its metrics
	events  *events  // what its table counts; nil: it has a figure
}

// finding is a sentence about the results, with the tables that support it.
type finding struct {
	Finding string
	Tables  []plainTable
	none    bool // nothing to see: the section is folded
	dull    bool // little to see: it is folded, unless an objective is about it
}

// families lists the sections of a report page, in the standard order, with the charts of a run: each chart's file adds
// its section.
var families = []family{
	{rank: 50, ID: "duplicates", Heading: "Work that is done twice",
		metrics: []string{"duplicates", "effects", "wasted", "stale", "leases"},
		events: &events{"Duplicate executions", "duplicates", "No job was executed twice with success",
			"Executions that ended in success after another of the same job had. " +
				"Copies that callers with patience enqueued again and that were done twice are not in the first column.",
			[]cause{
				{metric: "duplicates.count", title: "in all"},
				{metric: "duplicates.lease", title: "lease expired while its holder lived"},
				{metric: "duplicates.crash", title: "crash after the effect"},
				{metric: "duplicates.ack", title: "ack lost or late"},
				{metric: "duplicates.timeout", title: "ran on after its timeout"},
				{metric: "duplicates.other", title: "another cause"},
				{metric: "duplicates.resubmits", title: "resubmitted by its caller"},
				{metric: "effects.double", title: "jobs whose effect came twice", aside: true},
			}}},
	{rank: 60, ID: "deaths", Heading: "Jobs that die", metrics: []string{"dead", "deaths", "retry_exhausted"},
		events: &events{"Jobs given up", "deaths", "No job dies", "", []cause{
			{metric: "deaths.count", title: "in all"},
			{metric: "deaths.limit", title: "attempts used up"},
			{metric: "deaths.error", title: "an error that is not retried"},
			{metric: "deaths.deadline", title: "past its deadline"},
			{metric: "deaths.reaper", title: "given up by the reaper"},
			{metric: "deaths.shed", title: "shed by the policy"},
			{metric: "dead.share", title: "share of the jobs dead at the end", aside: true},
		}}},
}

// builtInChart adds the section of a chart to families, by its rank, and returns their number, so that a variable in
// the chart's file can be initialized by the call.
func builtInChart(rank int, id, figure string, chart func(*drawing) *sheet, heading string, metrics ...string) int {
	f := family{rank: rank, ID: id, figure: figure, chart: chart, Heading: heading, metrics: metrics}
	at, _ := slices.BinarySearchFunc(families, f, func(a, b family) int { return a.rank - b.rank })
	families = slices.Insert(families, at, f)
	return len(families)
}

// sections returns all sections of a report page that have something to show, in the standard order.
func (p *page) sections(figures []Figure, t *results.Table) []section {
	var list []section
	columns := slices.Concat(t.Columns, t.Alike)
	for _, family := range families {
		s := section{family: family}
		for _, f := range figures {
			if f.Name == family.figure {
				s.Finding, s.none, s.dull, s.Drawing = f.Title, f.none, f.dull, &f
			}
		}
		if s.events != nil {
			s.finding = s.events.section(p.summary)
		}
		switch s.ID {
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

// arrange puts the sections of a report page in order, those about the first columns of the results table first, and
// folds (into Quiet) those with little or nothing to see.
func (p *page) arrange(list []section, t *results.Table) {
	columns := slices.Concat(t.Columns, t.Alike)
	rank := func(s section) int {
		first := slices.IndexFunc(columns, func(c results.Column) bool {
			about := func(begins string) bool { return strings.HasPrefix(c.Metric, begins) }
			return c.Part != results.Pays &&
				(slices.ContainsFunc(s.metrics, about) || s.ID == "tenants" && c.Tenant != "")
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

// events is a kind of event, such as deaths of jobs, with the metrics that count these events: in all, and by cause.
type events struct {
	caption, what, none string  // its name in a caption, in a sentence, and the sentence for none
	key                 string  // explanation below its table
	causes              []cause // the first is the total
}

// cause is a metric that counts the events with one cause, with the heading of its table column.
type cause struct {
	metric, title string
	aside         bool // it counts something else than these events
}

// section returns the section about a kind of event: the policy with most events, the main cause there, and a table of
// all causes that were measured and caused something.
func (e events) section(sum *results.Summary) finding {
	t := plainTable{Caption: e.caption + " per seed, by cause", Key: e.key, Header: []string{"policy"},
		Rows: plain.Map(policyNames(sum), func(name string) []string { return []string{name} })}
	columns := plain.Map(e.causes, func(c cause) []results.TableCell {
		return results.ColumnOf(sum, measure.Query{Metric: c.metric}).Cells
	})
	worst, most := -1, 0.0
	for k, cells := range columns {
		some := k == 0 || slices.ContainsFunc(cells, func(cell results.TableCell) bool { return cell.Mean > 0 })
		if !some || len(cells) == 0 || cells[0].Estimate == nil {
			continue
		}
		t.Header = append(t.Header, e.causes[k].title)
		for i, cell := range cells {
			if cell.Mean > most && (k == 0 || worst < 0) {
				worst, most = i, cell.Mean
			}
			t.Rows[i] = append(t.Rows[i], strings.TrimSpace(cell.Value+" "+cell.Half))
		}
	}
	switch {
	case len(t.Header) == 1:
		return finding{Finding: plain.Capital(e.what) + " were not measured.", none: true}
	case worst < 0:
		return finding{Finding: e.none + under(sum) + ".", none: true}
	}
	words := e.alike(columns, most)
	if words == "" {
		words = fmt.Sprintf("Most %s: %s per seed with %s%s.", e.what, columns[0][worst].Value,
			policyName(sum.Policies[worst].Label), e.mainCause(columns, worst, most))
	}
	return finding{Finding: words, Tables: []plainTable{t}}
}

// alike returns a sentence on the number of events if it is about equal under all of several policies, with the main
// cause if that is the same for all; "" otherwise.
func (e events) alike(columns [][]results.TableCell, most float64) string {
	all, main := columns[0], e.mainCause(columns, 0, most)
	for i, cell := range all {
		if len(all) == 1 || !(cell.Mean*similar >= most) {
			return ""
		}
		if e.mainCause(columns, i, cell.Mean) != main {
			main = ""
		}
	}
	least, largest := extremes(plain.Map(all, func(cell results.TableCell) float64 { return cell.Mean }))
	words := plain.Distinct([]string{all[least].Value, all[largest].Value})
	return fmt.Sprintf("%s: %s per seed under every policy%s.", plain.Capital(e.what), strings.Join(words, " to "), main)
}

// mainCause returns a clause that names the cause of most events under a policy, "" if none caused more than half.
func (e events) mainCause(columns [][]results.TableCell, policy int, all float64) string {
	for k, c := range e.causes[1:] {
		if mean := columns[k+1][policy].Mean; !c.aside && mean > all/2 {
			return fmt.Sprintf(", %s of them: %s", percent(mean/all), c.title)
		}
	}
	return ""
}

// under returns the end of a sentence on all policies: "with <policy>" if there is one, else "under any policy".
func under(sum *results.Summary) string {
	if len(sum.Policies) == 1 {
		return " with " + policyName(sum.Policies[0].Label)
	}
	return " under any policy"
}

// command returns the command line that runs the scenario stored with a report again, with its range of seeds.
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
