package bench

import (
	"os"
	"runtime"
	"slices"
	"time"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/report"
	"qsim/scenarios"
)

// writeScenario writes the files of a scenario's run in the format of qsim run, for qsim compare, below a folder named
// for the store and the speed.
func (s *session) writeScenario(sc *scenarios.Scenario, settings *measure.Settings, summary *results.Summary,
	store string) error {
	if s.flags.out == "" {
		return nil
	}
	figures, err := report.Charts(settings, summary, ui.Version)
	if err != nil {
		return ui.IOError("write results", err)
	}
	return s.writeSummary(sc.Name+"-"+store+"-"+s.flags.speed.String(), sc, summary, figures)
}

// writeSummary writes the files of a summary, its charts, and further files into a new folder below name.
func (s *session) writeSummary(name string, sc *scenarios.Scenario, summary *results.Summary, figures []report.Figure,
	more ...results.File) error {
	files, err := results.Files(summary, s.runInfo(), sc.Resolved())
	if err != nil {
		return ui.IOError("write results", err)
	}
	drawn, err := report.Files("charts", figures)
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
