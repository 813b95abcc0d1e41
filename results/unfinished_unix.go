//go:build unix

package results

import (
	"errors"
	"os"
	"syscall"
)

// lock locks f until it is closed, or its process ends; errLocked if another process holds the lock.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
