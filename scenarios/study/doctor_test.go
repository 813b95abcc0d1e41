package study

import (
	"context"
	"errors"
	"flag"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"qsim/results"
	"qsim/scenarios"
)

var long = flag.Bool("long", false, "TestDoctorFindsItsOwn: with more seeds, and also without the trouble that the scenarios have themselves")

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

// alone returns the doctor's finding about a scenario, under a policy, for one incident alone.
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
					f := alone(t, of.name, source, 3-k) // most are clear after so few
					if f.Exposure == Unsure || *long {
						f = alone(t, of.name, source, 8-2*k)
					}
					if !slices.Contains(want, f.Exposure) {
						t.Errorf("%s is %s", policy, f.Exposure)
					} else if f.Exposure == Exposed && f.Cured.Outcome != results.Met {
						t.Errorf("%s with %s is still exposed", policy, f.Cure)
					}
				})
			}
		}
	}
}

// touches reports whether a policy overrides keys of one of the classes.
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

// only returns the override that leaves a scenario the one policy of that label.
func only(sc *scenarios.Scenario, policy string) scenarios.Override {
	return scenarios.Set("policies", []scenarios.Policy{sc.Policies[sc.PoliciesNamed(policy)[0]]})
}

// TestDoctorKnowsTheLibrary: the doctor's list has exactly the built-in scenarios of incidents.
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

// lay applies an incident to a scenario as the doctor does, and returns the row and the scenario that it loads.
func lay(t *testing.T, name string, source Source) (r *row, sc *scenarios.Scenario) {
	t.Helper()
	p, err := admit(source, 2)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(incidents, func(of incident) bool { return of.name == name })
	r, why := p.lay(&incidents[i])
	if r == nil {
		t.Fatalf("%s does not apply: %s", name, why)
	}
	if sc, err = p.source.setting(r.judged(r.sets)); err != nil {
		t.Fatal(err)
	}
	return r, sc
}

// TestDoctorKeepsJobsOfTheSameName: a class of the scenario with the name of one that an incident adds, but with other
// jobs, is unchanged and stands for classes of the incident, and the incident's class gets another name.
func TestDoctorKeepsJobsOfTheSameName(t *testing.T) {
	const text = `engine: {workers: 20}
jobs: [{class: reports, arrivals: 30/s, service: 300ms}, {class: invoices, INVOICES}]
`
	const other = "arrivals: {process: constant, rate: 3/s}, service: 1s"
	for _, tt := range []struct{ incident, adds, cure, invoices string }{
		{"long-jobs-hold-every-worker", "reports", "jobs.other-reports.max-running: ", other},
		{"redeliveries-before-new", "invoices", "kind: weighted", other},
		{"redeliveries-before-new", "invoices", "kind: weighted", "arrivals: 3/s, service: 1s"},
		{"redeliveries-before-new", "invoices", "kind: weighted",
			"arrivals: {process: constant, rate: 3/s}, service: {dist: exponential, mean: 100ms}"},
	} {
		shop := strings.Replace(text, "INVOICES", tt.invoices, 1)
		r, sc := lay(t, tt.incident, Source{Name: "shop.yaml", Text: []byte(shop)})
		added, own := sc.ClassIndex("other-"+tt.adds), &sc.Jobs[sc.ClassIndex(tt.adds)]
		library := &r.library.Jobs[r.library.ClassIndex(tt.adds)]
		if added < 0 || sc.Jobs[added].Arrivals.Process != library.Arrivals.Process {
			t.Fatalf("%s: the trouble is not added: %v", tt.incident, sc.Jobs)
		}
		if was := &r.sc.Jobs[r.sc.ClassIndex(tt.adds)]; own.Arrivals.Process != was.Arrivals.Process {
			t.Errorf("%s: arrivals of the scenario's own %s became %v", tt.incident, tt.adds, own.Arrivals)
		}
		if !strings.HasPrefix(r.cure(), tt.cure) {
			t.Errorf("%s: got the cure %s, want %s", tt.incident, r.cure(), tt.cure)
		}
		if !slices.Contains(slices.Collect(maps.Values(r.as)), "reports") {
			t.Errorf("%s: the busiest class stands for none of %v", tt.incident, r.as)
		}
	}
	only := "jobs: [{class: invoices, arrivals: {process: " // as the incident has it
	library := libraryScenario("redeliveries-before-new")
	j := library.Jobs[library.ClassIndex("invoices")]
	p, err := admit(Source{Name: "one.yaml", Text: []byte(only + j.Arrivals.Process + ", rate: 1/s}, service: 1s}]\n"),
		Sets: []scenarios.Override{scenarios.Set("jobs", []scenarios.JobClass{j})}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(incidents, func(of incident) bool { return of.name == "redeliveries-before-new" })
	if _, why := p.lay(&incidents[i]); why != onlyTrouble {
		t.Errorf("without any other jobs: got %q, want %q", why, onlyTrouble)
	}
}

// TestDoctorIsNotSureOfWhatItDidNotTry: an incident whose trouble does not load has the verdict not sure, and one of
// which only the cure does not load is judged without it.
func TestDoctorIsNotSureOfWhatItDidNotTry(t *testing.T) {
	const text = "jobs: [{class: mail, service: 1s, arrivals: 2/s}]\nduration: 1m\n"
	for cured, refused := range map[bool]func(sc *scenarios.Scenario) bool{
		false: func(sc *scenarios.Scenario) bool { return true },
		true:  func(sc *scenarios.Scenario) bool { return len(sc.Policies) > 1 },
	} {
		source := Source{Name: "shop.yaml", Text: []byte(text), Fits: func(sc *scenarios.Scenario) error {
			if sc.Duration.Std() > time.Minute && refused(sc) {
				return errors.New("too large")
			}
			return nil
		}}
		f := alone(t, "redeliveries-before-new", source, 2)
		if !strings.HasSuffix(f.Why, "does not fit: too large") {
			t.Errorf("got the reason %q", f.Why)
		}
		if !cured && (f.Exposure != Unsure || f.Scenario != nil) || cured && (f.Scenario == nil || f.Yours.Text == "") {
			t.Errorf("got %+v", f)
		}
	}
}

// TestDoctorKnowsCuresThatAreThere: of a cure that the scenario has, as a key or as its policy, it says so.
func TestDoctorKnowsCuresThatAreThere(t *testing.T) {
	const text = "engine: {workers: 4, fetch: {batch: BATCH}}\njobs: [{class: mail, service: 1s, arrivals: 3/s}]\n" +
		"duration: 1m\npolicies: [{kind: weighted SHARE}]\n"
	for _, tt := range []struct {
		incident, batch, share string
		there                  bool
	}{
		{"stuck-rows-slow-every-claim", "20", ", fresh: 80%", true},
		{"stuck-rows-slow-every-claim", "10", ", fresh: 80%", false},
		{"redeliveries-before-new", "10", ", fresh: 80%", true},
		{"redeliveries-before-new", "10", "", true}, // by default
		{"redeliveries-before-new", "10", ", fresh: 50%", false},
	} {
		shop := strings.NewReplacer("BATCH", tt.batch, "SHARE", tt.share).Replace(text)
		f := alone(t, tt.incident, Source{Name: "shop.yaml", Text: []byte(shop)}, 2)
		if there := strings.Contains(f.remedy(), f.Cure+"; in place already"); there != tt.there || f.There != there || f.Cure == "" {
			t.Errorf("%+v: got %s, %t", tt, f.remedy(), f.There)
		}
	}
}

// TestDoctorNamesTheTroublesClass: of a cure for jobs that the scenario does not have, it says that they are the
// incident's.
func TestDoctorNamesTheTroublesClass(t *testing.T) {
	for jobs, want := range map[string]string{
		"{class: mail, service: 1s, arrivals: 3/s}":    "jobs.reports.max-running: 1; reports is a class of the incident",
		"{class: reports, service: 1s, arrivals: 3/s}": "jobs.other-reports.max-running: 1; other-reports is a class of the incident",
		"{class: mail, service: 1s, arrivals: 2/s}, {class: reports, service: OWN, arrivals: {process: batch, size: 2, every: 10m}}": "jobs.reports.max-running: 1",
	} {
		own := scenarios.Set("", libraryScenario("long-jobs-hold-every-worker").Jobs[1].Service).Value
		text := "engine: {workers: 4}\nduration: 1m\njobs: [" + strings.Replace(jobs, "OWN", own, 1) + "]\n"
		f := alone(t, "long-jobs-hold-every-worker", Source{Name: "shop.yaml", Text: []byte(text)}, 2)
		if got := f.remedy(); got != want && !strings.HasPrefix(got, want+";") || strings.Contains(got, "class of") != strings.Contains(want, "class of") {
			t.Errorf("%s: got %q, want %q", jobs, got, want)
		}
	}
}

// TestDoctorKnowsCuresThatHarm: a cure with which the metric is higher is worse, not merely not enough.
func TestDoctorKnowsCuresThatHarm(t *testing.T) {
	const text = "engine: {preset: sweeper, nodes: 1, workers: 5}\npolicies: [{kind: separate, retry-workers: 20%}]\n" +
		"jobs: [{class: mail, arrivals: 0.59/s, service: {dist: lognormal, p50: 2100ms, p99: 15s}, delay: 30s, fails: {rate: 1%}}]\n"
	f := alone(t, "scheduled-behind-retries", Source{Name: "shop.yaml", Text: []byte(text)}, 4)
	if got := f.remedy(); !strings.HasPrefix(got, "engine.promoter.batch: 100; worse; ") || !f.Worse {
		t.Errorf("got %s, %t", got, f.Worse)
	}
}

// TestDoctorTellsItsLastWord: Doctor.Judged is called once for each incident, with its final verdict.
func TestDoctorTellsItsLastWord(t *testing.T) {
	var lock sync.Mutex
	told := map[string]Exposure{}
	const text = "engine: {workers: 4}\njobs: [{class: mail, service: 1s, arrivals: 3.9/s}]\nduration: 1m\n" // nearly overloaded
	d := Doctor{Source: Source{Name: "shop.yaml", Text: []byte(text)}, Seeds: 2, Judged: func(incident string, e Exposure) {
		lock.Lock()
		defer lock.Unlock()
		if told[incident] != "" {
			t.Errorf("%s: told twice", incident)
		}
		told[incident] = e
	}, Incidents: []string{"redeliveries-before-new", "retry-behind-the-backlog", "retry-keeps-its-old-place", "stuck-rows-slow-every-claim",
		"in-flight-cap-leaks"}} // the last does not apply
	found, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eased := 0
	for _, f := range found.Findings {
		if told[f.Incident] != f.Exposure {
			t.Errorf("%s: told %q, found %q", f.Incident, told[f.Incident], f.Exposure)
		}
		if f.Exposure == Safe && f.Calm > 0 {
			eased++
		}
	}
	if eased == 0 {
		t.Error("no verdict changed")
	}
	for i := range len(found.Findings) - 1 {
		if a, b := &found.Findings[i], &found.Findings[i+1]; a.Exposure == b.Exposure && a.over < b.over {
			t.Errorf("%s is before %s: %v and %v times the limit", a.Incident, b.Incident, a.over, b.over)
		}
	}
}
