package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/text"
	"qsim/scenarios"
)

// annotation is a diagnostic of a scenario in the JSON that editors and CI systems read.
type annotation struct {
	File     string `json:"file"`
	Line     int    `json:"line"`   // from 1; 0: about the file as a whole, or about a flag
	Column   int    `json:"column"` // from 1, in characters
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Help     string `json:"help,omitempty"`
}

// annotate prints the diagnostics of scenarios in a machine-readable format for editors and CI systems.
func annotate(c *cobra.Command, names []string, f *scenarioFlags, format string) error {
	sets, err := f.overrides(c)
	if err != nil {
		return err
	}
	if names, err = unfold(names, c.ErrOrStderr()); err != nil {
		return err
	}
	all, worst := []annotation{}, ui.ExitMet
	for _, name := range names {
		shown, src, err := scenarios.Open(name)
		if err != nil {
			all = append(all, annotation{File: name, Severity: "error", Message: err.Error()})
			worst = ui.Worse(worst, ui.Settle(c, input.OpenError(err)))
			continue
		}
		_, problems := scenarios.Load(shown, src, sets)
		if len(problems.Errors()) > 0 || f.strict && len(problems) > 0 {
			worst = ui.Worse(worst, ui.ExitUsage)
		}
		for _, d := range problems {
			message := d.Message
			if d.Set != "" {
				message = d.Set + ": " + message
			}
			all = append(all, annotation{shown, d.Line, d.Col, d.Severity.String(), message, d.Help})
		}
	}
	output := ui.Output{"json": ui.JSON(all, "  "), "github": func(w io.Writer) error { return writeGithub(w, all) }}
	if err := output.Print(c.OutOrStdout(), format); err != nil {
		return err
	}
	if worst != ui.ExitMet {
		return ui.Fail(worst, nil)
	}
	return nil
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
		place = value.Replace(inWorkspace(a.File)) + place
		if _, err := fmt.Fprintf(w, "::%s file=%s::%s\n", a.Severity, place, text.Replace(message)); err != nil {
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

// annotationsOf returns an annotation for each case that fails or is unclear.
func annotationsOf(suites []text.Suite) (all []annotation) {
	for _, s := range suites {
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
	_, ended := fmt.Fprintln(file) // the next one begins a paragraph
	return cmp.Or(err, ended, file.Close())
}
