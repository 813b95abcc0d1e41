package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/pgstore"
	"qsim/results"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// watched is a scenario some of whose jobs fail, more of them in a storm that is over before the worker gets a job.
const watched = `
name: watched
duration: 80s
warmup: 0s
seeds: 2
engine: {workers: 20}
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 200ms}, jitter: none}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 20/s}
    service: 20ms
    fails: {rate: 30%, errors: {refused: 60%, gone: 40%}}
storms:
  - {name: down, at: 5s, for: 10s, fail: {hits: [mail], rate: 60%, error: unavailable}}
`

// TestPrometheus starts a Prometheus server that scrapes a worker on PostgreSQL and the prediction of a simulation
// of the same scenario. The values under the simulation's names equal those of the run, and each query of the
// dashboard has a result.
func TestPrometheus(t *testing.T) {
	needServer(t)
	for _, name := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("NO PROMETHEUS: skipped, as " + name + " is not installed")
		}
	}
	ctx, dir := t.Context(), t.TempDir()
	file := filepath.Join(dir, "watched.yaml")
	if err := os.WriteFile(file, []byte(watched), 0o666); err != nil {
		t.Fatal(err)
	}
	prediction := predictWatched(t, file)
	checkMetrics(t, prediction)
	predictions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = w.Write(prediction)
	}))
	defer predictions.Close()

	const schema, jobs = "scraped", 1200
	store, err := pgstore.Open(ctx, shared.DSN(),
		pgstore.Options{Schema: schema, Store: engine.StoreOptions{LapseAfter: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	defer ask(t, shared.DSN(), "drop schema "+schema+" cascade")
	w := &workerProcess{Cmd: command(ctx, nil, "worker", "--dsn", shared.DSN(), "--schema", schema, "--scenario", file,
		"--speed", "2x", "--status", "127.0.0.1:0")}
	w.Stdout, w.Stderr = w, w
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Process.Kill(); _ = w.Wait() }()
	var at string
	await(t, "the address of the metrics", func() bool {
		if m := regexp.MustCompile(`http://(\S+)/metrics`).FindStringSubmatch(w.printed()); m != nil {
			at = m[1]
		}
		return at != ""
	})
	server := startPrometheus(t, dir, at, strings.TrimPrefix(predictions.URL, "http://"))
	began := time.Now()
	await(t, "the first scrape", func() bool { n, ok := server.ask(t, "sum(qsim_workers)"); return ok && n == 20 })
	for i := range jobs / 30 { // over some scrapes
		batch := make([]engine.NewJob, 30)
		for j := range batch {
			batch[j].ID = engine.JobID(1 + i*30 + j)
		}
		if err := store.Enqueue(ctx, batch); err != nil {
			t.Fatal(err)
		}
		if i == jobs/60 { // so that rates have a scrape before what is still to come
			await(t, "failures and retries", func() bool {
				failures, _ := server.ask(t, `sum(qsim_executions_total{error!=""})`)
				retries, _ := server.ask(t, "sum(qsim_retries_total)")
				return failures > 0 && retries > 0
			})
		}
		time.Sleep(75 * time.Millisecond)
	}
	var stats engine.Stats
	await(t, "the end of all jobs", func() bool {
		stats, err = store.Stats(ctx, jobs)
		return err == nil && stats.Ready == [2]int{} && stats.Waiting == [2]int{} && stats.InFlight == [2]int{}
	})
	var own statusJSON
	if err := json.Unmarshal(fetch(t, "http://"+at+"/status.json"), &own); err != nil {
		t.Fatal(err)
	}
	await(t, "the last figures", func() bool {
		n, _ := server.ask(t, "sum(qsim_executions_total)")
		dead, _ := server.ask(t, "max(qsim_dead)")
		left, _ := server.ask(t, "max(qsim_backlog_fresh + qsim_backlog_retry + qsim_waiting + qsim_in_flight)")
		return n == float64(own.Executions) && dead == float64(stats.Dead) && left == 0
	})
	failed := 0.0
	for kind, n := range own.Failed {
		server.want(t, `qsim_executions_total{class="mail",error="`+kind+`"}`, float64(n))
		failed += float64(n)
	}
	claims, dead := float64(own.Executions), float64(stats.Dead)
	if failed == 0 || dead == 0 || own.Failed["gone"] == 0 {
		t.Errorf("nothing failed or died: %+v, %+v", own, stats)
	}
	for query, want := range map[string]float64{
		"sum(qsim_claims_total)": claims, "sum(qsim_retries_total)": claims - jobs, "sum(qsim_deaths_total)": dead,
		`sum(qsim_executions_total{error=""})`: claims - failed, "sum(qsim_retry_delay_seconds_count)": failed - dead,
		"sum(qsim_fresh_wait_seconds_count)": jobs, "sum(qsim_retry_wait_seconds_count)": claims - jobs,
		"sum(qsim_start_wait_seconds_count)": claims, "sum(qsim_sojourn_seconds_count)": jobs - dead,
		"sum(qsim_retry_delay_seconds_sum)": .1 * (failed - dead), // 200 ms at 2x
		"max(qsim_backlog_fresh)":           0, "max(qsim_backlog_retry)": 0,
		"max(qsim_waiting)": 0, "max(qsim_in_flight)": 0,
		"sum(qsim_running)": 0, "max(qsim_speed)": 2, "sum(qsim_leases_expired_total)": 0, "sum(qsim_stale_commits_total)": 0,
	} {
		server.want(t, query, want)
	}
	busy, _ := server.ask(t, "sum(qsim_busy_seconds_total)")
	if took := time.Since(began).Seconds(); busy < .01*claims || busy > 20*took {
		t.Errorf("%v executions of 10 ms in %v s: 20 workers were busy for %v s", claims, took, busy)
	}
	if rows, _ := server.ask(t, `qsim_store_rows_total{op="claim"}`); rows != claims {
		t.Errorf("claims brought %v jobs, want %v", rows, claims)
	}
	for _, p := range panels {
		for _, q := range p.queries {
			if !server.finds(t, q[1], began) {
				t.Errorf("dashboard, %s, %s: no answer to %s", p.title, q[0], q[1])
			}
		}
	}
	for i, want := range []string{"queue", "watched", "fifo"} {
		name, from := variables[i][0], variables[i][1]
		await(t, fmt.Sprintf("dashboard, $%s: %s of %s", name, want, from), func() bool { // not if the latest scrape was late
			found := server.query(t, "query", url.Values{"query": {chosen(from)}})
			return len(found) > 0 && found[0].Metric[name] == want
		})
	}
	checkMetrics(t, fetch(t, "http://"+at+"/metrics"))
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("%v\n%s", err, w.printed())
	}
}

// predictWatched returns the output of qsim run --format openmetrics for a scenario.
func predictWatched(t *testing.T, file string) []byte {
	t.Helper()
	sc, diagnostics := scenarios.Load(file, []byte(watched), nil)
	if sc == nil {
		t.Fatal(diagnostics)
	}
	settings := world.Settings(sc)
	runs, err := world.Run(t.Context(), sc, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text.OpenMetrics(summary))
}

// checkMetrics has promtool check metrics in the text format of Prometheus, and fails the test on any complaint.
func checkMetrics(t *testing.T, metrics []byte) {
	t.Helper()
	check := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	check.Stdin = bytes.NewReader(metrics)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func fetch(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", address, r.Status, err, body)
	}
	return body
}

// prometheusServer is a Prometheus server on the loopback interface, by its address.
type prometheusServer struct{ address string }

// startPrometheus starts a Prometheus that scrapes the targets four times a second, until the test ends.
func startPrometheus(t *testing.T, dir string, targets ...string) prometheusServer {
	t.Helper()
	config := "global: {scrape_interval: 250ms, scrape_timeout: 250ms}\nscrape_configs:\n" +
		"- {job_name: queue, static_configs: [{targets: ['" + strings.Join(targets, "', '") + "']}]}\n"
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	var log bytes.Buffer
	c := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"),
		"--web.listen-address="+address, "--log.level=warn")
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil || t.Failed() {
			t.Logf("prometheus: %v\n%s", err, &log)
		}
	})
	await(t, "Prometheus", func() bool {
		r, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return prometheusServer{fmt.Sprintf("http://%s/api/v1/", address)}
}

// series is one series of the result of a PromQL query: with one value, or with several over time.
type series struct {
	Metric map[string]string
	Value  [2]any
	Values [][2]any
}

// query sends a request of Prometheus's API and returns the series of its result.
func (s prometheusServer) query(t *testing.T, path string, form url.Values) []series {
	t.Helper()
	var answer struct {
		Status string
		Data   struct{ Result []series }
	}
	body := fetch(t, s.address+path+"?"+form.Encode())
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v\n%s", form.Get("query"), err, body)
	}
	return answer.Data.Result
}

// selector matches the name of one of the program's metrics in a query, with its labels.
var selector = regexp.MustCompile(`qsim_\w+(\{[^}]*\})?`)

// ask returns the value of a PromQL query that has exactly one result: that of the latest scrape answered in time.
func (s prometheusServer) ask(t *testing.T, query string) (value float64, ok bool) {
	t.Helper()
	found := s.query(t, "query", url.Values{"query": {selector.ReplaceAllString(query, "last_over_time($0[1m])")}})
	if len(found) != 1 {
		return 0, false
	}
	return numberIn(t, found[0].Value), true
}

func numberIn(t *testing.T, sample [2]any) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(fmt.Sprint(sample[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// want waits until a query has a wanted value: the answers to the last commits may come after the latest scrape.
func (s prometheusServer) want(t *testing.T, query string, want float64) {
	t.Helper()
	var got float64
	var ok bool
	defer func() { t.Logf("%s: %v, %t; want %v", query, got, ok, want) }()
	await(t, query, func() bool { got, ok = s.ask(t, query); return ok && math.Abs(got-want) <= 1e-6 })
}

// chosen returns a PromQL query of the dashboard with values in place of its variables.
func chosen(query string) string {
	return strings.NewReplacer("$job", "queue", "$scenario", "watched", "$policy", "fifo", "$__rate_interval", "5m").Replace(query)
}

// finds reports whether a query of the dashboard had a number as its result at any time since then.
func (s prometheusServer) finds(t *testing.T, query string, since time.Time) bool {
	t.Helper()
	form := url.Values{"query": {chosen(query)}, "step": {"0.25"}, "start": {strconv.FormatInt(since.Unix(), 10)},
		"end": {strconv.FormatInt(time.Now().Unix()+1, 10)}}
	for _, one := range s.query(t, "query_range", form) {
		for _, sample := range one.Values {
			if !math.IsNaN(numberIn(t, sample)) {
				return true
			}
		}
	}
	return false
}
