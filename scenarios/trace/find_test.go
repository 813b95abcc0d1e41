package trace

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// fencing has jobs that end while commits about them are under way, from holders that woke too
// late, and jobs that die, are made ready again and die once more.
const fencing = `
name: fencing
duration: 3m
warmup: 0s
engine:
  nodes: 4
  workers: 4
  lease: {ttl: 2s, heartbeat: 0s}
  commit: {timeout: 1s}
  reaper: {every: 100ms}
retry: {max-attempts: 4, backoff: {kind: fixed, delay: 100ms}, jitter: none}
dependencies: [{name: api}]
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 2/s}, service: {dist: exponential, mean: 1500ms}}
  - {class: call, arrivals: {process: poisson, rate: 2/s}, service: 50ms, calls: api}
storms:
  - {name: down, at: 1m, for: 110s, outage: {dependency: api}}
  - {name: again, at: 100s, for: 1s, redrive: {share: 100%, reset: true}}
policies: [{kind: fifo}]
`

// shedding buries jobs that were never claimed.
const shedding = `
name: shedding
duration: 1m
warmup: 0s
engine: {workers: 1}
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 4/s}, service: 500ms, fails: {rate: 20%}}
retry: {max-attempts: 5, backoff: {kind: fixed, delay: 100ms}, jitter: none}
policies: [{kind: codel, target: 100ms, interval: 1s, then: bury}]
`

// TestFindCounts compares the findings with the events themselves.
func TestFindCounts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
	}{{"trouble", trouble}, {"fencing", fencing}, {"shedding", shedding}} {
		t.Run(tt.name, func(t *testing.T) {
			s := simulation(t, tt.text, 1)
			found, err := s.Find(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			type history struct{ claims, fenced, lapsed, deaths, successes, atDeath int }
			jobs := map[engine.JobID]*history{}
			for _, e := range events(t, s) {
				h := jobs[e.Job]
				if h == nil {
					h = &history{}
					jobs[e.Job] = h
				}
				switch e.Kind {
				case engine.Leased:
					h.claims++
				case engine.Fenced:
					h.fenced++
				case engine.LeaseTaken:
					h.lapsed++
				case engine.Buried:
					h.deaths++
					h.atDeath = max(h.atDeath, h.claims)
				case engine.Finished:
					if e.Error == engine.NoError {
						h.successes++
					}
				}
			}
			delete(jobs, 0)
			for interest, of := range map[Interest]func(h *history) (concerned bool, times int){
				Duplicate: func(h *history) (bool, int) { return h.successes > 1, h.successes },
				Dead:      func(h *history) (bool, int) { return h.deaths > 0, h.atDeath },
				Fenced:    func(h *history) (bool, int) { return h.fenced > 0, h.fenced },
				LostLease: func(h *history) (bool, int) { return h.lapsed > 0, h.lapsed },
			} {
				f := found[slices.IndexFunc(found, func(f Finding) bool { return f.Interest == interest })]
				number, most := int64(0), 0
				for _, h := range jobs {
					if concerned, times := of(h); concerned {
						number, most = number+1, max(most, times)
					}
				}
				if f.Jobs != number {
					t.Errorf("%s: %d jobs, the events say %d", interest, f.Jobs, number)
				}
				if number == 0 {
					continue
				}
				extreme := Finding{Interest: interest, score: float64(most), delivery: int32(most)}
				if want := extreme.words(); f.Words != want {
					t.Errorf("%s: %s %s, want %s", interest, f.Name, f.Words, want)
				}
				if h := jobs[f.Job]; h != nil {
					if _, times := of(h); times != most {
						t.Errorf("%s: %s has %d, another %d", interest, f.Name, times, most)
					}
				}
			}
		})
	}
}

// TestLeftWaiting: a job left ready waits from when it was due to the end of the run, though nothing happens there any
// more; one without a delay waits for its promoter, and is not ready before, as the words say that put it back.
func TestLeftWaiting(t *testing.T) {
	for _, tt := range []struct{ name, engine, storm, job, state, want string }{
		{"held, due", "{workers: 1, waiting: held}", "{name: gone, at: 10500ms, crash: {nodes: 1, restart-after: 9h}}", "a/11", "ready",
			"is left waiting, after 1m34s for its first claim"},
		{"far off", "{workers: 1, waiting: held}", "{name: gone, at: 10500ms, crash: {nodes: 1, restart-after: 9h}}", "a/11", "waiting",
			"waits 0s for its first claim"},
		{"held, and not due when given back", "{workers: 1, waiting: held}", "{name: gone, at: 10500ms, stop: {nodes: 1, grace: 9h}}", "a/0", "ready",
			"is left waiting, after 1m45s for its second claim"},
		{"no node", "{workers: 1}", "{name: gone, at: 10500ms, crash: {nodes: 1, restart-after: 9h}}", "a/11", "ready",
			"is left waiting, after 1m49s for its first claim"},
		{"promoted late", "{workers: 1, promoter: {every: 30s}, phase: together, fetch: {cooldown: 9h}}", "{name: gone, at: 40s, crash: {nodes: 1, restart-after: 9h}}", "a/0", "ready",
			"is left waiting, after 2m00s for its second claim"},
		{"not promoted", "{workers: 1, promoter: {every: 9h, first: 9h}}", "{name: gone, at: 19s, crash: {nodes: 1, restart-after: 9h}}", "a/0", "waiting",
			"is left waiting, after 1m41s for its first claim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := simulation(t, "name: left\nduration: 1m\nwarmup: 0s\nengine: "+tt.engine+"\nretry: {backoff: {kind: none}}\n"+
				"jobs: [{class: a, arrivals: {process: constant, rate: 1/s, stop: 20s}, service: 1ms, fails: {rate: 100%}, delay: "+
				cmp.Or(map[string]string{"held": "15s", "far ": "9h"}[tt.name[:4]], "0s")+"}]\n"+
				"storms: ["+tt.storm+"]\npolicies: [{kind: fresh-first}]", 1)
			found, err := s.Find(context.Background())
			if err != nil || found[0].Words != tt.want {
				t.Errorf("found %+v (%v), want %q", found[0], err, tt.want)
			}
			id, err := s.seen.ParseJob(tt.job)
			if err != nil {
				t.Fatal(err)
			}
			life, err := s.Job(context.Background(), id)
			if err != nil || life.State != tt.state {
				t.Errorf("%s is %+v (%v), want %s", tt.job, life, err, tt.state)
			}
			for _, f := range life.Facts {
				const soon, later = "to be ready again at once", "to be ready again when it is promoted"
				if words := plain.Either(strings.Contains(tt.engine, "promoter"), later, soon); f.Event == "nacked" && !strings.HasSuffix(f.Words, words) {
					t.Errorf("it is %s, want %s", f.Words, words)
				}
			}
		})
	}
}

// TestLatestDelay checks when a held job that waits at the end of the run is due: by its own latest retry, not by a late
// holder's, which the store refused, nor by its enqueueing.
func TestLatestDelay(t *testing.T) {
	held := "engine: {waiting: held}\njobs: [{class: a, arrivals: {process: constant, rate: 1/s}, service: 1ms}]\nduration: 1m\n"
	for _, tt := range []struct {
		own, refused time.Duration
		state        string
	}{{time.Second, time.Hour, "ready"}, {time.Hour, time.Second, "waiting"}} {
		tracer := &jobTracer{s: simulation(t, held, 1), history: &JobHistory{}}
		tracer.move(&engine.Event{Kind: engine.Enqueued, At: engine.Time(time.Second)})
		tracer.move(&engine.Event{Kind: engine.Nacked, At: engine.Time(time.Second), Delay: tt.own})
		tracer.move(&engine.Event{Kind: engine.Fenced, At: engine.Time(time.Second), Delay: tt.refused})
		if tracer.finish(); tracer.history.State != tt.state {
			t.Errorf("after a retry in %v, and a refused one in %v, the job is %s", tt.own, tt.refused, tracer.history.State)
		}
	}
}
