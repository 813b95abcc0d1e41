//go:build unix

package pgserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"qsim/engine/pgstore/pgserver"
)

func start(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(t.Context(), o)
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skipf("NO POSTGRESQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A server restarts on the same socket, survives a crash, and leaves nothing.
func TestServer(t *testing.T) {
	folder, err := os.MkdirTemp("", "qsim-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t, pgserver.Options{Unsafe: true, Folder: folder, Settings: map[string]string{"application_name": "it's"}})
	if !strings.Contains(s.DSN(), "host="+folder) || strings.Contains(s.DSN(), "password") {
		t.Error(s.DSN())
	}
	for _, crash := range []bool{false, true} {
		pid := s.PID()
		if s.Halt(crash); s.PID() != 0 || alive(pid) {
			t.Errorf("halted (crash: %v): pid %d", crash, s.PID())
		}
		if err := s.Resume(t.Context()); err != nil || !alive(s.PID()) {
			t.Fatalf("resumed: %v; pid %d\n%s", err, s.PID(), s.Log())
		}
	}
	pid := s.PID()
	if err := s.Restart(t.Context()); err != nil || s.PID() == pid {
		t.Errorf("restarted: %v", err)
	}
	pid = s.PID()
	if err := s.Stop(); err != nil || alive(pid) {
		t.Errorf("stopped: %v, alive: %v", err, alive(pid))
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func alive(pid int) bool { return pid != 0 && syscall.Kill(pid, 0) == nil }

// A setting that the server does not take is an error that shows what the server said.
func TestServerThatDoesNotStart(t *testing.T) {
	folder := t.TempDir()
	for at := folder; len(at) > len(os.TempDir()); at = filepath.Dir(at) { // the server's user must reach it
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	_, err := pgserver.Start(t.Context(), pgserver.Options{Folder: folder, Settings: map[string]string{"work_mem": "lots"}})
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skipf("NO POSTGRESQL: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "work_mem") || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err = pgserver.Start(t.Context(), pgserver.Options{Folder: filepath.Join(folder, "absent")})
	if err == nil {
		t.Error("started in a folder that is not there")
	}
	long := filepath.Join(folder, strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = pgserver.Start(t.Context(), pgserver.Options{Folder: long}); err == nil || !strings.Contains(err.Error(), "107 bytes") {
		t.Errorf("a path that is too long: %v", err)
	}
}
