package bench

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
)

// loadJSON is the output of qbench run --format json under a synthetic load. Times are in seconds.
type loadJSON struct {
	Version    int             `json:"version"`
	Lost       int64           `json:"lost"`
	Duplicates int64           `json:"duplicates"`
	Candidates []candidateJSON `json:"candidates"`
}

type candidateJSON struct {
	Name    string                `json:"name"`
	Policy  string                `json:"policy"`
	Store   string                `json:"store"`
	Rounds  int                   `json:"rounds"`
	Metrics map[string]metricJSON `json:"metrics"`
}

type metricJSON struct {
	Unit   string    `json:"unit"`
	Mean   float64   `json:"mean"`
	Low    *float64  `json:"low"` // lower end of the 95 % interval; null: there is only one round
	High   *float64  `json:"high"`
	Values []float64 `json:"values"` // values of the rounds that have one, in their order
}

// summary returns the names of a candidate's metrics, and for each the values over all rounds with mean and interval.
func (c *candidate) summary() (names []string, all map[string]metricJSON) {
	all = map[string]metricJSON{}
	for _, r := range c.rounds {
		for _, m := range r.metrics() {
			if math.IsNaN(m.value) {
				continue
			}
			s, known := all[m.name]
			if !known {
				names = append(names, m.name)
			}
			s.Unit, s.Values = m.unit, append(s.Values, m.value)
			all[m.name] = s
		}
	}
	for _, name := range names {
		s := all[name]
		mean, half := results.Interval(s.Values)
		if s.Mean = mean; !math.IsNaN(half) {
			s.Low, s.High = new(max(mean-half, 0)), new(mean+half)
		}
		all[name] = s
	}
	return names, all
}

// report prints the candidates' measurements, unless each run printed a benchmark line, and writes files under --out.
func (s *session) report(candidates []*candidate, hash string) error {
	all := s.flags.Output(func() ([]byte, error) { return s.json(candidates) },
		func(o text.TableOptions) string { return loadTable(candidates, o) })
	if err := all.Print(s.stdout, s.flags.format); err != nil {
		return err
	}
	if s.flags.out == "" {
		return nil
	}
	return s.files(candidates, hash)
}

func (s *session) json(candidates []*candidate) ([]byte, error) {
	all := loadJSON{Version: 1, Lost: s.jobs.lost, Duplicates: s.jobs.duplicates, Candidates: []candidateJSON{}}
	for _, c := range candidates {
		_, metrics := c.summary()
		all.Candidates = append(all.Candidates, candidateJSON{c.name, c.policy, c.store, len(c.rounds), metrics})
	}
	return ui.JSON(all, " ")()
}

// loadTable returns a text table with metrics in rows and candidates in columns.
func loadTable(candidates []*candidate, o text.TableOptions) string {
	var names []string
	summaries := make([]map[string]metricJSON, len(candidates))
	t := text.Table{Columns: []text.Column{{Key: true}}}
	for i, c := range candidates {
		var own []string
		own, summaries[i] = c.summary()
		if len(own) > len(names) {
			names = own
		}
		policy := strings.Join(strings.Fields(c.policy), " ")
		t.Columns = append(t.Columns, text.Column{Title: policy + ", " + c.store, Right: true})
	}
	for _, name := range names {
		row := []string{name}
		for i := range candidates {
			cell := plain.Missing
			if m, known := summaries[i][name]; known {
				cell = sample(m.Values, name)
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t.Render(o)
}

// files writes, into a new folder, results.txt, summary.json and, by candidate, histograms of each kind of store call.
func (s *session) files(candidates []*candidate, hash string) error {
	var lines bytes.Buffer
	out := &benchWriter{out: &lines}
	var files []results.File
	words := results.Slugs(plain.Map(candidates, func(c *candidate) string { return c.policy + " " + c.store }))
	for i, c := range candidates {
		var all loaded
		for _, r := range c.rounds {
			_ = out.result(c.name, r.done+r.dead, r.took, r.metrics())
			all.pickup.Merge(&r.pickup)
			all.sojourn.Merge(&r.sojourn)
			for i, p := range r.phases() {
				all.phases()[i].merge(p.phase)
			}
		}
		waits := []namedPhase{{"pickup", &phase{calls: all.pickup}}, {"sojourn", &phase{calls: all.sojourn}}}
		for _, p := range append(waits, all.phases()...) {
			if p.calls.Count() == 0 {
				continue
			}
			var out bytes.Buffer
			_ = p.calls.WriteHGRM(&out) // a buffer takes all
			files = append(files, results.File{Path: fmt.Sprintf("hist/%s.%s.hgrm", words[i], p.name), Data: out.Bytes()})
		}
	}
	summary, err := s.json(candidates)
	if err != nil {
		return ui.IOError("write summary.json", err)
	}
	files = append(files, results.File{Path: "results.txt", Data: lines.Bytes()},
		results.File{Path: "summary.json", Data: summary})
	return s.writeFiles("load", hash, files)
}
