package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"qsim/cmd/ui"
	layout "qsim/results/text"
	"qsim/scenarios/chaos"
)

// printSwarm prints the summary of a chaos run: the simulations, their time, and the invariants that broke.
func printSwarm(out io.Writer, options chaos.Options, r *chaos.Result, took time.Duration) error {
	var text bytes.Buffer
	for i := range r.Failures {
		text.WriteString(r.Failures[i].String() + "\n")
	}
	said := "every invariant held"
	if options.Only != 0 {
		said = "those that were asked for held"
	}
	if r.Seeds == 0 {
		said = "nothing was tried"
	}
	if n := len(r.Failures); n > 0 {
		said = fmt.Sprintf("%d failed", n)
	}
	fmt.Fprintf(&text, "%s, %s events, %s, fingerprint %016x: %s\n", options.Finished(r.Seeds),
		amount(r.Events), took.Round(100*time.Millisecond), r.Fingerprint, said)
	kinds, counts := r.FaultCounts()
	fmt.Fprintln(&text, "troubles: "+pairs(kinds, counts))
	numbers, _ := chaos.Invariants()
	var names []string
	var checks []int64
	for i, name := range numbers {
		if options.Holds(i) {
			names, checks = append(names, name), append(checks, r.Checks[i+1])
		}
	}
	fmt.Fprintln(&text, "checks: "+pairs(names, checks))
	_, err := out.Write(text.Bytes())
	return err
}

// pairs returns a list of names with their counts as text.
func pairs(names []string, counts []int64) string {
	var all []string
	for i, name := range names {
		all = append(all, fmt.Sprintf("%s %s", name, amount(counts[i])))
	}
	return strings.Join(all, ", ")
}

// amount returns a count in few digits: 12M, 34k, 560.
func amount(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

func printCatalogue(out io.Writer) error {
	var text bytes.Buffer
	where := ""
	for _, e := range chaos.Catalogue {
		if e.Where != where {
			where = e.Where
			fmt.Fprintf(&text, "%s\n", where)
		}
		fmt.Fprintf(&text, "  %-4s %s\n", e.ID, layout.Indented(e.What, ui.Width(), 7))
		for i, lines := range e.Texts {
			if i > 0 {
				fmt.Fprintln(&text, "       or")
			}
			for line := range strings.SplitSeq(lines, "\n") {
				own := len(line) - len(strings.TrimLeft(line, " "))
				fmt.Fprintf(&text, "         %s%s\n", line[:own], layout.Indented(line[own:], ui.Width(), 9+own+2))
			}
		}
	}
	_, err := out.Write(text.Bytes())
	return ui.IOError("write catalogue", err)
}
