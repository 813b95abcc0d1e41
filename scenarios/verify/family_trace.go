package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/engine"
	"qsim/engine/sim"
)

// Short runs that were worked out by hand.

// traced returns an experiment on the waits and ends of jobs that arrive at given times, each alone in its class.
func traced(s setup, arrivals []float64, service float64) experiment {
	last := slices.Max(arrivals)
	for i, at := range arrivals {
		s.classes = append(s.classes, class(jobName(i), atOnce(1, at), seconds(service)))
	}
	s.window = last + 1
	s.drain = float64(len(arrivals)+1)*(service+1000) + last
	x := experiment{setup: s, fixed: true, measures: map[string]gauge{}, plan: observation{log: true}}
	for i := range len(arrivals) + 10 { // of jobs that never come, nothing is found
		at := 0.0
		if i < len(arrivals) {
			at = arrivals[i]
		}
		x.measures[fmt.Sprintf("wait[%d]", i)] = same(func(o *observer) float64 { return o.when(engine.Leased, i, 1) - at })
		x.measures[fmt.Sprintf("finish[%d]", i)] = whenIs(engine.Acked, i, 1)
	}
	return x
}

func jobName(i int) string { return "j" + strconv.Itoa(i+1) }

// when returns the time, in seconds, of the n-th event (from 1) of a kind for jobs of a class; NaN if there are fewer.
func (o *observer) when(kind engine.EventKind, class, n int) float64 {
	for i := range o.events {
		if e := &o.events[i]; e.Kind == kind && int(e.JobKind) == class {
			if n--; n == 0 {
				return float64(e.At) / 1e9
			}
		}
	}
	return math.NaN()
}

// whenIs returns the gauge (measurement) of what observer.when returns: the time of an event.
func whenIs(kind engine.EventKind, class, n int) gauge {
	return same(func(o *observer) float64 { return o.when(kind, class, n) })
}

func traceFIFO(p *params) ([]experiment, error) {
	return []experiment{traced(setup{workers: 1}, p.numbers("arrivals"), p.positive("service"))}, nil
}

// traceRetryOrder returns experiments that run the same jobs, some with failing first attempts, with several claim
// orders for retries (PREFIX). Quantities: PREFIX.Ji_start, PREFIX.Ji_attemptN_start and PREFIX.Ji_done.
func traceRetryOrder(p *params) ([]experiment, error) {
	arrivals, service := p.numbers("arrivals"), p.positive("service")
	failing, _ := p.values["fails"].(map[string]any)
	times := make([]int32, len(arrivals))
	for i := range times {
		if n, ok := failing[strings.ToUpper(jobName(i))].(float64); ok {
			times[i] = int32(n)
		}
	}
	var all []experiment
	for _, order := range []struct{ prefix, policy, place string }{
		{"fifo_by_ready_time", "{kind: fifo}", "due"},
		{"fifo_by_created_time", "{kind: fifo}", "created"},
		{"fresh_first", "{kind: fresh-first}", "due"},
		{"retry_first", "{kind: retry-first}", "due"},
	} {
		s := setup{workers: 1, policy: order.policy, place: order.place,
			retry: retry(0, fmt.Sprintf("{kind: fixed, delay: %s}", seconds(p.number("backoff"))))}
		x := traced(s, arrivals, service)
		x.measures = map[string]gauge{}
		failsFirst := func(_ engine.Time, j *engine.Job) bool { return j.Delivery <= times[j.Kind] }
		x.alter = func(cfg *sim.Config, _ *observer) { cfg.Handlers = &failAtEnd{cfg.Handlers, failsFirst} }
		for i := range arrivals {
			name := order.prefix + "." + strings.ToUpper(jobName(i))
			x.measures[name+"_start"] = whenIs(engine.Started, i, 1)
			x.measures[name+"_done"] = whenIs(engine.Acked, i, 1)
			for n := 1; n <= int(times[i])+1; n++ {
				x.measures[fmt.Sprintf("%s_attempt%d_start", name, n)] = whenIs(engine.Started, i, n)
			}
		}
		all = append(all, x)
	}
	return all, nil
}

// traceLease returns an experiment on the executions of a single job that runs longer than its lease, without fencing.
func traceLease(p *params) ([]experiment, error) {
	s := setup{workers: p.count("workers"), lease: noHeartbeats(p.positive("lease")),
		reaper: "{every: 0s, after: ready}", fence: "none"}
	service := p.positive("service")
	x := traced(s, []float64{0}, service)
	x.measures = map[string]gauge{
		"done_at":    whenIs(engine.Acked, 0, 1),
		"runs":       same(func(o *observer) float64 { return o.sum(claims) }),
		"duplicates": same(duplicates),
	}
	x.alter = countDuplicates
	for i := range 10 {
		x.measures[fmt.Sprintf("run_starts[%d]", i)] = whenIs(engine.Started, 0, i+1)
	}
	return []experiment{x}, nil
}
