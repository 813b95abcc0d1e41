package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
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

// annotate prints the diagnostics of scenarios in a format for programs that show them beside the text.
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
			place = fmt.Sprintf(",line=%d,col=%d", a.Line, a.Column)
		}
		message := a.Message
		if a.Help != "" {
			message += "\n" + a.Help
		}
		if _, err := fmt.Fprintf(w, "::%s file=%s%s::%s\n", a.Severity, value.Replace(a.File), place, text.Replace(message)); err != nil {
			return err
		}
	}
	return nil
}
