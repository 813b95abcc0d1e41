package play

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qsim/results"
	"qsim/results/report/browsertest"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// small is the YAML text of two minutes of mail with a storm, which take milliseconds to simulate.
const small = `
name: small
duration: 2m
seeds: 12
engine: {workers: 8}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 20/s}
    service: {dist: exponential, mean: 200ms}
    fails: {rate: 2%, errors: {timeout: 100%}}
storms:
  - {name: down, at: 70s, for: 15s, fail: {hits: [mail], rate: 90%, error: unavailable, takes: 500ms}}
policies:
  - {kind: fifo, label: Shared FIFO}
  - {kind: weighted, label: "Weighted 80/20", fresh: 80%}
objectives:
  - {metric: fresh.wait.p99, during: down, below: 10m}
`

// server returns the Server for a scenario's YAML text, in a file alone in its folder.
func server(t testing.TB, source string) *Server {
	t.Helper()
	name := filepath.Join(t.TempDir(), "small.yaml")
	sc, problems := scenarios.Load(name, []byte(source), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	return New("127.0.0.1", Options{Name: name, Source: []byte(source), Run: sc.Name, Fits: func(*scenarios.Scenario) error { return nil }, Version: "0.1.0"})
}

// post sends a request to a server and returns the status and the lines of the answer. The server's time limit does not
// pass while it computes, since its clock is that of synctest.
func post(t *testing.T, s *Server, path, body string) (int, []string) {
	t.Helper()
	w := httptest.NewRecorder()
	synctest.Test(t, func(*testing.T) {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080"+s.Path()+path, strings.NewReader(body))
		s.ServeHTTP(w, r)
	})
	return w.Code, strings.Split(strings.TrimSpace(w.Body.String()), "\n")
}

func decode[T any](t *testing.T, line string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return v
}

// TestRun checks the answer to a run: the scene, a figure of each policy under the first seed, then results, the last
// equal to that of `qsim run`.
func TestRun(t *testing.T) {
	s := server(t, small)
	code, lines := post(t, s, "run", `{"sets": [{"path": "engine.workers", "value": "6"}, {"path": "policies.+", "value": "{kind: lifo}"}], "policies": ["Shared FIFO", "lifo"]}`)
	if code != 200 || len(lines) < 5 {
		t.Fatalf("%d, %d lines: %q", code, len(lines), lines)
	}
	seen := decode[scene](t, lines[0])
	if len(seen.Problems) != 0 || len(seen.Policies) != 3 || !seen.Policies[0].On || seen.Policies[1].On || !seen.Policies[2].On {
		t.Errorf("the scene: %+v, %+v", seen.Problems, seen.Policies)
	}
	var workers knob
	for _, k := range seen.Knobs {
		if k.Path == "engine.workers" {
			workers = k
		}
	}
	if workers != (knob{"engine.workers", "6", "8", "--set engine.workers=6", workers.Doc, "count", 1, 1_000_000, true}) || workers.Doc == "" {
		t.Errorf("the knob: %+v", workers)
	}
	figures := map[int]string{}
	for _, line := range lines[1:3] {
		f := decode[first](t, line)
		figures[f.Policy] = f.Value
	}
	if len(figures) != 2 || figures[0] == "" || figures[1] == "" {
		t.Errorf("the first figures are %v", figures)
	}
	last := decode[result](t, lines[len(lines)-1])
	for _, line := range lines[3 : len(lines)-1] {
		if r := decode[result](t, line); r.Done || r.Seeds < 1 || r.Seeds > last.Seeds || strings.Contains(r.Sure, "all that") {
			t.Errorf("on the way: %d seeds, done %v: %s", r.Seeds, r.Done, r.Sure)
		}
	}
	sc, _ := s.loaded([]set{{"engine.workers", "6"}, {"policies.+", "{kind: lifo}"}})
	sc, err := sc.Select([]string{"Shared FIFO", "lifo"})
	if err != nil {
		t.Fatal(err)
	}
	settings := world.Settings(sc)
	watch := results.NewWatch(&settings, narrow)
	runs, err := world.Run(t.Context(), sc, world.Options{Enough: watch.Add})
	if err != nil {
		t.Fatal(err)
	}
	want, err := resultOf(&settings, runs, true, 12, "0.1.0")
	if err != nil || !reflect.DeepEqual(last, *want) {
		t.Errorf("%v: the last result is\n%+v\nwant\n%+v", err, last, want)
	}
	if !strings.Contains(last.HTML, `class="headline"`) || !strings.Contains(last.HTML, `class="time"`) || !strings.Contains(last.Markdown, "| lifo") {
		t.Errorf("it shows %s", last.HTML)
	}
	if again, _ := scenarios.Load("again.yaml", []byte(seen.YAML), nil); again == nil || int(again.Engine.Workers) != 6 {
		t.Errorf("the YAML does not say it again: %s", seen.YAML)
	}
}

// TestSure checks that a run adds no more seeds once its intervals are narrow, and says how many there were.
func TestSure(t *testing.T) {
	_, lines := post(t, server(t, strings.Replace(small, "fresh.wait.p99, during: down, below: 10m", "attempts.mean, below: 100", 1)), "run", `{}`)
	if last := decode[result](t, lines[len(lines)-1]); last.Seeds != 10 || !last.Done || last.Sure != "Sure: after 10 seeds every interval of what is judged is within ± 5%." {
		t.Errorf("after %d seeds, done %v: %s", last.Seeds, last.Done, last.Sure)
	}
}

// TestProblems checks that the loader's errors come with the settings at fault, and that nothing is simulated then.
func TestProblems(t *testing.T) {
	s := server(t, small)
	for _, tt := range []struct {
		name, body string
		set        int
		want       string
	}{
		{"a value", `{"sets": [{"path": "engine.nodes", "value": "2"}, {"path": "engine.workers", "value": "many"}]}`, 1, `want a whole number, not "many"`},
		{"a value under one policy", `{"sets": [{"path": "policies.+", "value": "{kind: fifo, label: x, with: {retry.preset: chronos-fixed}}"}, {"path": "retry.backoff.first", "value": "2s"}]}`, 1, `backoff fixed has no "first" (under policy "x")`},
		{"an unknown key", `{"sets": [{"path": "engine.wokers", "value": "9"}]}`, 0, `unknown key "wokers"`},
		{"a path without a name", `{"sets": [{"path": "jobs.post.priority", "value": "1"}]}`, 0, `post`},
		{"a policy", `{"policies": ["fresh"]}`, -1, `no policy is named "fresh"`},
		{"a column of nothing", `{"metrics": ["fresh.wait.p98"]}`, -1, `unknown metric "fresh.wait.p98"`},
		{"a column without a storm", `{"metrics": ["fresh.wait.p99 during"]}`, -1, "a value is missing after during"},
		{"a column of another storm", `{"metrics": ["fresh.wait.p99 during up"]}`, -1, `no storm is named "up"`},
		{"far too many jobs", `{"sets": [{"path": "jobs.mail.arrivals.rate", "value": "8000000/s"}, {"path": "engine.workers", "value": "9"}]}`, 0, "brings most of 960,000,000 jobs in one simulation"},
		{"far too many by a storm", `{"sets": [{"path": "engine.workers", "value": "9"}, {"path": "storms.+", "value": "{name: b, at: 1s, for: 1s, burst: {class: mail, count: 30M}}"}]}`, 1, "storms.b.burst brings most of 30,002,400 jobs"},
		{"far too many together", `{"sets": [{"path": "jobs.mail.arrivals.rate", "value": "4000/s"}, {"path": "duration", "value": "100m"}, {"path": "engine.workers", "value": "9"}]}`, 1, "brings most of 24,000,000 jobs"},
		{"a billion", `{"sets": [{"path": "jobs.mail.arrivals.rate", "value": "8333333.3/s"}]}`, 0, "brings most of 999,999,996 jobs"},
		{"too many for the loader", `{"sets": [{"path": "jobs.mail.arrivals.rate", "value": "90000000/s"}]}`, 0, "at most 1,000,000,000"},
		{"a file", `{"sets": [{"path": "jobs.mail.service", "value": "{dist: empirical, file: small.yaml}"}]}`, 0, "no file can be named here"},
		{"a file, spelled", `{"sets": [{"path": "jobs.mail.service", "value": "{dist: empirical, \"\\x66ile\": small.yaml}"}]}`, 0, "no file can be named here"},
		{"a file's path", `{"sets": [{"path": "jobs.mail.arrivals.file", "value": "a.csv"}]}`, 0, "no file can be named here"},
		{"a file of a policy", `{"sets": [{"path": "policies.+", "value": "{kind: fifo, label: x, with: {jobs.mail.arrivals.file: a.csv}}"}]}`, 0, "no file can be named here"},
		{"a file by an alias", `{"sets": [{"path": "jobs.mail.service", "value": "{dist: &k file, *k : a.csv}"}]}`, 0, "no file can be named here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, lines := post(t, s, "run", tt.body)
			if code != 200 || len(lines) != 1 {
				t.Fatalf("%d: %q", code, lines)
			}
			for _, p := range decode[scene](t, lines[0]).Problems {
				if p.Error && p.Set == tt.set && strings.Contains(p.Message+p.Help, tt.want) && p.Place == "" {
					return
				}
			}
			t.Errorf("no error of setting %d says %q: %s", tt.set, tt.want, lines[0])
		})
	}
}

// TestWarnings checks that a warning names its place in the scenario's text, and that the scenario runs all the same.
func TestWarnings(t *testing.T) {
	_, lines := post(t, server(t, small), "run", `{"sets": [{"path": "duration", "value": "60s"}]}`)
	got := decode[scene](t, lines[0]).Problems
	if len(got) != 1 || got[0].Error || got[0].Set != -1 || !strings.HasSuffix(got[0].Place, "small.yaml:12:22") || !strings.Contains(got[0].Message, "after the arrivals end") || len(lines) < 4 {
		t.Errorf("%d lines, %+v", len(lines), got)
	}
}

// TestRefusals checks that requests not made by the page are refused: by their host, token, site or form.
func TestRefusals(t *testing.T) {
	s := server(t, small)
	for _, tt := range []struct {
		name, method, host, path, body, site string
		want                                 int
	}{
		{"the page", "GET", "127.0.0.1:8080", s.Path(), "", "", 200},
		{"by another name of the machine", "GET", "[::1]:8080", s.Path() + "play.js", "", "", 200},
		{"its head", "HEAD", "localhost", s.Path() + "play.css", "", "", 200},
		{"without the last slash", "GET", "localhost", strings.TrimSuffix(s.Path(), "/"), "", "", 302},
		{"a name that leads here", "GET", "rebound.example:8080", s.Path(), "", "", 403},
		{"another address", "GET", "192.0.2.1", s.Path(), "", "", 403},
		{"no host", "GET", "", s.Path(), "", "", 403},
		{"no token", "GET", "localhost", "/", "", "", 403},
		{"another token", "GET", "localhost", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", "", "", 403},
		{"a part of the token", "POST", "localhost", s.Path()[:9] + "/run", "{}", "", 403},
		{"no such page", "GET", "localhost", s.Path() + "../../etc/passwd", "", "", 404},
		{"a file of the package", "GET", "localhost", s.Path() + "page/play.html", "", "", 404},
		{"to write", "PUT", "localhost", s.Path(), "", "", 405},
		{"to read a run", "GET", "localhost", s.Path() + "run", "", "", 405},
		{"from another site", "POST", "localhost", s.Path() + "run", "{}", "cross-site", 403},
		{"from the page", "POST", "localhost", s.Path() + "run", "{}", "same-origin", 200},
		{"no JSON", "POST", "localhost", s.Path() + "run", "sets=1", "", 400},
		{"another key", "POST", "localhost", s.Path() + "run", `{"file": "x"}`, "", 400},
		{"text behind", "POST", "localhost", s.Path() + "run", `{} {}`, "", 400},
		{"too long", "POST", "localhost", s.Path() + "run", `{"policy": "` + strings.Repeat("x", mostBody) + `"}`, "", 400},
		{"too many", "POST", "localhost", s.Path() + "run", `{"sets": [` + strings.Repeat(`{},`, mostSets) + `{}]}`, "", 400},
		{"too many columns", "POST", "localhost", s.Path() + "run", `{"metrics": [` + strings.Repeat(`"",`, mostSets) + `""]}`, "", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, r := httptest.NewRecorder(), httptest.NewRequest(tt.method, "http://localhost/", strings.NewReader(tt.body))
			r.URL.Path, r.Host = tt.path, tt.host
			if tt.site != "" {
				r.Header.Set("Sec-Fetch-Site", tt.site)
			}
			if s.ServeHTTP(w, r); w.Code != tt.want {
				t.Errorf("%d, want %d: %.200s", w.Code, tt.want, w.Body)
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") || strings.Contains(policy, "unsafe") {
				t.Errorf("what the page may do: %q", policy)
			}
		})
	}
	if s.Path() == server(t, small).Path() {
		t.Error("two servers have one token")
	}
	open := server(t, small)
	open.host = "0.0.0.0"
	for host, want := range map[string]bool{"192.0.2.1": true, "localhost": true, "rebound.example": false, "": false} {
		if open.serves(host) != want {
			t.Errorf("a page for other machines serves %q: %v", host, !want)
		}
	}
}

// TestStale checks that cancelling the request for a long run ends its simulations and makes room for others at once.
func TestStale(t *testing.T) {
	s := server(t, strings.Replace(small, "duration: 2m", "duration: 200h", 1))
	http := httptest.NewServer(s)
	defer http.Close()
	ctx, drop := context.WithCancel(t.Context())
	lines := ask1(t, ctx, http, s, `{}`)
	if !lines.Scan() {
		t.Fatal("there is no answer")
	}
	for s.simulations() == 0 {
		time.Sleep(time.Millisecond)
	}
	drop()
	for start := time.Now(); s.simulations() > 0 || len(s.places) > 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("%d simulations of a stale run go on", s.simulations())
		}
	}
}

// simulations returns how many simulations are under way.
func (s *Server) simulations() int { return len(s.gate) }

func ask1(t *testing.T, ctx context.Context, to *httptest.Server, s *Server, body string) *bufio.Scanner {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL+s.Path()+"run", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := to.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return bufio.NewScanner(answer.Body)
}

// TestTrace checks the answer to a trace of the job that waited longest, with the names of others worth a look.
func TestTrace(t *testing.T) {
	code, lines := post(t, server(t, small), "trace", `{"policy": "Shared FIFO", "find": "worst-wait"}`)
	if code != 200 || len(lines) != 2 {
		t.Fatalf("%d: %q", code, lines)
	}
	l := decode[life](t, lines[1])
	if l.Seed != 1 || len(l.Findings) != 5 || l.Findings[0].Interest != "worst-wait" || !strings.HasPrefix(l.Words, l.Findings[0].Name+" under Shared FIFO with seed 1: ") {
		t.Errorf("%+v", l)
	}
	if _, lines := post(t, server(t, small), "trace", `{"policy": "none"}`); len(lines) != 2 || !strings.Contains(lines[1], `no policy is named`) {
		t.Errorf("%q", lines)
	}
}

// FuzzRequests searches for a request that makes the server panic, hang, answer without the token, or touch a file.
func FuzzRequests(f *testing.F) {
	f.Add("POST", "run", `{"sets": [{"path": "engine.workers", "value": "3"}], "policies": ["fifo"]}`)
	f.Add("POST", "run", `{"sets": [{"path": "storms.+", "value": "{name: s, at: 1s, for: 1s, slow: {factor: 3}}"}]}`)
	f.Add("POST", "run", `{"sets": [{"path": "jobs.mail.service", "value": "{dist: empirical, file: secret.csv}"}]}`)
	f.Add("POST", "run", `{"metrics": ["fresh.wait.p99 during down class mail"]}`)
	f.Add("POST", "trace", `{"policy": "Shared FIFO", "find": "dead"}`)
	f.Add("GET", "../play.go", "")
	f.Add("GET", "play.js", "{}")
	s := server(f, strings.NewReplacer("duration: 2m", "duration: 5s", "{name: down, at: 70s, for: 15s", "{name: down, at: 1s, for: 1s", "seeds: 12", "seeds: 2").Replace(small))
	folder := filepath.Dir(s.o.Name)
	if err := os.WriteFile(filepath.Join(folder, "secret.csv"), []byte("0.31415s\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		for _, prefix := range []string{s.Path(), "/", s.Path()[:5] + "/"} {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost/", io.NopCloser(strings.NewReader(body)))
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			r = r.WithContext(ctx)
			r.Method, r.URL.Path = method, prefix+path
			start := time.Now()
			s.ServeHTTP(w, r)
			cancel()
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if prefix != s.Path() && w.Code != http.StatusForbidden {
				t.Errorf("without the token: %d", w.Code)
			}
			if strings.Contains(w.Body.String(), "31415") {
				t.Errorf("a file is read: %s", w.Body)
			}
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("there are %d files, %v", len(entries), err)
		}
	})
}
