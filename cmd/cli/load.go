package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/scenarios"
)

// loaded is a scenario that may be run.
type loaded struct {
	name     string // as it is shown
	scenario *scenarios.Scenario
	source   []byte
}

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

func loadOne(name string, overrides []scenarios.Override, f *scenarioFlags, stderr, notes io.Writer) (loaded, error) {
	shown, src, err := scenarios.Open(name)
	if err != nil {
		return loaded{}, openError(err)
	}
	scenario, diagnostics := scenarios.Load(shown, src, overrides)
	problems := len(diagnostics.Errors())
	if f.strict {
		problems = len(diagnostics)
	}
	to := notes
	if problems > 0 {
		to = stderr
	}
	if err := diagnostics.Render(to, shown, src); err != nil {
		return loaded{}, ui.IOError("write diagnostics", err)
	}
	if problems > 0 {
		return loaded{}, ui.Fail(ui.ExitUsage, nil)
	}
	if len(f.policies) == 0 {
		return loaded{shown, scenario, src}, nil
	}
	for _, policy := range f.policies {
		if len(scenario.PoliciesNamed(policy)) == 0 {
			return loaded{}, unknown("policy of "+shown, policy, policyNames(scenario))
		}
	}
	scenario, err = scenario.Select(f.policies)
	if err != nil {
		return loaded{}, ui.UsageError("%s: %w", shown, err)
	}
	return loaded{shown, scenario, src}, nil
}

// policyNames are the labels and kinds by which --policy can select.
func policyNames(scenario *scenarios.Scenario) []string {
	var names []string
	for _, p := range scenario.Policies {
		names = append(names, p.Label)
		if p.Kind != p.Label {
			names = append(names, p.Kind)
		}
	}
	return names
}

// openError tells a wrong name, which is a mistake on the command line, from a file
// that cannot be read.
func openError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) {
		return ui.Fail(ui.ExitIO, err)
	}
	return ui.Fail(ui.ExitUsage, err)
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
				s := l.scenario
				if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok: %d policies × %d seeds, config %s\n", l.name, len(s.Policies), s.Seeds, s.ConfigHash()); err != nil {
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
