//go:build unix && !linux

package pgserver

import "syscall"

// dieWithParent does nothing: only Linux tells a program of its parent's death.
func dieWithParent(*syscall.SysProcAttr) {}
