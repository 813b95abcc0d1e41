package results

import (
	"math"
)

// comparisonVersion is that of the JSON of comparisons.
const comparisonVersion = 1

// MarshalComparisons returns comparisons with one base as JSON: keys in a fixed order, a
// change to a line. Equal comparisons give equal bytes. exit is the worst of all.
func MarshalComparisons(list []*Comparison) []byte {
	var w jsonWriter
	exit := 0
	w.open("", '{')
	w.number("version", comparisonVersion)
	w.open("comparisons", '[')
	for _, c := range list {
		c.appendTo(&w)
		exit = max(exit, c.Exit)
	}
	w.close(']')
	w.number("exit", float64(exit))
	w.close('}')
	return append(w.buf, '\n')
}

func (c *Comparison) appendTo(w *jsonWriter) {
	w.open("", '{')
	w.text("scenario", c.Scenario)
	c.Base.appendTo(w, "base")
	c.New.appendTo(w, "new")
	w.bool("paired", c.Paired)
	most := math.NaN()
	if c.Gate.Set {
		most = c.Gate.Most
	}
	w.number("max_regression", most)
	w.open("changes", '[')
	for i := range c.Changes {
		c.Changes[i].appendTo(w)
	}
	w.close(']')
	w.open("warnings", '[')
	for _, text := range c.Warnings {
		w.item()
		w.quote(text)
	}
	w.close(']')
	w.number("exit", float64(c.Exit))
	w.close('}')
}

func (s *Side) appendTo(w *jsonWriter, name string) {
	w.line(name)
	w.text("name", s.Name)
	w.text("config", s.ConfigHash)
	w.key("seeds")
	w.seeds(s.Seeds)
	w.bool("partial", s.Partial)
	if s.Version != "" {
		w.text("made_by", s.Version)
	}
	w.lineEnd()
}

func (d *Change) appendTo(w *jsonWriter) {
	w.line("")
	w.text("policy", d.Policy)
	w.text("metric", d.Metric)
	w.line("filter")
	appendFilter(w, &d.Query)
	w.lineEnd()
	w.text("unit", d.Unit)
	w.number("base", d.Base.Mean)
	w.text("base_bound", d.Base.Bound)
	w.number("new", d.New.Mean)
	w.text("new_bound", d.New.Bound)
	w.number("difference", d.Difference)
	w.number("low", d.Low)
	w.number("high", d.High)
	w.number("relative", d.Relative())
	w.number("n", float64(d.N))
	w.number("p", d.P)
	w.bool("shown", d.Shown)
	w.text("verdict", string(d.Verdict))
	if d.Seeds > 0 {
		w.number("seeds", float64(d.Seeds))
	}
	if d.Reason != "" {
		w.text("reason", d.Reason)
	}
	w.lineEnd()
}
