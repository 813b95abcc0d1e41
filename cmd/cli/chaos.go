package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/plain"
	layout "qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/chaos"
)

type chaosFlags struct {
	options   chaos.Options
	replay    string
	print     bool
	catalogue bool
	ui.Terminal
}

// usualSeeds is the number of seeds of qsim chaos if neither --seeds nor --time is set.
const usualSeeds = 1000

func newChaos() *cobra.Command {
	var f chaosFlags
	c := &cobra.Command{
		Use:   "chaos [flags]",
		Short: "test the engine under random faults",
		Long: `chaos draws a small world from each seed: nodes, engine settings, store rules, a policy, a
load, and troubles such as crashes, frozen processes, lost and doubled calls, stalled stores
and wrong clocks. It checks the engine's invariants after every event. Then all troubles end,
and every job must finish within a time that the world explains. Of seeds 1 to 1000 those of
rare worlds come first.

A seed that fails is reduced first: fewer troubles, jobs and nodes, fewer unusual settings.
The result is printed as a scenario that shows the same failure again, also in later versions;
--replay runs it.

Exit codes:
    0  every invariant held
    2  the command line or a world is wrong
    3  an invariant broke
    4  reading or writing failed
  130  interrupted; 143 if it was by SIGTERM`,
		Example: `  qsim chaos --seeds 2000                 about ten seconds
  qsim chaos --time 10m --seed 1000001    other seeds, for as long
  qsim chaos --seed 42 --print            the world of a seed, as a text
  qsim chaos --replay world.yaml          one world again; - reads standard input
  qsim chaos --catalogue                  the troubles of production, as texts`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              ui.NoArguments,
		RunE:              func(c *cobra.Command, _ []string) error { return runChaos(c, &f) },
	}
	flags, o := c.Flags(), &f.options
	flags.Uint64VarP(&o.Seeds, "seeds", "n", 0, "`NUMBER` of seeds (default: 1000, or as many as --time allows)")
	flags.Uint64Var(&o.First, "seed", 1, "the first `SEED`")
	flags.DurationVar(&o.Time, "time", 0, "start no seed after this `TIME`, such as 60s or 10m")
	flags.StringVar(&f.replay, "replay", "", "run the first policy and seed of this `SCENARIO`; - for standard input")
	flags.BoolVar(&f.print, "print", false, "print the world of --seed, and do not run it")
	flags.BoolVar(&f.catalogue, "catalogue", false,
		"list troubles known from production, with the settings that cause them")
	ui.AddParallel(c, &o.Parallel)
	ui.Group(c, "What to run", "seeds", "seed", "time", "replay")
	ui.Group(c, "How to run it", "parallel")
	ui.Group(c, "Output", "print", "catalogue")
	ui.AddTerminal(c, &f.Terminal, "quiet", "progress")
	return c
}

func runChaos(c *cobra.Command, f *chaosFlags) error {
	options := f.options
	switch {
	case options.Time < 0 || c.Flags().Changed("time") && options.Time == 0:
		return ui.UsageError("--time %v: want more than 0", options.Time)
	case c.Flags().Changed("seeds") && options.Seeds == 0:
		return ui.UsageError("--seeds 0: want at least 1")
	case options.First-1 >= math.MaxInt64: // 0 too
		return ui.UsageError("--seed %d: want at least 1 and at most %d", options.First, uint64(math.MaxInt64))
	case options.Seeds > math.MaxInt64-options.First+1:
		return ui.UsageError("--seed %d: there are no %d seeds from there", options.First, options.Seeds)
	}
	if no := plain.Find(scenarios.AllKinds().Storms, func(k *scenarios.Kind) bool { return k.Example == "" }); no != nil {
		return ui.UsageError("storms of kind %s have no example: write it in tags, and run go generate ./scenarios", no.Name)
	}
	console := ui.NewConsole(c, f.Quiet)
	switch {
	case f.catalogue:
		return ui.Print(c.OutOrStdout(), catalogueText())
	case f.print:
		return ui.Print(c.OutOrStdout(), chaos.Draw(options.First).Text)
	case f.replay != "":
		return replayWorld(c, f.replay)
	}
	if options.Seeds == 0 && options.Time == 0 {
		options.Seeds = usualSeeds
	}
	return runSwarm(c, options, console, &f.Terminal)
}

// runSwarm simulates random scenarios (worlds) under faults, one for each seed, and prints the summary and the broken
// invariants.
func runSwarm(c *cobra.Command, options chaos.Options, console *ui.Console, terminal *ui.Terminal) error {
	ctx, stop := console.Interruptible(c.Context(), "what the seeds so far have shown is printed")
	defer stop()
	shown := console.Progress(terminal, refreshed, "seeds", nil)
	if options.Seeds > 0 {
		options.Progress = func(ended uint64) { shown.Set("chaos", int(ended), int(min(options.Seeds, 1<<31))) }
		options.Progress(0)
	}
	start := time.Now()
	result, err := chaos.Swarm(ctx, options)
	shown.Close()
	if err := ui.Print(c.OutOrStdout(), swarmText(options, result, time.Since(start))); err != nil {
		return err
	}
	switch {
	case len(result.Failures) > 0:
		return ui.Fail(ui.ExitInvariant, nil)
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, nil)
	}
	return nil
}

func replayWorld(c *cobra.Command, name string) error {
	name, text, err := scenarios.Open(name)
	if err != nil {
		return input.OpenError(err)
	}
	w, err := chaos.Parse(name, string(text))
	if err != nil {
		return ui.UsageError("--replay %s: %w", name, err)
	}
	said, failed := "every invariant held\n", error(nil)
	if f := chaos.Replay(w); f != nil {
		said, failed = f.String(), ui.Fail(ui.ExitInvariant, nil)
	}
	return cmp.Or(ui.Print(c.OutOrStdout(), said), failed)
}

func swarmText(options chaos.Options, r *chaos.Result, took time.Duration) string {
	var text strings.Builder
	for i := range r.Failures {
		text.WriteString(r.Failures[i].String() + "\n")
	}
	said := "every invariant held"
	switch n := len(r.Failures); {
	case n > 0:
		said = fmt.Sprintf("%d failed", n)
	case r.Seeds == 0:
		said = "nothing was tried"
	}
	fmt.Fprintf(&text, "%s, %s events, %s, fingerprint %016x: %s\n", options.Finished(r.Seeds),
		plain.Amount(float64(r.Events)), took.Round(100*time.Millisecond), r.Fingerprint, said)
	kinds, counts := r.FaultCounts()
	fmt.Fprintln(&text, "troubles: "+pairs(kinds, counts))
	numbers, checks := r.CheckCounts()
	fmt.Fprintln(&text, "checks: "+pairs(numbers, checks))
	return text.String()
}

func pairs(names []string, counts []int64) string {
	var all []string
	for i, name := range names {
		all = append(all, name+" "+plain.Amount(float64(counts[i])))
	}
	return strings.Join(all, ", ")
}

func catalogueText() string {
	var text strings.Builder
	where := ""
	for _, e := range chaos.Catalogue {
		if e.Where != where {
			where = e.Where
			fmt.Fprintf(&text, "%s\n", where)
		}
		fmt.Fprintf(&text, "  %-4s %s\n", e.ID, layout.Indented(e.What, ui.Width(), 7))
		for i, lines := range e.Texts {
			if i > 0 {
				fmt.Fprintln(&text, "       or")
			}
			for line := range strings.SplitSeq(lines, "\n") {
				own := len(line) - len(strings.TrimLeft(line, " "))
				fmt.Fprintf(&text, "         %s%s\n", line[:own], layout.Indented(line[own:], ui.Width(), 9+own+2))
			}
		}
	}
	return text.String()
}
