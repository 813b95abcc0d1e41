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

// explainFlag turns an error about flags from pflag into a helpful sentence.
func explainFlag(c *cobra.Command, arguments []string, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, arguments, unknown)
	case errors.As(err, &invalid):
		return UsageError("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(),
			wantedForm(invalid.GetFlag(), invalid.Unwrap()))
	case errors.As(err, &missing):
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

// wantedForm replaces the error of a flag's parser by a description of the flag's valid values.
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
