//go:build unix

package pgserver

import (
	"os"
	"testing"
)

// TestClaimAgainstSweep makes folders while another sweeps without pause, as test programs
// that start at the same time do: none may be taken for abandoned.
func TestClaimAgainstSweep(t *testing.T) {
	parent := t.TempDir()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				sweep(parent)
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for range 3000 {
		folder, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			t.Fatal(err)
		}
		f, err := claim(folder)
		if err != nil {
			t.Fatal("claim:", err)
		}
		if abandoned(folder) {
			t.Fatal("a claimed folder counts as abandoned")
		}
		if _, err := os.Stat(folder); err != nil {
			t.Fatal("a claimed folder was removed:", err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
