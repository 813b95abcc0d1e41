package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"qsim/cmd/cli"
	"qsim/results"
	"qsim/results/report"
	"qsim/scenarios/sweep"
)

func newMerge() *cobra.Command {
	f := runFlags{format: "table", color: "auto"}
	missing := false
	c := &cobra.Command{
		Use:     "merge DIR",
		Short:   "join the shards of a sweep",
		GroupID: "scenarios",
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
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) != 1 {
				return cli.UsageError("merge which folder? Name the one that qsim sweep --shard I/N -o DIR wrote to")
			}
			return nil
		},
		RunE: func(c *cobra.Command, names []string) error {
			if err := cli.ReadEnvironment(c); err != nil {
				return err
			}
			if missing {
				return printMissing(c, names[0])
			}
			return merge(c, names[0], &f)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&missing, "missing", false, "print which shards are not there")
	flags.VarP(&f.format, "format", "", "of the result: table, markdown, csv or json")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "nothing on standard error but errors")
	cli.Group(c, "Output", "missing", "format", "quiet")
	return c
}

func printMissing(c *cobra.Command, dir string) error {
	if err := isFolder(dir); err != nil {
		return err
	}
	shards, damaged, err := sweep.Missing(dir)
	if err != nil {
		return sweepError(err)
	}
	for _, err := range damaged {
		fmt.Fprintf(c.ErrOrStderr(), "qsim: %v\n", err)
	}
	if len(shards) == 0 {
		return nil
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), sweep.List(shards))
	return cli.IOError("write result", err)
}

func isFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return cli.UsageError("there is no folder %s", dir)
	case !info.IsDir():
		return cli.UsageError("%s is not a folder", dir)
	}
	return nil
}

func merge(c *cobra.Command, dir string, f *runFlags) error {
	if err := isFolder(dir); err != nil {
		return err
	}
	s := &session{flags: f, stdout: c.OutOrStdout(), console: cli.NewConsole(c, f.quiet)}
	cli.WarnOfVariables(c, s.console)
	merged, err := sweep.Merge(dir)
	if err != nil {
		return sweepError(err)
	}
	if err := placeSweep(dir, merged); err != nil {
		return err
	}
	return s.printSweep(merged.Sweep, dir, shardCount(merged.Shards))
}

func shardCount(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return fmt.Sprintf("%d shards", n)
}

// placeSweep writes the files of a sweep.
func placeSweep(dir string, merged *sweep.Merged) error {
	files, err := merged.Files()
	if err != nil {
		return cli.IOError("write sweep", err)
	}
	figures, err := report.SweepCharts(merged.Sweep)
	if err != nil {
		return cli.IOError("write sweep", err)
	}
	drawn, err := report.Files("charts", figures)
	if err != nil {
		return cli.IOError("write sweep", err)
	}
	files = append(files, drawn...)
	return cli.IOError("write sweep", sweep.Place(dir, files))
}

// printSweep prints a sweep, or a part of it, in the format asked for.
func (s *session) printSweep(all *results.Sweep, path, note string) error {
	var text bytes.Buffer
	options := results.TableOptions{Path: shown(path), Note: note}
	var err error
	switch s.flags.format {
	case "json":
		var data []byte
		data, err = sweep.MarshalSweep(all)
		text.Write(data)
	case "csv":
		options.Format = results.CSV
		err = results.WriteSweep(&text, all, options)
	case "markdown":
		options.Format = results.Markdown
		err = results.WriteSweep(&text, all, options)
	default:
		err = results.WriteSweep(&text, all, options)
	}
	if err != nil {
		return cli.IOError("write result", err)
	}
	if s.flags.format != "table" {
		s.console.Note("%s  %s", shown(path), note)
	}
	_, err = s.stdout.Write(text.Bytes())
	return cli.IOError("write result", err)
}
