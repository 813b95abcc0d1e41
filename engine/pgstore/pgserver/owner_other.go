//go:build !unix

package pgserver

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// owner stands for the operating system's user that a server runs as; this system supports no servers.
type owner struct{}

func serverUser() (*owner, error) {
	return nil, fmt.Errorf("%w: servers of one's own need unix sockets and signals, not %s", ErrMissing, runtime.GOOS)
}

func (*owner) own(string) error { return nil }

func (*owner) attributes() *syscall.SysProcAttr { return nil }

func claim(string) (*os.File, error) { return nil, ErrMissing }

func sweep(string) {}
