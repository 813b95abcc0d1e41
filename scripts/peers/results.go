package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"qsim/results/text"
)

// results holds the measured values by system, load and metric, one for each round.
type results struct {
	loads, metrics []string
	values         map[cell][]float64
}

type cell struct{ system, load, metric string }

func (r *results) add(s system, load, metric string, value float64) {
	if r.values == nil {
		r.values = make(map[cell][]float64)
	}
	if !slices.Contains(r.loads, load) {
		r.loads = append(r.loads, load)
	}
	if !slices.Contains(r.metrics, metric) {
		r.metrics = append(r.metrics, metric)
	}
	c := cell{s.name, load, metric}
	r.values[c] = append(r.values[c], value)
}

// write prints a table for each load (the backlog, or a rate of arrivals), with a row for each system.
func (r *results) write(out io.Writer, o *options) error {
	for _, load := range r.loads {
		var shown []string
		for _, metric := range r.metrics {
			if slices.ContainsFunc(o.systems, func(s system) bool { return r.values[cell{s.name, load, metric}] != nil }) {
				shown = append(shown, metric)
			}
		}
		t := text.Table{Columns: []text.Column{{Title: load, Key: true}}}
		for _, metric := range shown {
			t.Columns = append(t.Columns, text.Column{Title: metric, Right: true})
		}
		for _, s := range o.systems {
			row := []string{s.name}
			for _, metric := range shown {
				row = append(row, r.text(s.name, o.systems[0].name, load, metric))
			}
			t.Add(row...)
		}
		if _, err := fmt.Fprintln(out, strings.Join(t.Lines(0, false), "\n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text of a table cell: the median with its interval, and its ratio to the median of the system first.
func (r *results) text(system, first, load, metric string) string {
	values := r.values[cell{system, load, metric}]
	if values == nil {
		return ""
	}
	summary := func(values []float64) benchmath.Summary {
		return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), .95)
	}
	s := summary(values)
	text := fmt.Sprintf("%.3g ± %s", s.Center, s.PctRangeString())
	if s.Center >= 1000 { // without an exponent
		text = fmt.Sprintf("%.0f ± %s", s.Center, s.PctRangeString())
	}
	if base := r.values[cell{first, load, metric}]; system != first && base != nil {
		compared := benchmath.AssumeNothing.Compare(benchmath.NewSample(base, &benchmath.DefaultThresholds),
			benchmath.NewSample(values, &benchmath.DefaultThresholds))
		text += fmt.Sprintf(" (%.2f× p=%.3f)", s.Center/summary(base).Center, compared.P)
	}
	return text
}
