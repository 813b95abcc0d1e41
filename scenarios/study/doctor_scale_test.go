package study

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// TestDoctorScalesHeavyLoads: a scenario with many jobs per second is simulated small, with workers as busy as before.
func TestDoctorScalesHeavyLoads(t *testing.T) {
	const text = `engine: {nodes: 20, workers: 200, max-in-flight: 4000, store: {parallel: 80}}
dependencies: [{name: api, limit: {rate: 3000/s}}]
jobs:
  - {class: mail, arrivals: 5000/s, service: 200ms}
  - {class: hook, arrivals: 1000/s, service: 500ms, calls: api, max-running: 2000}
`
	p, err := admit(Source{Name: "heavy.yaml", Text: []byte(text)}, 5)
	if err != nil {
		t.Fatal(err)
	}
	e, mail, hook := &p.sc.Engine, &p.sc.Jobs[0], &p.sc.Jobs[1]
	load := mail.Arrivals.MeanRate() + hook.Arrivals.MeanRate()
	if load < mostLoad*0.9 || load > mostLoad*1.1 {
		t.Errorf("got %v jobs/s, want about %v", load, mostLoad)
	}
	busy := (mail.Arrivals.MeanRate()*0.2 + hook.Arrivals.MeanRate()*0.5) / float64(e.Nodes*e.Workers)
	if busy < 0.36 || busy > 0.39 || e.Nodes != mostNodes {
		t.Errorf("got %v nodes that are busy for %v of the time, want %d and 0.375", e.Nodes, busy, mostNodes)
	}
	if e.MaxInFlight < 90 || e.MaxInFlight > 110 || e.Store.Parallel != 2 {
		t.Errorf("got %d at most in flight, and %d calls at once", e.MaxInFlight, e.Store.Parallel)
	}
	if limit := limitOf(&p.sc.Dependencies[0]) / hook.Arrivals.MeanRate(); limit < 2.9 || limit > 3.1 || hook.MaxRunning > 60 {
		t.Errorf("got a limit of %v × the rate, and %v at most running", limit, hook.MaxRunning)
	}
}

// TestDoctorCountsTraces: a class whose arrivals are a trace has the load of one with that mean rate.
func TestDoctorCountsTraces(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&lines, "%v\n", float64(i+1)/10)
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	const text = `engine: {workers: 20}
dependencies: [{name: api, limit: {concurrency: 30}}]
jobs: [{class: mail, arrivals: ARRIVALS, service: 1s, calls: api}, {class: late, arrivals: 1/h, service: 1s, priority: 9}]
`
	for _, incident := range []string{"redeliveries-before-new", "retries-keep-the-overload", "strict-priority-starves"} {
		var rates [2]string
		for k, arrivals := range []string{"{process: trace, file: jobs.csv}", "10/s"} {
			source := Source{Name: filepath.Join(dir, "shop.yaml"), Text: []byte(strings.Replace(text, "ARRIVALS", arrivals, 1))}
			_, sc := lay(t, incident, source)
			for i := range sc.Jobs {
				if j := &sc.Jobs[i]; j.Class != "mail" {
					rates[k] += fmt.Sprintf("%s %.1f, ", j.Class, j.Arrivals.MeanRate())
				}
			}
			for i := range sc.Storms {
				if b, ok := sc.Storms[i].Trouble.(*spec.BurstStorm); ok && b.Factor != nil {
					rates[k] += fmt.Sprintf("%s %.1f, ", b.Class, *b.Factor)
				}
			}
		}
		if rates[0] != rates[1] {
			t.Errorf("%s: got %s with a trace, want %s", incident, rates[0], rates[1])
		}
	}
}

// TestDoctorThinsTraces: of a trace only a share of the lines arrives if the scenario is scaled down; shares multiply.
func TestDoctorThinsTraces(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&lines, "%v\n", float64(i+1)/1000)
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]float64{"": 0.15, ", share: 50%": 0.15, ", share: 10%": 0.1} {
		text := "engine: {workers: 200}\njobs: [{class: mail, service: 10ms, arrivals: {process: trace, file: jobs.csv" + given + "}}]\n"
		p, err := admit(Source{Name: filepath.Join(dir, "shop.yaml"), Text: []byte(text)}, 2)
		if err != nil {
			t.Fatal(err)
		}
		a := &p.sc.Jobs[0].Arrivals
		if a.Share == nil && want < 1 || math.Abs(a.Share.Float()-want) > 0.01*want || math.Abs(p.rate(a)-1000*want) > 10*want {
			t.Errorf("with %q: share %v, %v jobs/s", given, a.Share, p.rate(a))
		}
	}
}

// TestDoctorScalesPolicies: a scaled-down scenario has no more workers than the original, and loads with the policy's
// limits scaled to its nodes.
func TestDoctorScalesPolicies(t *testing.T) {
	for _, tt := range []struct{ policy, want, engine, rate string }{
		{"{kind: separate, retry-workers: 40}", "retry-workers: 2", "{workers: 200}", "2300/s"},
		{"{kind: separate, retry-workers: 1}", "retry-workers: 1", "{nodes: 200, workers: 2}", "230/s"},
		{"{kind: inflight-cap, retries: 40}", "retries: 2", "{workers: 200}", "2300/s"},
		{"{kind: inflight-cap, retries: 20%}", "retries: 20%", "{workers: 200}", "2300/s"},
		{"{kind: retry-budget}", "min-rate: 0.65/s", "{workers: 200}", "2300/s"},
		{"{kind: retry-budget}", "min-rate: 10/s", "{nodes: 20, workers: 10}", "230/s"},
		{"{kind: token-bucket, capacity: 1000}", "capacity: 65", "{workers: 200}", "2300/s"},
		{"{kind: token-bucket}", "capacity: 33", "{workers: 200}", "2300/s"},
		{"{kind: token-bucket, capacity: 20, cost: 5}", "capacity: 10", "{workers: 200}", "2300/s"},
		{"{kind: token-bucket}", "capacity: 500", "{nodes: 20, workers: 10}", "230/s"},
		{"{kind: token-bucket, cost: 7}", "cost: 7", "{workers: 200}", "2300/s"},
		{"{kind: tenant-fair}", "at-least: 2", "{workers: 200}", "2300/s"},
		{"{kind: tenant-fair}", "at-least: 12", "{nodes: 20, workers: 10}", "375/s"},
		{"{kind: breaker, failures: 5}", "failures: 5", "{workers: 200}", "2300/s"},
		{"{kind: fifo}", "fifo", "{nodes: 12, workers: 1}", "155/s"},
		{"{kind: fifo}", "fifo", "{workers: 40}", "15000/s"},
	} {
		text := "engine: " + tt.engine + "\npolicies: [" + tt.policy + "]\njobs: [{class: mail, service: 10ms, arrivals: " + tt.rate + "}]\n"
		source := Source{Name: "shop.yaml", Text: []byte(text)}
		whole, err := source.setting(nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := admit(source, 2)
		if err != nil {
			t.Errorf("%s: %v", tt.policy, err)
			continue
		}
		if got := p.policies("").Value; !strings.Contains(got, tt.want) {
			t.Errorf("got %s, want %s in it", got, tt.want)
		}
		e, was := &p.sc.Engine, &whole.Engine
		if p.scale > 1 || e.Nodes > was.Nodes || e.Workers > was.Workers || e.Workers < min(2, was.Workers) {
			t.Errorf("%s: %d × %d workers at scale %v", tt.policy, e.Nodes, e.Workers, p.scale)
		}
		if _, err := p.source.setting([]scenarios.Override{p.policies("")}); err != nil {
			t.Errorf("%s: %v", tt.policy, err)
		}
	}
}
