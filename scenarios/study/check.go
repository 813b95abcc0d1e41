package study

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"qsim/scenarios/diagnostics"
	"qsim/scenarios/pool"
)

// Wrong is the error for a study with invalid cells: it lists their problems. No cell has been simulated.
type Wrong struct {
	plan     *Plan
	problems []problem
	combined bool // the problems come from combinations of values; each value alone is valid
}

// problem is a diagnostic of the scenarios of one or more cells.
type problem struct {
	diagnostics.Diagnostic
	cell  int
	axis  int // index of the axis whose value is at fault; -1: none
	value int // index of the value in Range.Values of the axis
	count int // number of cells with the problem
}

// Error returns the number of problems and the first one; Render prints them all.
func (w *Wrong) Error() string {
	return fmt.Sprintf("%d problems, the first in %s: %s", len(w.problems), w.plan.cellName(w.problems[0].cell),
		w.problems[0].Message)
}

// Render writes all problems for a person, each with the input at fault: an axis, as given by flag, or a line of the
// scenario.
func (w *Wrong) Render(out io.Writer, flag string) error {
	for i := range w.problems {
		p := &w.problems[i]
		d, name, text := p.Diagnostic, w.plan.Source.Name, w.plan.Source.Text
		if p.axis >= 0 {
			axis := &w.plan.Axes[p.axis]
			d.Set, d.Line = "", 1
			d.Col, d.Width = axis.place(p.value)
			name, text = flag, []byte(axis.Text)
			if w.ofKey(p) {
				if p.value > 0 {
					continue // already written
				}
				d.Col, d.Width = 1, utf8.RuneCountInString(axis.Key)
			}
		}
		if d.Note == "" && (p.axis < 0 || w.combined && len(w.plan.Axes) > 1) {
			d.Note = "with " + w.plan.cellName(p.cell)
		}
		if err := (diagnostics.List{d}).Render(out, name, text); err != nil {
			return err
		}
	}
	return nil
}

// ofKey reports whether a problem is with an axis's key rather than a value: it occurs with every value, and it
// quotes a part of the key.
func (w *Wrong) ofKey(p *problem) bool {
	axis := &w.plan.Axes[p.axis]
	for _, word := range strings.Split(axis.Key, ".") {
		if strings.Contains(p.Message, strconv.Quote(word)) || strings.HasSuffix(p.Message, " named "+word) {
			return len(axis.Range.Values) == w.values(p)
		}
	}
	return len(axis.Range.Values) > 1 && len(axis.Range.Values) == w.values(p)
}

// values returns how many values of the problem's axis have the same problem.
func (w *Wrong) values(p *problem) int {
	n := 0
	for i := range w.problems {
		if q := &w.problems[i]; q.axis == p.axis && q.Message == p.Message {
			n++
		}
	}
	return n
}

// Note is a warning about one or more cells of a study.
type Note struct {
	Text  string
	Cells int    // number of cells with the warning
	First string // values of the first of these cells
	cell  int
}

// Check loads cells without simulating them. It returns the warnings that the unchanged scenario does not have, and
// a *Wrong if a cell cannot be simulated or, under strict, has a warning. A mistake in a value is found first,
// without loading all cells.
func (p *Plan) Check(ctx context.Context, cells []int, strict bool, parallel int) ([]Note, error) {
	var notes []problem
	few := p.few()
	rest := slices.DeleteFunc(slices.Clone(cells), func(cell int) bool { return slices.Contains(few, cell) })
	for i, list := range [][]int{few, rest} {
		loaded := make([]diagnostics.List, len(list))
		err := pool.Each(ctx, pool.Width(parallel), len(list), func(_ context.Context, k int) (err error) {
			if _, loaded[k], err = p.Load(list[k]); err != nil {
				return &SettingError{p.Overrides(list[k]), err}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		found := checks{plan: p, strict: strict}
		for k, cell := range list {
			found.add(cell, loaded[k])
		}
		if len(found.wrong) > 0 {
			inOrder(found.wrong)
			return nil, &Wrong{p, found.wrong, i > 0}
		}
		for _, n := range found.notes {
			notes = addProblem(notes, n)
		}
	}
	inOrder(notes)
	var all []Note
	for _, n := range notes {
		all = append(all, Note{n.Message, n.count, p.cellName(n.cell), n.cell})
	}
	return all, nil
}

// checks collects the diagnostics of the scenarios of cells, in any order.
type checks struct {
	plan   *Plan
	strict bool
	wrong  []problem
	notes  []problem
}

// add adds the diagnostics found when the scenario of a cell was loaded.
func (c *checks) add(cell int, found diagnostics.List) {
	for _, d := range found {
		p := problem{Diagnostic: d, cell: cell, axis: -1, count: 1}
		position := c.plan.Sweep.Position(cell)
		for i, o := range c.plan.Overrides(cell) {
			if d.Set == o.String() {
				p.axis, p.value = i, position[i]
			}
		}
		switch {
		case d.Severity == diagnostics.Error || c.strict:
			c.wrong = addProblem(c.wrong, p)
		case !c.plan.known[d.Message]:
			c.notes = addProblem(c.notes, p)
		}
	}
}

func addProblem(list []problem, p problem) []problem {
	for i := range list {
		q := &list[i]
		if q.axis == p.axis && q.value == p.value && q.Message == p.Message && q.Line == p.Line && q.Col == p.Col {
			q.count += p.count
			q.cell = min(q.cell, p.cell)
			return list
		}
	}
	if len(list) >= mostProblems {
		return list
	}
	return append(list, p)
}

// mostProblems is the highest number of different problems that a Wrong lists.
const mostProblems = 100

// inOrder sorts problems by their first cell; problems of one cell keep their order.
func inOrder(list []problem) {
	slices.SortStableFunc(list, func(a, b problem) int { return a.cell - b.cell })
}

// few returns a few cells that together contain every value of every axis.
func (p *Plan) few() []int {
	cells := []int{0}
	stride := 1
	for i := len(p.Axes) - 1; i >= 0; i-- {
		n := len(p.Axes[i].Range.Values)
		for value := 1; value < n; value++ {
			cells = append(cells, value*stride)
		}
		stride *= n
	}
	slices.Sort(cells)
	return cells
}
