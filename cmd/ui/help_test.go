package ui

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func help(t *testing.T, arguments ...string) string {
	t.Helper()
	root := example(func(*cobra.Command) error { return errors.New("it ran") })
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(arguments)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHelp(t *testing.T) {
	want := `run it

Usage:
  tool run [flags]

What to run:
      --seeds int         so many (default 1)
      --set stringArray   a key

How:
      --strict   do not forgive

Flags:
  -h, --help   help for run
`
	if got := help(t, "run", "--help"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := help(t, "--help"); !strings.Contains(got, "About:\n  version      print version, commit and Go version\n") || !strings.Contains(got, "tool COMMAND --help says more about a command.") {
		t.Errorf("got:\n%s", got)
	}
	if got := help(t, "version"); !strings.HasPrefix(got, "tool "+Version+" ") || strings.Count(got, " ") != 4 {
		t.Errorf("got %q", got)
	}
}

func TestGroupOfNoFlag(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "ui: group of a flag that is not there") {
			t.Errorf("it panics with %q", text)
		}
	}()
	Group(&cobra.Command{Use: "run"}, "What to run", "frobnicate")
}

func TestConsole(t *testing.T) {
	var stderr, bars bytes.Buffer
	c := &cobra.Command{Use: "tool"}
	c.SetErr(&stderr)
	console := NewConsole(c, false)
	console.Note("%d of %d", 1, 2)
	console.draw(&bars)
	console.Note("above the bars")
	console.draw(nil)
	console.Note("done")
	quiet := NewConsole(c, true)
	quiet.Note("nobody hears this")
	new(Console).Note("nor this")
	if got, want := stderr.String(), "tool: 1 of 2\ntool: done\n"; got != want {
		t.Errorf("standard error has %q, want %q", got, want)
	}
	if got, want := bars.String(), "tool: above the bars\n"; got != want {
		t.Errorf("the bars have %q, want %q", got, want)
	}
}

// TestInterruptible checks that the first signal cancels the context and prints why. That the second ends the process
// is tested in the commands, with processes.
func TestInterruptible(t *testing.T) {
	var stderr bytes.Buffer
	c := &cobra.Command{Use: "tool"}
	c.SetErr(&stderr)
	ctx, stop := NewConsole(c, false).Interruptible(t.Context(), "keeping 100% of it")
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	stop()
	if got, want := stderr.String(), "tool: interrupted: keeping 100% of it; once more to quit at once\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInterruptibleByHangup checks that SIGHUP cancels the context, and that a second one does not end the process.
func TestInterruptibleByHangup(t *testing.T) {
	var stderr bytes.Buffer
	c := &cobra.Command{Use: "tool"}
	c.SetErr(&stderr)
	guard := make(chan os.Signal, 1)
	signal.Notify(guard, syscall.SIGHUP) // without it a failure would end the tests
	defer signal.Stop(guard)
	ctx, stop := NewConsole(c, false).Interruptible(t.Context(), "bye")
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		<-guard
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Minute):
			t.Fatal("not canceled")
		}
	}
	stop()
	if got, want := stderr.String(), "tool: interrupted: bye; once more to quit at once\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
