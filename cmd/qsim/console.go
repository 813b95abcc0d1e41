package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// console is standard error: notes, warnings and progress. It may be used from
// several goroutines.
type console struct {
	mutex sync.Mutex
	out   io.Writer // discards everything under --quiet
	bars  *progress // through which lines go while bars are drawn; else nil
}

// Write prints above the bars, if there are any.
func (c *console) Write(text []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.bars != nil {
		return c.bars.container.Write(text)
	}
	return c.out.Write(text)
}

// note prints one line.
func (c *console) note(format string, arguments ...any) {
	fmt.Fprintf(c, "qsim: "+format+"\n", arguments...)
}

// draw hands the terminal to bars, or takes it back if bars is nil.
func (c *console) draw(bars *progress) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.bars = bars
}

// interruptible returns a context that the first interrupt cancels, so that the seeds
// that have finished are kept. The second one ends the process at once. Call stop when
// there is nothing left to interrupt.
func (c *console) interruptible(parent context.Context) (ctx context.Context, stop func()) {
	return c.interruptibleSaying(parent, "interrupted: keeping what has finished; once more to quit at once")
}

// interruptibleSaying is interruptible where something else is true of what has finished.
func (c *console) interruptibleSaying(parent context.Context, words string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for count := 0; ; count++ {
			select {
			case <-done:
				return
			case <-signals:
				if count > 0 {
					os.Exit(int(exitInterrupted))
				}
				c.note("%s", words)
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
