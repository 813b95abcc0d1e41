package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/scenarios/study"
)

func newMerge() *cobra.Command {
	f := runFlags{format: "table"}
	missing := false
	c := &cobra.Command{
		Use:   "merge DIR",
		Short: "join the shards of a sweep",
		Long: `merge joins the shards that qsim sweep --shard I/N wrote to a folder, prints the table and
writes sweep.json, sweep.csv, sweep.yaml and charts beside them: the bytes that one process
would have written. It refuses shards of different scenarios, axes, metrics or versions, and
names those that are missing, doubled or damaged.

With --missing it prints which shards to submit again, as an array job takes them (1,3-5), or
nothing if all are there.

Exit codes:
    0  the shards are joined, or with --missing: listed
    2  the command line is wrong, or shards are missing or do not belong together
    4  reading or writing failed`,
		Example: `  qsim merge shared/sweep
  qsim merge shared/sweep --missing`,
		ValidArgsFunction: completeFolders,
		Args:              ui.Wanted(1, 1, "merge which folder? Name the one that qsim sweep --shard I/N -o DIR wrote to"),
		RunE: func(c *cobra.Command, names []string) error {
			if err := isFolder(names[0]); err != nil {
				return err
			}
			if missing {
				return printMissing(c, names[0])
			}
			return newSession(c, &f).mergeShards(names[0], "")
		},
	}
	flags := c.Flags()
	flags.BoolVar(&missing, "missing", false, "print the shards that are missing")
	addFormat(c, &f.format)
	ui.Group(c, "Output", "missing", "format")
	ui.AddTerminal(c, &f.Terminal, "quiet", "color")
	return c
}

func printMissing(c *cobra.Command, dir string) error {
	shards, damaged, err := study.Missing(dir)
	if err != nil {
		return studyError("read shards", err)
	}
	for _, err := range damaged {
		fmt.Fprintf(c.ErrOrStderr(), "qsim: %v\n", err)
	}
	if len(shards) == 0 {
		return nil
	}
	return ui.Print(c.OutOrStdout(), study.List(shards)+"\n")
}

func isFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return ui.UsageError("there is no folder %s", dir)
	case !info.IsDir():
		return ui.UsageError("%s is not a folder", dir)
	}
	return nil
}

// mergeShards joins the shard files (parts of a sweep) in a folder, writes the files of the whole sweep beside them,
// and prints the sweep, followed by note or, if that is empty, by the number of shards.
func (s *session) mergeShards(dir, note string) error {
	merged, err := study.Merge(dir)
	if err != nil {
		return studyError("read shards", err)
	}
	result := s.sweepOutput(merged.Sweep)
	figures, err := report.SweepCharts(merged.Sweep)
	if err == nil {
		err = store(result, dir, "sweep", figures, results.File{Path: "sweep.yaml", Data: merged.Scenario})
	}
	if err != nil {
		return ui.IOError("write sweep", err)
	}
	return s.print(result, dir, cmp.Or(note, plain.Plural(merged.Shards, "shard")))
}
