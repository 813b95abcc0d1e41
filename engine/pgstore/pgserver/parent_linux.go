package pgserver

import "syscall"

// dieWithParent makes the server shut down, with all connections cut, when the thread
// ends that started it.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGINT }
