package imports

import (
	"fmt"
	"io"
	"math"
	"strings"

	"qsim/results/plain"
	"qsim/results/text"
)

// Print writes what was found in the files of these names and what became of it, for people.
func (found *Recording) Print(out io.Writer, names []string, written *Written) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d rows, %d jobs of %s over %s, from %s on\n", strings.Join(names, " "), found.Rows, found.Jobs, classCount(len(found.Classes)),
		plain.Duration(found.Length.Seconds()), found.When(0))
	for _, r := range found.Repairs {
		fmt.Fprintf(&b, "repaired: %d rows %s (first: %s, line %d)\n", r.Count, r.What, r.File, r.Line)
	}
	for _, note := range found.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	b.WriteString("\n")
	if err := printClasses(&b, found); err != nil {
		return err
	}
	b.WriteString("\n")
	if err := printFits(&b, found); err != nil {
		return err
	}
	printFailures(&b, found)
	if err := printRetry(&b, found); err != nil {
		return err
	}
	fmt.Fprintf(&b, "workers: %d %s of %d; at most %d attempts ran at once, %.1f%% of the busy time\n", written.Nodes, plural("node", written.Nodes), written.Workers,
		found.Workers.Most, 100*found.Workers.AllBusy)
	_, err := io.WriteString(out, b.String())
	return err
}

func classCount(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func printClasses(b *strings.Builder, found *Recording) error {
	var rows [][]string
	for i := range found.Classes {
		c := &found.Classes[i]
		rows = append(rows, []string{c.Name, fmt.Sprint(c.Jobs), fmt.Sprint(c.Done), fmt.Sprint(c.Dead), fmt.Sprint(c.Open), fmt.Sprint(c.Attempts),
			fmt.Sprintf("%.3g%%", 100*share(c.Failed, c.Attempts)), fmt.Sprintf("%.3g%%", 100*c.Poison)})
	}
	return text.WriteCells(b, []string{"class", "jobs", "done", "dead", "open", "attempts", "failed", "poison"}, rows, 1, text.Text)
}

func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// printFits shows every distribution that was tried, and which one stands for the run times.
func printFits(b *strings.Builder, found *Recording) error {
	var rows [][]string
	for i := range found.Classes {
		c := &found.Classes[i]
		for _, t := range []struct {
			what  string
			times *Times
		}{{"", &c.Service}, {" failing", &c.Takes}} {
			rows = append(rows, fitRows(c.Name+t.what, t.times)...)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if err := text.WriteCells(b, []string{"run times", "distribution", "distance", "p", "p50", "p99", ""}, rows, 2, text.Text); err != nil {
		return err
	}
	b.WriteString("distance: Kolmogorov-Smirnov, 0 to 1; p: how often a sample of that distribution is as far off\n\n")
	return nil
}

func fitRows(name string, t *Times) (rows [][]string) {
	if len(t.Values) == 0 {
		return nil
	}
	last := ""
	if len(t.Fits) == 0 || t.Chosen < 0 {
		last = "chosen: none fits"
	}
	if len(t.Fits) == 0 {
		last = "chosen: too few to fit"
	}
	at := func(q float64) string {
		return plain.Duration(t.Values[min(len(t.Values)-1, int(q*float64(len(t.Values))))])
	}
	rows = append(rows, []string{name, fmt.Sprintf("recorded, %d", t.Seen), "", "", at(0.5), at(0.99), last})
	for i := range t.Fits {
		f := &t.Fits[i]
		distance, p, mark := fmt.Sprintf("%.3f", f.Distance), "", ""
		if f.Kind == "constant" {
			distance = "" // it stands for values that are nearly one, which no distribution is near to
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

func printFailures(b *strings.Builder, found *Recording) {
	for i := range found.Classes {
		c := &found.Classes[i]
		if c.Failed == 0 {
			continue
		}
		var kinds []string
		for _, k := range c.Kinds {
			kinds = append(kinds, fmt.Sprintf("%s %d (%.3g%% of attempts)", k.Name, k.Count, 100*share(k.Count, c.Attempts)))
		}
		fmt.Fprintf(b, "failures of %s: %s\n", c.Name, strings.Join(kinds, ", "))
	}
}

// printRetry shows the settings beside the pauses that they were recognised by.
func printRetry(b *strings.Builder, found *Recording) error {
	if err := printOneRetry(b, "retry", &found.Retry); err != nil {
		return err
	}
	for i := range found.Classes {
		if r := found.Classes[i].Retry; r != nil {
			if err := printOneRetry(b, "retry of "+found.Classes[i].Name, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func printOneRetry(b *strings.Builder, what string, r *Retry) error {
	if len(r.Keys) == 0 {
		fmt.Fprintf(b, "%s: no second attempt is recorded\n", what)
		return nil
	}
	fmt.Fprintf(b, "%s: {%s}\n", what, strings.Join(r.Keys, ", "))
	if r.Source != "" {
		fmt.Fprintf(b, "  max-attempts %s\n", r.Source)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "  note: %s\n", note)
	}
	if len(r.Pauses) == 0 {
		return nil
	}
	var rows [][]string
	three := func(q [3]float64) string {
		return plain.Duration(q[0]) + "  " + plain.Duration(q[1]) + "  " + plain.Duration(q[2])
	}
	for _, p := range r.Pauses {
		rows = append(rows, []string{fmt.Sprintf("  pause after failure %d", p.N), fmt.Sprint(p.Seen), three(p.Recorded), three(p.Said)})
	}
	if err := text.WriteCells(b, []string{"", "recorded", "p5 p50 p95", "by these settings"}, rows, 1, text.Text); err != nil {
		return err
	}
	if !r.Exact {
		b.WriteString("  the pauses do not follow these settings closely: look at them\n")
	}
	return nil
}

// PrintComparisons writes the validation: the simulation's own waits beside those on record.
func PrintComparisons(out io.Writer, written *Written, all []Comparison) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(out, "\nno wait is on record to compare those of a simulation with\n")
		return err
	}
	var rows [][]string
	far := 0
	for i := range all {
		c := &all[i]
		mark := "✓"
		if !c.Close() {
			mark, far = "✗", far+1
		}
		if n := c.Number; n != nil {
			rows = append(rows, []string{c.What, "", plainOf(n, n.Recorded), "", plainOf(n, n.Simulated), "", mark})
			continue
		}
		seconds := func(s Spread) []string {
			return []string{plain.Duration(s.P50.Seconds()), plain.Duration(s.P99.Seconds())}
		}
		rows = append(rows, append(append(append([]string{c.What}, seconds(c.Recorded)...), seconds(c.Simulated)...), fmt.Sprintf("%.3f", c.Distance), mark))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nvalidation: %d seeds of %s beside the records\n", written.Scenario.Seeds, written.Path)
	if err := text.WriteCells(&b, []string{"", "recorded p50", "p99 or mean", "simulated p50", "p99 or mean", "distance", ""}, rows, 1, text.Text); err != nil {
		return err
	}
	fmt.Fprintf(&b, "distance: the largest difference of the shares of jobs up to any wait, of waits %s and 5%% apart; ✓ up to 0.1, or what chance makes of few, if the p99 is within 25%% but for chance, too; of shares and means within 10%%\n", plain.Duration(Slack.Seconds()))
	if far > 0 {
		b.WriteString("where they differ, something is not as recorded here: workers (--workers), queues of their own (--queue), how jobs are fetched (engine.fetch.poll and wake), priorities, an incident (--since, --until)\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// plainOf writes a share or a mean.
func plainOf(n *NumberPair, v float64) string {
	if n.Share {
		return fmt.Sprintf("%.2f%%", 100*v)
	}
	return fmt.Sprintf("%.3f", v)
}
