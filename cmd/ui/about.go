package ui

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// AddAbout adds help, completion and --version to the root of a program, in the group "about". Both commands report
// unknown arguments as usage errors.
func AddAbout(root *cobra.Command) {
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		switch command.Name() {
		case "help":
			command.Short = "explain a command"
			explain := command.Run
			command.Run, command.RunE = nil, func(c *cobra.Command, words []string) error {
				found, rest, err := root.Find(words)
				if err != nil || found == nil || len(words) > 0 && (found == root || len(rest) > 0) {
					return UnknownCommand(nil)(root, words[len(words)-max(1, len(rest)):])
				}
				explain(c, words)
				return nil
			}
		case "completion":
			command.Short = "print a script that completes commands in a shell"
			var shells []string
			for _, shell := range command.Commands() {
				shells = append(shells, shell.Name())
			}
			command.Args = cobra.ArbitraryArgs
			command.RunE = func(c *cobra.Command, words []string) error {
				if len(words) == 0 {
					return c.Help()
				}
				slices.Sort(shells)
				return UsageError("unknown shell %s: want %s", words[0], strings.Join(shells, ", "))
			}
		}
	}
	root.Version = strings.TrimPrefix(versionLine(root), root.Name()+" ")
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
}
