package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
)

// Console writes notes, warnings and progress bars to standard error. It may be used from several goroutines. The zero
// Console prints nothing.
type Console struct {
	program string // begins every note

	mutex sync.Mutex
	out   io.Writer // destination of notes; nil: nothing is printed
	above io.Writer // prints lines while something is drawn below them; else nil
}

// NewConsole returns the console of a command, which prints nothing if quiet is set.
func NewConsole(c *cobra.Command, quiet bool) *Console {
	console := &Console{program: c.Root().Name()}
	if !quiet {
		console.out = c.ErrOrStderr()
	}
	return console
}

// Write prints text to standard error, above progress bars if any are drawn.
func (c *Console) Write(text []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.above != nil:
		return c.above.Write(text)
	case c.out != nil:
		return c.out.Write(text)
	}
	return len(text), nil
}

// Note prints a formatted line to standard error, after the name of the program and a colon.
func (c *Console) Note(format string, arguments ...any) {
	fmt.Fprintf(c, c.program+": "+format+"\n", arguments...)
}

// draw makes the console print through above, which puts text above progress bars; nil: directly, as before.
func (c *Console) draw(above io.Writer) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.above = above
}

// terminated is true if the last signal was SIGTERM: the exit code then differs. There is one process, so one variable.
var terminated atomic.Bool

// stopped returns the exit code for the process: ExitTerminated in place of ExitInterrupted if the signal was SIGTERM.
func stopped(exit Exit) Exit {
	if exit == ExitInterrupted && terminated.Load() {
		return ExitTerminated
	}
	return exit
}

// Interruptible returns a context that is cancelled by the first interrupt (Ctrl-C, SIGTERM, or a hangup unless
// ignored, as under nohup); a message with note, what becomes of the work so far, is then printed. The second one ends
// the process at once, unless it is a hangup, which may come twice. Call stop when there is nothing left to interrupt.
func (c *Console) Interruptible(parent context.Context, note string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for count := 0; ; count++ {
			select {
			case <-done:
				return
			case s := <-signals:
				if count > 0 && s == syscall.SIGHUP {
					continue
				}
				terminated.Store(s == syscall.SIGTERM)
				if count > 0 {
					os.Exit(int(stopped(ExitInterrupted)))
				}
				c.Note("interrupted: %s; once more to quit at once", note)
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
