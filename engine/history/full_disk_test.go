package history_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine/history"
	"qsim/engine/pgstore"
)

const fullDisk faultKind = "disk full"

// TestFullDisk has workers that claim ahead work off a queue while the server's disk fills up, again and again, as they
// are killed and frozen. Once there is room, they go on, and nothing was lost or done twice.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk, err := os.MkdirTemp("", "qsim-disk-") // the server's user must be able to reach it: no folder of t is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(disk) }) // after it is unmounted
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=224m,mode=0755"); err != nil {
		t.Skipf("NO SMALL DISK: only root can mount one: %v", err)
	}
	t.Cleanup(func() { // after the server's
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Errorf("unmount %s: %v", disk, err)
		}
	})
	_, r := weather(t, plan{seed: *stormSeed, disk: disk, faults: []faultKind{fullDisk, killWorker, stopWorker}, often: []faultKind{fullDisk},
		until: func(s *storm) bool {
			s.mu.Lock()
			often := s.done[string(fullDisk)]
			s.mu.Unlock()
			return often >= 5 && slices.ContainsFunc(s.read(), func(c history.Call) bool {
				return c.Op == history.Claim && strings.Contains(c.Error, pgstore.ErrFull.Error())
			})
		}})
	for i, a := range r.Anomalies {
		t.Errorf("job %d: %v: %s", a.Job, a.Kind, a.Text)
		if i < 3 {
			t.Log(r.Story(a.Job))
		}
	}
}

// fill fills the server's disk for a while. A server that gave up meanwhile is started again.
func (s *storm) fill(ctx context.Context, d time.Duration) {
	name := filepath.Join(s.disk, "ballast")
	ballast, err := os.Create(name)
	if err != nil {
		s.t.Fatal(err)
	}
	for block := make([]byte, 64<<10); err == nil; {
		_, err = ballast.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.t.Errorf("fill the disk: %v", err)
	}
	s.note(string(fullDisk), 1)
	pause(ctx, d)
	_ = ballast.Close()
	if err := os.Remove(name); err != nil {
		s.t.Fatal(err)
	}
	for range 50 { // the server may recover by itself
		conn, err := pgx.Connect(ctx, s.server.DSN()+" connect_timeout=1")
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
	s.server.Halt(true)
	if err := s.server.Resume(ctx); err != nil {
		s.t.Fatal(err)
	}
	s.note("server that a full disk had ended", 1)
}
