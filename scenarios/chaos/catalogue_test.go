package chaos

import (
	"strconv"
	"strings"
	"testing"

	"qsim/engine/sim"
	"qsim/scenarios"
)

// base is the YAML text of a world in which little goes wrong; the tests give it more keys by with.
const base = `
name: base
seed: 1
seeds: 1
duration: 3m
drain: 1h
warmup: 0s
engine:
  nodes: 3
  workers: 4
  call-timeout: 1s
  restart: 1s
  timeout: 3s
  fetch: {batch: 4, poll: 500ms, error-pause: 500ms}
  commit: {batch: 4, linger: 2ms, calls: 2, timeout: 1s, backpressure: 0}
  lease: {ttl: 3s, heartbeat: 1s}
  reaper: {every: 1s, batch: 20}
  promoter: {batch: 20}
  leader: {ttl: 3s, renew: 1s}
  store: {claim: {dist: exponential, mean: 2ms}, commit: {dist: exponential, mean: 2ms}, extend: {dist: exponential, mean: 2ms}, recover: {dist: exponential, mean: 2ms}, promote: {dist: exponential, mean: 2ms}}
retry: {max-attempts: 10, backoff: {kind: exponential, first: 500ms, max: 10s}, jitter: full, never: []}
dependencies: [{name: api, limit: {concurrency: 1000}}]
jobs:
  - {class: a, arrivals: {process: poisson, rate: 4/s, stop: 36s}, service: {dist: uniform, min: 100ms, max: 1900ms}, fails: {rate: 10%}, ignores-cancel: true, calls: api}
  - {class: b, arrivals: {process: poisson, rate: 4/s, stop: 36s}, service: {dist: uniform, min: 100ms, max: 1900ms}, fails: {rate: 10%}, ignores-cancel: true, calls: api}
policies: [{kind: fifo}]
`

// with returns the world of a YAML text in which each of lines, a path and its value, replaces or adds a key.
func with(t testing.TB, text, lines string) *World {
	t.Helper()
	var sets []scenarios.Override
	for line := range strings.Lines(lines) {
		path, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		sets = append(sets, scenarios.Override{Path: path, Value: value})
	}
	sc, problems := scenarios.Load("base", []byte(text), sets)
	if sc == nil {
		t.Fatalf("%v\n%s", problems, lines)
	}
	w, err := Parse("base", string(sc.Resolved()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestCatalogue checks that each trouble of Catalogue, laid upon base, changes the run and breaks no invariant.
func TestCatalogue(t *testing.T) {
	at := with(t, base, "seed: 1").Run(0, false)
	for i, entry := range Catalogue {
		if want := "F" + strconv.Itoa(i+1); entry.ID != want {
			t.Errorf("entry %d is %s, want %s", i, entry.ID, want)
		}
		for _, lines := range entry.Texts {
			t.Run(entry.ID, func(t *testing.T) {
				w := with(t, base, lines)
				if f := Replay(w); f != nil {
					t.Errorf("%s\n%s", f.Report.String(), f.History)
				}
				without := with(t, base, lines+"\nstorms: []")
				report := w.Run(0, false)
				if report.Digest == at.Digest || strings.Contains(lines, "storms:") && report.Digest == without.runDigest() {
					t.Errorf("it makes no difference:\n%s", lines)
				}
			})
		}
	}
	if len(Catalogue) != 41 {
		t.Errorf("%d entries, want 41", len(Catalogue))
	}
}

func (w *World) runDigest() sim.Digest {
	r := w.Run(0, false)
	return r.Digest
}
