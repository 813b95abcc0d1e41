package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/scenarios/pool"
)

const (
	reportFile = "report.html" // name of the report in the folder of a run
	indexFile  = "index.html"
)

func newReport() *cobra.Command {
	var open bool
	within := float64(results.DefaultSameWithin)
	var out string
	c := &cobra.Command{
		Use:   "report DIR... [flags]",
		Short: "draw charts and report again from stored results",
		Long: `report makes report.html and the charts of a run again, from what its folder holds, and
prints the path of the page. DIR is the folder of a run, that of a scenario for its latest
run, or one that holds folders of scenarios for the latest run of each.

Of several runs it also makes a page that compares their policies, with a matrix of the
verdicts: index.html in the folder that holds them all, or the file that --out names. Its
path is the last that is printed.

Exit codes:
    0  all pages are written
    2  the command line is wrong, or a folder holds no result
    4  reading or writing failed, or no browser could be started`,
		Example: `  qsim report results/runs/retry-storm --open
  qsim report results/runs                    all scenarios, with an index
  qsim report runs/a runs/b --out compared.html`,
		ValidArgsFunction: completeFolders,
		Args:              ui.Wanted(1, math.MaxInt, "report what? Name the folder of a run, as qsim run prints it"),
		RunE:              func(c *cobra.Command, names []string) error { return makeReports(c, names, open, out, within) },
	}
	flags := c.Flags()
	flags.BoolVar(&open, "open", false, "show the page in the browser")
	flags.StringVarP(&out, "out", "o", "", "of several runs: write the index to this `FILE`")
	addSameWithin(c, &within)
	ui.Group(c, "Output", "open", "same-within", "out")
	return c
}

func makeReports(c *cobra.Command, names []string, open bool, out string, within float64) error {
	var folders []string
	for _, name := range names {
		found, err := runFolders(name)
		if err != nil {
			return err
		}
		folders = plain.Distinct(folders, found)
	}
	if out != "" && len(folders) == 1 {
		return ui.UsageError("--out %s: there is one run, and its page lies in its folder; an index needs several", out)
	}
	if out != "" {
		if err := ui.IOError("write index", pageWritable(out)); err != nil {
			return err
		}
	}
	var last string // the page that was written last
	written := func(page string) error {
		last = page
		return ui.Print(c.OutOrStdout(), shown(page)+"\n")
	}
	var entries []report.IndexEntry
	for _, folder := range folders {
		stored, err := redraw(folder, c.Flags().Changed("same-within"), within)
		if err != nil {
			return err
		}
		page := filepath.Join(folder, reportFile)
		entries = append(entries, report.IndexEntry{Summary: stored.Summary, Href: page, Made: stored.Made})
		if err := written(page); err != nil {
			return err
		}
	}
	if len(entries) > 1 {
		index, err := writeIndex(entries, out)
		if err == nil {
			err = written(index)
		}
		if err != nil {
			return err
		}
	}
	if open {
		return browse(last, c.ErrOrStderr())
	}
	return nil
}

// runFolders returns the run folders that a path means: a run's, a scenario's latest, or the latest of each scenario.
func runFolders(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isScenario(name):
		return nil, ui.UsageError("%s is a scenario; qsim run %s makes its report", name, name)
	case errors.Is(err, fs.ErrNotExist):
		return nil, ui.UsageError("there is no result %s", name)
	case err != nil:
		return nil, input.OpenError(fmt.Errorf("read results: %w", err))
	case !info.IsDir():
		name = filepath.Dir(name) // the name is a file of the run
	}
	folders := []string{latest(name)}
	if folders[0] == "" {
		inside, err := os.ReadDir(name) // sorted by name
		if err != nil {
			return nil, ui.IOError("read results", err)
		}
		folders = plain.Map(inside, func(e os.DirEntry) string { return filepath.Join(name, e.Name(), "latest") })
		folders = slices.DeleteFunc(folders, func(folder string) bool { return !hasSummary(folder) })
	}
	for i := range folders {
		if folders[i], err = filepath.EvalSymlinks(folders[i]); err != nil {
			return nil, ui.IOError("read results", err)
		}
	}
	if len(folders) == 0 {
		return nil, ui.UsageError("%s has no summary.json: it is no folder of a run, nor of runs", name)
	}
	return folders, nil
}

// latest returns the folder of a run that a folder is, or else that of the latest run in it; "" if it is neither.
func latest(folder string) string {
	if hasSummary(folder) {
		return folder
	}
	folder = filepath.Join(folder, "latest")
	return plain.When(hasSummary(folder), folder)
}

func hasSummary(folder string) bool { return isFile(filepath.Join(folder, "summary.json")) }

// redraw makes the charts and the report of a stored run again. If anew is set, it first tests again which policies are
// equivalent to the baseline, in a band of ± within.
func redraw(folder string, anew bool, within float64) (*results.Stored, error) {
	stored, err := results.ReadStored(inFolder(folder))
	var files []results.File
	if err == nil {
		if anew {
			stored.Summary.FindLikeness(within)
		}
		files, err = drawn(stored)
	}
	switch {
	case errors.As(err, new(*fs.PathError)):
		return nil, ui.IOError("read results", err)
	case err != nil:
		return nil, ui.Fail(ui.ExitUsage, fmt.Errorf("%s: %w", folder, err))
	}
	if err := results.Replace(folder, files); err != nil {
		return nil, ui.IOError("write report", err)
	}
	return stored, nil
}

// inFolder returns a function that reads a file by its path below a folder.
func inFolder(folder string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, filepath.FromSlash(path))) }
}

// reader returns a function that reads a file by its path from files in memory; fs.ErrNotExist for others.
func reader(files []results.File) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		at := slices.IndexFunc(files, func(f results.File) bool { return f.Path == path })
		if at < 0 {
			return nil, fs.ErrNotExist
		}
		return files[at].Data, nil
	}
}

// drawn returns the files that are computed from the other files of a run: charts and report. They depend on nothing
// else, and so are the same whenever they are drawn.
func drawn(stored *results.Stored) (files []results.File, err error) {
	version := cmp.Or(stored.Made.Version, "of unknown version")
	figures, err := report.Charts(stored.Summary, version)
	if err != nil {
		return nil, err
	}
	var parts [3][]results.File // drawn side by side: the page, and the charts in two halves
	half := len(figures) / 2
	err = pool.Each(context.Background(), pool.Width(0), len(parts), func(_ context.Context, i int) error {
		if i < 2 {
			parts[i] = report.Files("charts", [2][]report.Figure{figures[:half], figures[half:]}[i])
			return nil
		}
		page, err := report.Page(stored.Summary, figures, version, stored.Scenario)
		parts[i] = []results.File{{Path: reportFile, Data: page}}
		return err
	})
	return slices.Concat(parts[:]...), err
}

// writeIndex writes the HTML page that compares runs to the file out, by default in the nearest common folder, and
// returns its path. The Href of each entry is the path of the run's report.
func writeIndex(entries []report.IndexEntry, out string) (string, error) {
	out = cmp.Or(out, filepath.Join(commonFolder(entries), indexFile))
	from, err := filepath.Abs(filepath.Dir(out))
	if err != nil {
		return "", ui.IOError("write index", err)
	}
	for i := range entries {
		to, err := filepath.Abs(entries[i].Href)
		if err != nil {
			return "", ui.IOError("write index", err)
		}
		if relative, err := filepath.Rel(from, to); err == nil {
			to = relative
		}
		entries[i].Href = (&url.URL{Path: filepath.ToSlash(to)}).String()
	}
	page, err := report.Index(entries)
	if err != nil {
		return "", ui.IOError("write index", err)
	}
	return out, ui.IOError("write index", writePage(out, page))
}

// pageWritable returns an error if writePage would fail.
func pageWritable(file string) error {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", file)
	}
	return results.Writable(filepath.Dir(file))
}

// writePage writes a page to a file, and makes the folder that it lies in.
func writePage(file string, page []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return results.Replace(filepath.Dir(file), []results.File{{Path: filepath.Base(file), Data: page}})
}

// commonFolder returns the nearest folder that holds the folders of all runs, whose reports are the entries' Href.
func commonFolder(entries []report.IndexEntry) string {
	common := filepath.Dir(filepath.Dir(entries[0].Href))
	for _, e := range entries {
		for up := filepath.Dir(e.Href); common != "." && common != filepath.Dir(common); common = filepath.Dir(common) {
			if relative, err := filepath.Rel(common, up); err == nil && filepath.IsLocal(relative) {
				break
			}
		}
	}
	return common
}

// browsers holds, by system, the command line that opens a file in the user's browser; on others it is xdg-open.
var browsers = map[string]string{"darwin": "open", "windows": "rundll32 url.dll,FileProtocolHandler"}

// browse opens a file, or a page at an address, in the browser. The output of the browser's command goes to notes, and
// into the error if it fails.
func browse(path string, notes io.Writer) error {
	target, err := path, error(nil)
	if !strings.Contains(path, "://") {
		if target, err = filepath.Abs(path); err != nil {
			return ui.IOError("open report", err)
		}
	}
	words := append(strings.Fields(cmp.Or(browsers[runtime.GOOS], "xdg-open")), target)
	command := exec.Command(words[0], words[1:]...)
	said, err := command.CombinedOutput()
	if err != nil { // a launcher that finds no browser prints details of launchers only
		return ui.IOError("open report", fmt.Errorf("%s: %w; the page is %s", words[0], err, path))
	}
	_, err = notes.Write(said)
	return ui.IOError("open report", err)
}
