//go:build unix

package bench

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"qsim/cmd/ui"
)

// openFolder returns a temporary folder that the user of a server can reach, and checks that it is
// empty in the end.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "qbench-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left in its folder: %v, %v", left, err)
		}
		os.RemoveAll(folder)
	})
	return folder
}

// TestHungUp has the reader of the results hang up after the first line: the rest is not
// measured, and the server that was started goes with its folder, without a word.
func TestHungUp(t *testing.T) {
	needServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	c := command(ctx, []string{"TMPDIR=" + openFolder(t)}, "run", "-q", "--store", "postgres", "--jobs", "100", "--rounds", "10000")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	out.Close()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != int(ui.ExitIO) || stderr.String() != "" {
		t.Errorf("%v, want exit %d and no word\n%s", c.ProcessState, ui.ExitIO, stderr.String())
	}
}

// TestSignalsWhileStarting interrupts commands while their server starts, by each of the signals:
// they print one line and leave no files.
func TestSignalsWhileStarting(t *testing.T) {
	needServer(t)
	// Where hangups are ignored, as under nohup, so they are by what is started: not if they
	// are caught here.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, tt := range []struct {
		name      string
		signal    os.Signal
		arguments []string
	}{
		{"run", os.Interrupt, []string{"run", "--store", "postgres", "--jobs", "10"}},
		{"worker", os.Interrupt, []string{"worker"}},
		{"predict", os.Interrupt, []string{"predict", "--store", "postgres", "--no-files", "--scenario", "testdata/small.yaml"}},
		{"noise", os.Interrupt, []string{"noise", "--store", "postgres", "--jobs", "10"}},
		{"hangup", syscall.SIGHUP, []string{"run", "--store", "postgres", "--scenario", "testdata/small.yaml"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), hangs)
			defer cancel()
			folder := openFolder(t)
			c := command(ctx, []string{"TMPDIR=" + folder}, tt.arguments...)
			var out strings.Builder
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, "initdb", func() bool {
				found, _ := filepath.Glob(filepath.Join(folder, "*", "data", "*"))
				return len(found) > 0
			})
			if err := c.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			var own []string
			for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
				if !strings.Contains(line, "virtual") && !strings.Contains(line, " at 1x: ") && !strings.Contains(line, "all times are") {
					own = append(own, line)
				}
			}
			want := ui.ExitInterrupted
			if tt.signal == syscall.SIGTERM {
				want = ui.ExitTerminated
			}
			if code := c.ProcessState.ExitCode(); code != int(want) || len(own) != 1 || !strings.Contains(own[0], "interrupted: tidying up") {
				t.Errorf("%v, want exit %d and one line\n%s", c.ProcessState, want, out.String())
			}
		})
	}
}
