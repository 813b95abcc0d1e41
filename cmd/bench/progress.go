package bench

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"qsim/cmd/ui"
)

// rounds shows on standard error how many of the measurements of a command are done: by a bar
// on a terminal, or, with --verbose, by a line for each.
type rounds struct {
	console   *ui.Console
	container *mpb.Progress // nil: no bar
	bar       *mpb.Bar
	lines     bool
	done, of  int
}

// addProgress defines the flags for what is shown on the way.
func addProgress(c *cobra.Command, f *runFlags) {
	f.progress = "auto"
	ui.AddChoice(c, &f.progress, "progress", "WHEN", "draw a progress bar: auto, always or never", "auto", "always", "never")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print a line to standard error for each measurement")
	ui.Group(c, "Terminal", "progress", "verbose")
}

// rounds begins to show so many measurements. Call close when they are over.
func (s *session) rounds(of int) *rounds {
	r := &rounds{console: s.console, of: of, lines: s.flags.verbose && !s.flags.quiet}
	draw := s.flags.progress == "always" || s.flags.progress == "auto" && ui.Capable(os.Stderr) && os.Getenv("CI") == ""
	if !draw || s.flags.quiet {
		return r
	}
	r.container = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithAutoRefresh(), mpb.WithWidth(34),
		mpb.WithRefreshRate(500*time.Millisecond))
	r.console.Draw(r.container)
	// Twice a second is seldom enough to be no part of what is measured.
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	r.bar = r.container.New(int64(of), style, mpb.AppendDecorators(decor.CountersNoUnit("%d of %d measurements "),
		decor.Elapsed(decor.ET_STYLE_GO)))
	return r
}

// measured counts one measurement.
func (r *rounds) measured(policy, store string) {
	r.done++
	if r.bar != nil {
		r.bar.Increment()
	}
	if r.lines {
		r.console.Note("%d of %d: %s on %s", r.done, r.of, policy, store)
	}
}

// close leaves the bar as it is.
func (r *rounds) close() {
	if r.container == nil {
		return
	}
	r.console.Draw(nil)
	if !r.bar.Completed() {
		r.bar.Abort(false)
	}
	r.container.Wait()
}
