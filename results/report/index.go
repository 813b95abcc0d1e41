package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/plain"
)

// IndexEntry is a run on an index page.
type IndexEntry struct {
	Summary *results.Summary
	Href    string // path of the run's report page, relative to the index
	Made    results.RunInfo
}

// indexPage holds the data for the template of the page that compares runs.
type indexPage struct {
	Title, Facts, Measure, Policy string
	Runs                          []indexRun
	Rows                          []indexRow
	Style                         template.CSS
}

type indexRun struct {
	Href, Name, Detail, Config, Seeds, Wanted string
	Shown, Started, Commit                    string
	Policies, Warnings                        int
	Objectives                                []string
}

type indexRow struct {
	Name  string
	Cells []indexCell
}

// indexCell is the cell for one policy in one run on the page that compares runs.
type indexCell struct {
	There bool
	Marks []indexMark
	Value string
}

// indexMark is the verdict on one objective of a run, by its number in the run's list of objectives.
type indexMark struct {
	Kind, Sign, Outcome string
	Number              int
}

// Index returns a page that compares the policies of several runs: a matrix of the verdicts on the objectives, by
// policy and run. Policies with the same label count as the same.
func Index(entries []IndexEntry) ([]byte, error) {
	if len(entries) == 0 {
		return nil, fmt.Errorf("write index: there is no run")
	}
	p := indexPage{Title: "Scenarios compared", Measure: "the first column of the table of each scenario, which its head names"}
	var labels []string
	names := map[string]int{}
	for i := range entries {
		names[entries[i].Summary.Scenario]++
	}
	for i := range entries {
		sum := entries[i].Summary
		p.Runs = append(p.Runs, indexRunOf(sum, &entries[i], names[sum.Scenario] > 1))
		for k := range sum.Policies {
			if label := sum.Policies[k].Label; !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
	}
	for _, label := range labels {
		row := indexRow{Name: policyName(label)}
		for i := range entries {
			row.Cells = append(row.Cells, indexCellOf(entries[i].Summary, label, p.Runs[i].Objectives))
		}
		p.Rows = append(p.Rows, row)
	}
	p.Facts = fmt.Sprintf("%s · %s", plain.Plural(len(entries), "run"), plain.Plural(len(labels), "policy"))
	p.Style, p.Policy = template.CSS(style), contentPolicy(style)
	return execute("index.html.tmpl", p)
}

func indexRunOf(sum *results.Summary, e *IndexEntry, several bool) indexRun {
	r := indexRun{Href: e.Href, Started: "–", Commit: cmp.Or(clean0(e.Made.Commit), "–"), Name: clean(sum.Scenario),
		Config: clean(sum.ConfigHash), Seeds: seedRanges(sum.Seeds), Policies: len(sum.Policies), Warnings: len(sum.Warnings)}
	if several {
		r.Detail = "config " + r.Config + ", seeds " + r.Seeds
	}
	if !e.Made.Started.IsZero() {
		r.Started = e.Made.Started.UTC().Format("2006-01-02 15:04")
	}
	if t := results.TableOf(sum); len(t.Columns) > 0 {
		r.Shown = clean(t.Columns[0].Label)
	}
	wanted, unclear := 0, 0
	for i := range sum.Objectives {
		if text := objectiveText(&sum.Objectives[i]); !slices.Contains(r.Objectives, text) {
			r.Objectives = append(r.Objectives, text)
		}
		switch v := &sum.Objectives[i]; {
		case v.Outcome == results.Unclear:
			unclear++
		case !v.Failed(false):
			wanted++
		}
	}
	switch {
	case len(sum.Objectives) == 0:
		r.Wanted = "none set"
	default:
		r.Wanted = fmt.Sprintf("%d of %d", wanted, len(sum.Objectives))
		if unclear > 0 {
			r.Wanted += fmt.Sprintf(", %d unclear", unclear)
		}
	}
	return r
}

func indexCellOf(sum *results.Summary, label string, objectives []string) indexCell {
	at := slices.IndexFunc(sum.Policies, func(p results.PolicySummary) bool { return p.Label == label })
	if at < 0 {
		return indexCell{}
	}
	c := indexCell{There: true}
	for i := range sum.Objectives {
		v := &sum.Objectives[i]
		if v.Policy != label {
			continue
		}
		c.Marks = append(c.Marks, indexMark{kindOf(v), v.Outcome.Sign(), string(v.Outcome), 1 + slices.Index(objectives,
			objectiveText(v))})
	}
	if t := results.TableOf(sum); len(t.Columns) > 0 {
		c.Value = strings.TrimSpace(t.Columns[0].Cells[at].Value + " " + t.Columns[0].Cells[at].Half)
	}
	return c
}
