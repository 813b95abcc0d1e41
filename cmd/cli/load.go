package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
)

// loaded is a scenario that was read, with its text, errors and warnings, and the keys that flags override.
type loaded = input.Scenario

// loadOnly loads the only scenario of a command; the name may be that of a folder that holds one.
func loadOnly(c *cobra.Command, names []string, f *scenarioFlags, notes io.Writer) (loaded, error) {
	all, err := loadAll(c, names, f, c.ErrOrStderr(), notes)
	if err != nil {
		return loaded{}, err
	}
	if len(all) > 1 {
		return loaded{}, ui.UsageError("%s takes one scenario, and %s has %d", c.Name(), names[0], len(all))
	}
	return all[0], nil
}

// loadAll loads every scenario before the first is run, so that a mistake in the last one is reported at once. It
// prints errors to stderr and warnings to notes. If a scenario cannot be run, it returns all with their diagnostics,
// and an exit code as an error without a text.
func loadAll(c *cobra.Command, names []string, f *scenarioFlags, stderr, notes io.Writer) ([]loaded, error) {
	overrides, err := f.overrides(c)
	if err != nil {
		return nil, err
	}
	if names, err = unfold(names, notes); err != nil {
		return nil, err
	}
	var all []loaded
	worst := ui.ExitMet
	for _, name := range names {
		l, err := loadOne(name, overrides, f, stderr, notes)
		if err != nil {
			worst = ui.Worse(worst, ui.Settle(c, err))
			if failure, ok := errors.AsType[*ui.Failure](err); !ok || failure.Err != nil {
				l.Diagnostics = append(l.Diagnostics, diagnostics.Diagnostic{Severity: diagnostics.Error, Message: err.Error()})
			}
		}
		all = append(all, l)
	}
	return all, ui.Fail(worst, nil)
}

// hasJobs matches the text of a YAML file that has a key jobs, and so may be a scenario: a folder may hold other YAML.
var hasJobs = regexp.MustCompile(`(?m)^[\s{]*"?jobs"?\s*:`)

// unfold replaces each folder in names by the scenario files in it, in the order of their names.
func unfold(names []string, notes io.Writer) ([]string, error) {
	var all []string
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() || isScenario(name) {
			all = append(all, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, ui.IOError("read folder", err)
		}
		there := len(all)
		for _, e := range entries {
			file := filepath.Join(name, e.Name())
			if ending := filepath.Ext(file); e.IsDir() || ending != ".yaml" && ending != ".yml" {
				continue
			}
			if _, src, err := scenarios.Open(file); err == nil && !hasJobs.Match(src) {
				fmt.Fprintf(notes, "qsim: %s has no jobs: it is passed over\n", file)
				continue
			}
			all = append(all, file)
		}
		if len(all) == there {
			return nil, ui.UsageError("%s is a directory without a scenario", name)
		}
	}
	return all, nil
}

// loadOne loads a scenario with overrides of its keys, as the flags --policy, --baseline and --strict ask.
func loadOne(name string, overrides []scenarios.Override, f *scenarioFlags, stderr, notes io.Writer) (loaded, error) {
	l, err := input.Load(name, input.Options{Sets: overrides, Policies: f.policies, Strict: f.strict, Errors: stderr,
		Notes: notes})
	if err == nil && f.baseline != "" && len(l.Scenario.PoliciesNamed(f.baseline)) == 0 {
		err = ui.UsageError("--baseline %s: it is not among the policies of --policy", f.baseline)
	}
	return l, err
}

// isScenario reports whether a name opens a scenario: a file of that path, or a built-in one.
func isScenario(name string) bool {
	_, _, err := scenarios.Open(name)
	return err == nil
}
