package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	layout "qsim/results/text"
	"qsim/scenarios"
)

func newExplain() *cobra.Command {
	var f scenarioFlags
	c := &cobra.Command{
		Use:     "explain SCENARIO",
		Short:   "print every key of a scenario, its value and its origin",
		GroupID: "write",
		Long: `explain prints every key of a scenario, written or not, with its value and where that comes
from: a line of the file, a preset that a line names, the command line, or a default. Changes
by a policy's with: follow. Keys are printed as --set takes them.`,
		Example: `  qsim explain my.yaml
  qsim explain my.yaml --set engine.preset=river | grep preset
  qsim explain retry-storm --policy weighted`,
		ValidArgsFunction: completeScenarios,
		Args:              exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			ui.WarnOfVariables(c, c.ErrOrStderr())
			all, err := loadAll(c, names, &f, c.ErrOrStderr(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			sets, err := f.overrides(c)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			explain(&text, all[0].Scenario, sets)
			_, err = c.OutOrStdout().Write(text.Bytes())
			return ui.IOError("write result", err)
		},
	}
	addScenarioFlags(c, "What to explain", &f, "baseline", "strict")
	return c
}

// exactlyOneScenario complains in the words of the help text.
func exactlyOneScenario(c *cobra.Command, names []string) error {
	if len(names) > 1 {
		return ui.UsageError("%s takes one scenario, not %d", c.Name(), len(names))
	}
	return atLeastOneScenario(c, names)
}

func explain(w io.Writer, scenario *scenarios.Scenario, sets []scenarios.Override) {
	writeSettings(w, scenario.Explain(sets))
	for i := range scenario.Policies {
		if others := scenario.ExplainPolicy(i, sets); len(others) > 0 {
			fmt.Fprintf(w, "\nunder policy %s:\n", scenario.Policies[i].Label)
			writeSettings(w, others)
		}
	}
}

// mostValue is the width of a value from which it sticks out of its column.
const mostValue = 40

// writeSettings prints one setting a line, in columns that long values stick out of; on a terminal that is too narrow for
// that, in columns of wrapped texts.
func writeSettings(w io.Writer, settings []scenarios.Setting) {
	path, value := 0, 0
	for _, s := range settings {
		path = max(path, utf8.RuneCountInString(s.Path))
		if width := utf8.RuneCountInString(s.Value); width <= mostValue {
			value = max(value, width)
		}
	}
	if width := ui.Width(); width > 0 && path+2+value+2+widestOrigin(settings) > width {
		t := layout.Table{Columns: []layout.Column{{Key: true, Wrap: true}, {Wrap: true}, {Wrap: true}}}
		for _, s := range settings {
			t.Add(s.Path, s.Value, s.Origin)
		}
		fmt.Fprintln(w, strings.Join(t.Lines(width, false), "\n"))
		return
	}
	for _, s := range settings {
		if s.Origin == "" {
			fmt.Fprintf(w, "%-*s  %s\n", path, s.Path, s.Value)
			continue
		}
		fmt.Fprintf(w, "%-*s  %-*s  %s\n", path, s.Path, value, s.Value, s.Origin)
	}
}

func widestOrigin(settings []scenarios.Setting) (most int) {
	for _, s := range settings {
		most = max(most, utf8.RuneCountInString(s.Origin), utf8.RuneCountInString(s.Value)-mostValue)
	}
	return most
}
