package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/pgstore"
	"qsim/results/plain"
	"qsim/scenarios"
)

// candidate is a policy on a store, measured against others, with the results of its rounds.
type candidate struct {
	policy string // label of the policy
	index  int    // index of the policy in the scenario
	store  string
	name   string    // benchmark name of a load; empty for a scenario
	rounds []*loaded // results of a load, by round
}

// candidates returns a candidate for every policy on every store, in the order of the command line.
func (s *session) candidates(sc *scenarios.Scenario) []*candidate {
	var all []*candidate
	for _, store := range s.flags.stores {
		for i := range sc.Policies {
			all = append(all, &candidate{policy: sc.Policies[i].Label, index: i, store: store})
		}
	}
	return all
}

// inTurn measures every candidate, round after round, until one fails, and shows on standard error how many
// measurements have finished: by a bar on a terminal, or, with --verbose, by a line for each.
func (s *session) inTurn(candidates []*candidate, rounds int, measure func(round int, c *candidate) error) error {
	done, all := 0, rounds*len(candidates)
	// Twice a second is rare enough not to disturb the measurements.
	progress := s.console.Progress(&s.flags.Terminal, time.Second/2, "measurements", nil)
	defer progress.Close()
	progress.Set("", 0, all)
	for round := range rounds {
		for _, c := range candidates {
			if err := measure(round, c); err != nil {
				return failed(c.policy, c.store, err)
			}
			done++
			if progress.Set("", done, all); s.flags.Verbose {
				s.console.Note("%d of %d: %s on %s", done, all, c.policy, c.store)
			}
		}
	}
	return nil
}

// measureAll measures every candidate in turn, calls report for the exit code, also after an interrupt, and returns the
// command's error.
func (s *session) measureAll(candidates []*candidate, rounds int, measure func(round int, c *candidate) error,
	report func() (ui.Exit, error)) error {
	exit, err := ui.ExitMet, s.inTurn(candidates, rounds, measure)
	switch {
	case err == nil:
		exit, err = report()
	case errors.Is(err, context.Canceled):
		_, wrong := report()
		err = errors.Join(context.Canceled, beside(err), wrong)
	}
	return s.settle(exit, err)
}

// endedRun holds the results that runs of loads and of scenarios have in common.
type endedRun struct {
	account
	took          time.Duration
	late          int64 // number of store calls without an answer in time
	claim, commit phase
}

// account counts the jobs of one or more runs by their final state. Lost jobs were accepted by the store, but neither
// ended nor are in it; untold jobs are in the store although the answer to their enqueue call was lost. Duplicates are
// executions that ended in success after another of the same job had.
type account struct{ jobs, done, dead, left, lost, untold, duplicates int64 }

// reconcile sets the counts of lost and untold jobs of a run (see account): left is how many jobs the store holds at
// the end, and unresolved how many it should hold.
func (a *account) reconcile(unresolved, left int64) {
	a.left, a.lost, a.untold = left, max(0, unresolved-left), max(0, left-unresolved)
}

func (a *account) add(b account) {
	a.jobs, a.done, a.dead, a.left = a.jobs+b.jobs, a.done+b.done, a.dead+b.dead, a.left+b.left
	a.lost, a.untold, a.duplicates = a.lost+b.lost, a.untold+b.untold, a.duplicates+b.duplicates
}

// count adds the jobs of a run to those of the session, and warns of store calls that were not answered in time.
func (s *session) count(c *candidate, r *endedRun) {
	s.jobs.add(r.account)
	if r.late > 0 {
		s.console.Note("warning: %s on %s: %s had no answer in time", c.policy, c.store, plain.Plural(int(r.late), "call"))
	}
}

// line prints the benchmark line of a run if --format is bench, and nothing otherwise.
func (s *session) line(name string, jobs int64, took time.Duration, metrics []metric) error {
	if s.flags.format != "bench" {
		return nil
	}
	return s.lines.result(name, jobs, took, metrics)
}

// failed adds to the error of a run an exit code and the store's name, also the policy's if the store cannot run that.
func failed(policy, store string, err error) error {
	switch {
	case errors.As(err, new(*ui.Failure)), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, engine.ErrUnsupported) && policy != "":
		return ui.Fail(ui.ExitUsage, fmt.Errorf("policy %q wants what %s has not: %w", policy, store, err))
	case errors.Is(err, engine.ErrUnsupported), errors.Is(err, pgstore.ErrDSN):
		return ui.Fail(ui.ExitUsage, fmt.Errorf("%s: %w", store, err))
	}
	return ui.Fail(ui.ExitIO, fmt.Errorf("%s: %w", store, err))
}

// settle prints the balance of the session's jobs to standard error and returns the command's error: that of lost jobs
// with err below it, else err, else a failure with the exit code.
func (s *session) settle(exit ui.Exit, err error) error {
	a := &s.jobs
	if a.untold > 0 {
		s.console.Note("warning: the store holds %s more than it said that it took", plain.Plural(int(a.untold), "job"))
	}
	if a.jobs == 0 && err == nil {
		s.console.Note("no job came: nothing was measured")
	}
	if a.jobs > 0 || err == nil {
		s.console.Note("%d jobs: %d done, %d dead, %d left; lost %d, duplicates %d", a.jobs, a.done, a.dead, a.left, a.lost,
			a.duplicates)
	}
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = beside(err)
	}
	switch {
	case a.lost != 0:
		return ui.Fail(ui.ExitInvariant, errors.Join(fmt.Errorf("%d jobs were lost", a.lost), err))
	case interrupted:
		return ui.Fail(ui.ExitInterrupted, err)
	case err != nil:
		return err
	}
	return ui.Fail(exit, nil)
}

// beside returns the other errors that are joined to the interrupt in the error of an interrupted run, such as that of
// a schema that could not be dropped, see rig.close; nil if there are none.
func beside(err error) error {
	all, joined := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !joined {
		return nil
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(all.Unwrap()), func(one error) bool {
		f, failed := errors.AsType[*ui.Failure](one)
		return errors.Is(one, context.Canceled) || failed && f.Err == nil // which needs no word
	})...)
}
