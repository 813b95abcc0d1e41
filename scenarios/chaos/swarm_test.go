package chaos

import (
	"context"
	"flag"
	"testing"

	"qsim/engine"
	"qsim/engine/check"
)

var (
	seedCount = flag.Uint64("seeds", 500, "how many seeds TestSwarm runs; with -race a tenth")
	firstSeed = flag.Uint64("first", 1, "the first of them")
)

// TestSwarm runs drawn worlds. It prints the first that fails as small as it gets.
func TestSwarm(t *testing.T) {
	seeds := *seedCount
	if *long {
		seeds = max(seeds, 20_000)
	}
	result, err := Swarm(context.Background(), Options{First: *firstSeed, Seeds: max(1, seeds/slowdown)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Failures {
		t.Errorf("seed %d: %s\n%s%s", f.Seed, f.Report.String(), f.History, f.World)
	}
	if t.Failed() || seeds/slowdown < 300 {
		return
	}
	for i := check.Conservation; i < check.NumInvariants; i++ {
		if result.Checks[i] == 0 {
			t.Errorf("%v was never checked", i)
		}
	}
	for k := engine.Enqueued; k < engine.NumEventKinds; k++ {
		if result.Kinds[k] == 0 {
			t.Errorf("no %v in %d seeds", k, result.Seeds)
		}
	}
	for k := Crash; k < numFaultKinds; k++ {
		if result.Faults[k] == 0 {
			t.Errorf("no %v in %d seeds", k, result.Seeds)
		}
	}
	t.Logf("%d seeds, %d events, checks %v, troubles %v", result.Seeds, result.Events, result.Checks, result.Faults)
}

// TestSwarmIsTheSame runs the same seeds on one goroutine and on several.
func TestSwarmIsTheSame(t *testing.T) {
	var all []Result
	for _, parallel := range []int{1, 3} {
		r, err := Swarm(context.Background(), Options{First: 7, Seeds: 40, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r)
	}
	if all[0].Fingerprint != all[1].Fingerprint || all[0].Events != all[1].Events || all[0].Kinds != all[1].Kinds || all[0].Checks != all[1].Checks || all[0].Faults != all[1].Faults {
		t.Errorf("on one goroutine %+v, on three %+v", all[0], all[1])
	}
}
