package cli

import (
	"testing"
	"time"

	"qsim/scenarios"
	"qsim/scenarios/world"
)

func TestReplay(t *testing.T) {
	f := runFlags{}
	f.set = []string{"engine.workers=8", "jobs.a.retry={jitter: none}"}
	s := &session{flags: &f}
	got, _ := s.again(loaded{Name: "storm.yaml"}, &world.Broken{Policy: "it's 80/20", Seed: 7}, nil)
	want := `qsim run storm.yaml --set engine.workers=8 --set 'jobs.a.retry={jitter: none}' --policy 'it'\''s 80/20' --seed 7 -n 1 -j 1`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	added := loaded{Name: "storm.yaml", Added: []scenarios.Override{
		{Path: "policies.+", Value: "{kind: fifo, label: x}", Flag: "--policy {kind: fifo, label: x}"}}}
	got, _ = s.again(added, &world.Broken{Policy: "x", Seed: 7}, nil) // --policy added it
	want = `qsim run storm.yaml --set engine.workers=8 --set 'jobs.a.retry={jitter: none}' --set 'policies.+={kind: fifo, label: x}' --policy x --seed 7 -n 1 -j 1`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, got = s.again(loaded{Name: "retry-storm.yaml"}, &world.Broken{Policy: "fifo", Seed: 7, At: 63*time.Second + 1500*time.Microsecond}, nil)
	want = `qsim trace retry-storm --set engine.workers=8 --set 'jobs.a.retry={jitter: none}' --policy fifo --seed 7 --from 1m02.001s --limit 100000`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.check = true
	got, _ = s.again(loaded{Name: "storm.yaml"}, &world.Broken{Policy: "fifo", Seed: 7}, []string{"engine.nodes=2"}) // a cell of a sweep
	want = `qsim run storm.yaml --set engine.workers=8 --set 'jobs.a.retry={jitter: none}' --set engine.nodes=2 --policy fifo --seed 7 -n 1 -j 1 --check`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
