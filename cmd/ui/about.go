package ui

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/results/plain"
)

// Add adds commands to the root command of a program, under a heading of its help text.
func Add(root *cobra.Command, heading string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading})
	for _, c := range commands {
		c.GroupID = heading
	}
	root.AddCommand(commands...)
}

// SetUp completes the root command of a program, to which its other commands have been added: flags are also read from
// the environment, and the commands version, docs, help and completion, and the flag --version, are added.
func SetUp(root *cobra.Command) {
	cobra.EnableCommandSorting = false // they are listed in the order in which they are needed
	root.SilenceErrors, root.SilenceUsage = true, true
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return ReadEnvironment(c) }
	addAbout(root)
	setHelp(root)
}

// addAbout adds the commands about a program itself and the flag --version to its root command.
func addAbout(root *cobra.Command) {
	const heading = "About"
	Add(root, heading, newVersion(), newDocs())
	root.SetHelpCommandGroupID(heading)
	root.SetCompletionCommandGroupID(heading)
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
			shells := plain.Map(command.Commands(), (*cobra.Command).Name)
			for _, shell := range command.Commands() {
				write := shell.RunE
				shell.RunE = func(c *cobra.Command, words []string) error { return IOError("write result", write(c, words)) }
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

// Version is the version of the program and of its results: with one version, equal inputs give equal results.
const Version = "0.1.0"

// newVersion returns the command that prints version, commit and Go version.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, commit and Go version",
		Args:  NoArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return Print(c.OutOrStdout(), versionLine(c.Root())+"\n")
		},
	}
}

func versionLine(root *cobra.Command) string {
	return fmt.Sprintf("%s %s %s %s %s/%s", root.Name(), Version, Commit(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

// Commit returns 12 digits of the Git commit that this binary was built from, with "+changes" if the checkout had any;
// "unknown" if the build does not contain it.
func Commit() string {
	revision := cmp.Or(buildSetting("vcs.revision"), "unknown")
	return revision[:min(12, len(revision))] + plain.When(buildSetting("vcs.modified") == "true", "+changes")
}

// buildSetting returns the value of a build setting that Go stored in this binary, such as vcs.revision, or "".
func buildSetting(key string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range build.Settings {
			if setting.Key == key {
				return setting.Value
			}
		}
	}
	return ""
}
