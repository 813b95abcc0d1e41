package study

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// Options are the options of Plan.Run.
type Options struct {
	// Parallel is the highest number of simulations at once; 0: one per core that Go uses.
	Parallel int
	// Progress is called after every simulation, from several goroutines at once.
	Progress func()
	// Keep is called with every finished cell, in any order, from one goroutine at a time. If it fails, so does Run.
	Keep func(cell *results.Cell) error
}

// Run simulates all seeds and policies of cells, several in parallel, and passes each finished cell to o.Keep. The
// results do not depend on Parallel. When ctx is done, the simulations under way are abandoned and Run returns
// ctx.Err(); when one fails, Run ends with a *SettingError, which wraps a *world.Broken if an invariant broke.
func (p *Plan) Run(ctx context.Context, cells []int, o Options) error {
	s := &simulator{source: &p.Source, parallel: o.Parallel, each: p.Simulations(), ended: o.Progress}
	tasks := make([]task, len(cells))
	for i, cell := range cells {
		tasks[i].sets = p.Overrides(cell)
	}
	var keeping sync.Mutex
	return s.run(ctx, tasks, func(i int, settings *measure.Settings, runs []measure.Run) error {
		summary, err := results.Summarize(settings, runs, results.Options{Seeds: p.Sweep.Seeds})
		one := p.Sweep
		one.Cells = nil
		if err == nil {
			err = one.AddCell(cells[i], summary)
		}
		if err != nil {
			return &SettingError{tasks[i].sets, err}
		}
		keeping.Lock()
		defer keeping.Unlock()
		return o.Keep(&one.Cells[0])
	})
}

// Warnings returns the warnings of all cells, each text once, in the order of the first cell that has it.
func Warnings(s *results.Sweep) []Note {
	var notes []Note
	at := map[string]int{}
	for i := range s.Cells {
		for _, text := range s.Cells[i].Warnings {
			k, found := at[text]
			if !found {
				k = len(notes)
				at[text] = k
				var sets []string
				for axis, value := range s.Values(s.Cells[i].Index) {
					sets = append(sets, s.Axes[axis].Key+"="+value)
				}
				notes = append(notes, Note{Text: strings.TrimSpace(text), First: strings.Join(sets, " "), cell: s.Cells[i].Index})
			}
			notes[k].Cells++
		}
	}
	return notes
}

// task is one setting of a scenario's keys to simulate, with its policies and seeds.
type task struct {
	sets   []scenarios.Override // overrides of the scenario
	policy string               // label of the policy; empty: all policies
	from   int                  // first seed, counted from the scenario's first
	seeds  int                  // number of seeds; 0: all of the scenario's
}

// simulator simulates settings of one scenario, several in parallel.
type simulator struct {
	source   *Source
	parallel int    // highest number of simulations at once; 0: one per core that Go uses
	each     int    // least number of simulations of a task
	ended    func() // called after every simulation, from several goroutines at once; may be nil
}

// run simulates tasks, several in parallel, and calls done with the runs of each, in any order and from several
// goroutines at once. Its error is ctx.Err(), that of done, or a *SettingError, which wraps a *world.Broken if an
// invariant broke; of several it is that of the first task.
func (s *simulator) run(ctx context.Context, tasks []task,
	done func(i int, settings *measure.Settings, runs []measure.Run) error) error {
	gate := pool.NewGate(s.parallel)
	// So many tasks are open that one can be simulated while another is loaded, summarized and
	// written: their simulations share the processors, and few tasks are in memory.
	open := min(cap(gate), 1+(cap(gate)+s.each-1)/s.each)
	return pool.Each(ctx, open, len(tasks), func(ctx context.Context, i int) error {
		settings, runs, err := s.simulate(ctx, &tasks[i], gate)
		if err != nil {
			return err
		}
		return done(i, settings, runs)
	})
}

func (s *simulator) simulate(ctx context.Context, t *task, gate pool.Gate) (*measure.Settings, []measure.Run, error) {
	sc, err := s.source.setting(t.sets)
	if err != nil {
		return nil, nil, err
	}
	if t.policy != "" {
		if sc, err = sc.Select([]string{t.policy}); err != nil {
			return nil, nil, &SettingError{t.sets, err}
		}
	}
	if sc.Seed += uint64(t.from); t.seeds > 0 {
		sc.Seeds = scenarios.Count(t.seeds)
	}
	options := world.Options{Parallel: s.parallel, Gate: gate}
	if s.ended != nil {
		options.Progress = func(_, _, _ int) { s.ended() }
	}
	runs, err := world.Run(ctx, sc, options)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, &SettingError{t.sets, err}
	}
	settings := world.Settings(sc)
	return &settings, runs, nil
}

// write writes a file of the shard atomically, see results.WriteFile; name is relative to the sweep's folder.
func (w *Work) write(name string, synced bool, fill func(to io.Writer) error) error {
	root, err := os.OpenRoot(w.parent)
	if err == nil {
		err = errors.Join(results.WriteFile(root, w.shard.name()+partial, name, synced, fill), root.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(w.parent, name), err)
	}
	return nil
}

// summaryJSON and the next constants are the names of the files of a complete sweep.
const (
	summaryJSON = "sweep.json"
	summaryCSV  = "sweep.csv"
	scenarioOf  = "sweep.yaml"
)

// Files returns the files of a complete sweep except charts: sweep.json, sweep.csv and the unchanged scenario.
func (m *Merged) Files() ([]results.File, error) {
	data, err := MarshalSweep(m.Sweep)
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := text.WriteSweep(&table, m.Sweep, text.TableOptions{Format: text.CSV}); err != nil {
		return nil, err
	}
	return []results.File{{Path: summaryJSON, Data: data}, {Path: summaryCSV, Data: table.Bytes()},
		{Path: scenarioOf, Data: m.Scenario}}, nil
}

// sweepJSON is the result of a sweep: a row for each combination of values of its keys and each policy.
type sweepJSON struct {
	Version    int             `json:"version"`    // version of this format: 1
	Scenario   string          `json:"scenario"`   // name of the scenario
	Config     string          `json:"config"`     // digest of the scenario, the keys with their values and the metrics
	Program    string          `json:"program"`    // version of the program
	Seeds      []uint64        `json:"seeds"`      // seeds, the same in every cell
	Duration   float64         `json:"duration_s"` // virtual time in seconds of the unchanged scenario
	Vary       []axisJSON      `json:"vary"`       // keys with their values
	Cells      int             `json:"cells"`      // number of cells
	Policies   []policyJSON    `json:"policies"`   // policies in the order of the scenario
	Metrics    []queryJSON     `json:"metrics"`    // metrics estimated in each row
	Objectives []objectiveJSON `json:"objectives"` // objectives of the scenario
	Rows       []sweepRow      `json:"rows"`       // one for each cell and policy
	Warnings   []sweepWarning  `json:"warnings"`   // warnings of all cells, each text once
}

// sweepRow holds the estimates and verdicts of one policy in one cell of a sweep.
type sweepRow struct {
	Cell        int                       `json:"cell"`        // number of the cell; the last key varies fastest
	Set         results.Object[string]    `json:"set"`         // values of the keys
	Policy      string                    `json:"policy"`      // label of the policy
	Fingerprint string                    `json:"fingerprint"` // digest of every event of every seed
	Seeds       int                       `json:"seeds"`       // seeds that finished
	Metrics     results.Object[sweepCell] `json:"metrics"`     // estimates by metric
	Objectives  []sweepVerdict            `json:"objectives"`  // verdicts of the objectives about the policy
	Verdict     results.Outcome           `json:"verdict"`     // worst of the verdicts; empty: there is none
}

// sweepCell is the estimate of a metric over the seeds.
type sweepCell struct {
	Mean   number `json:"mean"`             // mean, or a quantile of the jobs of all seeds; null: there is no value
	Low    number `json:"low"`              // lower end of the 95 % interval; null: one seed has none
	High   number `json:"high"`             // upper end of the 95 % interval; null: one seed has none
	N      int    `json:"n"`                // seeds with a value
	Bound  string `json:"bound"`            // ">=": the value is a lower bound; else empty
	Reason string `json:"reason,omitempty"` // reason why there is no value
}

// sweepVerdict is an objective applied to the policy of a row.
type sweepVerdict struct {
	Metric string `json:"metric"` // metric with its filters
	verdictJSON
}

// sweepWarning is a warning of one or more cells.
type sweepWarning struct {
	Text  string `json:"text"`  // warning as a sentence
	Cells int    `json:"cells"` // number of cells with the warning
	First int    `json:"first"` // number of the first such cell
}

// MarshalSweep returns sweep.json: the sweep's keys and metrics, then its rows, one per line. Equal sweeps give equal
// bytes.
func MarshalSweep(s *results.Sweep) ([]byte, error) {
	h := newHeader(s, Shard{0, 1}, len(s.Cells), nil)
	out := sweepJSON{1, h.Scenario, h.Config, h.Version, h.Seeds, h.Duration, h.Vary, h.Cells, h.Policies, h.Metrics,
		h.Objectives, []sweepRow{}, []sweepWarning{}}
	for i := range s.Cells {
		for k := range s.Cells[i].Rows {
			out.Rows = append(out.Rows, rowOf(s, &s.Cells[i], &s.Cells[i].Rows[k]))
		}
	}
	for _, note := range Warnings(s) {
		out.Warnings = append(out.Warnings, sweepWarning{note.Text, note.Cells, note.cell})
	}
	return results.MarshalLines(out)
}

func rowOf(s *results.Sweep, cell *results.Cell, row *results.CellRow) sweepRow {
	out := sweepRow{Cell: cell.Index, Policy: s.Policies[row.Policy].Label, Fingerprint: row.Fingerprint, Seeds: row.Seeds,
		Objectives: []sweepVerdict{}, Verdict: row.Outcome()}
	for i, value := range s.Values(cell.Index) {
		out.Set = append(out.Set, results.Member[string]{Key: s.Axes[i].Key, Value: value})
	}
	for i := range row.Estimates {
		e := &row.Estimates[i]
		out.Metrics = append(out.Metrics, results.Member[sweepCell]{Key: e.Query.String(),
			Value: sweepCell{number(e.Mean), number(e.Low), number(e.High), e.N, e.Bound, e.Reason}})
	}
	for i := range row.Verdicts {
		v := &row.Verdicts[i]
		out.Objectives = append(out.Objectives, sweepVerdict{v.Query.String(), jsonOfVerdict(v)})
	}
	return out
}

// The schema is made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchema$ . -rewrite

//go:embed sweep.schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of sweep.json. The caller must not change it.
func Schema() []byte { return schema }

//go:embed doctor.schema.json
var doctorSchema []byte

// DoctorSchema returns the JSON schema of doctor.json. The caller must not change it.
func DoctorSchema() []byte { return doctorSchema }
