package imports

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"qsim/results/plain"
	"qsim/results/text"
)

// report is the text of an import's report under construction.
type report struct {
	strings.Builder
	err error // first error of a write
}

func (b *report) line(format string, arguments ...any) { fmt.Fprintf(b, format+"\n", arguments...) }

// table adds a table to the text, with the first left columns aligned to the left; nothing without rows.
func (b *report) table(left int, rows [][]string, header ...string) {
	if len(rows) > 0 {
		b.err = errors.Join(b.err, text.WriteCells(b, header, rows, left, text.TableOptions{}))
	}
}

func (b *report) write(out io.Writer) error {
	if b.err != nil {
		return b.err
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// share returns part ÷ all as a percentage with three digits.
func share(part, all int64) string {
	return fmt.Sprintf("%.3g%%", 100*float64(part)/float64(max(all, 1)))
}

// Print writes for people a report on the recording read from the files names and on the scenario written from it.
func (r *Recording) Print(out io.Writer, names []string, written *Written) error {
	var b report
	classes, nodes := "1 class", "node"
	if n := len(r.Classes); n != 1 {
		classes = fmt.Sprintf("%d classes", n)
	}
	if written.Nodes != 1 {
		nodes = "nodes"
	}
	b.line("%s: %d rows, %d jobs of %s over %s, from %s on", strings.Join(names, " "), r.Rows, r.Jobs, classes,
		plain.Duration(r.Length.Seconds()), r.When(0))
	for _, repair := range r.Repairs {
		b.line("repaired: %d rows %s (first: %s, line %d)", repair.Count, repair.What, repair.File, repair.Line)
	}
	for _, note := range r.Notes {
		b.line("note: %s", note)
	}
	b.line("")
	var counts, fits [][]string
	for i := range r.Classes {
		c := &r.Classes[i]
		cells := []string{c.Name}
		for _, n := range []int64{c.Jobs, c.Done, c.Dead, c.Open, c.Attempts} {
			cells = append(cells, fmt.Sprint(n))
		}
		counts = append(counts, append(cells, share(c.Failed, c.Attempts), fmt.Sprintf("%.3g%%", 100*c.Poison)))
		fits = append(append(fits, c.Service.cells(c.Name)...), c.Takes.cells(c.Name+" failing")...)
	}
	b.table(1, counts, "class", "jobs", "done", "dead", "open", "attempts", "failed", "poison")
	b.line("")
	if b.table(2, fits, "run times", "distribution", "distance", "p", "p50", "p99", ""); len(fits) > 0 {
		b.line("distance: Kolmogorov-Smirnov, 0 to 1; p: how often a sample of that distribution is as far off\n")
	}
	for i := range r.Classes {
		var kinds []string
		c := &r.Classes[i]
		for _, k := range c.Kinds {
			kinds = append(kinds, fmt.Sprintf("%s %d (%s of attempts)", k.Name, k.Count, share(k.Count, c.Attempts)))
		}
		if c.Failed > 0 {
			b.line("failures of %s: %s", c.Name, strings.Join(kinds, ", "))
		}
	}
	b.retry("retry", &r.Retry)
	for i := range r.Classes {
		if own := r.Classes[i].Retry; own != nil {
			b.retry("retry of "+r.Classes[i].Name, own)
		}
	}
	b.line("workers: %d %s of %d; at most %d attempts ran at once, %.1f%% of the busy time", written.Nodes, nodes,
		written.Workers, r.Workers.Most, 100*r.Workers.AllBusy)
	return b.write(out)
}

// cells returns table rows for recorded times and for every fitted distribution, marking the chosen one.
func (t *Times) cells(name string) (rows [][]string) {
	if len(t.Values) == 0 {
		return nil
	}
	last := ""
	switch {
	case len(t.Fits) == 0:
		last = "chosen: too few to fit"
	case t.Chosen < 0:
		last = "chosen: none fits"
	}
	at := func(q float64) string {
		return plain.Duration(t.Values[min(len(t.Values)-1, int(q*float64(len(t.Values))))])
	}
	rows = append(rows, []string{name, fmt.Sprintf("recorded, %d", t.Seen), "", "", at(0.5), at(0.99), last})
	for i := range t.Fits {
		f := &t.Fits[i]
		distance, p, mark := fmt.Sprintf("%.3f", f.Distance), "", ""
		if f.Kind == "constant" {
			distance = "" // values near one, to which no distribution is near
		}
		if !math.IsNaN(f.P) {
			p = fmt.Sprintf("%.2f", f.P)
		}
		if i == t.Chosen {
			mark = "chosen"
		}
		rows = append(rows, []string{"", Spelled(f), distance, p, plain.Duration(f.P50), plain.Duration(f.P99), mark})
	}
	return rows
}

// retry adds the inferred retry settings, and the pauses that support them, to the text.
func (b *report) retry(what string, r *Retry) {
	if len(r.Keys) == 0 {
		b.line("%s: no second attempt is recorded", what)
		return
	}
	b.line("%s: {%s}", what, r.text())
	if r.Source != "" {
		b.line("  max-attempts %s", r.Source)
	}
	for _, note := range r.Notes {
		b.line("  note: %s", note)
	}
	three := func(q [3]float64) string {
		return plain.Duration(q[0]) + "  " + plain.Duration(q[1]) + "  " + plain.Duration(q[2])
	}
	var rows [][]string
	for _, p := range r.Pauses {
		name := fmt.Sprintf("  pause after failure %d", p.N)
		rows = append(rows, []string{name, fmt.Sprint(p.Seen), three(p.Recorded), three(p.Said)})
	}
	if b.table(1, rows, "", "recorded", "p5 p50 p95", "by these settings"); len(rows) > 0 && !r.Exact {
		b.line("  the pauses do not follow these settings closely: look at them")
	}
}

// PrintComparisons writes the validation: the simulation's waits beside the recorded ones.
func PrintComparisons(out io.Writer, written *Written, all []Comparison) error {
	var b report
	if len(all) == 0 {
		b.line("\nno wait is on record to compare those of a simulation with")
		return b.write(out)
	}
	var rows [][]string
	far := false
	for i := range all {
		c := &all[i]
		mark := "✓"
		if !c.Close() {
			mark, far = "✗", true
		}
		if n := c.Number; n != nil {
			rows = append(rows, []string{c.What, "", n.spelled(n.Recorded), "", n.spelled(n.Simulated), "", mark})
			continue
		}
		cells := []string{c.What}
		for _, s := range []Spread{c.Recorded, c.Simulated} {
			cells = append(cells, plain.Duration(s.P50.Seconds()), plain.Duration(s.P99.Seconds()))
		}
		rows = append(rows, append(cells, fmt.Sprintf("%.3f", c.Distance), mark))
	}
	b.line("\nvalidation: %d seeds of %s beside the records", written.Scenario.Seeds, written.Path)
	b.table(1, rows, "", "recorded p50", "p99 or mean", "simulated p50", "p99 or mean", "distance", "")
	b.line("distance: the largest difference of the shares of jobs up to any wait, of waits %s and 5%% apart; "+
		"✓ up to 0.1, or what chance makes of few, if the p99 is within 25%% but for chance, too; "+
		"of shares and means within 10%%", plain.Duration(Slack.Seconds()))
	if far {
		b.line("where they differ, something is not as recorded here: workers (--workers), queues of their own (--queue), " +
			"how jobs are fetched (engine.fetch.poll and wake), priorities, an incident (--since, --until)")
	}
	return b.write(out)
}

// spelled returns v, one of the two numbers compared, as text.
func (n *NumberPair) spelled(v float64) string {
	if n.Share {
		return fmt.Sprintf("%.2f%%", 100*v)
	}
	return fmt.Sprintf("%.3f", v)
}
