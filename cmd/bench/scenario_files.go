package bench

import (
	"os"
	"runtime"
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
	files, err := results.Files(summary, s.runInfo(), sc.Resolved())
	if err != nil {
		return ui.IOError("write results", err)
	}
	figures, err := report.Charts(settings, summary, ui.Version)
	if err != nil {
		return ui.IOError("write results", err)
	}
	drawn, err := report.Files("charts", figures)
	if err != nil {
		return ui.IOError("write results", err)
	}
	files = append(files, drawn...)
	at := results.Place{Out: s.flags.out, Scenario: sc.Name + "-" + store + "-" + s.flags.speed.String(),
		ConfigHash: summary.ConfigHash, Start: s.begun}
	folder, err := results.Write(at, files)
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
