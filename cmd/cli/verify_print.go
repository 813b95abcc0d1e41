package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios/verify"
)

// verified is the result of verify for programs.
type verified struct {
	Version int             `json:"version"`
	Rows    []verify.Result `json:"rows"`
	Met     int             `json:"met"` // rows
	Failed  int             `json:"failed"`
	LeftOut int             `json:"left_out"`
	Exit    int             `json:"exit"`
}

func printVerified(to io.Writer, list []verify.Result, f string) error {
	sum := verified{Version: 1, Rows: list}
	for i := range list {
		switch {
		case list[i].Failed():
			sum.Failed, sum.Exit = sum.Failed+1, int(ui.ExitMissed)
		case list[i].Verdict == verify.LeftOut:
			sum.LeftOut++
		default:
			sum.Met++
		}
	}
	in := func(f text.Format, number func(v float64) string, rows func([][]string) [][]string) func(w io.Writer) error {
		return func(w io.Writer) error {
			err := text.WriteCells(w, verifyHeader, rows(verifyCells(list, number, f != text.CSV)), 2, f)
			if err == nil && f != text.CSV {
				err = printVerdict(w, &sum)
			}
			return err
		}
	}
	all := func(rows [][]string) [][]string { return rows }
	return ui.Output{"json": ui.JSON(&sum, "  "), "table": in(text.Text, briefly, named), "markdown": in(text.Markdown, briefly, all), "csv": in(text.CSV, exactly, all)}.Print(to, f)
}

var verifyHeader = []string{"model", "quantity", "expected", "measured", "half-width", "verdict"}

// verifyCells has a row for each quantity, and for each row that was left out; for people with
// how wide an interval may be where that is wider than usual.
func verifyCells(list []verify.Result, number func(v float64) string, people bool) (rows [][]string) {
	for i := range list {
		r := &list[i]
		if len(r.Quantities) == 0 {
			rows = append(rows, []string{r.ID, "", "", "", "", string(r.Verdict)})
		}
		for _, q := range r.Quantities {
			half := ""
			if q.Half > 0 {
				half = "±" + number(q.Half)
			}
			verdict := string(q.Verdict)
			if expected, ok := q.Expected.(float64); ok && q.Loose && people {
				verdict += fmt.Sprintf(", ±%.2g%% allowed", 100*q.Allowed/math.Abs(expected))
			}
			if q.Repeated {
				verdict += " (measured twice)"
			}
			rows = append(rows, []string{r.ID, q.Name, cell(q.Expected, number), cell(q.Measured, number), half, verdict})
		}
	}
	return rows
}

// named leaves the name of a model out where it is that of the line above.
func named(rows [][]string) [][]string {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i][0] == rows[i-1][0] {
			rows[i][0] = ""
		}
	}
	return rows
}

func briefly(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// cell writes a value; there may be none.
func cell(v any, number func(v float64) string) string {
	switch v := v.(type) {
	case nil:
		return plain.Missing
	case float64:
		return number(v)
	}
	return fmt.Sprint(v)
}

// printVerdict writes the notes below the table: what was left out and why, what failed,
// and how likely a false alarm is.
func printVerdict(to io.Writer, sum *verified) error {
	var notes, lines []string
	measured, passedOver := 0, 0
	note := func(what, reason string) {
		if line := reason + ": "; reason != "" {
			if at := slices.Index(notes, line); at >= 0 {
				lines[at] += ", " + what
				return
			}
			notes, lines = append(notes, line), append(lines, what)
		}
	}
	for i := range sum.Rows {
		r := &sum.Rows[i]
		note(r.ID, r.Reason)
		for _, q := range r.Quantities {
			if q.Half > 0 {
				measured++
			}
			if q.Verdict == verify.LeftOut {
				passedOver++
			}
			note(r.ID+" "+q.Name, q.Reason)
		}
	}
	fmt.Fprintf(to, "\n%s: %d met, %d failed, %d left out", counted(len(sum.Rows), "row", "rows"), sum.Met, sum.Failed, sum.LeftOut)
	if passedOver > 0 {
		fmt.Fprintf(to, "; of the others %s left out", counted(passedOver, "quantity is", "quantities are"))
	}
	fmt.Fprintf(to, ". Half-widths are at 99.9 %%; what is missed is measured twice,\nso that %d drawn quantities make %.1g false alarms a run.\n", measured, float64(measured)*1e-6)
	for i := range notes {
		if _, err := fmt.Fprintf(to, "  %s%s\n", notes[i], lines[i]); err != nil {
			return err
		}
	}
	return nil
}
