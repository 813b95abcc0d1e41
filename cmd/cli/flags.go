package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

// scenarioFlags are the flags that set keys of a scenario or select its policies.
type scenarioFlags struct {
	seeds    int // number of seeds; 0: the scenario's
	seed     uint64
	policies []string
	set      []string
	baseline string
	strict   bool
}

// addScenarioFlags defines the flags of a command that set keys of a scenario or select policies, under a heading of
// the help text, except those named in without. A flag that is not given leaves the scenario as it is.
func addScenarioFlags(c *cobra.Command, heading string, f *scenarioFlags, without ...string) {
	flags := c.Flags()
	var names []string
	if !slices.Contains(without, "seeds") {
		ui.AddAtLeast(c, &f.seeds, "seeds", "n", 1, "`NUMBER` of seeds under every policy (default: the scenario's)")
		flags.Uint64Var(&f.seed, "seed", 0, "the first `SEED` (default: the scenario's)")
		names = append(names, "seeds", "seed")
	}
	flags.StringArrayVar(&f.policies, "policy", nil, "only the policies of this `LABEL` or kind; another kind, or "+
		"{kind: ...}, is added; repeatable")
	flags.StringArrayVar(&f.set, "set", nil, "set `KEY=VALUE` in the scenario, such as engine.workers=80; repeatable")
	names = append(names, "policy", "set")
	if !slices.Contains(without, "baseline") {
		flags.StringVar(&f.baseline, "baseline", "", "compare with the policy of this `LABEL` or kind (default: the "+
			"scenario's)")
		names = append(names, "baseline")
	}
	if !slices.Contains(without, "strict") {
		flags.BoolVar(&f.strict, "strict", false, "warnings are errors, and an unclear objective counts as missed")
		names = append(names, "strict")
	}
	ui.Group(c, heading, names...)
}

// overrides returns the keys that flags set and their values: --set in its order, then --seeds, --seed and --baseline.
func (f *scenarioFlags) overrides(c *cobra.Command) ([]scenarios.Override, error) {
	all, err := input.Sets(f.set)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("seed") && f.seed < 1 {
		return nil, ui.UsageError("--seed 0: want at least 1")
	}
	for _, key := range []struct{ name, value string }{{"seeds", strconv.Itoa(f.seeds)},
		{"seed", strconv.FormatUint(f.seed, 10)}, {"baseline", strconv.Quote(f.baseline)}} {
		if set := c.Flags().Lookup(key.name); set != nil && set.Changed {
			all = append(all, scenarios.Override{Path: key.name, Value: key.value,
				Flag: "--" + key.name + " " + set.Value.String()})
		}
	}
	return all, nil
}

// addManyFlags defines the common flags of studies (commands that simulate one scenario many times): parallel
// simulations, memory, formats of the output, and the folder of the files.
func addManyFlags(c *cobra.Command, f *runFlags, out string, formats ...string) {
	flags := c.Flags()
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	addFormat(c, &f.format, formats...)
	flags.StringVarP(&f.out, "out", "o", "", out)
}

// mostPercent is the highest number of percent that a flag accepts: a metric's value times it does not overflow.
const mostPercent = 1e9

// addPercent defines a flag for a percentage: 5% is stored as a share of 0.05. A default of 0 is not shown in the help.
func addPercent(c *cobra.Command, share *float64, name, usage string) {
	show := func() string { return plain.When(*share != 0, strconv.FormatFloat(*share*100, 'g', -1, 64)+"%") }
	parse := func(text string) error {
		number, ok := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(number, 64)
		switch {
		case err != nil || v != v || !ok && v == 0:
			return errors.New("want a percentage, as 5%")
		case v < 0 || v > mostPercent:
			return errors.New("want a percentage of at least 0% that is not beyond all measure")
		case !ok && v < 1:
			return errors.New("want a percentage: did you mean " + strconv.FormatFloat(v*100, 'g', 12, 64) + "%?")
		case !ok:
			return errors.New("want a percentage: did you mean " + strconv.FormatFloat(v, 'g', -1, 64) + "%?")
		}
		*share = v / 100
		return nil
	}
	c.Flags().Var(&ui.Value{Kind: "PERCENT", Show: show, Parse: parse}, name, usage)
}

// addSameWithin defines --same-within: a difference that surely lies within this share of the baseline is marked ≈.
func addSameWithin(c *cobra.Command, within *float64) {
	addPercent(c, within, "same-within",
		"≈ marks a difference whose whole interval lies within this `PERCENT` of the baseline")
}

const (
	fewestUntil     = 10  // seeds below which --until-ci never stops
	defaultMaxSeeds = 200 // default of --max-seeds, unless the scenario has more seeds
)

func checkUntilFlags(c *cobra.Command, until float64, most int) error {
	changed := c.Flags().Changed
	switch {
	case changed("until-ci") && (until <= 0 || until >= 1):
		return ui.UsageError("--until-ci %s%%: want more than 0%% and less than 100%%",
			strconv.FormatFloat(until*100, 'g', -1, 64))
	case changed("max-seeds") && !changed("until-ci"):
		return ui.UsageError("--max-seeds goes with --until-ci; --seeds sets a fixed number")
	case changed("max-seeds") && most < fewestUntil:
		return ui.UsageError("--max-seeds %d: want at least %d, below which --until-ci never stops", most, fewestUntil)
	}
	return nil
}

func (s *session) mostSeeds(sc *scenarios.Scenario) int {
	switch {
	case s.flags.untilCI == 0:
		return int(sc.Seeds)
	case s.flags.maxSeeds > 0:
		return s.flags.maxSeeds
	}
	return max(defaultMaxSeeds, int(sc.Seeds))
}

// seedsOf returns the seeds that a complete run would have, to notice missing ones. With --until-ci they end with the
// last seed that ran or, after an interrupt, with the maximum, since the number needed is unknown.
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

// memorySize is an amount of memory in bytes; 0 if the flag is not given.
type memorySize float64

// sizes lists the units of memory: binary ones, then decimal ones, each from the largest down.
var sizes = []struct {
	unit  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

// parse sets the memory size to an amount given as text, such as 12GB.
func (m *memorySize) parse(text string) error {
	for _, s := range sizes {
		if number, found := strings.CutSuffix(text, s.unit); found {
			if n, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && n > 0 && !math.IsInf(n, 0) {
				*m = memorySize(n * s.bytes)
				return nil
			}
		}
	}
	return fmt.Errorf("want a size such as 12GB or 800MiB")
}

// inMemory returns a number of bytes as text: 1.2 GB.
func inMemory(bytes float64) string {
	for _, s := range sizes[2:] {
		if bytes >= s.bytes {
			return plain.Digits(bytes/s.bytes, 2) + " " + s.unit
		}
	}
	return plain.Digits(bytes, 2) + " B"
}

func addMemory(c *cobra.Command, most *memorySize) {
	c.Flags().Func("memory", "refuse what would take more memory than this `SIZE`, as 12GB (default: three quarters of "+
		"the machine's)", most.parse)
}

// fits returns an error if the given number of simulations of a scenario, of which parallel run at once, would take
// more than this amount of memory; 0 stands for three quarters of the machine's memory.
func (m memorySize) fits(sc *scenarios.Scenario, simulations, parallel int) error {
	limit, of := float64(m), "--memory says"
	if m == 0 {
		limit, of = 0.75*machineMemory(), "three quarters of this machine's are"
	}
	f := estimate.Of(sc)
	abreast := min(cmp.Or(parallel, runtime.GOMAXPROCS(0)), simulations)
	if limit > 0 && f.Bytes*float64(abreast) > limit {
		return fmt.Errorf("%s, on %s: %s in a simulation, with %s at a time; %s %s. Lower it or the nodes, add workers, run "+
			"fewer at once with -j, or allow more with --memory", f.Cause(), plain.Plural(f.Nodes, "node"), inMemory(f.Bytes),
			plain.Plural(abreast, "simulation"), of, inMemory(limit))
	}
	return nil
}

// machineMemory returns the memory of this machine or of its control group (cgroup), if less, in bytes; 0 if not known.
func machineMemory() (all float64) {
	text, _ := os.ReadFile("/proc/meminfo")
	if _, rest, found := bytes.Cut(text, []byte("MemTotal:")); found {
		kilobytes, _ := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
		all = kilobytes * 1024
	}
	text, _ = os.ReadFile("/sys/fs/cgroup/memory.max")
	if most, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64); err == nil && (all == 0 || most < all) {
		all = most
	}
	return all
}

// addFormat defines the flag --format of a command that prints a table; more are formats besides the common ones.
func addFormat(c *cobra.Command, to *string, more ...string) {
	words := append([]string{"table", "markdown", "csv", "json"}, more...)
	ui.AddChoice(c, to, "format", "FORMAT", "of the result: "+quantity.OrList(words), words...)
}

// plotMode is the value of --plot: how a plot is drawn in the terminal; auto, unicode, ascii or never.
type plotMode string

// parse sets the plot mode to a word; true and false, as in environment variables, mean auto and never.
func (m *plotMode) parse(text string) error {
	switch text {
	case "true":
		text = "auto"
	case "false":
		text = "never"
	}
	return ui.Choose((*string)(m), text, "auto", "unicode", "ascii", "never")
}

// apart handles --plot ascii with a space, which is parsed as --plot and a scenario of that name: it returns the
// scenario names without plot modes, and sets the mode. A mode that is the name of a scenario stays.
func (m *plotMode) apart(names []string) []string {
	if *m != "auto" {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		is := (name == "ascii" || name == "unicode" || name == "auto" || name == "never") && !isScenario(name)
		if is {
			*m = plotMode(name)
		}
		return is
	})
}

// on reports whether --plot asks for a plot in the terminal: every mode but never does.
func (m plotMode) on() bool { return m != "never" }

// ascii reports whether a plot is drawn with ASCII characters: where the terminal or the locale is known to have no
// others.
func (m plotMode) ascii() bool {
	if m != "auto" {
		return m == "ascii"
	}
	if os.Getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first variable that is set counts
		if locale := strings.ToUpper(os.Getenv(name)); locale != "" {
			return !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
		}
	}
	return false
}
