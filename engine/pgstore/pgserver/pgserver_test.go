//go:build unix

package pgserver_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	s.Halt(false)
	if err := s.Resume(t.Context()); err != nil || s.PID() == pid {
		t.Errorf("resumed: %v", err)
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

// An invalid setting is an error that contains the server's message.
func TestServerThatDoesNotStart(t *testing.T) {
	folder := t.TempDir()
	for at := folder; len(at) > len(os.TempDir()); at = filepath.Dir(at) { // the server's user must reach it
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, err := pgserver.Start(t.Context(), pgserver.Options{Folder: folder, Settings: map[string]string{"work_mem": "lots"}})
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skipf("NO POSTGRESQL: %v", err)
	}
	// It is seen to have ended, and not waited for.
	if err == nil || !strings.Contains(err.Error(), "work_mem") || !strings.Contains(err.Error(), "the server ended") {
		t.Error(err)
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

// TestSweep starts a server where killed processes have left folders: they are removed, but not
// those of a live process, a running server, or other programs.
func TestSweep(t *testing.T) {
	folder, err := os.MkdirTemp("", "qsim-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	left := func(name, owner, pid string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Join(path, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"owner": owner, "data/postmaster.pid": pid} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(path, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	// No process has so high a number, and none will: what has ended may be another's soon.
	dead, living := strconv.Itoa(math.MaxInt32)+"\n/x\n", strconv.Itoa(os.Getpid())+"\n/x\n"
	gone := []string{left("qsim-postgresql-1", "x", dead), left("qsim-postgresql-2", "x", "")}
	kept := []string{left("qsim-postgresql-3", "", dead), left("qsim-postgresql-4", "x", living), left("another-5", "x", dead)}
	first := start(t, pgserver.Options{Unsafe: true, Folder: folder})
	first.Halt(true) // what a crash leaves is not what a killed process leaves
	start(t, pgserver.Options{Unsafe: true, Folder: folder})
	if err := first.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	for _, path := range gone {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
