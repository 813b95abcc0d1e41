package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/study"
)

type doctorFlags struct {
	runFlags
	incidents []string
}

func newDoctor() *cobra.Command {
	f := doctorFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "doctor SCENARIO [flags]",
		Short: "find the published incidents that a configuration is exposed to",
		Long: `doctor lays the trouble of every incident of the library (qsim list scenarios) upon a
scenario: its jobs, engine, retry policy and store, under one policy. It says which incidents
the configuration is exposed to, how badly, what a cure is and what the cure makes worse.

What is judged is the metric of the incident, under five seeds unless --seeds says otherwise:
    exposed         its 95 % interval is beyond the limit that the incident's own cure holds
    not sure        the interval is on both sides of the limit, or the trouble does not fit
    safe            the interval is within the limit
    does not apply  the scenario lacks what the incident is about
Where the same scenario without the trouble has more than half of the limit, twice that is the
limit. The scenario's own storms are left out.

What is scaled so that all of it takes some seconds: a scenario of more than 150 jobs/s gets
fewer nodes and workers, and rates, batches and limits smaller by as much, those of its policy
too, but not the costs of its store; the load of the trouble is that of the incident per
worker, or per limit of a dependency; the times before and after it are cut to what jobs and
leases need, and windows to 10 minutes or three long jobs. Of a trace a share of the lines comes.

Each row is written as a scenario, with the policies Yours and Cured: qsim run shows it, with
the same numbers. Exit codes:
    0  exposed to nothing
    1  exposed to an incident, or with --strict not sure of one
    2  the command line or the scenario is wrong
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: nothing is written; 143 if it was by SIGTERM`,
		Example: `  qsim doctor my.yaml
  qsim doctor my.yaml --policy weighted --seeds 20
  qsim doctor my.yaml --set engine.lease.ttl=5m --incident heartbeats-stall -o doctor
  qsim doctor my.yaml --format junit --no-files > doctor.xml      a test case for each incident
  qsim doctor my.yaml --format json --no-files | jq '.incidents[] | select(.exposure == "exposed")'`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runDoctor(c, names[0], &f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.incidents, "incident", nil, "only the incident of this `NAME`; repeatable")
	ui.Complete(c, "incident", fixed(study.Incidents()...))
	addScenarioFlags(c, "What to judge", &f.scenarioFlags, "baseline")
	flags.Lookup("seeds").Usage = "`NUMBER` of seeds of each row (default: 5)"
	flags.Lookup("policy").Usage = "judge the policy of this `LABEL` or kind (default: the baseline)"
	flags.Lookup("strict").Usage = "warnings are errors, and not being sure of an incident counts as exposed"
	ui.Group(c, "Of which incidents", "incident")
	addManyFlags(c, &f.runFlags, "write the rows into this `DIR` (default: results/runs/SCENARIO/doctor-CONFIG)",
		judging...)
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	ui.Group(c, "How to run it", "parallel", "memory")
	ui.Group(c, "Output", "format", "out", "no-files")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

func runDoctor(c *cobra.Command, name string, f *doctorFlags) error {
	for _, incident := range f.incidents {
		if all := study.Incidents(); !slices.Contains(all, incident) {
			return ui.UsageError("unknown incident %s%s", incident, ui.Meant(incident, all,
				"; qsim list scenarios prints those there are"))
		}
	}
	return f.study(c, name, "nothing is written", nil, f.diagnose)
}

func (f *doctorFlags) diagnose(ctx context.Context, s *session, source study.Source) error {
	l := s.loaded
	if len(f.policies) > 0 && len(l.Scenario.Policies) > 1 {
		return ui.UsageError("doctor judges one policy, not %d: give --policy once, with a label", len(l.Scenario.Policies))
	}
	out := s.folder("doctor", l.Scenario.Name, l.Scenario.ConfigHash())
	if !f.noFiles {
		if err := ui.IOError("write diagnosis", results.Writable(out)); err != nil {
			return err
		}
	}
	start := time.Now()
	bars, done, all := s.progress("incidents", nil), new(atomic.Int64), cmp.Or(len(f.incidents), len(study.Incidents()))
	bars.Set(l.Scenario.Name, 0, all)
	doctor := study.Doctor{Source: source, Seeds: cmp.Or(f.seeds, 5), Incidents: f.incidents}
	doctor.Judged = func(incident string, e study.Exposure) {
		if bars.Set(l.Scenario.Name, int(done.Add(1)), all); f.Verbose && !bars.Drawn() {
			s.console.Note("%s: %s", incident, e)
		}
	}
	found, err := doctor.Run(ctx)
	bars.Close()
	if err != nil {
		return s.failure(l, err, "interrupted: nothing is written")
	}
	result := s.output(found.JSON, found.Table,
		text.Suite{Name: found.Scenario, File: l.Name, Cases: found.Cases(f.strict)})
	again := ""
	if !f.noFiles {
		err = ui.IOError("write diagnosis", storeDiagnosis(out, l.Scenario, found, result))
		if err == nil && slices.ContainsFunc(found.Findings, func(f study.Finding) bool { return f.Scenario != nil }) {
			again = "; a row again, with charts: qsim run " + shown(filepath.Join(out, "INCIDENT.yaml"))
		}
	}
	printed := s.print(result, "", fmt.Sprintf("in %.1fs%s", time.Since(start).Seconds(), again))
	if err := cmp.Or(printed, err); err != nil {
		return err
	}
	if found.Count(study.Exposed) > 0 || f.strict && found.Count(study.Unsure) > 0 {
		return ui.Fail(ui.ExitMissed, nil)
	}
	return nil
}

// storeDiagnosis writes the result of qsim doctor into a folder, with a scenario file for each incident that was tried,
// and removes those of an earlier diagnosis. It sets the command line of each finding that runs its scenario.
func storeDiagnosis(out string, sc *scenarios.Scenario, found *study.Diagnosis, result ui.Output) error {
	var files []results.File
	for i := range found.Findings {
		if f := &found.Findings[i]; f.Scenario != nil {
			files = append(files, results.File{Path: f.Incident + ".yaml", Data: f.Scenario.Resolved()})
			f.Command = plain.ShellLine("qsim", "run", filepath.Join(out, f.Incident+".yaml"))
		}
	}
	files, missing := input.WithData(files, sc, "doctor.json", "doctor.csv")
	stale := study.StoredRows(out)
	if err := store(result, out, "doctor", nil, files...); err != nil {
		return err
	}
	for _, name := range stale {
		if !slices.ContainsFunc(files, func(f results.File) bool { return f.Path == name }) {
			if err := os.Remove(filepath.Join(out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return missing
}
