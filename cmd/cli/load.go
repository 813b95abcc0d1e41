package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/estimate"
)

// loaded is a scenario as it was loaded, with its overrides.
type loaded = input.Scenario

// loadOnly is loadAll for a command that takes one scenario: the name may be that of a folder, if one is in it.
func loadOnly(c *cobra.Command, names []string, f *scenarioFlags, stderr, notes io.Writer) (loaded, error) {
	all, err := loadAll(c, names, f, stderr, notes)
	if err != nil {
		return loaded{}, err
	}
	if len(all) > 1 {
		return loaded{}, ui.UsageError("%s takes one scenario, and %s has %d", c.Name(), names[0], len(all))
	}
	return all[0], nil
}

// loadAll loads every scenario before the first is run, so that a mistake in the last one is reported at once. Errors
// go to stderr and warnings to notes; the returned failure, if an error prevents a run, prints nothing more, and comes
// with the scenarios and their diagnostics.
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
			if failure := (*ui.Failure)(nil); !errors.As(err, &failure) || failure.Err != nil {
				l.Diagnostics = append(l.Diagnostics, diagnostics.Diagnostic{Severity: diagnostics.Error, Message: err.Error()})
			}
		}
		all = append(all, l)
	}
	return all, ended(worst)
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

// loadOne loads a scenario with the overrides given, and with the policies and the strictness of f.
func loadOne(name string, overrides []scenarios.Override, f *scenarioFlags, stderr, notes io.Writer) (loaded, error) {
	return input.Load(name, input.Options{Sets: overrides, Policies: f.policies, Strict: f.strict, Errors: stderr,
		Notes: notes})
}

// isScenario reports whether a file or built-in scenario of that name can be opened.
func isScenario(name string) bool {
	_, _, err := scenarios.Open(name)
	return err == nil
}

func newValidate() *cobra.Command {
	var f scenarioFlags
	format := "table"
	c := &cobra.Command{
		Use:     "validate SCENARIO...",
		Short:   "check scenarios without running them",
		GroupID: "write",
		Long: `validate reads scenarios as run does and prints all errors and warnings, each with its
position and, where possible, a suggestion. It exits with 2 if there is an error, or with
--strict a warning. A folder stands for the scenarios in it, - for standard input.

With --format json it prints a list of {file, line, column, severity, message, help} for programs, with
--format github the annotations of a workflow: ::error file=...`,
		Example: `  qsim validate my.yaml
  qsim validate --strict scenarios/*.yaml
  qsim validate my.yaml --set engine.workers=80
  qsim validate scenarios --format github`,
		ValidArgsFunction: completeScenarios,
		Args:              atLeastOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			ui.WarnOfVariables(c, c.ErrOrStderr())
			if format != "table" {
				return annotate(c, names, &f, format)
			}
			all, err := loadAll(c, names, &f, c.ErrOrStderr(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			for _, l := range all {
				s := l.Scenario
				size := estimate.Of(s)
				if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: ok: %s, config %s; about %s jobs at once, %s\n",
					l.Name, timesSeeds(s), s.ConfigHash(), plain.Grouped(plain.Digits(size.Jobs, 2)),
					inMemory(size.Bytes)); err != nil {
					return ui.IOError("write result", err)
				}
			}
			return nil
		},
	}
	addScenarioFlags(c, "What to check", &f)
	c.Flags().Lookup("strict").Usage = "warnings are errors"
	ui.AddChoice(c, &format, "format", "FORMAT", "print `FORMAT`: table, json or github", "table", "json", "github")
	ui.Group(c, "Output", "format")
	return c
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

// annotation is a diagnostic of a scenario in JSON, for editors and CI systems.
type annotation struct {
	File     string `json:"file"`   // path of the scenario; empty: the command line
	Line     int    `json:"line"`   // line from 1; 0: the diagnostic is about the whole file, or a flag
	Column   int    `json:"column"` // column from 1, in characters
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Help     string `json:"help,omitempty"`
}

// annotate loads scenarios and prints their diagnostics in a machine-readable format for editors and CI systems.
func annotate(c *cobra.Command, names []string, f *scenarioFlags, format string) error {
	names, err := unfold(names, c.ErrOrStderr())
	if err != nil {
		return err
	}
	loaded, err := loadAll(c, names, f, io.Discard, io.Discard)
	if err != nil && loaded == nil {
		return err
	}
	all := diagnosed(loaded)
	output := ui.Output{"json": ui.JSON(all, "  "), "github": func(w io.Writer) error { return writeGithub(w, all) }}
	return cmp.Or(output.Print(c.OutOrStdout(), format), err)
}

func diagnosed(scenarios []loaded) []annotation {
	all := []annotation{}
	for _, l := range scenarios {
		for _, d := range l.Diagnostics {
			message := d.Message
			if d.Set != "" {
				message = d.Set + ": " + message
			}
			all = append(all, annotation{l.Name, d.Line, d.Col, d.Severity.String(), message, d.Help})
		}
	}
	return all
}

func unloaded(scenarios []loaded) (all []text.Suite) {
	for _, l := range scenarios {
		if l.Scenario == nil {
			var why strings.Builder
			_ = l.Diagnostics.Render(&why, l.Name, nil) // a Builder does not fail
			all = append(all, text.Suite{Name: l.Name, File: l.Name, Error: why.String()})
		}
	}
	return all
}

// writeGithub prints annotations as workflow commands: https://docs.github.com/actions/reference/workflow-commands.
func writeGithub(w io.Writer, all []annotation) error {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, a := range all {
		place := ""
		if a.Line > 0 {
			place = fmt.Sprintf(",line=%d", a.Line)
		}
		if a.Column > 0 {
			place += fmt.Sprintf(",col=%d", a.Column)
		}
		message := a.Message
		if a.Help != "" {
			message += "\n" + a.Help
		}
		subject := "file"
		if info, err := os.Stat(a.File); err == nil && info.IsDir() { // a stored result has no lines to annotate
			subject = "title"
		}
		place = " " + subject + "=" + value.Replace(inWorkspace(a.File)) + place
		if a.File == "" {
			place = ""
		}
		if _, err := fmt.Fprintf(w, "::%s%s::%s\n", a.Severity, place, text.Replace(message)); err != nil {
			return err
		}
	}
	return nil
}

// inWorkspace returns the path of a file relative to the checkout of a workflow, as annotations need it.
func inWorkspace(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	absolute, err := filepath.Abs(file)
	if _, missing := os.Stat(absolute); root == "" || err != nil || missing != nil {
		return file
	}
	if relative, err := filepath.Rel(root, absolute); err == nil && filepath.IsLocal(relative) {
		return filepath.ToSlash(relative)
	}
	return file
}

// annotationsOf returns an annotation for each case that fails or is unclear, and each suite without cases.
func annotationsOf(suites []text.Suite) (all []annotation) {
	for _, s := range suites {
		if s.Error != "" {
			first, _, _ := strings.Cut(s.Error, "\n")
			all = append(all, annotation{File: s.File, Severity: "error", Message: first})
		}
		for i := range s.Cases {
			c := &s.Cases[i]
			severity := "error"
			switch {
			case !c.Failed && c.Outcome == results.Unclear:
				severity = "warning"
			case !c.Failed:
				continue
			}
			all = append(all, annotation{File: s.File, Line: c.Line, Severity: severity, Message: c.String()})
		}
	}
	return all
}

// stepSummary appends the output of write to the summary of a workflow's step, if there is one.
func stepSummary(write func(w io.Writer) error) error {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	err = write(file)
	_, ended := fmt.Fprintln(file) // ends the paragraph of this command's output
	return cmp.Or(err, ended, file.Close())
}

// judging lists the further formats of commands with verdicts: annotations of a GitHub workflow, and JUnit XML.
var judging = []string{"github", "junit"}

// judges makes a command print in these formats an error that kept it from any verdict, too: continuous integration
// reads a test case with an error, or an annotation, and not an empty file. The exit code is that of the error.
func judges(c *cobra.Command, format *string) *cobra.Command {
	check, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, names []string) error { return unjudged(c, *format, "", check(c, names)) }
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		rest := cobra.Command{FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}} // after the wrong one no flag was read
		rest.Flags().StringVar(format, "format", *format, "")
		_ = rest.ParseFlags(os.Args[1:])
		return unjudged(c, *format, "", c.Parent().FlagErrorFunc()(c, err))
	})
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		return unjudged(c, *format, "", ui.ReadEnvironment(c))
	}
	c.RunE = func(c *cobra.Command, names []string) error {
		out, said := &witness{to: c.OutOrStdout()}, &witness{to: c.ErrOrStderr()}
		if slices.Contains(judging, *format) {
			c.SetOut(out)
			c.SetErr(said)
		}
		err := run(c, names)
		if out.text.Len() > 0 {
			return err
		}
		return unjudged(c, *format, said.text.String(), err)
	}
	return c
}

// unjudged returns err after printing it, if it is one, in a format of judging. said is the text on standard error,
// used for an error without a text.
func unjudged(c *cobra.Command, format, said string, err error) error {
	if err == nil || !slices.Contains(judging, format) {
		return err
	}
	if failure := (*ui.Failure)(nil); !errors.As(err, &failure) || failure.Err != nil {
		said = err.Error()
	}
	failed := []text.Suite{{Name: c.CommandPath(), Error: said}}
	ui.Settle(c, ui.Output{
		"junit":  func(w io.Writer) error { return text.WriteJUnit(w, failed) },
		"github": func(w io.Writer) error { return writeGithub(w, annotationsOf(failed)) },
	}.Print(c.OutOrStdout(), format))
	return err
}

// witness is a writer that copies all writes to another writer.
type witness struct {
	mutex sync.Mutex
	to    io.Writer
	text  bytes.Buffer
}

// Write writes text to the other writer and keeps it.
func (w *witness) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.text.Write(text)
	return w.to.Write(text)
}
