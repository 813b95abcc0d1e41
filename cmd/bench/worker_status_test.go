package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/engine/pgstore"
	"qsim/engine/pgstore/pgserver"
	"qsim/results/report/browsertest"
	"qsim/scenarios/world"
)

// TestWorkerStatus reads the page of a worker that runs 4 of 20 jobs, which take a minute, and another two that fail at
// once: it shows depth, leases and failures, and an error once the store is gone.
func TestWorkerStatus(t *testing.T) {
	needServer(t)
	ctx := t.Context()
	server, err := pgserver.Start(ctx, pgserver.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	store, err := pgstore.Open(ctx, server.DSN(), pgstore.Options{Schema: "seen", Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all := make([]engine.NewJob, 20)
	for i := range all {
		all[i].ID = engine.JobID(i + 1)
	}
	if err := store.Enqueue(ctx, all); err != nil {
		t.Fatal(err)
	}
	w := &workerProcess{Cmd: command(ctx, nil, "worker", "--dsn", server.DSN(), "--schema", "seen", "--node", "7", "--workers", "4",
		"--prefetch", "0", "--work", "1m", "--stop-within", "0s", "--status", "127.0.0.1:0")}
	w.Stdout, w.Stderr = w, w
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Process.Kill(); _ = w.Wait() }()
	var at string
	await(t, "the page", func() bool {
		if m := regexp.MustCompile(`http://\S+/`).FindString(w.printed()); m != "" {
			at = m
		}
		return at != ""
	})
	get := func(path string) string {
		t.Helper()
		r, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.StatusCode, " ", string(body))
	}
	var got statusJSON
	look := func() statusJSON {
		t.Helper()
		got = statusJSON{}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(get("status.json"), "200 ")), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	await(t, "four executions", func() bool { return look().Running == 4 && got.Queue != nil && got.Queue.InFlight == 4 })
	if got.Schema != "seen" || got.Node != 7 || got.Queue.Ready != 16 || got.Queue.Oldest <= 0 || got.Queue.Dead != 0 {
		t.Errorf("%+v, queue %+v", got, got.Queue)
	}
	if page := get(""); !strings.Contains(page, `<td>ready<td class="n">16<td>the oldest for `) || !strings.Contains(page, "Queue seen") ||
		!strings.Contains(page, `<meta name="viewport" content="width=device-width`) || !strings.Contains(page, "is a lower bound") {
		t.Errorf("the page: %s", page)
	}
	if answer := get("other"); !strings.HasPrefix(answer, "404 ") {
		t.Errorf("another page: %s", answer)
	}
	if r, err := http.Post(at, "", nil); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("to write on it: %v, %v", r, err)
	}
	server.Halt(true)
	await(t, "the trouble of the store", func() bool { return look().Trouble != "" && got.Queue == nil })
	if page := get(""); !strings.Contains(page, "The store does not answer: ") {
		t.Errorf("the page: %s", page)
	}
	if err := server.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	await(t, "the store", func() bool { return look().Queue != nil })
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("%v\n%s", err, w.printed())
	}
	if !strings.Contains(w.printed(), "live: stopping: waiting for executions") {
		t.Errorf("the stop does not say what it waits for:\n%s", w.printed())
	}
}

// TestStatusAddress shows the page on this machine only, and refuses any other address before it looks for a server.
func TestStatusAddress(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":8080", "[::]:1", "192.0.2.1:80", "example.com:80", "8080", "127.0.0.1:65536", "localhost:http2"} {
		if err := checkStatus(address); err == nil || !strings.HasPrefix(err.Error(), "--status ") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:8080", "localhost:1", ""} {
		if err := checkStatus(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	out, _ := command(t.Context(), nil, "worker", "--dsn", "host=nowhere.invalid", "--status", "8080").CombinedOutput()
	if string(out) != "qbench: --status 8080: want HOST:PORT, such as 127.0.0.1:8080; PORT is at most 65535\n" {
		t.Errorf("got %q", out)
	}
}

// idle returns the statistics of a store without jobs.
func idle(context.Context) (engine.Stats, error) { return engine.Stats{}, nil }

// TestStatusFailures keeps the latest failures and counts all of them by kind.
func TestStatusFailures(t *testing.T) {
	names := make([]string, engine.FirstErrorKind+3)
	names[engine.FirstErrorKind+2] = "refused"
	s := &status{process: &process{errors: names}, stats: idle, kinds: map[engine.ErrorKind]int64{}}
	for i := range 30 {
		kind := []engine.ErrorKind{engine.Timeout, engine.FirstErrorKind + 2}[i%2]
		s.failed(&engine.Job{ID: engine.JobID(i)}, kind, io.EOF)
	}
	got := s.snapshot(t.Context())
	if len(got.Failures) != mostFailures || got.Failures[0].Job != 29 || got.Failures[0].Error != "EOF" {
		t.Errorf("latest %+v", got.Failures)
	}
	if len(got.Failed) != 2 || got.Failed["timeout"] != 15 || got.Failed["refused"] != 15 || got.Failures[0].Kind != "refused" {
		t.Errorf("by kind %v", got.Failed)
	}
}

// TestStatusKinds counts executions that are cut off under the kind of that end, whatever error their statements had, and
// panics, which are logged as without a status page.
func TestStatusKinds(t *testing.T) {
	wall := openWall(t, smallLoad(1))
	for _, tt := range []struct {
		kind engine.ErrorKind
		ends func(ctx context.Context, j *engine.Job, store engine.Store) // brings the end about
	}{
		{engine.Timeout, func(context.Context, *engine.Job, engine.Store) {}},
		{engine.Canceled, func(context.Context, *engine.Job, engine.Store) {}},
		{engine.LeaseExpired, func(ctx context.Context, j *engine.Job, store engine.Store) {
			ack := engine.Outcome{LeaseKey: engine.LeaseKey{Job: j.ID, Token: 1}, Verb: engine.Ack}
			_, _ = store.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: 1, Seq: 1}, Outcomes: []engine.Outcome{ack}}, nil)
		}},
		{engine.Panicked, func(context.Context, *engine.Job, engine.Store) { panic("a bug") }},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, log := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1}), new(bytes.Buffer)
			f, p := &workerFlags{}, &process{wall: wall, log: slog.New(slog.NewTextHandler(log, nil))}
			f.speed = world.Speed{Num: 1, Den: 1}
			c := enginesOf(wall, store)
			c.Logger = p.log
			c.Engine.Kinds = slices.Clone(c.Engine.Kinds)
			if tt.kind == engine.Timeout {
				c.Engine.Kinds[0].Timeout = time.Second
			}
			c.Handler = func(ctx context.Context, j *engine.Job) error {
				if j.Delivery > 1 {
					return nil
				}
				tt.ends(ctx, j, store)
				<-ctx.Done()
				return ctx.Err()
			}
			s := newStatus(p, f, &c)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := cmp.Or(store.Enqueue(ctx, []engine.NewJob{{ID: 1}}), live.Run(ctx, c)); err != nil {
				t.Fatal(err)
			}
			got := s.snapshot(context.Background())
			if len(s.kinds) != 1 || s.kinds[tt.kind] != 1 || len(got.Failures) != 1 || got.Running != 0 {
				t.Errorf("%v: counted as %v, listed as %+v, %d running", tt.kind, s.kinds, got.Failures, got.Running)
			}
			if bytes.Contains(log.Bytes(), []byte("a bug")) != (tt.kind == engine.Panicked) {
				t.Errorf("%v: the log is %q", tt.kind, log)
			}
		})
	}
}

// TestStatusPage follows a worker in a browser until its reader wants to read, or the worker is gone.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	s := &status{process: &process{errors: make([]string, engine.FirstErrorKind+1)}, stats: idle, kinds: map[engine.ErrorKind]int64{}}
	s.failed(&engine.Job{ID: 7}, engine.Timeout, io.EOF)
	worker := httptest.NewServer(s)
	defer worker.Close()
	browsertest.Open(t, worker.URL, 1400, browsertest.Scheme("dark", "")).Accessible()
	tb := browsertest.Open(t, worker.URL, 360, browsertest.Scheme("light", ""))
	tb.Accessible()
	tb.Run(chromedp.Evaluate[chromedp.Void](`window.loaded = true`))
	s.running.Store(5)
	tb.Until(`window.loaded && document.body.textContent.includes("running5")`)
	tb.Quiet(worker.URL)
	tb.Run(chromedp.Click("#follow"))
	s.running.Store(6)
	time.Sleep(2500 * time.Millisecond) // new figures would come
	if text := browsertest.Eval[string](tb, `document.body.textContent`); !strings.Contains(text, "running5") {
		t.Errorf("figures change while one reads: %s", text)
	}
	tb.Run(chromedp.Click("#follow"))
	tb.Until(`document.body.textContent.includes("running6")`)
	worker.Close()
	tb.Until(`document.getElementById("gone").textContent.startsWith("This process no longer answers") && document.body.textContent.includes("running6")`)
}

// TestStatusHoldsNobodyUp fails a job while the store is slow to answer the page: the worker goes on.
func TestStatusHoldsNobodyUp(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	s := &status{process: new(process), kinds: map[engine.ErrorKind]int64{}}
	asked := make(chan struct{})
	s.stats = func(context.Context) (engine.Stats, error) { close(asked); <-slow; return engine.Stats{}, io.EOF }
	go s.snapshot(t.Context())
	<-asked
	failed := make(chan struct{})
	go func() { s.failed(&engine.Job{ID: 1}, engine.FirstErrorKind, io.EOF); close(failed) }()
	select {
	case <-failed:
	case <-time.After(hangs):
		t.Error("a job that fails waits for the page")
	}
}

// TestStatusForeignNames refuses requests under the name of another site, which its pages could have lead here.
func TestStatusForeignNames(t *testing.T) {
	for host, want := range map[string]int{"127.0.0.1:8080": 200, "localhost:8080": 200, "[::1]:8080": 200, "localhost": 200,
		"evil.example:8080": 403, "127.0.0.1.evil.example": 403, "": 403} {
		s := &status{process: &process{}, stats: idle, kinds: map[engine.ErrorKind]int64{}}
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/status.json", nil)
		r.Host = host
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
}
