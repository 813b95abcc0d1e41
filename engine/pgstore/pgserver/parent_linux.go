package pgserver

import "syscall"

// dieWithParent makes the server shut down, with all connections cut, when the thread that started it ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGINT }
