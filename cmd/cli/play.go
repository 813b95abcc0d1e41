package cli

import (
	"fmt"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"

	"qsim/cmd/play"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/scenarios"
)

type playFlags struct {
	scenarioFlags
	parallel int
	memory   memorySize
	listen   string
	static   string
	open     bool
}

func newPlay() *cobra.Command {
	var f playFlags
	c := &cobra.Command{
		Use:   "play SCENARIO [flags]",
		Short: "move a slider in the browser, see what the queue does",
		Long: `play serves a page on which the keys of a scenario are sliders. Each change is simulated at
once: first under one seed, then under more, until the intervals are narrow or the
scenario's seeds are used up; the page says how sure it is. A newer change drops the run
of an older one. A click on a time axis adds a storm there.

The page is served to this machine alone, at an address with a token that is new each time;
the scenario's file is never written. What was found can be copied as YAML, as --set flags,
as Markdown or as a link, and saved by the browser. An interrupt ends it.

With --static the same page is written as files for any web server, or to be opened from
disk: the engine, as WebAssembly, simulates in the browser, and any scenario that is part of
qsim can be chosen. To write it takes Go and the source of qsim.`,
		Example: `  qsim play retry-storm --open
  qsim play my.yaml --set engine.workers=80
  qsim play my.yaml --listen 127.0.0.1:8080      the same port every time
  qsim play retry-storm --static page            for a web server, or page/index.html`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runPlay(c, names, &f) },
	}
	addScenarioFlags(c, "What to begin with", &f.scenarioFlags, "strict")
	flags := c.Flags()
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "serve the page at this `ADDRESS`; port 0: one that is free")
	flags.BoolVar(&f.open, "open", false, "show the page in the browser")
	flags.StringVar(&f.static, "static", "", "write the page into the folder `DIR` instead, with all that it needs")
	ui.Group(c, "How to serve it", "parallel", "memory", "listen", "static", "open")
	return c
}

func runPlay(c *cobra.Command, names []string, f *playFlags) error {
	console := ui.NewConsole(c, false)
	l, err := loadOnly(c, names, &f.scenarioFlags, console)
	if err != nil {
		return err
	}
	options := play.Options{Name: l.Name, Source: l.Source, Sets: l.Sets, Policies: l.Policies,
		Run: openable(l.Name), Version: ui.Version, Parallel: f.parallel}
	if f.static != "" {
		return writeStatic(c, console, options, f)
	}
	host, err := ui.Listening("listen", f.listen)
	if err != nil {
		return err
	}
	options.Fits = func(sc *scenarios.Scenario) error {
		return f.memory.fits(sc, len(sc.Policies)*int(sc.Seeds), f.parallel)
	}
	if err := options.Fits(l.Scenario); err != nil {
		return ui.UsageError("%s: %w", l.Name, err)
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return ui.Fail(ui.ExitIO, fmt.Errorf("serve the page: %w", err))
	}
	if !ui.IsLocal(host) {
		console.Note("--listen %s: other machines reach this page too; whoever has its address can simulate here", f.listen)
	}
	page := play.New(host, options)
	ctx, stop := console.Interruptible(c.Context(), "the page is gone")
	defer stop()
	address := "http://" + listener.Addr().String() + page.Path()
	if _, err := fmt.Fprintln(c.OutOrStdout(), address); err != nil {
		return ui.IOError("write address", err)
	}
	if f.open {
		if err := browse(address, c.ErrOrStderr()); err != nil {
			console.Note("%v", err) // the user can open the printed address by hand
		}
	}
	if err := page.Serve(ctx, listener); err != nil {
		return ui.Fail(ui.ExitIO, err)
	}
	return ui.Fail(ui.ExitInterrupted, nil)
}

// writeStatic writes the page of `qsim play` as files, and prints the path of its index.html; with --open it opens it.
func writeStatic(c *cobra.Command, console *ui.Console, options play.Options, f *playFlags) error {
	for _, flag := range []string{"parallel", "memory", "listen"} {
		if c.Flags().Changed(flag) {
			return ui.UsageError("--static writes a page that no qsim serves: it goes without --%s", flag)
		}
	}
	page, err := play.NewStatic(f.static, options)
	if err != nil {
		return ui.UsageError("--static %s: %w", f.static, err)
	}
	if err := ui.IOError("write the page", results.Writable(f.static)); err != nil {
		return err
	}
	ctx, stop := console.Interruptible(c.Context(), "the page is not written")
	defer stop()
	console.Note("--static %s: Go builds the engine for the browser, which takes a minute the first time", f.static)
	if err := page.Write(ctx); err != nil && ctx.Err() != nil {
		return ui.Fail(ui.ExitInterrupted, nil)
	} else if err != nil {
		return ui.IOError("write the page", err)
	}
	index := filepath.Join(f.static, "index.html")
	if _, err := fmt.Fprintln(c.OutOrStdout(), index); err != nil || !f.open {
		return ui.IOError("write address", err)
	}
	return browse(index, c.ErrOrStderr())
}
