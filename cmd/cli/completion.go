package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/origins"
)

// complete sets shell completions for the flags of commands whose values are names, and for the arguments of commands
// about a scenario. Completions of other arguments are set by the commands themselves.
func complete(root *cobra.Command) {
	for _, c := range root.Commands() {
		if strings.HasPrefix(c.Use, c.Name()+" SCENARIO") {
			c.ValidArgsFunction = completeScenarios
		}
		for name, function := range map[string]cobra.CompletionFunc{
			"policy": completePolicies, "baseline": completePolicies,
			"set": completeKeys, "vary": completeKeys, "over": completeKeys, "x": completeKeys, "y": completeKeys,
			"smallest": completeNames, "largest": completeNames,
			"metric": completeMetrics, "minimize": completeMetrics, "maximize": completeMetrics,
		} {
			if c.Flags().Lookup(name) != nil {
				ui.Complete(c, name, function)
			}
		}
	}
}

func fixed(words ...cobra.Completion) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// described returns the entries of a topic of `qsim list`, such as presets, as completions with their descriptions.
func described(name string) []cobra.Completion {
	at := slices.IndexFunc(topics, func(t topic) bool { return t.name == name })
	if at < 0 {
		return nil
	}
	return plain.Map(topics[at].entries(), func(e entry) string {
		return cobra.CompletionWithDesc(e.name, firstSentence(e.doc))
	})
}

// completeScenarios completes a command's scenarios, built-in ones and files: one, or several of run and validate.
func completeScenarios(c *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if c.Name() != "run" && c.Name() != "validate" && len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return described("scenarios"), cobra.ShellCompDirectiveDefault
}

func completeList(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	switch len(given) {
	case 0:
		all = plain.Map(topics, func(t topic) string { return cobra.CompletionWithDesc(t.name, t.doc) })
	case 1:
		all = described(given[0])
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completePolicies completes labels and kinds of the policies of the scenarios on the command line, or else all kinds.
func completePolicies(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	for _, name := range given {
		if scenario := loadQuietly(name); scenario != nil {
			all = append(all, input.PolicyNames(scenario)...)
		}
	}
	if len(all) == 0 {
		all = described("policies")
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completeResults completes the arguments of qsim compare: a folder, then folders, files and built-in scenarios.
func completeResults(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return described("scenarios"), cobra.ShellCompDirectiveDefault
}

var completeFolders = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

func completeMetrics(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return append(described("metrics"), "all"), cobra.ShellCompDirectiveNoFileComp
}

func completeSources(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return append(described("scenarios"), described("presets")...), cobra.ShellCompDirectiveDefault
}

// completeKeys completes keys of the scenario on the command line, and after the = of some keys their values.
func completeKeys(_ *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if key, _, found := strings.Cut(typed, "="); found {
		return completeValue(key), cobra.ShellCompDirectiveNoFileComp
	}
	return keysOf(given, "="), keptOrder | cobra.ShellCompDirectiveNoSpace
}

// completeNames completes keys of the scenario on the command line for flags that take a key alone, without a value.
func completeNames(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return keysOf(given, ""), keptOrder
}

// keysOf returns the keys of the first given scenario, else of a built-in one, as completions with the suffix ending
// and with the key's value as description.
func keysOf(given []string, ending string) (all []cobra.Completion) {
	scenario := loadQuietly(append(given, "retry-storm")[0])
	if scenario == nil {
		return nil
	}
	for _, s := range origins.Of(scenario, nil) {
		if !strings.HasPrefix(s.Path, "objectives.") {
			all = append(all, cobra.CompletionWithDesc(s.Path+ending, s.Value))
		}
	}
	return all
}

func completeValue(key string) []cobra.Completion {
	var words []string
	switch {
	case strings.HasSuffix(key, "preset"):
		words = presetNames()
	case strings.HasPrefix(key, "policies.") && strings.HasSuffix(key, ".kind"):
		words = input.Kinds()
	case strings.HasPrefix(key, "objectives.") && strings.HasSuffix(key, ".metric"):
		words = measure.MetricNames()
	}
	return plain.Map(words, func(word string) string { return key + "=" + word })
}

// loadQuietly loads a scenario without printing errors, for shell completion; nil if there is no such scenario.
func loadQuietly(name string) *scenarios.Scenario {
	shown, src, err := scenarios.Open(name)
	if err != nil {
		return nil
	}
	scenario, _ := scenarios.Load(shown, src, nil)
	return scenario
}
