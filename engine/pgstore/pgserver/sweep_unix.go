//go:build unix

package pgserver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// claim marks a folder as used by a living process: it locks a file in it, and the lock lasts until the process ends in
// any way. The file gets its final name only once it is locked: otherwise another process's sweep might take the folder
// for abandoned.
func claim(folder string) (*os.File, error) {
	unnamed := filepath.Join(folder, "owner.new")
	f, err := os.OpenFile(unnamed, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(unnamed, filepath.Join(folder, "owner"))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the folders that killed processes of this user have left in parent: those that no process has locked
// (see claim) and whose server does not run. Folders that cannot be removed stay: they do no harm.
func sweep(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	found, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, folder := range found {
		if abandoned(folder) {
			_ = os.RemoveAll(folder)
		}
	}
}

// abandoned reports whether a folder was claimed by a process of this user that has ended, and holds no running server.
// While it looks, it holds the lock of the folder itself.
func abandoned(folder string) bool {
	f, err := os.OpenFile(filepath.Join(folder, "owner"), os.O_RDWR, 0)
	if err != nil {
		return false // it was not claimed yet, or is another user's
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid"))
	if err != nil {
		return os.IsNotExist(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	return err == nil && pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH
}
