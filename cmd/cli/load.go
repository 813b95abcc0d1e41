package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/scenarios"
)

// loaded is a scenario that may be run.
type loaded = input.Scenario

// loadAll loads every scenario before the first is run, so that a mistake in the last
// one is seen at once. Errors go to stderr and warnings to notes; if any is in the
// way of a run, the failure that it returns has nothing left to print.
func loadAll(c *cobra.Command, names []string, f *scenarioFlags, stderr, notes io.Writer) ([]loaded, error) {
	overrides, err := f.overrides(c)
	if err != nil {
		return nil, err
	}
	var all []loaded
	worst := ui.ExitMet
	for _, name := range names {
		l, err := loadOne(name, overrides, f, stderr, notes)
		if err != nil {
			worst = ui.Worse(worst, ui.Settle(c, err))
			continue
		}
		all = append(all, l)
	}
	if worst != ui.ExitMet {
		return nil, ui.Fail(worst, nil)
	}
	return all, nil
}

// loadOne loads a scenario with what f says of it, but for its overrides.
func loadOne(name string, overrides []scenarios.Override, f *scenarioFlags, stderr, notes io.Writer) (loaded, error) {
	return input.Load(name, input.Options{Sets: overrides, Policies: f.policies, Strict: f.strict, Errors: stderr,
		Notes: notes})
}

// isScenario reports whether name could be run.
func isScenario(name string) bool {
	_, _, err := scenarios.Open(name)
	return err == nil
}

func newValidate() *cobra.Command {
	var f scenarioFlags
	c := &cobra.Command{
		Use:     "validate SCENARIO...",
		Short:   "check scenarios without running them",
		GroupID: "scenarios",
		Long: `validate reads scenarios as run does and prints all errors and warnings, each with its
place and, where it can, with what may have been meant. It exits with 2 if there is an
error, or with --strict a warning.`,
		Example: `  qsim validate my.yaml
  qsim validate --strict scenarios/*.yaml
  qsim validate my.yaml --set engine.workers=80`,
		ValidArgsFunction: completeScenarios,
		Args:              atLeastOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			ui.WarnOfVariables(c, c.ErrOrStderr())
			all, err := loadAll(c, names, &f, c.ErrOrStderr(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			for _, l := range all {
				s := l.Scenario
				if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok: %d policies × %d seeds, config %s\n", l.Name, len(s.Policies),
					s.Seeds, s.ConfigHash()); err != nil {
					return ui.IOError("write result", err)
				}
			}
			return nil
		},
	}
	addScenarioFlags(c, "What to check", &f)
	return c
}

// atLeastOneScenario complains about a missing argument in the words of the help text.
func atLeastOneScenario(c *cobra.Command, names []string) error {
	if len(names) == 0 {
		return ui.UsageError("%s which scenario? Name a file or a built-in one; qsim list scenarios lists those", c.Name())
	}
	return nil
}
