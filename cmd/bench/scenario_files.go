package bench

import (
	"os"
	"runtime"
	"slices"
	"time"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/report"
	"qsim/scenarios"
)

// writeSummary writes the files of a summary in the format of qsim run, for qsim compare, with the charts that draw
// returns and further files, into a new folder below name; nothing without --out.
func (s *session) writeSummary(name string, sc *scenarios.Scenario, summary *results.Summary,
	draw func() ([]report.Figure, error), more ...results.File) error {
	if s.flags.out == "" {
		return nil
	}
	var files, drawn []results.File
	figures, err := draw()
	if err == nil {
		drawn, err = report.Files("charts", figures)
	}
	if err == nil {
		files, err = results.Files(summary, s.runInfo(), sc.Resolved())
	}
	if err != nil {
		return ui.IOError("write results", err)
	}
	return s.writeFiles(name, summary.ConfigHash, slices.Concat(files, more, drawn))
}

// writeFiles writes files into a new folder below name, and prints where it is.
func (s *session) writeFiles(name, hash string, files []results.File) error {
	folder, err := results.Write(results.Place{Out: s.flags.out, Scenario: name, ConfigHash: hash, Start: s.begun}, files)
	if err != nil {
		return ui.IOError("write results", err)
	}
	s.console.Note("files in %s", folder)
	return nil
}

// runInfo returns the content of run.json: the facts that may differ between two equal runs. It holds no command line,
// which may contain a password.
func (s *session) runInfo() results.RunInfo {
	here, _ := os.Getwd() // for people only; "" means unknown
	return results.RunInfo{Started: s.begun.UTC(), Took: time.Since(s.begun).Seconds(), Command: []string{"qbench"},
		Folder:  here,
		Version: ui.Version, Commit: ui.Commit(), GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPUs: runtime.GOMAXPROCS(0)}
}
