package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

func newValidate() *cobra.Command {
	var f scenarioFlags
	format := "table"
	c := &cobra.Command{
		Use:   "validate SCENARIO...",
		Short: "check scenarios without running them",
		Long: `validate reads scenarios as run does and prints all errors and warnings, each with its
position and, where possible, a suggestion. It exits with 2 if there is an error, or with
--strict a warning. A folder stands for the scenarios in it, - for standard input.

With --format json it prints a list of {file, line, column, severity, message, help} for programs, with
--format github the annotations of a workflow: ::error file=...`,
		Example: `  qsim validate my.yaml
  qsim validate --strict scenarios/*.yaml
  qsim validate my.yaml --set engine.workers=80
  qsim validate scenarios --format github`,
		Args: atLeastOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			problems := c.ErrOrStderr()
			names, err := unfold(names, problems)
			if err != nil {
				return err
			}
			if format != "table" {
				problems = io.Discard // they are the result
			}
			all, err := loadAll(c, names, &f, problems, problems)
			if err != nil && (format == "table" || all == nil) {
				return err
			}
			found := diagnosed(all)
			result := ui.Output{"json": ui.JSON(found, "  "), "github": ui.Text(func() string { return github(found) }),
				"table": ui.Text(func() string { return strings.Join(plain.Map(all, fine), "") })}
			return cmp.Or(result.Print(c.OutOrStdout(), format), err)
		},
	}
	addScenarioFlags(c, "What to check", &f)
	c.Flags().Lookup("strict").Usage = "warnings are errors"
	ui.AddChoice(c, &format, "format", "FORMAT", "print `FORMAT`: table, json or github", "table", "json", "github")
	ui.Group(c, "Output", "format")
	return c
}

// fine returns a line on a scenario without errors, with its size.
func fine(l loaded) string {
	s := l.Scenario
	size := estimate.Of(s)
	return fmt.Sprintf("%s: ok: %s, config %s; about %s at once, %s%s\n", l.Name, timesSeeds(s), s.ConfigHash(),
		plain.Jobs(size.Jobs, 2), inMemory(size.Bytes),
		plain.When(size.Traced, ", not counting the jobs of traces"))
}

func atLeastOneScenario(c *cobra.Command, names []string) error {
	if len(names) == 0 {
		return ui.UsageError("%s which scenario? Name a file or a built-in one; qsim list scenarios lists those", c.Name())
	}
	return nil
}

// timesSeeds returns the number of simulations of a scenario as text: "2 policies × 20 seeds".
func timesSeeds(sc *scenarios.Scenario) string {
	return plain.Plural(len(sc.Policies), "policy") + " × " + plain.Plural(int(sc.Seeds), "seed")
}
