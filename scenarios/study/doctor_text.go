package study

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
)

// diagnosisJSON is the result of qsim doctor.
type diagnosisJSON struct {
	Version int `json:"version"` // of this format: 1
	*Diagnosis
	Incidents []findingJSON `json:"incidents"` // one for each incident of the library, the worst first
}

// findingJSON is the result of one incident.
type findingJSON struct {
	Finding
	Metric string  `json:"metric"` // metric to judge, with its filters
	Limit  string  `json:"limit"`  // the bound in words, inclusive: below 10s
	Value  float64 `json:"value"`  // value of the metric; null: there is none
	Low    float64 `json:"low"`    // lower end of its 95 % interval; null: there is none
	High   float64 `json:"high"`   // upper end of its 95 % interval; null: there is none
	Bound  string  `json:"bound"`  // ">=": the value is a lower bound; else empty
	Cured  float64 `json:"cured"`  // value of the metric with the cure; null: there is none
	// met: the cure holds the limit; missed or unclear: it does not, or perhaps not; empty: it was not simulated
	Holds results.Outcome `json:"cured_verdict"`
}

// JSON returns the diagnosis as JSON; keys have a fixed order.
func (d *Diagnosis) JSON() ([]byte, error) {
	return results.MarshalLines(diagnosisJSON{1, d, plain.Map(d.Findings, func(f Finding) findingJSON {
		y := &f.Yours
		return findingJSON{f, y.Query.String(), y.Text, y.Value, y.Low, y.High, y.Bound, f.Cured.Value, f.Cured.Outcome}
	})})
}

// StoredRows returns the names of the scenarios, one for each incident, that a doctor wrote into a folder, by its
// doctor.json; none if that is missing or has another form.
func StoredRows(folder string) (names []string) {
	text, _ := os.ReadFile(filepath.Join(folder, "doctor.json"))
	var stored diagnosisJSON
	if json.Unmarshal(text, &stored) != nil {
		return nil
	}
	for _, row := range stored.Incidents {
		if row.Command != "" && slices.Contains(Incidents(), row.Incident) {
			names = append(names, row.Incident+".yaml")
		}
	}
	return names
}

// Cases returns a test case for each incident that applies; a missed limit (or, under strict, an unclear one) fails it.
func (d *Diagnosis) Cases(strict bool) (all []results.Case) {
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Exposure == Immune {
			continue
		}
		c := results.Case{Policy: d.Policy, Name: f.Incident, Outcome: results.Unclear, Words: f.Why,
			Failed: f.Exposure == Exposed || strict && f.Exposure == Unsure}
		if y := &f.Yours; f.Scenario != nil {
			c.Name, c.Outcome, c.Words = f.Incident+", "+y.Query.String()+" "+y.Text, y.Outcome, y.Words()
			cure := "; " + strings.TrimPrefix("cure: "+f.remedy(), "cure: its ") // or it does not fit
			c.Words += plain.When(f.Exposure != Safe, cure)
		}
		all = append(all, c)
	}
	return all
}

// Count returns how many incidents have the given verdict.
func (d *Diagnosis) Count(e Exposure) int {
	return plain.Count(d.Findings, func(f Finding) bool { return f.Exposure == e })
}

// sort orders the findings by verdict: exposed, not sure, safe, does not apply; within a verdict by the metric as a
// multiple of its limit, largest first.
func (d *Diagnosis) sort() {
	order := []Exposure{Exposed, Unsure, Safe, Immune}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Exposure), slices.Index(order, b.Exposure)),
			cmp.Compare(b.over, a.over))
	})
}

// Table returns a table with a row for each incident and its verdict, and for people a summary before it.
func (d *Diagnosis) Table(o text.TableOptions) string {
	header := []string{"incident", "verdict", "metric", "limit", "yours", "cured", "cure, and what it costs"}
	var rows [][]string
	for i := range d.Findings {
		f := &d.Findings[i]
		row := []string{f.Incident, string(f.Exposure), "", "", "", "", f.Why}
		if y := &f.Yours; f.Scenario != nil {
			info, _ := measure.Lookup(y.Metric)
			copy(row[2:], []string{y.Metric, y.Limit(), atLeast(y, info), "", ""})
			if f.Exposure != Safe {
				row[5], row[6] = atLeast(&f.Cured, info), f.remedy()
			}
		}
		if o.Format != text.Text {
			row = append(row, f.Command)
		}
		rows = append(rows, row)
	}
	if o.Format != text.Text {
		return text.Cells(append(header, "command"), rows, 3, o)
	}
	share := results.FormatValue(d.Scale, measure.MetricInfo{Share: true})
	small := plain.When(d.Scale < 1, ", simulated with "+share+" of its workers and load")
	applies := len(d.Findings) - d.Count(Immune)
	title := fmt.Sprintf("%s, %s: exposed to %d of %s that %s, not sure of %d%s", d.Scenario, d.Policy,
		d.Count(Exposed), plain.Plural(applies, "incident"), plain.Either(applies == 1, "applies", "apply"), d.Count(Unsure),
		small)
	return text.Paragraph(title, o.Width) + "\n" + text.Cells(header, rows, 3, o)
}

// atLeast returns the value of a verdict as text, a lower bound with ≥ before it.
func atLeast(v *results.Verdict, info measure.MetricInfo) string {
	return results.FormatEstimate(&results.Estimate{Mean: v.Value, Bound: v.Bound}, info)
}

// remedy returns, as text, an incident's cure, whose class it is for, whether it is in place and helps, and its cost.
func (f *Finding) remedy() string {
	enough := map[results.Outcome]string{results.Missed: "not enough", results.Unclear: "perhaps not enough"}
	there, helps := plain.When(f.There, "in place already"), plain.Either(f.Worse, "worse", enough[f.Cured.Outcome])
	theirs := plain.When(f.theirs != "", f.theirs+" is a class of the incident")
	return plain.Joined("; ", cmp.Or(f.Cure, f.Why), theirs, there, helps, f.Cost)
}
