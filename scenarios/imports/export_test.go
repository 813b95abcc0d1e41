package imports

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// exported records the jobs of a simulation as a table of a real system would have them, a row for each attempt.
type exported struct {
	next     engine.Recorder
	sc       *scenarios.Scenario
	kinds    []string // names of error kinds by engine.ErrorKind
	enqueued map[engine.JobID]engine.Time
	due      map[engine.JobID]engine.Time
	rows     []exportedRow
	open     map[[2]uint64]int // indexes of rows by job and delivery
	ended    map[engine.JobID]string
}

type exportedRow struct {
	job                              engine.JobID
	class                            string
	enqueued, due, started, finished engine.Time
	attempt                          int32
	node                             int32
	failure                          string
}

func (x *exported) Record(e *engine.Event) {
	x.next.Record(e)
	key := [2]uint64{uint64(e.Job), uint64(e.Delivery)}
	switch e.Kind {
	case engine.Enqueued:
		x.enqueued[e.Job], x.due[e.Job] = e.At, e.At
	case engine.Nacked:
		x.due[e.Job] = e.At.Add(e.Delay)
	case engine.Acked:
		x.ended[e.Job] = "done"
	case engine.Buried:
		x.ended[e.Job] = "dead"
	case engine.Started:
		x.open[key] = len(x.rows)
		x.rows = append(x.rows, exportedRow{job: e.Job, class: x.sc.Jobs[e.JobKind].Class, enqueued: x.enqueued[e.Job], due: x.due[e.Job], started: e.At, attempt: e.Delivery, node: e.Node})
	case engine.Finished:
		row := &x.rows[x.open[key]]
		row.finished = e.At
		if e.Error != engine.NoError {
			row.failure = x.kinds[e.Error]
		}
	}
}

// exportOf simulates a scenario, given as YAML, under its first seed, and returns its jobs.
func exportOf(t *testing.T, text string) *exported {
	t.Helper()
	sc, problems := scenarios.Load("known.yaml", []byte(text), nil)
	if sc == nil {
		t.Fatal(problems.Errors())
	}
	x := &exported{sc: sc, kinds: sc.ErrorKinds(), enqueued: map[engine.JobID]engine.Time{}, due: map[engine.JobID]engine.Time{}, open: map[[2]uint64]int{}, ended: map[engine.JobID]string{}}
	_, err := world.Run(context.Background(), sc, world.Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		x.next, cfg.Recorder = cfg.Recorder, x
	}})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// epoch is when simulated time 0 was.
var epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

func stamp(at engine.Time) string {
	if at == 0 {
		return ""
	}
	return epoch.Add(time.Duration(at)).Format("2006-01-02 15:04:05.999999-07:00")
}

// csv writes a row for every attempt.
func (x *exported) csv(withDue bool) string {
	var b strings.Builder
	b.WriteString("job_id,queue,enqueued_at,due_at,started_at,finished_at,attempt,error,state\n")
	for i := range x.rows {
		r := &x.rows[i]
		due, state := "", ""
		if withDue {
			due = stamp(r.due)
		}
		if r.failure == "" {
			state = "done"
		} else if i := r.attempt; x.ended[r.job] == "dead" && int(i) == x.last(r.job) {
			state = "dead"
		} else {
			state = "retry"
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s,%d,%s,%s\n", r.job, r.class, stamp(r.enqueued), due, stamp(r.started), stamp(r.finished), r.attempt, r.failure, state)
	}
	return b.String()
}

// last returns the number of a job's last attempt.
func (x *exported) last(job engine.JobID) int {
	n := 0
	for x.has(job, n+1) {
		n++
	}
	return n
}

func (x *exported) has(job engine.JobID, delivery int) bool {
	_, ok := x.open[[2]uint64{uint64(job), uint64(delivery)}]
	return ok
}

// read imports records, given as text in the format from; an error fails the test.
func read(t *testing.T, from, text string, columns ...string) *Recording {
	t.Helper()
	found, err := Read(context.Background(), []File{{"jobs.csv", strings.NewReader(text)}}, Options{From: from, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// parameter returns the value of the named parameter of the distribution chosen for recorded times.
func parameter(t *testing.T, times *Times, name string) float64 {
	t.Helper()
	if times.Chosen < 0 {
		t.Fatalf("no distribution was chosen of %+v", times.Fits)
	}
	for _, p := range times.Fits[times.Chosen].Parameters {
		if p.Name == name {
			return p.Value
		}
	}
	t.Fatalf("%+v has no %s", times.Fits[times.Chosen], name)
	return 0
}
