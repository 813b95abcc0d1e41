//go:build unix && !linux

package pgserver

import "syscall"

// dieWithParent does nothing: only Linux signals the death of its parent to a program.
func dieWithParent(*syscall.SysProcAttr) {}
