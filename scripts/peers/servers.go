package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"qsim/engine/pgstore/pgserver"
)

// servers holds the servers that a benchmark starts, PostgreSQL with fsync on and Redis, each in a temporary folder
// with a unix socket.
type servers struct {
	postgres *pgserver.Server
	admin    *pgxpool.Pool
	redis    *redisServer // Redis server; nil: not installed
	schemas  int
}

func start(ctx context.Context) (*servers, error) {
	s := new(servers)
	var err error
	if s.postgres, err = pgserver.Start(ctx, pgserver.Options{}); err != nil {
		return nil, err
	}
	if s.admin, err = pgxpool.New(ctx, s.dsn()); err == nil {
		s.redis, err = startRedis(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Fprintln(os.Stderr, "peers: without Asynq:", err, "(Debian: apt-get install redis-server)")
		err = nil
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *servers) stop() {
	if s.admin != nil {
		s.admin.Close()
	}
	if s.redis != nil {
		s.redis.stop()
	}
	if err := s.postgres.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
	}
}

func (s *servers) dsn() string { return s.postgres.DSN() }

// schema returns an unused name for a schema of the PostgreSQL database, which begins with the given one.
func (s *servers) schema(name string) string {
	s.schemas++
	return fmt.Sprintf("%s_%d", name, s.schemas)
}

// pool creates a schema in the PostgreSQL database and returns a pool of connections with it as the search path.
func (s *servers) pool(ctx context.Context, schema string) (*pgxpool.Pool, error) {
	if _, err := s.admin.Exec(ctx, "create schema "+schema); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(s.dsn())
	if err != nil {
		return nil, err
	}
	config.MaxConns = 20
	config.ConnConfig.RuntimeParams["search_path"] = schema
	return pgxpool.NewWithConfig(ctx, config)
}

// wal returns how many bytes PostgreSQL has written to its write-ahead log so far.
func (s *servers) wal(ctx context.Context) (bytes int64, err error) {
	err = s.admin.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").Scan(&bytes)
	return bytes, err
}

// settle makes PostgreSQL do its background work (vacuum, checkpoint) now, and not during a measurement.
func (s *servers) settle(ctx context.Context) error {
	_, err := s.admin.Exec(ctx, "vacuum analyze")
	if err == nil {
		_, err = s.admin.Exec(ctx, "checkpoint")
	}
	return err
}

// redisServer is a running Redis with its own defaults but for snapshots, which are off: under load a server forks for
// one every minute, and in measurements of seconds that fork would fall into some and not into others. The append-only
// file is off by default.
type redisServer struct {
	command *exec.Cmd
	folder  string
	socket  string
}

func startRedis(ctx context.Context) (*redisServer, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "peers-redis-")
	if err != nil {
		return nil, err
	}
	r := &redisServer{folder: folder, socket: filepath.Join(folder, "socket")}
	r.command = exec.Command(program, "--port", "0", "--unixsocket", r.socket, "--dir", folder, "--save", "",
		"--logfile", filepath.Join(folder, "log"))
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.command.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	for range 500 {
		if conn, err := net.Dial("unix", r.socket); err == nil {
			return r, conn.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.stop()
	return nil, errors.New("redis-server does not answer")
}

func (r *redisServer) stop() {
	_ = r.command.Process.Kill()
	_ = r.command.Wait()
	_ = os.RemoveAll(r.folder)
}

// cpu returns the seconds of processor time that this process and its server, Redis or PostgreSQL, have used so far.
func (s *servers) cpu(redis bool) (client, server float64) {
	pid := s.postgres.PID()
	if redis {
		pid = s.redis.command.Process.Pid
	}
	var own syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var ticks int64
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		// The name may have spaces: fields count from the parenthesis after it, see proc(5).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		first, last := 11, 12 // utime, stime
		switch strconv.Itoa(pid) {
		case filepath.Base(filepath.Dir(path)):
			last = 14 // and the processor time of children that have ended
		case fields[1]:
		default:
			continue
		}
		for i := first; i <= last; i++ {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			ticks += n
		}
	}
	const perSecond = 100 // USER_HZ, on every architecture that Go runs on
	return time.Duration(own.Utime.Nano() + own.Stime.Nano()).Seconds(), float64(ticks) / perSecond
}
