package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	layout "qsim/results/text"
)

// flagGroup is the annotation that puts a flag under a heading of the help text.
const flagGroup = "group"

// Group puts the named flags of c, which must be there, under a heading; headings are
// printed in the order in which this is called.
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

// Headings are those of the flags of c, in the order in which they are printed.
func Headings(c *cobra.Command) []string {
	return strings.FieldsFunc(c.Annotations[flagGroup], func(letter rune) bool { return letter == '\n' })
}

// Heading is the one that a flag is under, or "".
func Heading(f *pflag.Flag) string { return strings.Join(f.Annotations[flagGroup], "") }

// SetHelp gives root and the commands below it the help texts of this package.
func SetHelp(root *cobra.Command) {
	root.SetUsageFunc(printUsage)
	root.SetHelpFunc(printHelp)
	root.InitDefaultHelpFlag()
}

// printHelp answers --help, on standard output.
func printHelp(c *cobra.Command, _ []string) {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	var all bytes.Buffer
	fmt.Fprintf(&all, "%s\n\n", fit(text, Width()))
	writeUsage(&all, c)
	if _, err := c.OutOrStdout().Write(all.Bytes()); err != nil { // cobra takes no error of a help text
		os.Exit(int(Settle(c, IOError("write help", err))))
	}
}

// printUsage is for cobra, which asks for it where it prints a usage by itself.
func printUsage(c *cobra.Command) error {
	writeUsage(c.ErrOrStderr(), c)
	return nil
}

func writeUsage(out io.Writer, c *cobra.Command) {
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(out, "Usage:\n  %s COMMAND [flags]\n", c.CommandPath())
	} else {
		fmt.Fprintf(out, "Usage:\n  %s\n", c.UseLine())
	}
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

// writeFlags prints the flags of one heading; those of none come under "Flags".
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
	if heading == "" {
		heading = "Flags"
	}
	fmt.Fprintf(out, "\n%s:\n%s", heading, chosen.FlagUsagesWrapped(Width()))
}

// fit breaks a text into lines of width columns, 0: it stays as it is. Lines that are indented stay lines of their own,
// and what is broken off them is indented further.
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
		switch indent := len(line) - len(words); {
		case words == "":
			flush()
			out = append(out, "")
		case indent == 0:
			paragraph = strings.TrimSpace(paragraph + " " + line)
		case utf8.RuneCountInString(line) <= width:
			flush()
			out = append(out, line)
		default:
			flush()
			out = append(out, line[:indent]+explained(words, width, indent))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// explained breaks a line that has been indented, and may be something with its explanation behind two spaces or more:
// that begins below the former, or beside it if it is short.
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
