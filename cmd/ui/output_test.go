package ui

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// broken is a writer whose writes fail with err.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestPrint checks that a failed write is an error with its exit code, and without a text if a pipe's reader hung up.
func TestPrint(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a full disk", syscall.ENOSPC, "write result: no space left on device"},
		{"a reader that hung up", syscall.EPIPE, "exit 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Print(broken{tt.err}, "text")
			var f *Failure
			if !errors.As(err, &f) || f.Exit != ExitIO || f.Error() != tt.want {
				t.Errorf("got %v, want %q with exit %d", err, tt.want, ExitIO)
			}
		})
	}
	var out strings.Builder
	if err := Print(&out, "100% of it\n"); err != nil || out.String() != "100% of it\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
