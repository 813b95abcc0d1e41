package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is that of qsim, whose engine this measures.
const version = "0.1.0"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print version, commit and Go version",
		GroupID: "about",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "qbench %s %s %s %s/%s\n", version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return ioError("write result", err)
		},
	}
}

// commit is the commit that this binary was built from, marked if the checkout had
// changes, or "unknown" where the build was not told.
func commit() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, changed := "unknown", ""
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case "vcs.modified":
			if setting.Value == "true" {
				changed = "+changes"
			}
		}
	}
	return revision + changed
}
