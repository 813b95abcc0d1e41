package bench

import (
	"time"

	"qsim/cmd/ui"
)

// rounds is the display on standard error of a command's finished measurements: a bar on a terminal, or, with
// --verbose, a line for each.
type rounds struct {
	console  *ui.Console
	progress *ui.Progress
	lines    bool
	done, of int
}

// rounds begins to show the progress of a number of measurements. The caller closes it.
func (s *session) rounds(of int) *rounds {
	// Twice a second is rare enough not to disturb the measurements.
	r := &rounds{console: s.console, of: of, lines: s.flags.Verbose, progress: s.console.Progress(&s.flags.Terminal, time.Second/2)}
	r.progress.Add("", of, "measurements", nil)
	return r
}

// measured counts one finished run and shows the progress.
func (r *rounds) measured(policy, store string) {
	r.done++
	if r.progress.Set(0, r.done); r.lines {
		r.console.Note("%d of %d: %s on %s", r.done, r.of, policy, store)
	}
}

func (r *rounds) close() { r.progress.Close() }
