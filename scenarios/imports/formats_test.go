package imports

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/scenarios"
)

const riverLike = `
name: river-like
duration: 2h
drain: 4h
seeds: 1
engine: {preset: river, workers: 10}
retry: {preset: river, max-attempts: 6}
jobs:
  - class: send-email
    arrivals: {process: poisson, rate: 1/s}
    service: {dist: lognormal, mean: 800ms, cv: 0.6}
    fails: {rate: 30%, errors: {timeout: 60%, smtp-refused: 40%}}
policies: [{kind: fifo}]
`

// river returns a simulation's jobs as the table river_job, as \copy writes it or as rows of JSON.
func (x *exported) river(t *testing.T, asJSON bool) string {
	t.Helper()
	byJob := map[engine.JobID][]int{}
	var order []engine.JobID
	for i := range x.rows {
		if len(byJob[x.rows[i].job]) == 0 {
			order = append(order, x.rows[i].job)
		}
		byJob[x.rows[i].job] = append(byJob[x.rows[i].job], i)
	}
	var b strings.Builder
	table := csv.NewWriter(&b)
	names := []string{"id", "args", "attempt", "attempted_at", "attempted_by", "created_at", "errors", "finalized_at", "kind", "max_attempts", "metadata", "priority", "queue", "state", "scheduled_at", "tags"}
	if !asJSON {
		table.Write(names)
	}
	for _, job := range order {
		last := x.rows[byJob[job][len(byJob[job])-1]]
		var errors []map[string]any
		for _, i := range byJob[job] {
			if r := x.rows[i]; r.failure != "" {
				errors = append(errors, map[string]any{"at": epoch.Add(time.Duration(r.started)).Format(time.RFC3339Nano), "attempt": r.attempt, "error": r.failure + `: "to" {a,b} \ c`, "trace": ""})
			}
		}
		state, finalized := "completed", stamp(last.finished)
		if last.failure != "" {
			if state = "discarded"; x.ended[job] != "dead" {
				state, finalized = "retryable", ""
			}
		}
		if asJSON {
			text, err := json.Marshal(map[string]any{"id": uint64(job), "attempt": last.attempt, "attempted_at": stamp(last.started), "attempted_by": []string{"host-1"}, "created_at": stamp(last.enqueued),
				"errors": errors, "finalized_at": finalized, "kind": "SendEmail", "max_attempts": 6, "queue": "default", "state": state, "scheduled_at": stamp(last.due), "tags": nil})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(text, '\n'))
			continue
		}
		var elements []string
		for _, e := range errors {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			elements = append(elements, `"`+strings.ReplaceAll(strings.ReplaceAll(string(text), `\`, `\\`), `"`, `\"`)+`"`)
		}
		list := "{" + strings.Join(elements, ",") + "}"
		if len(errors) == 0 {
			list = ""
		}
		table.Write([]string{fmt.Sprint(uint64(job)), `{"to": "a,b"}`, fmt.Sprint(last.attempt), stamp(last.started), "{host-1}", stamp(last.enqueued), list, finalized, "SendEmail", "6", "{}", "1", "default", state, stamp(last.due), "{}"})
	}
	table.Flush()
	return b.String()
}

func TestRiver(t *testing.T) {
	t.Parallel()
	x := exportOf(t, riverLike)
	for _, asJSON := range []bool{false, true} {
		if raced && asJSON {
			continue
		}
		t.Run(fmt.Sprintf("json=%v", asJSON), func(t *testing.T) {
			t.Parallel()
			found := read(t, "river", x.river(t, asJSON))
			c := &found.Classes[0]
			if c.Name != "sendemail" && c.Name != "send-email" || found.Workers.Nodes != 1 {
				t.Errorf("got class %s, workers %+v", c.Name, found.Workers)
			}
			if c.Wait.Count() != c.Jobs || c.Takes.Seen != c.Dead {
				t.Errorf("%d waits of %d jobs, %d run times of failures, of which %d are the last", c.Wait.Count(), c.Jobs, c.Takes.Seen, c.Dead)
			}
			if mean := parameter(t, &c.Service, "mean"); math.Abs(mean-0.8) > 0.05 {
				t.Errorf("mean is %v, want 0.8", mean)
			}
			if math.Abs(c.Rate-0.3) > 0.025 || len(c.Kinds) != 2 || c.Kinds[0].Name != "timeout" || c.Kinds[1].Name != "smtp-refused" {
				t.Errorf("fails %v as %v", c.Rate, c.Kinds)
			}
			if keys := strings.Join(found.Retry.Keys, ", "); keys != "preset: river, max-attempts: 6" || !found.Retry.Exact {
				t.Errorf("retry is %s, exact %v: %+v", keys, found.Retry.Exact, found.Retry.Pauses)
			}
			compareWaits(t, found)
		})
	}
}

// A queue with a retry formula of its own is not mistaken for River's.
func TestRiverWithAnotherBackoff(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("other tests read and simulate as this one does")
	}
	x := exportOf(t, strings.Replace(riverLike, "retry: {preset: river, max-attempts: 6}", "retry: {max-attempts: 6, backoff: {kind: fixed, delay: 2m}, jitter: none}", 1))
	found := read(t, "river", x.river(t, false))
	if keys := strings.Join(found.Retry.Keys, ", "); !strings.Contains(keys, "kind: fixed, delay: 2m") || strings.Contains(keys, "preset") {
		t.Errorf("retry is %s: %+v", keys, found.Retry.Pauses)
	}
}

// sidekiq imports a simulation's jobs as Sidekiq's payloads and log, and returns the number of jobs too.
func (x *exported) sidekiq(t *testing.T) (found *Recording, jobs int) {
	t.Helper()
	var payloads, log strings.Builder
	written := map[engine.JobID]bool{}
	at := func(m engine.Time) time.Time { return epoch.Add(time.Duration(m)) }
	seconds := func(m engine.Time) float64 { return float64(at(m).UnixNano()) / 1e9 }
	for i := range x.rows {
		r := &x.rows[i]
		if !written[r.job] {
			written[r.job] = true
			failed := "" // the set of dead jobs has their last failure, which the log has as well
			if n := x.last(r.job); x.ended[r.job] == "dead" {
				last := x.rows[x.open[[2]uint64{uint64(r.job), uint64(n)}]]
				failed = fmt.Sprintf(`,"retry_count":%d,"failed_at":%.6f,"retried_at":%.6f,"error_class":"Net::ReadTimeout"`, n-1, seconds(r.finished), seconds(last.finished)-0.003)
			}
			fmt.Fprintf(&payloads, `{"class":"HardJob","jid":"%x","queue":"default","args":[1],"retry":5,"created_at":%.6f,"enqueued_at":%.6f%s}`+"\n", uint64(r.job), seconds(r.enqueued), seconds(r.enqueued), failed)
		}
		const layout = "2006-01-02T15:04:05.000Z"
		outcome := "done"
		if r.failure != "" {
			outcome = "fail"
		}
		if i%2 == 0 {
			fmt.Fprintf(&log, "Jan 05 host sidekiq[7]: %s pid=7 tid=t%d class=HardJob jid=%x INFO: start\n", at(r.started).Format(layout), i, uint64(r.job))
			fmt.Fprintf(&log, "%s pid=7 tid=t%d class=HardJob jid=%x elapsed=%.3f INFO: %s\n", at(r.finished).Format(layout), i, uint64(r.job), time.Duration(r.finished-r.started).Seconds(), outcome)
			if r.failure != "" {
				fmt.Fprintf(&log, "%s pid=7 tid=t%d WARN: Net::ReadTimeout: it took too long\n", at(r.finished).Format(layout), i)
			}
		} else {
			fmt.Fprintf(&log, `{"ts":"%s","pid":7,"tid":"t%d","lvl":"INFO","msg":"start","ctx":{"class":"HardJob","jid":"%x"}}`+"\n", at(r.started).Format(layout), i, uint64(r.job))
			fmt.Fprintf(&log, `{"ts":"%s","pid":7,"tid":"t%d","lvl":"INFO","msg":"%s","ctx":{"class":"HardJob","jid":"%x","elapsed":"%.3f"}}`+"\n", at(r.finished).Format(layout), i, outcome, uint64(r.job), time.Duration(r.finished-r.started).Seconds())
			if r.failure != "" {
				fmt.Fprintf(&log, `{"ts":"%s","pid":7,"tid":"t%d","lvl":"WARN","msg":"Net::ReadTimeout: it took too long"}`+"\n", at(r.finished).Format(layout), i)
			}
		}
		log.WriteString("and a line of another sort\n")
	}
	found, err := Read(context.Background(), []File{{"jobs.json", strings.NewReader(payloads.String())}, {"sidekiq.log", strings.NewReader(log.String())}}, Options{From: "sidekiq"})
	if err != nil {
		t.Fatal(err)
	}
	return found, len(written)
}

// Jobs that Sidekiq retries by its own formula, with rare polls, are recognised from their log.
func TestSidekiqByItsOwnFormula(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("other tests read and simulate as this one does")
	}
	x := exportOf(t, strings.Replace(strings.ReplaceAll(riverLike, "preset: river", "preset: sidekiq"), "drain: 4h", "drain: 8h", 1))
	found, jobs := x.sidekiq(t)
	if int(found.Jobs) != jobs {
		t.Errorf("got %d jobs, want %d", found.Jobs, jobs)
	}
	if keys := strings.Join(found.Retry.Keys, ", "); keys != "preset: sidekiq, max-attempts: 6" || !found.Retry.Exact {
		t.Errorf("retry is %s, exact %v: %+v", keys, found.Retry.Exact, found.Retry.Pauses)
	}
	compareWaits(t, found)
}

func TestSidekiq(t *testing.T) {
	t.Parallel()
	text := strings.Replace(riverLike, "retry: {preset: river, max-attempts: 6}", "retry: {max-attempts: 6, backoff: {kind: fixed, delay: 40s}, jitter: none}", 1)
	text = strings.Replace(text, "preset: river, ", "", 1)
	x := exportOf(t, text)
	found, jobs := x.sidekiq(t)
	c := &found.Classes[0]
	dead := 0
	for _, how := range x.ended {
		if how == "dead" {
			dead++
		}
	}
	if c.Name != "hard-job" || int(found.Jobs) != jobs || c.Attempts != int64(len(x.rows)) || c.Dead != int64(dead) || dead == 0 {
		t.Errorf("got %d jobs of class %s with %d attempts, %d dead, want %d with %d, %d dead", found.Jobs, c.Name, c.Attempts, c.Dead, jobs, len(x.rows), dead)
	}
	if math.Abs(parameter(t, &c.Service, "mean")-0.8) > 0.05 || math.Abs(c.Rate-0.3) > 0.025 || len(c.Kinds) != 1 || c.Kinds[0].Name != "timeout" {
		t.Errorf("runs as %+v, fails %v as %v", c.Service.Fits[0], c.Rate, c.Kinds)
	}
	if keys := strings.Join(found.Retry.Keys, ", "); !strings.Contains(keys, "max-attempts: 6") || !strings.Contains(keys, "kind: fixed, delay: 40s") {
		t.Errorf("retry is %s: %+v", keys, found.Retry)
	}
	compareWaits(t, found)
}

// Asynq's own export lacks most facts that a scenario needs, and the import names the missing ones.
func TestAsynq(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"tasks":[`)
	for i := range 100 {
		at := epoch.Add(time.Duration(i) * time.Second)
		state, retried, message, completed, failed := "completed", 0, "", at.Add(2*time.Second).Format(time.RFC3339), ""
		switch {
		case i%10 == 0:
			state, retried, message, completed, failed = "archived", 3, "dial tcp: connection refused", "", at.Add(90*time.Second).Format(time.RFC3339)
		case i%5 == 0:
			retried, message, failed = 1, "context deadline exceeded", at.Add(time.Second).Format(time.RFC3339)
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id":"%d","queue":"default","type":"email:welcome","payload":"{\"enqueued_at\":\"%s\"}","state":%q,"max_retry":3,"retried":%d,"error_message":%q,"last_failed_at":%q,"completed_at":%q,"next_process_at":"","timeout_seconds":30}`,
			i, at.Format(time.RFC3339), state, retried, message, failed, completed)
	}
	b.WriteString(`],"stats":{}}`)
	if _, err := Read(context.Background(), []File{{"tasks.json", strings.NewReader(b.String())}}, Options{From: "asynq"}); err == nil || !strings.Contains(err.Error(), "--service") {
		t.Errorf("got %v, want to be asked for --service", err)
	}
	found, err := Read(context.Background(), []File{{"tasks.json", strings.NewReader(b.String())}},
		Options{From: "asynq", Service: "{dist: exponential, mean: 300ms}", Columns: []string{"enqueued=payload.enqueued_at"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &found.Classes[0]
	// 80 done at once, 10 after one failure, 10 dead after four attempts.
	if c.Name != "email-welcome" || c.Done != 90 || c.Dead != 10 || c.Attempts != 90+10+40 || c.Failed != 50 {
		t.Errorf("got %+v", c)
	}
	if len(c.Kinds) != 2 || c.Kinds[0] != (Kind{"unavailable", 40}) || c.Kinds[1] != (Kind{"timeout", 10}) {
		t.Errorf("fails as %v", c.Kinds)
	}
	if keys := strings.Join(found.Retry.Keys, ", "); keys != "preset: asynq, max-attempts: 4" {
		t.Errorf("retry is %s", keys)
	}
	if len(found.Repairs) != 0 {
		t.Errorf("got repairs %v", found.Repairs)
	}
	if _, problems := scenarios.Load("a.yaml", []byte("jobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: {dist: exponential, mean: 300ms}}]"), nil); len(problems.Errors()) > 0 {
		t.Error(problems)
	}
}

// What asynq does keep of a simulation, as TaskInfo has it, gives back how often it failed, died and was
// tried, and its arrivals; run times and pauses it does not keep.
func TestAsynqOfSimulation(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("other tests read and simulate as this one does")
	}
	x := exportOf(t, strings.Replace(strings.Replace(riverLike, "retry: {preset: river, max-attempts: 6}", "retry: {preset: asynq, max-attempts: 4}", 1), "preset: river, ", "", 1))
	last, jobs := map[engine.JobID]int{}, 0
	for i := range x.rows {
		last[x.rows[i].job] = i
	}
	var b strings.Builder
	for i := range x.rows {
		r := &x.rows[i]
		if last[r.job] != i {
			continue
		}
		jobs++
		at := func(m engine.Time) string { return epoch.Add(time.Duration(m)).Format(time.RFC3339Nano) }
		state, retried, done, failed := "completed", r.attempt-1, at(r.finished), ""
		if x.ended[r.job] == "dead" {
			state, done, failed = "archived", "", at(r.finished)
		}
		text, err := json.Marshal(map[string]any{"ID": fmt.Sprint(r.job), "Queue": "default", "Type": r.class, "Payload": map[string]string{"enqueued_at": at(r.enqueued)}, "State": state,
			"MaxRetry": 3, "Retried": retried, "LastErr": r.failure, "LastFailedAt": failed, "CompletedAt": done})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	found, err := Read(context.Background(), []File{{"tasks.json", strings.NewReader(b.String())}}, Options{From: "asynq", Service: "{dist: lognormal, mean: 800ms, cv: 0.6}", Columns: []string{"enqueued=payload.enqueued_at"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &found.Classes[0]
	dead := 0
	for _, how := range x.ended {
		if how == "dead" {
			dead++
		}
	}
	if int(c.Jobs) != jobs || int(c.Dead) != dead || int(c.Attempts) != len(x.rows) || math.Abs(c.Rate-0.3) > 0.025 {
		t.Errorf("got %d jobs, %d dead, %d attempts, %v failing, want %d, %d, %d, 0.3", c.Jobs, c.Dead, c.Attempts, c.Rate, jobs, dead, len(x.rows))
	}
	if keys := strings.Join(found.Retry.Keys, ", "); keys != "preset: asynq, max-attempts: 4" || found.Retry.Exact {
		t.Errorf("retry is %s, exact %v", keys, found.Retry.Exact)
	}
	written, err := found.Write(Target{Scenario: filepath.Join(t.TempDir(), "tasks.yaml"), Workers: 10, Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := found.Compare(context.Background(), written, 1)
	if err != nil || len(all) == 0 {
		t.Fatalf("got comparisons %v, %v", all, err)
	}
	for _, c := range all {
		if c.Number != nil && !c.Close() {
			t.Errorf("%s is recorded as %v and simulated as %v", c.What, c.Number.Recorded, c.Number.Simulated)
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"context deadline exceeded": "timeout", "Net::ReadTimeout": "timeout", "ActiveRecord::RecordNotFound": "not-found", "HTTP 429 Too Many Requests": "throttled",
		"dial tcp 10.0.0.1:443: connection refused": "unavailable", "NoMethodError: undefined method": "no-method", "order 1234: out of stock": "order", "": "error", "🔥": "error",
		"context canceled": "canceled-error", "Acme::LeaseExpired": "lease-expired-error", "null": "error", "panic: runtime error": "panic", "ActiveRecord::StaleObjectError": "stale-object", `invalid character "<"`: "validation",
	} {
		if got := kindOfError(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestReservedWords imports jobs whose class, tenant and error are words that a scenario may not have as names.
func TestReservedWords(t *testing.T) {
	t.Parallel()
	found := read(t, "csv", "id,class,tenant,enqueued,started,finished,attempt,error\n1,NULL,null,0,0,1,1,context canceled\n1,NULL,null,0,3,4,2,\n")
	if _, err := found.Write(Target{Scenario: filepath.Join(t.TempDir(), "a.yaml")}); err != nil {
		t.Error(err)
	}
}

// TestRiverErrors reads the attempt errors of a job as JSON and as the text of an array in PostgreSQL, whose quotes and
// backslashes are escaped; what is neither is an error.
func TestRiverErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string // texts of the errors
		bad        string
	}{
		{"none", "", nil, ""},
		{"an empty array", "{}", nil, ""},
		{"JSON", `[{"error": "a"}, {"error": "b"}]`, []string{"a", "b"}, ""},
		{"an array", ` {"{\"error\": \"a\"}","{\"error\": \"say \\\"b\\\", {c} \\\\ \\u00e9\"}"} `, []string{"a", `say "b", {c} \ é`}, ""},
		{"not closed", `{"{\"error\": \"a\"}"`, nil, "is no array of JSON"},
		{"no quotes", `{a,b}`, nil, "is no array of JSON"},
		{"words", `timeout`, nil, "is no array of JSON"},
		{"an array of no JSON", `{"timeout"}`, nil, "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := riverErrors(tt.text)
			var got []string
			for _, e := range list {
				got = append(got, e.Error)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || (err == nil) != (tt.bad == "") || err != nil && !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.bad)
			}
		})
	}
}

// TestTenants: the tenants of the rows are those of the class, and one more stands for jobs without one, if there are any.
func TestTenants(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, second string // tenant of every second job
		want, lines  string
	}{
		{"every job has one", "y", "    tenants: {names: [x, y]}", ",x\n"},
		{"half have none", "", "    tenants: {names: [x, none]}", ",none\n"},
		{"a word of objectives", "Worst!", "    tenants: {names: [worst-tenant, x]}", ",worst-tenant\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var csv strings.Builder
			csv.WriteString("id,enqueued,started,finished,tenant\n")
			for i := range 40 {
				fmt.Fprintf(&csv, "%d,%d,%d,%d,%s\n", i, 10*i, 10*i+1, 10*i+2, plain.Either(i%2 == 0, "x", tt.second))
			}
			folder := t.TempDir()
			if _, err := read(t, "csv", csv.String()).Write(Target{Scenario: filepath.Join(folder, "of.yaml"), Seeds: 2}); err != nil {
				t.Fatal(err)
			}
			if all := contents(t, folder); !strings.Contains(all, tt.want+"\n") || !strings.Contains(all, tt.lines) {
				t.Errorf("want %q and %q in\n%s", tt.want, tt.lines, all)
			}
		})
	}
}
