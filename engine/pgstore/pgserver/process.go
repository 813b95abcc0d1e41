package pgserver

import (
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// process is a program of PostgreSQL, running or ended, that this process has started.
type process struct {
	command *exec.Cmd
	done    chan struct{} // closed when it has ended
	err     error         // error of the program, once it has ended
}

// begin starts a program, from a thread that stays until the program ends: Linux signals a child process when the
// thread that started it dies, see dieWithParent.
func begin(command *exec.Cmd) (*process, error) {
	p := &process{command: command, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			p.err = command.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.command.Process.Pid }

func (p *process) signal(s syscall.Signal) { _ = p.command.Process.Signal(s) }

// lastLines returns the last eight lines of a program's output.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// complaint returns the first line of a program's output that reports an error, or its last lines if none does.
func complaint(text string) string {
	for _, line := range strings.Split(text, "\n") {
		for _, word := range []string{"PANIC:", "FATAL:", "ERROR:", "error:"} {
			if strings.Contains(line, word) {
				return strings.TrimSpace(line)
			}
		}
	}
	return lastLines(text)
}
