package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
)

// ComparePage returns a page that compares two results of a scenario: the differences, then charts with both results of
// each policy as two curves under one cursor. Both need Settings and Data, of equal steps of time.
func ComparePage(base, new *results.Summary, c *results.Comparison, version string) ([]byte, error) {
	sum, err := paired(base, new)
	var d *drawing
	if err == nil {
		d, err = newDrawing(sum, version)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", c.Base.Name, c.New.Name, err)
	}
	d.pairs = true
	for i := range d.policies { // the two of a pair have one colour, and dashes of their own
		own := hueOf(i / 2)
		own.dashes, own.again = hueOf(i).dashes, i%2 > 0
		d.policies[i].hue = own
	}
	figures := d.figures("backlog", "storm", "waits", "distribution", "attempts")
	p := &page{Name: clean(c.Scenario), Version: plain.Shorten(clean(version), 40), summary: sum}
	p.Scene = []string{p.Name, "base " + clean(c.Base.Name), "new " + clean(c.New.Name),
		plain.Plural(len(base.Seeds), "seed")}
	about := func(s *results.Side) string {
		return "config " + clean(s.ConfigHash) + ", seeds " + seedRanges(s.Seeds)
	}
	p.Facts = []string{"qsim " + p.Version, "base: " + about(&c.Base), "new: " + about(&c.New)}
	p.Warnings = plain.Map(c.Warnings, clean)
	p.Headline = []phrase{{Text: changed(c, d.table)}}
	if keys := plain.Map(c.KeyWords(), clean); len(keys) > 0 {
		p.Subhead = []phrase{{Text: "What differs in the scenario: " + strings.Join(keys, "; ") + "."}}
	}
	shown, others := changeTables(c)
	if len(shown.Rows) > 0 {
		p.Sections = append(p.Sections, section{family: family{ID: "changes", Heading: "What became different"},
			finding: finding{Tables: []plainTable{shown}}})
	}
	if n := len(others.Rows); n > 0 {
		words := "No difference is shown in " + plain.Plural(n, "other number") + "."
		p.Quiet = append(p.Quiet, section{family: family{ID: "unchanged"},
			finding: finding{Finding: words, Tables: []plainTable{others}}})
	}
	drawn := slices.DeleteFunc(p.sections(figures, d.table), func(s section) bool { return s.Drawing == nil })
	p.arrange(drawn, &results.Table{}) // in the standard order
	p.goLive(d, func(o text.TableOptions) string { return text.Comparisons([]*results.Comparison{c}, o) })
	return execute("report.html.tmpl", p)
}

// paired returns a summary of the policies found in both results, each policy twice: from base and from new.
func paired(base, new *results.Summary) (*results.Summary, error) {
	for _, s := range []*results.Summary{base, new} {
		if s.Settings == nil || len(s.Data) != len(s.Policies) {
			return nil, fmt.Errorf("what charts draw is not stored with both")
		}
	}
	if a, b := base.Settings.Bucket, new.Settings.Bucket; a != b {
		return nil, fmt.Errorf("their series have steps of %v and %v: they cannot be drawn over each other", a, b)
	}
	settings := *base.Settings
	settings.Policies = nil
	settings.Duration = max(settings.Duration, new.Settings.Duration)
	sum := &results.Summary{Scenario: base.Scenario, ConfigHash: base.ConfigHash, Seeds: base.Seeds,
		Duration: settings.Duration.Seconds(), Partial: base.Partial || new.Partial, Settings: &settings}
	classes := slices.Equal(base.Settings.Classes, new.Settings.Classes)
	add := func(s *results.Summary, i int, side string) {
		p := s.Policies[i]
		p.Label, p.Baseline, p.Versus = p.Label+" · "+side, len(sum.Policies) == 0, nil
		data := s.Data[i]
		if !classes {
			data.Series = slices.Clone(data.Series)
			for k := range data.Series {
				data.Series[k].Classes = nil
			}
		}
		info := s.Settings.Policies[i]
		info.Label, info.Storms = p.Label, s.Settings.StormsOf(i)
		settings.Policies = append(settings.Policies, info)
		sum.Policies, sum.Data = append(sum.Policies, p), append(sum.Data, data)
	}
	for i := range base.Policies {
		k := slices.IndexFunc(new.Policies, func(p results.PolicySummary) bool { return p.Label == base.Policies[i].Label })
		if k < 0 && len(base.Policies) == 1 && len(new.Policies) == 1 {
			k = 0 // the change is another policy
		}
		if k >= 0 {
			add(base, i, "base")
			add(new, k, "new")
		}
	}
	return sum, nil
}

// changed returns a sentence on the most important significant change between two results: one that the gate (the limit
// on how much worse a metric may get) forbids, else one in the table's metrics, else any; of several, the largest.
func changed(c *results.Comparison, t *results.Table) string {
	_, largest := extremes(plain.Map(c.Changes, func(d results.Change) float64 {
		size := magnitude(d.Relative())
		switch {
		case !d.Shown:
			return math.NaN()
		case d.Verdict == results.Missed:
			return size + 2e9
		case t.Find(d.Query) != nil:
			return size + 1e9
		}
		return size
	}))
	if largest < 0 {
		return "Nothing is shown to have become different"
	}
	most := &c.Changes[largest]
	words := most.Words()
	return fmt.Sprintf("%s: %s %s, was %s", clean(most.Policy), clean(most.Query.Label()), words.New, words.Base) +
		plain.When(words.Change != plain.Missing, " ("+words.Change+")")
}

// magnitude returns the size of a relative change as the logarithm of its factor, so that halving counts as much as
// doubling; a fall to 0 counts as one to a millionth, and a rise from 0, of which relative is NaN, as its reverse.
func magnitude(relative float64) float64 {
	return math.Abs(math.Log(plain.Either(math.IsNaN(relative), 1e6, max(1+relative, 1e-6))))
}

// changeTables returns two tables of changes: those that are significant or worse than the gate allows, and all others.
func changeTables(c *results.Comparison) (shown, others plainTable) {
	header := []string{"policy", "metric", "base", "new", "difference", "change", "verdict"}
	if !c.Gate.Set {
		header = header[:6]
	}
	shown = plainTable{Caption: "Differences that are shown, with their 95 % intervals", Header: header, Labels: 2}
	others = plainTable{Caption: "Differences that are not shown", Header: header, Labels: 2}
	for _, d := range c.Changes {
		words := d.Words()
		row := []string{clean(d.Policy), clean(d.Query.Label()), words.Base, words.New,
			strings.TrimSpace(words.Difference + " " + words.Half), words.Change}
		if c.Gate.Set {
			row = append(row, strings.TrimSpace(string(d.Verdict)+" "+clean0(d.Note())))
		}
		if d.Shown || d.Verdict == results.Missed {
			shown.Rows = append(shown.Rows, row)
		} else {
			others.Rows = append(others.Rows, row)
		}
	}
	return shown, others
}

// IndexEntry is a run to be listed on the page that Index returns, with the path of its report.
type IndexEntry struct {
	Summary *results.Summary
	Href    string // path of the run's report page, relative to the index
	Made    results.RunInfo
}

// indexPage holds the data for the template of the page that compares runs.
type indexPage struct {
	Facts  string
	Labels []string // labels of the policies of all runs
	Runs   []indexRun
}

// indexRun is a run on the page that compares runs.
type indexRun struct {
	*IndexEntry
	Detail     string          // what tells it from another run of the scenario; empty: it is the only one
	Wanted     string          // how many objectives have the outcome that the scenario wants
	First      *results.Column // first column of its results table; nil: it has none
	Objectives []string
}

// indexCell is the cell for one policy in one run on the page that compares runs.
type indexCell struct {
	Marks []indexMark
	Value string
}

// indexMark is the verdict on one objective of a run, with its number in the run's list of objectives.
type indexMark struct {
	*results.Verdict
	Number int
}

// Index returns a page that compares the policies of several runs: a matrix of the verdicts on the objectives, by
// policy and run. Policies with the same label count as the same.
func Index(entries []IndexEntry) ([]byte, error) {
	if len(entries) == 0 {
		return nil, fmt.Errorf("write index: there is no run")
	}
	var p indexPage
	names := map[string]int{}
	for i := range entries {
		names[entries[i].Summary.Scenario]++
	}
	for i := range entries {
		sum := entries[i].Summary
		p.Runs = append(p.Runs, indexRunOf(&entries[i], names[sum.Scenario] > 1))
		p.Labels = append(p.Labels, plain.Map(sum.Policies, func(p results.PolicySummary) string { return p.Label })...)
	}
	p.Labels = plain.Distinct(p.Labels)
	p.Facts = plain.Plural(len(entries), "run") + " · " + plain.Plural(len(p.Labels), "policy")
	return execute("index.html.tmpl", p)
}

func indexRunOf(e *IndexEntry, several bool) indexRun {
	r, sum := indexRun{IndexEntry: e}, e.Summary
	r.Detail = plain.When(several, "config "+clean(sum.ConfigHash)+", seeds "+seedRanges(sum.Seeds))
	if t := results.TableOf(sum); len(t.Columns) > 0 {
		r.First = &t.Columns[0]
	}
	r.Objectives = plain.Distinct(plain.Map(sum.Objectives, objectiveText))
	unclear := plain.Count(sum.Objectives, func(v results.Verdict) bool { return v.Outcome == results.Unclear })
	wanted := plain.Count(sum.Objectives,
		func(v results.Verdict) bool { return v.Outcome != results.Unclear && !v.Failed(false) })
	if len(sum.Objectives) == 0 {
		r.Wanted = "none set"
		return r
	}
	r.Wanted = fmt.Sprintf("%d of %d", wanted, len(sum.Objectives)) +
		plain.When(unclear > 0, fmt.Sprintf(", %d unclear", unclear))
	return r
}

// Cell returns the cell for the policy of a label; nil if the run has none.
func (r indexRun) Cell(label string) *indexCell {
	sum := r.Summary
	at := slices.IndexFunc(sum.Policies, func(p results.PolicySummary) bool { return p.Label == label })
	if at < 0 {
		return nil
	}
	var c indexCell
	for _, v := range plain.Where(sum.Objectives, func(v *results.Verdict) bool { return v.Policy == label }) {
		c.Marks = append(c.Marks, indexMark{v, 1 + slices.Index(r.Objectives, objectiveText(*v))})
	}
	if r.First != nil {
		c.Value = plain.Joined(" ", r.First.Cells[at].Value, r.First.Cells[at].Half)
	}
	return &c
}
