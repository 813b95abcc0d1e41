package ui

import (
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
)

// UnknownCommand complains about an argument of a root command where a command should be,
// and says which one was probably meant. Where no name is near, it asks for the command
// line that the word may have been meant for, "" if there is none; ask may be nil.
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
		meant := Nearest(wrong, names)
		if meant == "" && ask != nil {
			meant = ask(wrong)
		}
		if meant != "" {
			return UsageError("unknown command %s; did you mean %s?", wrong, meant)
		}
		return UsageError("unknown command %s; %s --help lists them", wrong, root.Name())
	}
}

// Nearest is the name that word was probably meant to be, or "". Of names equally far
// it is the one that is as long: letters are swapped more often than lost.
func Nearest(word string, names []string) string {
	best, least := "", 2*(1+len(word)/3)+1
	for _, name := range names {
		distance := 2 * levenshtein.ComputeDistance(word, name)
		if len(word) >= 2 && strings.HasPrefix(name, word) {
			distance = 2 // cut short
		}
		if len(name) != len(word) {
			distance++
		}
		if distance <= least && (best == "" || distance < least) {
			best, least = name, distance
		}
	}
	return best
}

// Unknown complains about a word that is none of names.
func Unknown(what, word string, names []string) error {
	if near := Nearest(word, names); near != "" {
		return UsageError("unknown %s %s; did you mean %s?", what, word, near)
	}
	if len(names) > 12 {
		return UsageError("unknown %s %s", what, word)
	}
	return UsageError("unknown %s %s: want %s", what, word, strings.Join(names, ", "))
}
