package wall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine/pgstore/pgserver"
)

// stops are functions that TestMain calls in the end, to stop the servers which tests have started.
var stops struct {
	sync.Mutex
	all []func()
}

func atEnd(stop func()) {
	stops.Lock()
	defer stops.Unlock()
	stops.all = append(stops.all, stop)
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range stops.all {
		stop()
	}
	os.Exit(code)
}

// port returns an unused port of the loopback interface.
func port() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// tied is a shell command that runs a server until its standard input is closed: by stop, or by the death of the test.
const tied = `"$@" & server=$!; read -r _; kill "$server" 2>/dev/null; wait "$server"`

// serve starts a server in a temporary folder, until the end of the tests, and waits until it listens on the port.
func serve(name string, port int, environment func(folder string) []string, arguments ...string) error {
	folder, err := os.MkdirTemp("", "conform-"+name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	command := exec.Command("sh", append([]string{"-c", tied, "sh"}, arguments...)...)
	command.Dir, command.Stdout, command.Stderr = folder, &out, &out
	if environment != nil {
		command.Env = append(os.Environ(), environment(folder)...)
	}
	in, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }()
	atEnd(func() {
		in.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			fmt.Fprintf(os.Stderr, "%s does not stop\n", name)
		}
		os.RemoveAll(folder)
	})
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(50 * ms) {
		if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			return c.Close()
		}
		select {
		case <-ended:
			return fmt.Errorf("%s ended: %s", name, out.String())
		default:
		}
	}
	return fmt.Errorf("%s does not listen: %s", name, out.String())
}

// missing skips the test if a program is not installed; where names the package that has it.
func missing(t *testing.T, program, where string) {
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("NOT CHECKED: %s is not installed: %s", program, where)
	}
}

var redis = sync.OnceValues(func() (at int, err error) {
	if at, err = port(); err != nil {
		return 0, err
	}
	return at, serve("redis", at, nil, "redis-server", "--bind", "127.0.0.1", "--port", fmt.Sprint(at), "--save", "", "--databases", "4096", "--maxclients", "4000")
})

var databases atomic.Int64

// onRedis returns the address of an unused database on the test's Redis.
func onRedis(t *testing.T, _ string) map[string]any {
	missing(t, "redis-server", "Debian's package redis-server")
	at, err := redis()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"host": "127.0.0.1", "port": at, "db": databases.Add(1)}
}

var postgres = sync.OnceValues(func() (*pgserver.Server, error) {
	s, err := pgserver.Start(context.Background(), pgserver.Options{Unsafe: true, Settings: map[string]string{"max_connections": "900", "shared_buffers": "128MB"}})
	if err == nil {
		atEnd(func() {
			if err := s.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
			}
		})
	}
	return s, err
})

// onPostgres returns the address of a new database on the test's PostgreSQL.
func onPostgres(t *testing.T, name string) map[string]any {
	s, err := postgres()
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip("NOT CHECKED: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.ParseConfig(s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	address := map[string]any{"host": c.Host, "port": c.Port, "user": c.User, "database": c.Database}
	if err := execute(address, "create database "+name); err != nil {
		t.Fatal(err)
	}
	address["database"] = name
	return address
}

func dsn(address map[string]any) string {
	return fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=disable", address["host"], address["port"], address["user"], address["database"])
}

// execute runs an SQL statement in the database of an address, as returned by onPostgres.
func execute(address map[string]any, sql string, values ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, dsn(address))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql, values...)
	return err
}
