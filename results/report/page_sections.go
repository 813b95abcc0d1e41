package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"qsim/results"
)

// section is a part of a report page below the table.
type section struct {
	ID, Heading string
	Drawing     *drawnFigure // chart of the section; nil: none
	Replay      bool         // the section holds a replay of the queue
	finding
}

// finding is a sentence about the results, with the tables that support it.
type finding struct {
	Finding string
	Tables  []plainTable
	none    bool // nothing to see
	dull    bool // little to see, unless an objective is about it
}

// drawnFigure is a figure on a report page.
type drawnFigure struct {
	What, Key   string
	Legend, SVG template.HTML
	Chart       string // name of the file without its ending
	Timed       bool   // its x axis is virtual time
}

// families lists the sections of a report page, each with the prefixes of its metrics' names.
var families = []struct {
	id       string
	metrics  []string
	standard string // figure; empty: tables
	heading  string
}{
	{"backlog", []string{"fresh.wait", "fresh.within", "start.wait", "starved", "claim.gap", "fresh.deficit",
		"recovery", "slowdown", "backlog", "waiting", "drain", "retry.wait", "attempt.wait", "sojourn", "unfinished", "idle", "answered"}, "2-backlog", "Where the queue went"},
	{"storm", []string{"recovery", "drain", "starved", "claim.gap"}, "6-starvation", "Policy by policy through the run"},
	{"waits", []string{"fresh.wait", "fresh.within", "start.wait", "fresh.deficit", "slowdown", "attempt.wait"},
		"1-fresh-p99", "Wait of fresh jobs"},
	{"distribution", []string{"fresh.wait", "fresh.within"}, "3-ccdf", "Who waits how long"},
	{"duplicates", []string{"duplicates", "effects", "wasted", "stale", "leases"}, "", "Work that is done twice"},
	{"deaths", []string{"dead", "deaths", "retry_exhausted"}, "", "Jobs that die"},
	{"attempts", []string{"attempts", "retries", "retry", "amplification", "goodput", "throughput", "utilization",
		"store", "claims", "answered", "idle"}, "5-attempts", "Attempts and utilization"},
	{"tenants", []string{"jain"}, tenantsFigure, "Tenants"},
	{"comparison", nil, "4-dots", "Gain and price with their intervals"},
}

// sections returns all sections of a report page, in the standard order.
func (p *page) sections(figures []Figure, t *results.Table) []section {
	var list []section
	columns := slices.Concat(t.Columns, t.Alike)
	for _, family := range families {
		s := section{ID: family.id, Heading: family.heading}
		for i := range figures {
			if f := &figures[i]; f.Name == family.standard {
				s.Finding, s.none, s.dull = f.Title, f.none, f.dull
				s.Drawing = &drawnFigure{What: f.Subtitle, Key: f.Footer, Legend: template.HTML(f.legend),
					SVG: template.HTML(f.inline), Chart: f.Name,
					Timed: strings.Contains(string(f.inline), `class="time"`)}
			}
		}
		switch family.id {
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
				s.Drawing.What = s.Finding + ". " + s.Drawing.What
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
	rank := func(id string) int {
		for i := range columns {
			c := &columns[i]
			if c.Part == results.Pays {
				continue
			}
			for _, family := range families {
				if family.id == id && slices.ContainsFunc(family.metrics,
					func(begins string) bool { return strings.HasPrefix(c.Metric, begins) }) {
					return i
				}
			}
			if id == "tenants" && c.Tenant != "" {
				return i
			}
		}
		return len(columns)
	}
	ranks := map[string]int{}
	for _, s := range list {
		if ranks[s.ID] = rank(s.ID); s.none || s.dull && ranks[s.ID] == len(columns) {
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
