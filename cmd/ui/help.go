package ui

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"qsim/results/plain"
	layout "qsim/results/text"
)

// flagGroup is the key of the annotation (of pflag and cobra) that holds headings of flags in help texts.
const flagGroup = "group"

// Group puts flags of a command, by name, under a heading in its help text. Headings appear in the order of calls.
func Group(c *cobra.Command, heading string, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, flagGroup, []string{heading}); err != nil {
			panic(fmt.Sprintf("ui: group of a flag that is not there: %v", err))
		}
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[flagGroup] += heading + "\n"
}

// Headings returns the headings over flags in a command's help text, in order.
func Headings(c *cobra.Command) []string {
	return strings.FieldsFunc(c.Annotations[flagGroup], func(letter rune) bool { return letter == '\n' })
}

// Heading returns the heading over a flag in the help text, "" if it has none.
func Heading(f *pflag.Flag) string { return strings.Join(f.Annotations[flagGroup], "") }

// setHelp makes root and all its commands print help texts in the format of this package.
func setHelp(root *cobra.Command) {
	root.SetUsageFunc(func(c *cobra.Command) error {
		writeUsage(c.ErrOrStderr(), c)
		return nil
	})
	root.SetHelpFunc(printHelp)
	root.InitDefaultHelpFlag()
}

func printHelp(c *cobra.Command, _ []string) {
	var all bytes.Buffer
	fmt.Fprintf(&all, "%s\n\n", fit(cmp.Or(c.Long, c.Short), Width()))
	writeUsage(&all, c)
	if _, err := c.OutOrStdout().Write(all.Bytes()); err != nil { // cobra takes no error of a help text
		os.Exit(int(Settle(c, IOError("write help", err))))
	}
}

func writeUsage(out io.Writer, c *cobra.Command) {
	fmt.Fprintf(out, "Usage:\n  %s\n",
		plain.Either(c.HasAvailableSubCommands(), c.CommandPath()+" COMMAND [flags]", c.UseLine()))
	if c.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n%s\n", fit(c.Example, Width()))
	}
	groups := c.Groups()
	if len(groups) == 0 && c.HasAvailableSubCommands() {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s:\n", g.Title)
		for _, command := range c.Commands() {
			if command.GroupID == g.ID && (command.IsAvailableCommand() || command.Name() == "help") {
				fmt.Fprintf(out, "  %-12s %s\n", command.Name(), layout.Indented(command.Short, Width(), 15))
			}
		}
	}
	for _, heading := range Headings(c) {
		writeFlags(out, c, heading)
	}
	writeFlags(out, c, "")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(out, "\n%s COMMAND --help says more about a command.\n", c.CommandPath())
	}
}

// writeFlags writes the part of a command's help text with the flags under a heading; "": those without, as "Flags".
func writeFlags(out io.Writer, c *cobra.Command, heading string) {
	chosen := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	chosen.SortFlags = false
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if Heading(f) == heading {
			chosen.AddFlag(f)
		}
	})
	if !chosen.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(out, "\n%s:\n%s", cmp.Or(heading, "Flags"), chosen.FlagUsagesWrapped(Width()))
}

// fit returns help text wrapped at width columns; 0: as it is. Unindented lines are joined to paragraphs; indented ones
// stay lines, and are continued with more indentation.
func fit(text string, width int) string {
	if width == 0 {
		return text
	}
	var out []string
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out, paragraph = append(out, layout.Wrapped(paragraph, width)...), ""
		}
	}
	for _, line := range strings.Split(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		if words != "" && indent == 0 {
			paragraph = strings.TrimSpace(paragraph + " " + line)
			continue
		}
		flush()
		switch {
		case words == "":
			out = append(out, "")
		case utf8.RuneCountInString(line) <= width:
			out = append(out, line)
		default:
			out = append(out, line[:indent]+explained(words, width, indent))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// explained returns a line of help text that is too wide, without its indent, broken: after a term and two spaces or
// more comes its explanation, which goes on the next line, or beside a short term.
func explained(words string, width, indent int) string {
	what, rest, found := strings.Cut(words, "  ")
	explanation := strings.TrimLeft(rest, " ")
	beside := utf8.RuneCountInString(words) - utf8.RuneCountInString(explanation)
	switch {
	case !found:
		return layout.Indented(words, width, indent+4)
	case beside <= 12:
		return words[:len(words)-len(explanation)] + layout.Indented(explanation, width, indent+beside)
	}
	if utf8.RuneCountInString(what) > width-indent {
		what = layout.Indented(what, width, indent+4)
	}
	return what + "\n" + strings.Repeat(" ", indent+4) + layout.Indented(explanation, width, indent+4)
}
