package ui

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"qsim/results/plain"
)

// UnknownCommand returns the Args of a root command: a word that is no command is an error, which suggests the most
// similar command or, if none is similar, the command line that ask returns for the word. ask may be nil.
func UnknownCommand(ask func(word string) string) cobra.PositionalArgs {
	return func(root *cobra.Command, arguments []string) error {
		if len(arguments) == 0 {
			return nil
		}
		var names []string
		for _, command := range root.Commands() {
			if command.IsAvailableCommand() || command.Name() == "help" {
				names = append(names, command.Name())
			}
		}
		wrong, otherwise := arguments[0], "; "+root.Name()+" --help lists them"
		if ask != nil && ask(wrong) != "" {
			otherwise = "; did you mean " + ask(wrong) + "?"
		}
		return UsageError("unknown command %s%s", wrong, Meant(wrong, names, otherwise))
	}
}

// Unknown returns the usage error "unknown WHAT WORD"; it suggests the most similar of names, which are valid.
func Unknown(what, word string, names []string) error {
	choice := plain.When(len(names) <= 12, ": want "+strings.Join(names, ", "))
	return UsageError("unknown %s %s%s", what, word, Meant(word, names, choice))
}

// Meant returns the end of an error text about a word that is not in names: "; did you mean NAME?" with the most
// similar one or, if none is similar, otherwise.
func Meant(word string, names []string, otherwise string) string {
	if near := plain.Nearest(word, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return otherwise
}

// explainFlag returns pflag's error about a flag of command c as a usage error with a better text and a suggestion.
func explainFlag(c *cobra.Command, arguments []string, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(c, arguments, unknown)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		return UsageError("--%s %s: %w", f.Name, invalid.GetValue(), wantedForm(f, invalid.Unwrap()))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return UsageError("--%s needs a value; %s --help explains it", missing.GetFlag().Name, c.CommandPath())
	}
	return UsageError("%w", err)
}

func unknownFlag(c *cobra.Command, arguments []string, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	if !c.HasParent() {
		// The flag may belong to a command that was misspelled or forgotten.
		at := slices.IndexFunc(arguments, func(argument string) bool { return !strings.HasPrefix(argument, "-") })
		if at >= 0 {
			if err := c.ValidateArgs(arguments[at : at+1]); err != nil {
				return err
			}
		}
	}
	if unknown.GetSpecifiedShortnames() != "" {
		if f := c.Flags().ShorthandLookup(strings.ToLower(name)); f != nil {
			return UsageError("unknown flag -%s; did you mean -%s (--%s)?", name, f.Shorthand, f.Name)
		}
		return UsageError("unknown flag -%s; %s --help lists them", name, c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := plain.Nearest(name, names); near != "" {
		return UsageError("unknown flag --%s; did you mean --%s?", name, near)
	}
	return UsageError("unknown flag --%s; %s --help lists them", name, c.CommandPath())
}

// wantedForm returns an error of parsing a flag's value as the end of a sentence, such as "want a whole number".
func wantedForm(f *pflag.Flag, err error) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("is out of range")
	case !errors.Is(err, strconv.ErrSyntax):
		return err
	case f.Value.Type() == "bool":
		return errors.New("want true or false")
	}
	return errors.New("want a whole number")
}
