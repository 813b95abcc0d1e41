//go:build unix

package pgserver

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the operating system's user that a server runs as.
type owner struct{ credential *syscall.Credential } // nil: this process's own

// serverUser returns this process's user, or for root another one, since PostgreSQL refuses to run as root.
func serverUser() (*owner, error) {
	if os.Geteuid() != 0 {
		return &owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
		}
	}
	return nil, fmt.Errorf("%w: it does not run as root, and there is no user postgres or nobody", ErrMissing)
}

// own makes the user that a server runs as the owner of a folder.
func (o *owner) own(folder string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(folder, int(o.credential.Uid), int(o.credential.Gid))
}

// attributes returns the process attributes with which a program runs as the server's user and ends with this process.
func (o *owner) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Credential: o.credential}
	dieWithParent(a)
	return a
}
