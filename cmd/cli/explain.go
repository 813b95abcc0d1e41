package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/origins"
)

func newExplain() *cobra.Command {
	var f scenarioFlags
	format := "table"
	c := &cobra.Command{
		Use:   "explain SCENARIO",
		Short: "print every key of a scenario, its value and its origin",
		Long: `explain prints every key of a scenario, written or not, with its value and where that comes
from: a line of the file, a preset that a line names, the command line, or a default. Changes
by a policy's with: follow. Keys are printed as --set takes them.`,
		Example: `  qsim explain my.yaml
  qsim explain my.yaml --set engine.preset=river | grep preset
  qsim explain retry-storm --policy weighted
  qsim explain my.yaml --format json`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			l, err := loadOnly(c, names, &f, c.ErrOrStderr())
			if err != nil {
				return err
			}
			e := explain(l.Scenario, l.Sets)
			return ui.Output{"json": ui.JSON(e, "  "), "table": ui.Text(e.table)}.Print(c.OutOrStdout(), format)
		},
	}
	addScenarioFlags(c, "What to explain", &f, "baseline", "strict")
	ui.AddChoice(c, &format, "format", "FORMAT", "print `FORMAT`: table or json", "table", "json")
	ui.Group(c, "Output", "format")
	return c
}

func exactlyOneScenario(c *cobra.Command, names []string) error {
	if len(names) > 1 {
		return ui.UsageError("%s takes one scenario, not %d", c.Name(), len(names))
	}
	return atLeastOneScenario(c, names)
}

// explained is the output of `qsim explain`: the settings of a scenario, and those that its policies override.
type explained struct {
	Settings []scenarios.Setting `json:"settings"`
	Policies []changed           `json:"policies"`
}

// changed holds the settings of a scenario that one policy overrides by its `with:`.
type changed struct {
	Policy   string              `json:"policy"` // label of the policy
	Settings []scenarios.Setting `json:"settings"`
}

func explain(scenario *scenarios.Scenario, sets []scenarios.Override) *explained {
	e := &explained{Settings: origins.Of(scenario, sets), Policies: []changed{}}
	for i := range scenario.Policies {
		if others := origins.OfPolicy(scenario, i, sets); len(others) > 0 {
			e.Policies = append(e.Policies, changed{scenario.Policies[i].Label, others})
		}
	}
	return e
}

func (e *explained) table() string {
	table := settingsTable(e.Settings, ui.Width())
	for _, p := range e.Policies {
		table += "\nunder policy " + p.Policy + ":\n" + settingsTable(p.Settings, ui.Width())
	}
	return table
}

// settingsTable returns keys, values and origins as a text table of width columns; width 0: a line each, for programs.
func settingsTable(settings []scenarios.Setting, width int) (lines string) {
	t := text.Table{Columns: []text.Column{{Key: true, Hang: true}, {Wrap: true}, {Wrap: true}}}
	for _, s := range settings {
		t.Add(s.Path, s.Value, s.Origin)
		lines += strings.TrimRight(fmt.Sprintf("%-36s %-20s %s", s.Path, s.Value, s.Origin), " ") + "\n"
	}
	if width > 0 {
		return t.Render(text.TableOptions{Width: width})
	}
	return lines
}
