package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/scenarios"
)

// wanted returns a check of a command's arguments, with the usage error for fewer than least or more than most of them.
func wanted(least, most int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, names []string) error {
		if len(names) < least || len(names) > most {
			return ui.UsageError("%s", message)
		}
		return nil
	}
}

// scenarioFlags are the flags that set keys of a scenario or select its policies.
type scenarioFlags struct {
	seeds    int // number of seeds; 0: the scenario's
	seed     uint64
	policies []string
	set      []string
	baseline string
	strict   bool
}

// addScenarioFlags defines on c the flags that set keys of a scenario or select policies, under a heading of the help
// text, except those named in without. A flag that is not given leaves the scenario as it is.
func addScenarioFlags(c *cobra.Command, heading string, f *scenarioFlags, without ...string) {
	flags := c.Flags()
	ui.AddAtLeast(c, &f.seeds, "seeds", "n", 1, "`NUMBER` of seeds under every policy (default: the scenario's)")
	flags.Uint64Var(&f.seed, "seed", 0, "the first `SEED` (default: the scenario's)")
	flags.StringArrayVar(&f.policies, "policy", nil, "only the policies of this `LABEL` or kind; another kind, or {kind: ...}, is added; repeatable")
	flags.StringArrayVar(&f.set, "set", nil, "set `KEY=VALUE` in the scenario, such as engine.workers=80; repeatable")
	names := []string{"seeds", "seed", "policy", "set"}
	if !slices.Contains(without, "baseline") {
		flags.StringVar(&f.baseline, "baseline", "", "compare with the policy of this `LABEL` or kind (default: the "+
			"scenario's)")
		names = append(names, "baseline")
	}
	if !slices.Contains(without, "strict") {
		flags.BoolVar(&f.strict, "strict", false, "warnings are errors, and an unclear objective counts as missed")
		names = append(names, "strict")
	}
	ui.Group(c, heading, names...)
}

// overrides returns the scenario keys that the flags set: --set in its order, then --seeds and the like.
func (f *scenarioFlags) overrides(c *cobra.Command) ([]scenarios.Override, error) {
	all, err := input.Sets(f.set)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("seeds") {
		all = append(all, scenarios.Override{Path: "seeds", Value: strconv.Itoa(f.seeds), Flag: fmt.Sprintf("--seeds %d", f.seeds)})
	}
	if c.Flags().Changed("seed") {
		if f.seed < 1 {
			return nil, ui.UsageError("--seed %d: want at least 1", f.seed)
		}
		all = append(all, scenarios.Override{Path: "seed", Value: strconv.FormatUint(f.seed, 10), Flag: fmt.Sprintf("--seed %d", f.seed)})
	}
	if c.Flags().Changed("baseline") {
		all = append(all, scenarios.Override{Path: "baseline", Value: strconv.Quote(f.baseline), Flag: "--baseline " + f.baseline})
	}
	return all, nil
}

// addManyFlags defines the common flags of studies (commands that simulate one scenario many times): parallel
// simulations, formats of the output, and the folder of the files.
func addManyFlags(c *cobra.Command, f *runFlags, out string, formats ...string) {
	flags := c.Flags()
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	addFormat(c, &f.format, formats...)
	flags.StringVarP(&f.out, "out", "o", "", out)
}
