//go:build !unix

package pgserver

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// owner is the operating system's user that a server runs as. Here there are no servers.
type owner struct{}

func serverUser() (*owner, error) {
	return nil, fmt.Errorf("%w: servers of one's own need unix sockets and signals, not %s", ErrMissing, runtime.GOOS)
}

func (*owner) own(string) error { return nil }

func (*owner) attributes() *syscall.SysProcAttr { return nil }

func claim(string) (*os.File, error) { return nil, ErrMissing }

func sweep(string) {}
