package study

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"qsim/results"
	"qsim/scenarios"
)

var long = flag.Bool("long", false, "TestDoctorFindsItsOwn: also without the trouble that the scenarios have themselves")

// own names, for each incident of the library, a policy of its scenario that it hits and one that holds.
var own = map[string][2]string{
	"abandoned-batches":              {"Dropped after 3 tries", "Put back after 3 tries"},
	"acks-lost-by-half":              {"Looks for leases", "Repeats its acks"},
	"batch-in-one-minute":            {"All at once", "All at once, less urgent"},
	"blocked-event-loop":             {"In the loop", "Lock of 2m"},
	"completed-work-is-dropped":      {"Gives up after 3 tries", "Keeps and tries again"},
	"dead-tuples-slow-claims":        {"Transaction open", "Open, up to 100 jobs a claim"},
	"exponential-without-jitter":     {"No jitter", "Full jitter"},
	"heartbeats-stall":               {"Lease 30s", "Lease 90s"},
	"in-flight-cap-leaks":            {"Forgotten", "Found"},
	"jitter-undone-by-the-tick":      {"Jitter 1 s and tick 5 s", "Jitter 1 s and no tick"},
	"late-heartbeat-pruned":          {"Pruned jobs fail", "Pruned after 15 min"},
	"lease-records-evicted":          {"Looks for leases", "Looks for jobs in flight"},
	"long-jobs-hold-every-worker":    {"Strict priority", "At most 7 reports"},
	"low-list-never-served":          {"Two strict lists", "One in five by age"},
	"mass-due-herd":                  {"Every process polls", "One leader polls"},
	"named-queue-locked-for-hours":   {"Locked for 4h", "Lock 30s, heartbeat"},
	"noisy-tenant-before-quiet":      {"FIFO", "Round robin"},
	"one-index-for-all-queues":       {"One index", "Queue first, due only"},
	"one-long-job-blocks-queue":      {"1 worker", "2 workers"},
	"poison-burns-its-neighbours":    {"Prefetch", "No prefetch"},
	"poison-kills-processes":         {"Recoveries uncounted", "At most 3 recoveries in 72 h"},
	"poller-dies-with-the-jobs":      {"Takes all and then puts", "One step"},
	"promoter-blocks-the-store":      {"All in one call", "100 a call"},
	"redeliveries-before-new":        {"Redeliveries first", "80% for new ones"},
	"rescue-overwrites-new-attempt":  {"Checks nothing", "Checks the token"},
	"rescued-while-running":          {"Rescue after 6 min", "Rescue after 60 min"},
	"reservation-expires-under-load": {"30 min", "30 min, extended"},
	"retries-keep-the-overload":      {"3 retries at once", "Token bucket"},
	"retry-behind-the-backlog":       {"Tail", "By creation time"},
	"retry-keeps-its-old-place":      {"For ever at once", "Pause of 5 s"},
	"saturated-is-not-failed":        {"Refusals are failures", "Refusals are free"},
	"scheduled-behind-retries":       {"One at a time", "100 a call"},
	"scheduled-beyond-visibility":    {"Held, timeout 1 h", "In the store, timeout 1 h"},
	"strict-priority-starves":        {"Strict priority", "80% by priority, 20% oldest"},
	"stuck-rows-slow-every-claim":    {"250ns a row", "250ns, 20 at once"},
	"stuck-running-after-deploys":    {"Rescue after 1h", "Heartbeat"},
	"unreachable-store-hot-loop":     {"No pause", "100 ms"},
}

// alone returns the doctor's finding for one incident of a scenario under a policy.
func alone(t *testing.T, incident string, source Source, seeds int) Finding {
	t.Helper()
	d := Doctor{Source: source, Seeds: seeds, Incidents: []string{incident}}
	found, err := d.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := found.Findings[0]
	t.Logf("%s: %s %s: %s %s: %v in [%v, %v], calm %v, cured %v, cost %q", source.Policies, f.Exposure, f.Why, f.Yours.Query,
		f.Yours.Text, f.Yours.Value, f.Yours.Low, f.Yours.High, f.Calm, f.Cured.Value, f.Cost)
	return f
}

// TestDoctorFindsItsOwn: the bad configuration of each incident is exposed to it, and its cure is not. That is so too if
// the scenario has lost the storms and the jobs that are the trouble, which the doctor must then bring.
func TestDoctorFindsItsOwn(t *testing.T) {
	for i := range incidents {
		of := &incidents[i]
		shown, text, err := scenarios.Open("incidents/" + of.name)
		if err != nil {
			t.Fatal(err)
		}
		var kept []scenarios.JobClass
		library := libraryScenario(of.name)
		for _, j := range library.Jobs {
			if !slices.Contains(of.adds, j.Class) {
				kept = append(kept, j)
			}
		}
		sources := map[string]Source{"whole": {Name: shown, Text: text}}
		if *long && len(kept) > 0 {
			sources["bare"] = Source{Name: shown, Text: text, Sets: []scenarios.Override{scenarios.Set("jobs", kept),
				{Path: "storms", Value: "[]"}, {Path: "objectives", Value: "[]"}}}
		}
		for kind, source := range sources {
			for k, want := range [][]Exposure{{Exposed}, {Safe, Immune}} {
				policy, source := own[of.name][k], source
				switch {
				case kind == "whole":
					source.Policies = []string{policy}
				case touches(library, policy, of.adds):
					continue
				default:
					source.Sets = append(slices.Clone(source.Sets), only(library, policy))
				}
				t.Run(of.name+"/"+kind+"/"+string(want[0]), func(t *testing.T) {
					t.Parallel()
					if f := alone(t, of.name, source, 5-2*k); !slices.Contains(want, f.Exposure) {
						t.Errorf("%s is %s", policy, f.Exposure)
					} else if f.Exposure == Exposed && f.Cured.Outcome != results.Met {
						t.Errorf("%s with %s is still exposed", policy, f.Cure)
					}
				})
			}
		}
	}
}

// touches reports whether a policy has keys of its own for one of the classes.
func touches(sc *scenarios.Scenario, policy string, classes []string) bool {
	for path := range sc.Policies[sc.PoliciesNamed(policy)[0]].With {
		for _, class := range classes {
			if strings.HasPrefix(path, "jobs."+class+".") {
				return true
			}
		}
	}
	return false
}

// only returns the override that leaves a scenario one policy.
func only(sc *scenarios.Scenario, policy string) scenarios.Override {
	return scenarios.Set("policies", []scenarios.Policy{sc.Policies[sc.PoliciesNamed(policy)[0]]})
}

// TestDoctorKnowsTheLibrary: there is one entry for each incident of the library.
func TestDoctorKnowsTheLibrary(t *testing.T) {
	var want, got []string
	for _, b := range scenarios.Builtin() {
		if name, is := strings.CutPrefix(b.Name, "incidents/"); is {
			want = append(want, name)
		}
	}
	for i := range incidents {
		got = append(got, incidents[i].name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDoctorScalesHeavyLoads: a heavy scenario is simulated small, as busy as it is, and within its limits.
func TestDoctorScalesHeavyLoads(t *testing.T) {
	const text = `engine: {nodes: 20, workers: 200}
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
	if limit := limitOf(&p.sc.Dependencies[0]) / hook.Arrivals.MeanRate(); limit < 2.9 || limit > 3.1 || hook.MaxRunning > 60 {
		t.Errorf("got a limit of %v × the rate, and %v at most running", limit, hook.MaxRunning)
	}
}
