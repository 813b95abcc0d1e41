package ui

import (
	"strings"

	"github.com/spf13/cobra"

	"qsim/results/plain"
)

// UnknownCommand returns an argument check for a root command: a word that is no command is an error that names the
// most similar command. Where no name is near, ask, which may be nil, returns the command line that the word may stand
// for, "" if there is none.
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
		wrong := arguments[0]
		meant := plain.Nearest(wrong, names)
		if meant == "" && ask != nil {
			meant = ask(wrong)
		}
		if meant != "" {
			return UsageError("unknown command %s; did you mean %s?", wrong, meant)
		}
		return UsageError("unknown command %s; %s --help lists them", wrong, root.Name())
	}
}

// Unknown returns a usage error for a word that is not in names, with the most similar name.
func Unknown(what, word string, names []string) error {
	if near := plain.Nearest(word, names); near != "" {
		return UsageError("unknown %s %s; did you mean %s?", what, word, near)
	}
	if len(names) > 12 {
		return UsageError("unknown %s %s", what, word)
	}
	return UsageError("unknown %s %s: want %s", what, word, strings.Join(names, ", "))
}
