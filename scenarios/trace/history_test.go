package trace

import (
	"context"
	"slices"
	"strings"
	"testing"

	"qsim/engine"
)

// crashing is a scenario whose processes die and restart long before a reaper runs: while they run
// jobs, hold jobs not started, and have uncommitted successes.
const crashing = `
name: crashing
duration: 2m
drain: 3m
warmup: 0s
engine:
  nodes: 3
  workers: 2
  fetch: {prefetch: 4}
  restart: 5s
  lease: {ttl: 30s, heartbeat: 0s}
  commit: {linger: 2s, batch: 100}
  reaper: {after: AFTER}
jobs:
  - {class: a, arrivals: {process: poisson, rate: 4.5/s}, service: 1500ms, kills: 0.2%}
storms:
  - {name: boom, at: 40s, for: 1s, crash: {nodes: 1, restart-after: 5s}, repeat: {every: 20s, times: 4}}
policies: [{kind: fifo}]
`

// TestWhoLetALeaseExpire: a node that died has died, whether or not it is up again when its lease
// is taken, and whatever it did with the job. A reaper gives jobs up, their holders do not.
func TestWhoLetALeaseExpire(t *testing.T) {
	for _, after := range []string{"retry", "ready"} {
		t.Run(after, func(t *testing.T) { checkExpiries(t, simulation(t, strings.ReplaceAll(crashing, "AFTER", after), 1)) })
	}
}

// TestWhoseCommitIsRefused: where the state is the fence, the success of a holder that has lost its lease ends the job
// before the reaper does, whose commit is refused then: not that of the attempt.
func TestWhoseCommitIsRefused(t *testing.T) {
	s := simulation(t, `
duration: 1m
warmup: 0s
engine:
  fence: state
  lease: {ttl: 1s, heartbeat: 0s}
  reaper: {every: 100ms}
  commit: {linger: 0s, batch: 1}
  store: {commit: 200ms}
jobs: [{class: a, arrivals: {process: constant, rate: 1/s}, service: 950ms}]
`, 1)
	found, err := s.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := found[slices.IndexFunc(found, func(f Finding) bool { return f.Interest == Fenced })]
	l, err := s.Job(context.Background(), f.Job)
	if err != nil {
		t.Fatal(err)
	}
	const want = "the reaper's commit 1.2s after the claim was refused: the job had ended"
	if a := &l.Attempts[0]; a.Status != "done" || !slices.Contains(a.Notes, want) {
		t.Errorf("attempt %+v, want done and the note %q", a, want)
	}
}

func checkExpiries(t *testing.T, s *Simulation) {
	deaths := map[int32]uint32{}
	died := map[engine.JobID]int{} // leases whose holder had died
	var began, ended, neverBegan []engine.JobID
	type run struct{ started, finished bool }
	runs := map[engine.JobID]run{}
	for _, e := range events(t, s) {
		switch r := runs[e.Job]; e.Kind {
		case engine.NodeDown:
			deaths[e.Node]++
		case engine.Leased:
			runs[e.Job] = run{}
		case engine.Started:
			r.started = true
			runs[e.Job] = r
		case engine.Finished:
			r.finished = true
			runs[e.Job] = r
		case engine.LeaseTaken:
			if deaths[e.Holder.Node()] <= e.Holder.Generation() {
				continue
			}
			died[e.Job]++
			switch {
			case r.finished:
				ended = append(ended, e.Job)
			case r.started:
				began = append(began, e.Job)
			default:
				neverBegan = append(neverBegan, e.Job)
			}
		}
	}
	for what, jobs := range map[string][]engine.JobID{"succeeded": ended, "running": began, "not begun": neverBegan} {
		if len(jobs) == 0 {
			t.Fatalf("no lease of a job that was %s when its process died", what)
		}
		for _, id := range jobs[:min(len(jobs), 4)] {
			l, err := s.Job(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			checkDeaths(t, what, l, died[id])
		}
	}
}

func checkDeaths(t *testing.T, what string, l *JobHistory, died int) {
	t.Helper()
	notes, downs, ups := 0, 0, 0 // a node is up again long before the leases expire
	for _, a := range l.Attempts {
		text := strings.Join(a.Notes, "; ")
		if strings.Contains(text, " was down") || strings.Contains(text, " had died and started again") {
			notes++
			if !strings.Contains(text, "died with the process of") && !strings.Contains(text, "its process died before") {
				t.Errorf("%s (%s): nothing says when the process died: %s", l.Job, what, text)
			}
		}
		if a.Status == "handed-back" {
			t.Errorf("%s (%s): its holder handed it back", l.Job, what)
		}
	}
	for _, f := range l.Facts {
		switch f.Event {
		case engine.NodeDown.String():
			downs++
		case engine.NodeUp.String():
			ups++
		}
		if strings.Contains(f.Words, "handed back") || f.Event == "returned" && !strings.Contains(f.Words, "reaper") {
			t.Errorf("%s (%s): %s", l.Job, what, f.Words)
		}
	}
	if notes != died || downs != died || ups != died {
		t.Errorf("%s (%s): %d leases expired because a process had died; %d notes, %d deaths and %d starts of nodes of %+v say so", l.Job, what, died, notes, downs, ups, l.Attempts)
	}
}

// TestEndAfterRedrive checks that the end in a redriven job's history is the last one.
func TestEndAfterRedrive(t *testing.T) {
	s := simulation(t, fencing, 1)
	var last engine.Event
	buried := map[engine.JobID]engine.Time{}
	for _, e := range events(t, s) {
		if first, ok := buried[e.Job]; ok && (e.Kind == engine.Acked || e.Kind == engine.Buried) && e.At > first {
			last = e
		}
		if e.Kind == engine.Buried {
			buried[e.Job] = e.At
		}
	}
	if last.Job == 0 {
		t.Fatal("no job ended again")
	}
	l, err := s.Job(context.Background(), last.Job)
	if err != nil {
		t.Fatal(err)
	}
	if engine.Time(l.Ended) != last.At {
		t.Errorf("%s ended at %v, want %v", l.Job, l.Ended, last.At.Seconds())
	}
}

// TestShed: a shed job has no events in its earlier attempts.
func TestShed(t *testing.T) {
	s := simulation(t, shedding, 1)
	claims := map[engine.JobID]int{}
	seen := map[bool]int{}
	for _, e := range events(t, s) {
		if e.Kind == engine.Leased {
			claims[e.Job]++
		}
		if e.Kind != engine.Buried || e.From != engine.Ready || seen[claims[e.Job] > 0] >= 3 {
			continue
		}
		claimed := claims[e.Job] > 0
		seen[claimed]++
		l, err := s.Job(context.Background(), e.Job)
		if err != nil {
			t.Fatal(err)
		}
		if l.State != "dead" || len(l.Attempts) != claims[e.Job] {
			t.Errorf("%s is %s after %d attempts, want %d", l.Job, l.State, len(l.Attempts), claims[e.Job])
		}
		if slices.ContainsFunc(l.Attempts, func(a Attempt) bool {
			return a.Status != "retried" || strings.Contains(strings.Join(a.Notes, ";"), "ended")
		}) {
			t.Errorf("%s: an attempt ended it: %+v", l.Job, l.Attempts)
		}
		f := l.Facts[len(l.Facts)-1]
		if strings.Contains(f.Words, "claimed again") != claimed || int(f.Attempt) != claims[e.Job] {
			t.Errorf("%s, claimed %d times: attempt %d, %s", l.Job, claims[e.Job], f.Attempt, f.Words)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("jobs shed that were claimed, or not: %v", seen)
	}
}
