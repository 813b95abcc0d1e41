package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"qsim/engine/pgstore/pgserver"
)

// TestSmoke measures all systems whose servers this machine has, with few jobs, and checks that each cell has a number.
func TestSmoke(t *testing.T) {
	o, err := parse([]string{"-rounds", "1", "-jobs", "1000", "-rates", "200", "-for", "1s"})
	if err != nil {
		t.Fatal(err)
	}
	servers, err := start(t.Context())
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip("NO POSTGRESQL: skipped")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer servers.stop()
	var res results
	for _, s := range o.systems {
		if s.redis && servers.redis == nil {
			continue
		}
		if err := measure(t.Context(), o, s, servers, &res); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for _, c := range []cell{{s.name, "backlog", "jobs/s"}, {s.name, "backlog", "enqueue/s"}, {s.name, "backlog", "WAL-B/job"},
			{s.name, "200 jobs/s", "p50-ms"}, {s.name, "200 jobs/s", "p99-ms"}} {
			missing := s.redis && c.metric == "WAL-B/job" || s.slow && c.load != "backlog"
			if values := res.values[c]; missing != (values == nil) || !missing && !(values[0] > 0) {
				t.Errorf("%v: %v", c, values)
			}
		}
		if raw, p50 := res.values[cell{systems[0].name, "200 jobs/s", "p50-ms"}], res.values[cell{s.name, "200 jobs/s",
			"p50-ms"}]; p50 != nil && p50[0] < raw[0]/100 {
			t.Errorf("%s: half of the jobs take %v ms, where those of the bare loop take %v", s.name, p50, raw)
		}
	}
	var out bytes.Buffer
	if err := res.write(&out, o); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "qsim weighted") != 2 || !strings.Contains(text, "×") {
		t.Errorf("the tables are\n%s", text)
	}
}

// TestDone checks that a job reported done twice counts once, with the first time.
func TestDone(t *testing.T) {
	r := newTrial(nil, 5, 2)
	r.began = time.Now().Add(-time.Second)
	r.done(6)
	first := r.ends[1].Load()
	r.done(6)
	if r.left.Load() != 1 || r.ends[1].Load() != first || first < int64(time.Second) {
		t.Errorf("%d are left, job 6 was done at %d, then %d", r.left.Load(), first, r.ends[1].Load())
	}
	r.done(5)
	<-r.over
	if r.latest.Load() != r.ends[0].Load() {
		t.Errorf("all were done at %d, want %d", r.latest.Load(), r.ends[0].Load())
	}
}

// instant is a queue whose work reports job 1 as done at once.
type instant struct{ queue }

func (instant) work(_ context.Context, done func(job int64)) error { done(1); return nil }

// TestStartUp checks that the time of a trial begins before the queue's work does: even a job done at once has a time.
func TestStartUp(t *testing.T) {
	for range 1000 {
		r := newTrial(instant{}, 1, 1)
		if err := r.work(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Duration(r.latest.Load()); took < 0 || took > patience {
			t.Fatalf("the job was done after %v", took)
		}
	}
}

// TestRedisSavesNothing checks that the Redis of startRedis makes no snapshots and has no append-only file.
func TestRedisSavesNothing(t *testing.T) {
	r, err := startRedis(t.Context())
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("NO REDIS: skipped")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.stop()
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	for name, want := range map[string]string{"save": "", "appendonly": "no"} {
		answer := fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(name), name, len(want), want)
		got := make([]byte, len(answer))
		if _, err := fmt.Fprintf(conn, "config get %s\r\n", name); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != answer {
			t.Errorf("got %q (%v), want %q", got, err, answer)
		}
	}
}
