// Package pgserver runs a private PostgreSQL server for a test or a benchmark: created by initdb in a temporary folder,
// reachable only by a unix socket in that folder, deleted by Stop.
//
// PostgreSQL refuses to run as root, so for root the server runs as the user postgres, or as nobody where there is no
// such user. If the process that started it dies, even by SIGKILL, Linux signals the server to shut down; the next
// server started in the same place removes the folder.
package pgserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing is the error for PostgreSQL programs that are not installed, or cannot be used on this system.
var ErrMissing = errors.New("pgserver: no PostgreSQL server is installed")

// Options configures a server. The zero value leaves PostgreSQL's defaults, under which a commit is flushed to the
// disk.
type Options struct {
	// Unsafe turns fsync, full_page_writes and synchronous_commit off: a power failure may lose everything, a crash of the
	// server the commits of the last moments. For tests of correctness, not of speed.
	Unsafe bool
	// Settings are further lines of postgresql.conf by name, such as "max_connections".
	Settings map[string]string
	// Folder is where the temporary folder is made; empty: where the system keeps
	// temporary files. The user that the server runs as must be able to reach it.
	Folder string
	// MostFile, if above 0, is how large in bytes a file of the server may grow, as on a
	// disk that is full beyond. The transaction log has files of 16 MiB.
	MostFile int64
}

// Server is a running server, or one that has been stopped. Its methods must not be called at the same time.
type Server struct {
	options  Options
	programs string // folder of the programs initdb and postgres
	owner    *owner
	folder   string   // holds the socket and data
	claim    *os.File // open file that marks the folder as this process's
	process  *process // nil: the server is stopped
}

// superuser is the name of the only role of a new server, port is that of its socket, and prefix is how the names of
// server folders begin.
const (
	superuser = "qsim"
	port      = "5432"
	prefix    = "qsim-postgresql-"
)

// configuration is the configuration file of all servers. Sizes fit a machine with 1 GiB.
const configuration = `
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 256MB
max_wal_size = 2GB
checkpoint_timeout = 15min
autovacuum_naptime = 5s
jit = off
logging_collector = off
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
`

const unsafely = `
fsync = off
full_page_writes = off
synchronous_commit = off
`

// patience is the longest time that a server may take to start or to stop.
const patience = 60 * time.Second

// Find returns the folder that holds initdb and postgres: that of initdb in PATH, or the
// newest of /usr/lib/postgresql, where Debian keeps them. The error is ErrMissing.
func Find() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(p); err == nil {
			p = resolved
		}
		if _, err := exec.LookPath(filepath.Join(filepath.Dir(p), "postgres")); err == nil {
			return filepath.Dir(p), nil
		}
	}
	best, newest := "", -1
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	for _, p := range found {
		folder := filepath.Dir(p)
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		_, missing := exec.LookPath(filepath.Join(folder, "initdb"))
		if cmp.Or(err, missing) == nil && version > newest {
			best, newest = folder, version
		}
	}
	if best == "" {
		return "", fmt.Errorf("%w: looked for initdb and postgres in PATH and /usr/lib/postgresql/*/bin "+
			"(Debian: apt-get install postgresql)", ErrMissing)
	}
	return best, nil
}

// Start creates a server and returns once it accepts connections. ctx is for the start alone: the server runs until
// Stop. After an error nothing is left behind; if ctx was done, the error is that of ctx.
func Start(ctx context.Context, o Options) (*Server, error) {
	programs, err := Find()
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	sweep(o.Folder)
	folder, err := os.MkdirTemp(o.Folder, prefix)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	s := &Server{options: o, programs: programs, owner: owner, folder: folder}
	if s.claim, err = claim(folder); err == nil {
		err = s.create(ctx)
	}
	if err == nil {
		err = s.launch(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // the other errors follow from the cancellation
		}
		return nil, fmt.Errorf("start PostgreSQL: %w", errors.Join(err, s.remove()))
	}
	return s, nil
}

// create creates the data of a new server in its folder, by initdb.
func (s *Server) create(ctx context.Context) error {
	// A socket's path is at most 107 bytes long, see unix(7).
	if socket := s.folder + "/.s.PGSQL." + port + ".lock"; len(socket) > 107 {
		return fmt.Errorf("the path of the socket, %s, is longer than 107 bytes: choose another temporary folder (TMPDIR)",
			socket)
	}
	if err := s.owner.own(s.folder); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(s.programs, "initdb"), "--pgdata="+s.Data(), "--username="+superuser,
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	initdb.Dir = s.folder
	initdb.Env = environment()
	initdb.SysProcAttr = s.owner.attributes()
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, complaint(string(said)))
	}
	text := configuration
	if s.options.Unsafe {
		text += unsafely
	}
	for name, value := range s.options.Settings {
		text += fmt.Sprintf("%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
	}
	f, err := os.OpenFile(filepath.Join(s.Data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// environment returns the environment variables for initdb and postgres: this process's without PG*, and locale C.
func environment() []string {
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	return append(kept, "LC_ALL=C")
}

// launch starts the server in its folder and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	arguments := []string{filepath.Join(s.programs, "postgres"), "-D", s.Data(), "-k", s.folder, "-p", port}
	if s.options.MostFile > 0 {
		// The shell sets the limit, in blocks of 512 bytes, and becomes the server.
		limit := fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, max(1, s.options.MostFile/512))
		arguments = append([]string{"/bin/sh", "-c", limit}, arguments...)
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir, command.Env, command.Stdout, command.Stderr = s.folder, environment(), log, log
	command.SysProcAttr = s.owner.attributes()
	if s.process, err = begin(command); err != nil {
		return err
	}
	if err := s.awaitReady(ctx); err != nil {
		s.process.signal(syscall.SIGQUIT)
		<-s.process.done
		s.process = nil
		return err
	}
	return nil
}

// awaitReady returns when the server's pid file states that it accepts connections: in the eighth line, see miscadmin.h
// of PostgreSQL.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		text, err := os.ReadFile(filepath.Join(s.Data(), "postmaster.pid"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		lines := strings.Split(string(text), "\n")
		if len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" && lines[0] == strconv.Itoa(s.process.pid()) {
			return nil
		}
		select {
		case <-s.process.done:
			return fmt.Errorf("the server ended (%w): %s", s.process.err, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w: %s", ctx.Err(), s.Log())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// DSN returns the connection string of the server: keywords, without a password.
func (s *Server) DSN() string {
	return fmt.Sprintf("host=%s port=%s user=%s dbname=postgres sslmode=disable", s.folder, port, superuser)
}

// Data returns the folder of the server's data, for tests that change it.
func (s *Server) Data() string { return filepath.Join(s.folder, "data") }

func (s *Server) logFile() string { return filepath.Join(s.folder, "log") }

// Log returns the last eight lines of the server's log, or the error if it cannot be read.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text))
}

// PID returns the process id of the server, 0 while it is stopped.
func (s *Server) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.pid()
}

// Halt ends the server and keeps its data for Resume: with crash at once and without a checkpoint, otherwise in good
// order, with all connections cut.
func (s *Server) Halt(crash bool) {
	if s.process == nil {
		return
	}
	how := syscall.SIGINT
	if crash {
		how = syscall.SIGQUIT
	}
	s.process.signal(how)
	select {
	case <-s.process.done:
	case <-time.After(patience):
		s.process.signal(syscall.SIGKILL)
		<-s.process.done
	}
	s.process = nil
}

// Resume starts a halted server again, on the same socket.
func (s *Server) Resume(ctx context.Context) error {
	if s.process != nil {
		return nil
	}
	if err := s.launch(ctx); err != nil {
		return fmt.Errorf("resume PostgreSQL: %w", err)
	}
	return nil
}

// Stop ends the server, if it runs, and removes its folder.
func (s *Server) Stop() error {
	s.Halt(true) // what is in the folder goes anyway: no checkpoint
	return s.remove()
}

// remove deletes the server's folder with its data, and then releases the lock that marks the folder as in use.
func (s *Server) remove() error {
	err := os.RemoveAll(s.folder)
	if s.claim != nil {
		_ = s.claim.Close()
	}
	return err
}

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
