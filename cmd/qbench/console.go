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

// console is standard error: notes and warnings. It may be used from several goroutines.
type console struct {
	mutex sync.Mutex
	out   io.Writer // discards everything under --quiet
}

// note prints one line.
func (c *console) note(format string, arguments ...any) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fmt.Fprintf(c.out, "qbench: "+format+"\n", arguments...)
}

// interruptible returns a context that the first interrupt cancels, so that what has
// finished is kept and what was made is taken away. The second one ends the process at
// once. Call stop when there is nothing left to interrupt.
func (c *console) interruptible(parent context.Context) (ctx context.Context, stop func()) {
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
				c.note("interrupted: tidying up; once more to quit at once")
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
