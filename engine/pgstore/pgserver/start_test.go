//go:build unix

package pgserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestComplaint finds the line with the cause in the output of initdb.
func TestComplaint(t *testing.T) {
	said := "creating directory ... ok\ncreating template1 ... FATAL:  could not write: No space left on device\nchild process exited with exit code 1\ninitdb: removing data directory"
	if got, want := complaint(said), "creating template1 ... FATAL:  could not write: No space left on device"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := complaint("a\nb\n"); got != "a\nb" {
		t.Errorf("nothing that complains: %q", got)
	}
}

// TestStartStopped checks that a cancelled start returns the context's error alone, and leaves no files.
func TestStartStopped(t *testing.T) {
	if _, err := Find(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	_, err := Start(ctx, Options{Folder: folder})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "initdb") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestFind takes the folder of an initdb in PATH only if beside it is a postgres that can be executed.
func TestFind(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	for _, tt := range []struct {
		program string
		mode    os.FileMode
		found   bool
	}{{"initdb", 0o777, false}, {"postgres", 0o666, false}, {"postgres", 0o777, true}} {
		path := filepath.Join(folder, tt.program)
		if err := errors.Join(os.WriteFile(path, nil, tt.mode), os.Chmod(path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(); (got == folder) != tt.found {
			t.Errorf("%s of mode %o: %s, %v", tt.program, tt.mode, got, err)
		}
	}
}
