// Package input loads scenarios for commands, by file or name, with overrides of keys and a choice of policies, and
// prints their diagnostics.
package input

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
)

// Sets returns the overrides that the values of --set flags, KEY=VALUE each, stand for.
func Sets(texts []string) ([]scenarios.Override, error) {
	var all []scenarios.Override
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, ui.UsageError("--set %s: want KEY=VALUE, as engine.workers=80", text)
		}
		all = append(all, scenarios.Override{Path: strings.TrimSpace(key), Value: value})
	}
	return all, nil
}

// Options are the options of Load, from a command's flags.
type Options struct {
	Sets     []scenarios.Override
	Policies []string // labels or kinds of policies to select; or kinds and maps of policies to add; none: all
	Strict   bool     // warnings are errors
	Errors   io.Writer
	Notes    io.Writer // destination of warnings
}

// Scenario is a scenario as a command uses it: loaded, with the overrides and policies of the command line.
type Scenario struct {
	Name     string              // display name of the scenario
	Scenario *scenarios.Scenario // loaded scenario; nil if Load fails
	Source   []byte
	Sets     []scenarios.Override // all overrides of the source: those of the options, and the policies added
	Policies []string             // selected policies: see scenarios.Scenario.Select; none: all
	Added    []scenarios.Override // those of Sets that --policy added

	Diagnostics diagnostics.List // errors and warnings, also if Load fails
}

// Load loads a scenario, by a file's path or the name of a built-in one, and prints its errors and warnings. If it has
// an error, Load returns a ui.Failure without a text, since that has been printed.
func Load(name string, o Options) (Scenario, error) {
	shown, src, err := scenarios.Open(name)
	if err != nil {
		return Scenario{Name: name}, OpenError(err)
	}
	scenario, diagnostics := scenarios.Load(shown, src, o.Sets)
	named := scenario
	if len(o.Policies) > 0 && named == nil { // perhaps the baseline is missing, and is one of the policies to add
		named, _ = scenarios.Load(shown, src, slices.DeleteFunc(slices.Clone(o.Sets),
			func(set scenarios.Override) bool { return set.Path == "baseline" }))
	}
	keep, added := chosen(named, o.Policies)
	if len(added) > 0 {
		o.Sets = slices.Concat(o.Sets, added)
		scenario, diagnostics = scenarios.Load(shown, src, o.Sets)
	}
	failed := Scenario{Name: shown, Diagnostics: diagnostics}
	problems := len(plain.Either(o.Strict, diagnostics, diagnostics.Errors()))
	to := plain.Either(problems > 0, o.Errors, o.Notes)
	if _, err := io.WriteString(to, diagnostics.Text(shown, src)); err != nil && problems > 0 {
		return failed, ui.IOError("write diagnostics", err)
	}
	if problems > 0 {
		return failed, ui.Fail(ui.ExitUsage, nil)
	}
	if len(keep) > 0 {
		for _, p := range scenario.Policies[len(scenario.Policies)-len(added):] {
			keep = append(keep, p.Label)
		}
		for _, policy := range keep {
			if len(scenario.PoliciesNamed(policy)) == 0 {
				names := PolicyNames(scenario)
				there := ": " + shown + " has " + strings.Join(names, ", ") +
					", and qsim list policies names those that could be added"
				return failed, ui.UsageError("unknown policy %s%s", policy, ui.Meant(policy, append(names, Kinds()...), there))
			}
		}
		if scenario, err = scenario.Select(keep); err != nil {
			return failed, ui.UsageError("%s: %w", shown, err)
		}
	}
	return Scenario{shown, scenario, src, o.Sets, keep, added, diagnostics}, nil
}

// chosen divides the values of --policy: keep has labels and kinds of the scenario's own policies, and unknown names,
// which Load refuses; added has overrides that add other policies, given as a kind or a YAML map, to the scenario.
func chosen(scenario *scenarios.Scenario, policies []string) (keep []string, added []scenarios.Override) {
	for _, policy := range policies {
		isMap := strings.HasPrefix(strings.TrimSpace(policy), "{")
		switch {
		case scenario == nil, !isMap && len(scenario.PoliciesNamed(policy)) > 0, !isMap && !slices.Contains(Kinds(), policy):
			keep = append(keep, policy)
		default:
			added = append(added, scenarios.Override{Path: "policies.+", Value: policy, Flag: "--policy " + policy})
		}
	}
	return keep, added
}

// WithData returns files and, under their names, the data files of a scenario (traces, values), so that the scenario
// loads from the folder of the files. One whose name, in upper or lower case, is that of a file or folder there, or in
// also, is left out; so is one that cannot be read any more, which is an error beside the other files.
func WithData(files []results.File, sc *scenarios.Scenario, also ...string) (all []results.File, err error) {
	top := func(path string) string { return strings.ToLower(strings.Split(path, "/")[0]) }
	taken := append(also, plain.Map(files, func(f results.File) string { return top(f.Path) })...)
	clean := func(name string) string { return path.Clean(filepath.ToSlash(name)) }
	for _, name := range plain.Distinct(plain.Map(sc.Files(), clean)) {
		if slices.Contains(taken, top(name)) {
			continue
		}
		var data []byte
		file, failed := sc.OpenFile(name)
		if failed == nil {
			data, failed = io.ReadAll(file)
			failed = cmp.Or(failed, file.Close())
		}
		if err = errors.Join(err, failed); failed == nil {
			files = append(files, results.File{Path: name, Data: data})
		}
	}
	return files, err
}

// Kinds returns the names of all kinds of policies that this program knows, such as fifo.
func Kinds() []string {
	var names []string
	for _, kind := range scenarios.PolicyKinds() {
		names = append(names, kind.Name)
	}
	return names
}

// PolicyNames returns the labels and kinds of the scenario's policies, for --policy, each once.
func PolicyNames(scenario *scenarios.Scenario) []string {
	var names []string
	for _, p := range scenario.Policies {
		names = append(names, p.Label, p.Kind)
	}
	return plain.Distinct(names)
}

// OpenError returns an error of opening a file of the command line with an exit code: ExitIO if it could not be read,
// ExitUsage for others, such as a name that no file has or can have, or that of a folder.
func OpenError(err error) error {
	none := []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG}
	_, ok := errors.AsType[*fs.PathError](err)
	if ok && !slices.ContainsFunc(none, func(e error) bool { return errors.Is(err, e) }) {
		return ui.Fail(ui.ExitIO, err)
	}
	return ui.Fail(ui.ExitUsage, err)
}
