//go:build unix

package pgserver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// prefix begins the name of every server's folder.
const prefix = "qsim-postgresql-"

// claim marks a folder as one of a process that lives: it locks a file in it for as long
// as the process does, whatever ends that. The file gets the name that sweep looks for
// once it is locked: between the two, another process's sweep would take it for abandoned.
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

// sweep removes the folders that processes of this user have left in parent which were
// ended from outside: those that nobody claims any more, and whose server does not run.
// What cannot be removed stays: it harms nobody.
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

// abandoned reports whether a folder was claimed by a process of this user that is no
// more, and holds no server that runs. While it asks it holds the claim, for a moment.
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
