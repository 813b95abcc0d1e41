package ui

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is the version of the engine and of results: equal inputs give equal results under one version.
const Version = "0.1.0"

// NewVersion returns the command that prints version, commit and Go version; arguments checks that it gets no argument.
func NewVersion(arguments cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print version, commit and Go version",
		GroupID: "about",
		Args:    arguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), versionLine(c.Root()))
			return IOError("write result", err)
		},
	}
}

func versionLine(root *cobra.Command) string {
	return fmt.Sprintf("%s %s %s %s %s/%s", root.Name(), Version, Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Commit returns the commit that this binary was built from, marked if the checkout had changes, or "unknown" where the
// build does not contain it.
func Commit() string {
	revision := cmp.Or(buildSetting("vcs.revision"), "unknown")
	revision = revision[:min(12, len(revision))]
	if buildSetting("vcs.modified") == "true" {
		revision += "+changes"
	}
	return revision
}

// buildSetting returns a setting of the build of this program; "" if the program does not contain it.
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
