package cli

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/measure"
	"qsim/scenarios"
)

// entry is something that a scenario may name.
type entry struct {
	name, doc string
	aliases   []string
	detail    func(w io.Writer) error // all there is to say of it
}

// topics are what there is to list, in the order of the help text.
var topics = []struct {
	name, doc string
	entries   func() ([]entry, error)
}{
	{"policies", "what may stand under policies:, kind", policyEntries},
	{"presets", "what may stand under engine: or retry:, preset", presetEntries},
	{"scenarios", "built-in scenarios, for run and validate", scenarioEntries},
	{"metrics", "what objectives may be about", metricEntries},
}

func newList() *cobra.Command {
	var names []string
	for _, topic := range topics {
		names = append(names, topic.name)
	}
	return &cobra.Command{
		Use:     "list [policies|presets|scenarios|metrics] [NAME]",
		Short:   "list policies, presets, scenarios or metrics, or explain one",
		GroupID: "scenarios",
		Long: `list prints what a scenario may name, one a line; with a NAME it prints all there is to
say of it: a policy's parameters with their defaults, a preset's values with their source
and what they leave out, a metric's definition, a built-in scenario's text.`,
		Example: `  qsim list policies
  qsim list policies weighted
  qsim list presets river
  qsim list metrics fresh.wait.p99
  qsim list scenarios retry-storm > my.yaml     a file of one's own to start from`,
		ValidArgsFunction: completeList,
		Args:              cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, arguments []string) error {
			var text bytes.Buffer
			if err := list(&text, names, arguments, ui.Width()); err != nil {
				return err
			}
			_, err := c.OutOrStdout().Write(text.Bytes())
			return ui.IOError("write result", err)
		},
	}
}

// list prints what arguments name: nothing, a topic, or an entry of it. A width of 0
// is that of no terminal.
func list(w io.Writer, names, arguments []string, width int) error {
	if len(arguments) == 0 {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, topic := range topics {
			fmt.Fprintf(table, "qsim list %s\t%s\n", topic.name, topic.doc)
		}
		return table.Flush()
	}
	index := slices.Index(names, arguments[0])
	if index < 0 {
		return ui.Unknown("topic", arguments[0], names)
	}
	entries, err := topics[index].entries()
	if err != nil {
		return err
	}
	if len(arguments) == 1 {
		return writeEntries(w, entries, width)
	}
	var known []string
	for _, e := range entries {
		if e.name == arguments[1] || slices.Contains(e.aliases, arguments[1]) {
			return e.detail(w)
		}
		known = append(known, e.name)
	}
	return ui.Unknown("name of "+arguments[0], arguments[1], known)
}

// writeEntries prints one entry a line, or more where width, if it is not 0, asks for it.
func writeEntries(w io.Writer, entries []entry, width int) error {
	column := 0
	for _, e := range entries {
		column = max(column, len(e.name)+2)
	}
	if width > 0 {
		width = max(width-column, 30)
	}
	for _, e := range entries {
		doc := strings.ReplaceAll(wrap(firstSentence(e.doc), width), "\n", "\n"+strings.Repeat(" ", column))
		if _, err := fmt.Fprintf(w, "%-*s%s\n", column, e.name, doc); err != nil {
			return err
		}
	}
	return nil
}

func policyEntries() ([]entry, error) {
	var entries []entry
	for _, kind := range scenarios.PolicyKinds() {
		entries = append(entries, entry{kind.Name, kind.Doc, nil, func(w io.Writer) error {
			idles := "Workers may idle while jobs are ready."
			if kind.Conserving() {
				idles = "No worker idles while a job is ready."
			}
			fmt.Fprintf(w, "%s\n\n%s\n%s It counts %s; where it keeps state: %s.\n", kind.Name, wrap(kind.Doc, 80), idles,
				kind.Cost, kind.State)
			if len(kind.Params) == 0 {
				_, err := fmt.Fprintf(w, "\nIt takes no parameters: {kind: %s}\n", kind.Name)
				return err
			}
			var example strings.Builder
			fmt.Fprintln(w)
			table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprint(table, "parameter\tvalue\tdefault\tmeaning\n")
			for _, p := range kind.Params {
				value := p.Type
				if len(p.Choices) > 0 {
					value = strings.Join(p.Choices, " | ")
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, value, p.Default, p.Doc)
				fmt.Fprintf(&example, ", %s: %s", p.Name, p.Default)
			}
			if err := table.Flush(); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w, "\n{kind: %s%s}\n", kind.Name, &example)
			return err
		}})
	}
	return entries, nil
}

func presetEntries() ([]entry, error) {
	var entries []entry
	for _, p := range scenarios.Presets() {
		entries = append(entries, entry{p.Name, p.Doc, p.Aliases, func(w io.Writer) error {
			fmt.Fprintf(w, "%s (%s)\n", p.Name, p.Family)
			if len(p.Aliases) > 0 {
				fmt.Fprintf(w, "also called %s\n", strings.Join(p.Aliases, ", "))
			}
			fmt.Fprintf(w, "\n%s\n\n", wrap(p.Doc, 80))
			writeSettings(w, p.Settings())
			fmt.Fprintf(w, "\nsource: %s\n", p.Source)
			for i, a := range p.Approximates {
				if i == 0 {
					fmt.Fprint(w, "\nwhat differs from it:\n")
				}
				fmt.Fprintf(w, "- %s\n", strings.ReplaceAll(wrap(a, 78), "\n", "\n  "))
			}
			where := "engine: {preset: " + p.Name + "}, or its retry policy alone as retry: {preset: " + p.Name + "}"
			switch {
			case p.Engine == nil:
				where = "retry: {preset: " + p.Name + "}"
			case p.Retry == nil:
				where = "engine: {preset: " + p.Name + "}"
			}
			_, err := fmt.Fprintf(w, "\n%s\n", where)
			return err
		}})
	}
	return entries, nil
}

func presetNames() []string {
	var names []string
	for _, p := range scenarios.Presets() {
		names = append(append(names, p.Name), p.Aliases...)
	}
	return names
}

func scenarioEntries() ([]entry, error) {
	var entries []entry
	for _, info := range scenarios.Builtin() {
		_, src, err := scenarios.Open(info.Name)
		if err != nil {
			return nil, input.OpenError(err)
		}
		entries = append(entries, entry{info.Name, info.Description, []string{path.Base(info.Name)}, func(w io.Writer) error {
			_, err := w.Write(src)
			return err
		}})
	}
	return entries, nil
}

func metricEntries() ([]entry, error) {
	var entries []entry
	for _, m := range measure.Metrics() {
		entries = append(entries, entry{m.Name, m.Doc, nil, func(w io.Writer) error {
			unit := m.Unit
			switch unit {
			case "":
				unit = "a count"
			case "1":
				unit = "1 (a share or a ratio)"
			}
			fmt.Fprintf(w, "%s\n\n%s\n\nunit: %s\n", m.Name, wrap(m.Doc, 80), unit)
			var keys []string
			for _, f := range []struct {
				filter measure.Filters
				key    string
			}{{measure.ByDuring, "during"}, {measure.ByAfter, "after"}, {measure.ByClass, "class"}, {measure.ByTenant,
				"tenant"}, {measure.NeedsLimit, "limit"}} {
				if m.Filters.Has(f.filter) {
					keys = append(keys, f.key)
				}
			}
			if len(keys) > 0 {
				fmt.Fprintf(w, "an objective may narrow it by: %s\n", strings.Join(keys, ", "))
			}
			if why := m.NotNarrower(); why != "" {
				not := "not by class or tenant: "
				if m.Filters.Has(measure.ByClass) {
					not = "not by tenant: "
				}
				fmt.Fprintln(w, wrap(not+why, 80))
			}
			if m.OnRequest {
				fmt.Fprintln(w, "computed only where an objective asks for it")
			}
			return nil
		}})
	}
	return entries, nil
}

// firstSentence is what fits on a line of a list.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if sentence, _, more := strings.Cut(text, ". "); more {
		return sentence
	}
	return strings.TrimSuffix(text, ".")
}

// wrap breaks text into lines of at most width characters; 0: into none.
func wrap(text string, width int) string {
	if width == 0 {
		return text
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return strings.Join(append(lines, line), "\n")
}
