package ui

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// broken is a writer that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestPrint writes through writers that fail: the error is one of writing, with its exit code, and has no text if the
// reader of a pipe hung up.
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
