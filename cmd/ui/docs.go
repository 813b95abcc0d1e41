package ui

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// newDocs returns a hidden command that writes the help texts of all commands, each as a man page or a Markdown file.
func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:    "docs man|markdown DIR",
		Short:  "write man pages or Markdown of all commands",
		Hidden: true,
		Long: `docs writes the help texts of all commands to the folder DIR, a file for each: man
pages of section 1, or Markdown. Equal programs write equal bytes.`,
		Args: Wanted(2, 2, "docs takes a form and a folder, as docs man DIR"),

		ValidArgsFunction: func(_ *cobra.Command, arguments []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(arguments) == 0 {
				return []string{"man", "markdown"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, arguments []string) error {
			form := arguments[0]
			write := map[string]func(*cobra.Command, string) error{"man": writeMan, "markdown": doc.GenMarkdownTree}[form]
			if write == nil {
				return Unknown("form", form, []string{"man", "markdown"})
			}
			dir := filepath.Clean(arguments[1])
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return IOError("write documents", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true // which has the date of today
			return IOError("write documents", write(root, dir))
		},
	}
}

func writeMan(root *cobra.Command, dir string) error {
	for _, c := range root.Commands() {
		c.Flags().VisitAll(showArgument)
	}
	built := commitTime()
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Name() + " " + Version, Date: &built}, dir)
}

// showArgument changes a flag for the man page generator, so that the page shows, as help does, the name of its
// argument where the generator puts the default, and the default after the description.
func showArgument(f *pflag.Flag) {
	name, usage := pflag.UnquoteUsage(f)
	if name == "" || f.NoOptDefVal != "" {
		f.Usage = usage
		return
	}
	if !slices.Contains([]string{"", "0", "0s", "0%", "[]", "false"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	f.Usage, f.DefValue, f.Value = usage, name, shownValue{f.Value}
}

// shownValue is a flag's value that the man page generator prints without quotes.
type shownValue struct{ pflag.Value }

// Type returns a type that the man page generator does not know: of a string it would quote the value.
func (shownValue) Type() string { return "argument" }

// commitTime returns the time of the Git commit that this binary was built from, for man pages; 1970 if not known.
func commitTime() time.Time {
	at, err := time.Parse(time.RFC3339, buildSetting("vcs.time"))
	if err != nil {
		at = time.Unix(0, 0)
	}
	return at.UTC()
}
