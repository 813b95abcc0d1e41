package imports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

// report is a text of lines and tables under construction: an import's report, or the scenario file.
type report struct{ strings.Builder }

func (b *report) line(format string, arguments ...any) { fmt.Fprintf(b, format+"\n", arguments...) }

// table adds a table to the report, unless it has no rows; left is the number of columns that are aligned to the left.
func (b *report) table(left int, rows [][]string, header ...string) {
	if len(rows) > 0 {
		b.WriteString(text.Cells(header, rows, left, text.TableOptions{}))
	}
}

// share returns part ÷ all as a percentage with up to three digits.
func share(part, all int64) string { return percent(float64(part) / float64(max(all, 1))) }

func percent(share float64) string { return plain.Digits(100*share, 3) + "%" }

// Report returns, as text for people, what was found in records from files of the given names and what was written.
func (r *Recording) Report(names []string, written *Written) string {
	var b report
	b.line("%s: %d rows, %d jobs of %d class%s over %s, from %s on", strings.Join(names, " "), r.Rows, r.Jobs,
		len(r.Classes), plain.When(len(r.Classes) != 1, "es"), plain.Duration(r.Length.Seconds()), r.When(0))
	for _, repair := range r.Repairs {
		b.line("repaired: %d rows %s (first: %s, line %d)", repair.Count, repair.What, repair.File, repair.Line)
	}
	for _, note := range r.Notes {
		b.line("note: %s", note)
	}
	b.line("")
	var counts, fits [][]string
	var failures report
	for i := range r.Classes {
		c := &r.Classes[i]
		cells := []string{c.Name}
		for _, n := range []int64{c.Jobs, c.Done, c.Dead, c.Jobs - c.Done - c.Dead, c.Attempts} {
			cells = append(cells, fmt.Sprint(n))
		}
		counts = append(counts, append(cells, share(c.Failed, c.Attempts), percent(c.Poison)))
		fits = append(append(fits, c.Service.cells(c.Name)...), c.Takes.cells(c.Name+" failing")...)
		if c.Failed > 0 {
			failures.line("failures of %s: %s", c.Name, strings.Join(plain.Map(c.Kinds, func(k Kind) string {
				return fmt.Sprintf("%s %d (%s of attempts)", k.Name, k.Count, share(k.Count, c.Attempts))
			}), ", "))
		}
	}
	b.table(1, counts, "class", "jobs", "done", "dead", "open", "attempts", "failed", "poison")
	b.line("")
	if b.table(2, fits, "run times", "distribution", "distance", "p", "p50", "p99", ""); len(fits) > 0 {
		b.line("distance: Kolmogorov-Smirnov, 0 to 1; p: how often a sample of that distribution is as far off\n")
	}
	b.WriteString(failures.String())
	b.retry("retry", &r.Retry)
	for i := range r.Classes {
		if own := r.Classes[i].Retry; own != nil {
			b.retry("retry of "+r.Classes[i].Name, own)
		}
	}
	b.line("workers: %d node%s of %d; at most %d attempts ran at once, %.1f%% of the busy time", written.Nodes,
		plain.When(written.Nodes != 1, "s"), written.Workers, r.Workers.Most, 100*r.Workers.AllBusy)
	return b.String()
}

// cells returns the rows of a table of recorded times and fitted distributions, in which the chosen one is marked.
func (t *Times) cells(name string) (rows [][]string) {
	if len(t.Values) == 0 {
		return nil
	}
	why := plain.Either(len(t.Fits) == 0, "chosen: too few to fit", "chosen: none fits")
	at := func(q float64) string { return plain.Duration(quantile(t.Values, q)) }
	rows = append(rows, []string{name, fmt.Sprintf("recorded, %d", t.Seen), "", "", at(0.5), at(0.99),
		plain.When(t.Chosen < 0, why)})
	for i := range t.Fits {
		f := &t.Fits[i]
		drawn := f.drawn()
		// No distribution is near to the values of a constant, which are near to one.
		distance := plain.When(f.Kind != "constant", fmt.Sprintf("%.3f", f.Distance))
		p := plain.When(!math.IsNaN(f.P), fmt.Sprintf("%.2f", f.P))
		rows = append(rows, []string{"", Spelled(f), distance, p, plain.Duration(drawn.Sample(0.5)),
			plain.Duration(drawn.Sample(0.99)), plain.When(i == t.Chosen, "chosen")})
	}
	return rows
}

// retry adds to the report the inferred retry settings, and the pauses between attempts that support them.
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

// ComparisonText returns a table, as text, of the simulation's waits and other values beside the recorded ones.
func ComparisonText(written *Written, all []Comparison) string {
	var b report
	if len(all) == 0 {
		b.line("\nno wait is on record to compare those of a simulation with")
		return b.String()
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
		for _, h := range []*measure.Histogram{c.Recorded, c.Simulated} {
			cells = append(cells, plain.Duration(h.Quantile(0.5).Seconds()), plain.Duration(h.Quantile(0.99).Seconds()))
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
	return b.String()
}

// spelled returns one of the two numbers of a comparison as text.
func (n *NumberPair) spelled(v float64) string {
	return plain.Either(n.Share, fmt.Sprintf("%.2f%%", 100*v), fmt.Sprintf("%.3f", v))
}

// text returns the scenario file as text, with comments on the origin of each value.
func (w *writing) text(to *Written) string {
	var b report
	jobs := plain.Grouped(fmt.Sprint(w.Jobs))
	b.line("# yaml-language-server: $schema=%s", scenarios.SchemaFile)
	b.line("# %s jobs of %s records, from %s on. Arrivals are as recorded;", jobs, w.From, w.When(0))
	b.line("# run times are drawn, failures too.")
	b.line("version: 1")
	b.line("name: %s", w.name)
	b.line("duration: %s", scenarios.Duration(w.Length.Truncate(time.Second)+emptyTail))
	tail := min(w.Tail.Truncate(time.Second)+emptyTail, longest/time.Duration(to.Nodes)-w.Length)
	if tail > w.Length+emptyTail {
		b.line("drain: %s   # attempts are on record for so long", scenarios.Duration(tail.Truncate(time.Second)))
	}
	b.line("warmup: 0s   # all of it is on record")
	b.line("seeds: %d", cmp.Or(w.target.Seeds, 5))
	b.line("")
	b.line("engine:")
	if hasPreset(w.From) {
		b.line("  preset: %s", w.From)
	}
	b.line("  nodes: %d", to.Nodes)
	b.line("  workers: %d   # %s", to.Workers, w.whyWorkers())
	b.line("  timeout: 0s   # run times are as recorded, whatever cut them short")
	b.line("")
	b.line("retry: {%s}%s", w.Retry.keys(), w.Retry.comment())
	b.line("")
	b.line("jobs:")
	for i := range w.Classes {
		w.classText(&b, &w.Classes[i])
	}
	b.line("")
	b.line("policies:")
	b.line("  - {kind: fifo}")
	return b.String()
}

func (w *writing) whyWorkers() string {
	switch {
	case w.target.Workers > 0:
		return "as asked for"
	case w.Workers.Each == 0:
		return "nothing is recorded"
	}
	return fmt.Sprintf("%d attempts at most ran at once", w.Workers.Most)
}

// keys returns the scenario's `retry` section as text, without braces; if no retries are on record, it turns them off.
func (r *Retry) keys() string { return cmp.Or(r.text(), "max-attempts: 1, backoff: {kind: none}") }

func (r *Retry) comment() string {
	if len(r.Keys) == 0 {
		return "   # no second attempt is recorded"
	}
	return plain.When(!r.paced, "   # the pauses between attempts are not recorded: the usual ones")
}

func (w *writing) classText(b *report, c *Class) {
	b.line("  - class: %s", c.Name)
	b.line("    arrivals: {process: trace, file: %s}", w.beside(c, ".csv"))
	switch {
	case w.prioritized() && c.Ranked:
		b.line("    priority: %d   # as recorded; smaller is more urgent", c.Priority)
	case w.prioritized():
		b.line("    # no priority: its jobs have none on record, or several; that counts as 0")
	}
	b.line("    service: %s   # %s", w.distribution(c, &c.Service), c.Service.comment())
	if c.Failed > 0 {
		fails := "rate: " + percent(c.Rate)
		if len(c.Takes.Values) >= FewestToFit {
			fails += ", takes: " + w.distribution(c, &c.Takes)
		}
		b.line("    fails: {%s, errors: {%s}}", fails, strings.Join(shares(c.Kinds), ", "))
	}
	if c.Poison > 0 {
		b.line("    poison: %s   # jobs that failed before fail more often than others", percent(c.Poison))
	}
	if names := c.tenantNames(); len(c.Tenants) > 0 && names != nil {
		b.line("    tenants: {names: [%s]}", strings.Join(names, ", "))
	} else if len(c.Tenants) > 0 {
		b.line("    tenants: {count: %d}", len(c.Tenants)+plain.Either(c.Nobody, 1, 0))
	}
	if c.Retry != nil {
		b.line("    retry: {%s}", c.Retry.keys())
	}
}

// distribution returns a class's run time in scenario syntax: a fit, a file of recorded values, or the user's own.
func (w *writing) distribution(c *Class, t *Times) string {
	switch {
	case len(t.Values) == 0:
		return w.options.Service
	case t.Chosen < 0:
		return "{dist: empirical, file: " + w.beside(c, t.file) + "}"
	}
	return Spelled(&t.Fits[t.Chosen])
}

// Spelled returns a fitted distribution in scenario syntax.
func Spelled(f *Fit) string {
	if f.Kind == "constant" {
		return spellDigits(f.Parameters[0].Value, 4)
	}
	words := []string{"dist: " + f.Kind}
	for _, p := range f.Parameters {
		value := plain.Either(p.Time, spellDigits(p.Value, 4), strconv.FormatFloat(p.Value, 'g', 4, 64))
		words = append(words, p.Name+": "+value)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// comment returns a comment for the scenario file on how well the distribution fits the recorded times.
func (t *Times) comment() string {
	switch {
	case len(t.Values) == 0:
		return "as asked for: no run time is recorded"
	case t.Chosen < 0 && len(t.Fits) == 0:
		return fmt.Sprintf("%d run times are too few to fit", len(t.Values))
	case t.Chosen < 0:
		return "no distribution fits: the recorded values"
	}
	f, seen := &t.Fits[t.Chosen], "of "+plain.Grouped(fmt.Sprint(t.Seen))+" recorded"
	if math.IsNaN(f.P) {
		return seen
	}
	return fmt.Sprintf("Kolmogorov-Smirnov distance %.3f, p %.2f, %s", f.Distance, f.P, seen)
}

// shares returns the shares of error kinds in scenario syntax, as "timeout: 12.5%", in tenths of a percent, with the
// rounding error in the first.
func shares(kinds []Kind) []string {
	all := plain.Sum(kinds, func(k Kind) int64 { return k.Count })
	const whole = 1000
	parts, rest := make([]int64, len(kinds)), int64(whole)
	for i, k := range kinds {
		parts[i] = max(1, k.Count*whole/max(all, 1))
		rest -= parts[i]
	}
	parts[0] += rest // the most frequent one carries what rounding leaves
	var words []string
	for i, k := range kinds {
		words = append(words, fmt.Sprintf("%s: %s%%", k.Name, strconv.FormatFloat(float64(parts[i])/10, 'f', -1, 64)))
	}
	return words
}
