package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// percent is the value of a flag for a share above 0 %.
type percent float64

// String returns the flag's share as text, "" for none.
func (p *percent) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p)*100, 'g', -1, 64) + "%"
}

// Set parses a percentage such as 5%.
func (p *percent) Set(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || v != v:
		return errors.New("want a percentage, as 5%")
	case !ok && v < 1:
		return errors.New("want a percentage: did you mean " + strconv.FormatFloat(v*100, 'g', 12, 64) + "%?")
	case !ok:
		return errors.New("want a percentage: did you mean " + strconv.FormatFloat(v, 'g', -1, 64) + "%?")
	case v < 0 || v > mostPercent:
		return errors.New("want a percentage of at least 0% that is not beyond all measure")
	}
	*p = percent(v / 100)
	return nil
}

// mostPercent is the largest percentage accepted, so that a product with it does not overflow.
const mostPercent = 1e9

// Type returns the name that the help text uses for the flag's value.
func (p *percent) Type() string { return "PERCENT" }

// addSameWithin defines the flag of the equivalence band.
func addSameWithin(c *cobra.Command, within *percent) {
	c.Flags().Var(within, "same-within",
		"≈ marks a difference whose whole interval lies within this `PERCENT` of the baseline")
}

const (
	fewestUntil     = 10  // number of seeds below which no interval is narrow enough
	defaultMaxSeeds = 200 // default of --max-seeds; the scenario's number, if higher
)

// addUntilFlags defines the flags --until-ci and --max-seeds, which add seeds until intervals are narrow.
func addUntilFlags(c *cobra.Command, until *percent, most *int) {
	flags := c.Flags()
	flags.Var(until, "until-ci", "add seeds until the intervals of the objectives' metrics are within ± `PERCENT`")
	flags.IntVar(most, "max-seeds", 0, "with --until-ci: at most this `NUMBER` of seeds (default 200, or the "+
		"scenario's if they are more)")
}

func checkUntilFlags(c *cobra.Command, until percent, most int) error {
	changed := c.Flags().Changed
	switch {
	case changed("until-ci") && (until <= 0 || until >= 1):
		return ui.UsageError("--until-ci %s%%: want more than 0%% and less than 100%%",
			strconv.FormatFloat(float64(until)*100, 'g', -1, 64))
	case changed("max-seeds") && !changed("until-ci"):
		return ui.UsageError("--max-seeds goes with --until-ci; --seeds sets a fixed number")
	case changed("max-seeds") && most < fewestUntil:
		return ui.UsageError("--max-seeds %d: want at least %d, below which --until-ci never stops", most, fewestUntil)
	}
	return nil
}

// checkMostSeeds returns an error if --max-seeds is below the scenario's number of seeds, which are run in any case.
func checkMostSeeds(most int, l loaded) error {
	if asked := int(l.Scenario.Seeds); most > 0 && most < asked {
		return ui.UsageError("--max-seeds %d is less than the %d seeds of %s, which are run in any case: want at least "+
			"%d, or fewer --seeds", most, asked, l.Name, asked)
	}
	return nil
}

// mostSeeds returns the highest number of seeds to run for a scenario.
func (s *session) mostSeeds(sc *scenarios.Scenario) int {
	switch {
	case s.flags.untilCI == 0:
		return int(sc.Seeds)
	case s.flags.maxSeeds > 0:
		return s.flags.maxSeeds
	}
	return max(defaultMaxSeeds, int(sc.Seeds))
}

// enough returns a function that decides after each seed whether the run may end: never before fewest have run.
func (s *session) enough(settings *measure.Settings, fewest int) func([]measure.Run) bool {
	watch, seeds := results.NewWatch(settings, float64(s.flags.untilCI)), 0
	return func(seed []measure.Run) bool {
		seeds++
		return watch.Add(seed) && seeds >= fewest
	}
}

// seedsOf returns the seeds requested of a run, to tell whether some are missing: after an interrupt under
// --until-ci all up to the maximum, since the needed number is unknown.
func (s *session) seedsOf(sc *scenarios.Scenario, runs []measure.Run, interrupted bool) []uint64 {
	last := sc.Seed + uint64(s.mostSeeds(sc))
	if s.flags.untilCI > 0 && !interrupted && len(runs) > 0 {
		last = runs[len(runs)-1].Seed + 1
	}
	var seeds []uint64
	for seed := sc.Seed; seed < last; seed++ {
		seeds = append(seeds, seed)
	}
	return seeds
}
