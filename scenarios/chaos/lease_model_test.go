package chaos

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qsim/engine"
)

// leaseModels lists the variants of the lease protocol to explore, as defines of lease.pml and as leaseRules. With two
// leases of a job, state and none have as many states as token has with three.
var leaseModels = []struct {
	name, defines string
	most          int // leases
	rules         leaseRules
}{
	{"token", "", 3, leaseRules{fence: engine.FenceToken}},
	{"lapses and forgets", "-DLAPSES -DFORGETS", 3, leaseRules{fence: engine.FenceToken, lapses: true, forgets: true}},
	{"state", "-DFENCE=STATE", 2, leaseRules{fence: engine.FenceState}},
	{"none", "-DFENCE=NONE", 2, leaseRules{fence: engine.FenceNone}},
}

// TestLeaseProtocol has Spin explore all states of testdata/lease.pml, of two nodes and jobs: no assertion may fail.
func TestLeaseProtocol(t *testing.T) {
	skipProved(t)
	for _, m := range leaseModels {
		if m.name != "token" && !*long {
			continue // with one job all of them are exhausted below
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if failed, output := spin(t, m.defines, "-O2"); failed != "" {
				t.Errorf("%s\n%s", failed, output)
			}
		})
	}
}

// TestLeaseProtocolBroken breaks one rule of testdata/lease.pml after another: each time an assertion must fail.
func TestLeaseProtocolBroken(t *testing.T) {
	skipProved(t)
	t.Cleanup(func() { recordProved(t) }) // after the last of the parallel ones
	source, err := os.ReadFile("testdata/lease.pml")
	if err != nil {
		t.Fatal(err)
	}
	twins := regexp.MustCompile(`\bBREAK_[A-Z_]+[A-Z]\b`).FindAllString(string(source), -1)
	slices.Sort(twins)
	if twins = slices.Compact(twins); len(twins) < 17 {
		t.Errorf("%d broken twins are too few", len(twins))
	}
	for _, twin := range twins {
		t.Run(strings.ToLower(twin), func(t *testing.T) {
			t.Parallel()
			failed, output := spin(t, "-D"+twin, "-O0")
			if failed == "" {
				t.Errorf("no assertion fails\n%s", output)
			}
			t.Log(failed)
		})
	}
}

// TestLeaseProtocolIsTheModel proves that leaseRules and lease.pml are the same relation: Spin prints every step of a
// job from each reachable state, and those are exactly the steps of leaseRules. Without -long, only the fence by token
// has a third lease.
func TestLeaseProtocolIsTheModel(t *testing.T) {
	for _, m := range leaseModels {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if m.name != "token" && !*long {
				m.most = 2
			}
			failed, output := spin(t, fmt.Sprintf("-DEDGES -DJOBS=1 -DCRASHES=2 -DMOST=%d %s", m.most, m.defines), "-O1")
			if failed != "" {
				t.Fatalf("%s\n%s", failed, output)
			}
			rest := leaseEdges(&m.rules, m.most)
			allowed, shown := len(rest), 0
			complain := func(format, edge string) {
				if shown++; shown <= 10 {
					t.Errorf(format, edge)
				}
			}
			for edge := range strings.Lines(output) {
				if edge = strings.TrimSuffix(edge, "\n"); strings.Count(edge, "|") == 2 {
					if !rest[edge] {
						complain("the model has %s, and leaseRules have not", edge)
					}
					delete(rest, edge)
				}
			}
			for edge := range rest {
				complain("leaseRules have %s, and the model has not", edge)
			}
			t.Logf("%d steps of a job, of which %d are not in both", allowed, shown)
		})
	}
}

var (
	spinFails  = regexp.MustCompile(`(?m)^pan:\d+: .*`)
	spinStates = regexp.MustCompile(`\d+ states, stored`)
)

// spin compiles testdata/lease.pml with the given defines and explores all of its states. It returns the first
// assertion that fails, if any, and the output. Without a failure the search was complete.
func spin(t *testing.T, defines, optimize string) (failed, output string) {
	t.Helper()
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil && *rewrite {
			t.Fatal(err) // else what nobody has searched would be recorded
		} else if err != nil {
			t.Skipf("%v: the model of the lease protocol is NOT checked: scripts/test installs it", err)
		}
	}
	model, err := filepath.Abs("testdata/lease.pml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	run := func(name string, arguments ...string) string {
		command := exec.Command(name, arguments...)
		command.Dir = folder
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out[max(0, len(out)-2000):])
		}
		return string(out)
	}
	run("spin", append(strings.Fields(defines), "-a", model)...)
	// Breadth first, so that there is no depth that is not reached.
	run("gcc", optimize, "-w", "-DSAFETY", "-DNOREDUCE", "-DBFS", "-DMEMLIM=2000", "-o", "pan", "pan.c")
	output = run("./pan", "-w22")
	if failed = spinFails.FindString(output); failed != "" {
		return failed, output
	}
	last := output[max(0, len(output)-2000):]
	for _, cut := range []string{"max search depth too small", "out of memory", "Search not completed", "pan: reached"} {
		if strings.Contains(output, cut) {
			t.Fatalf("not all states were looked at: %s\n%s", cut, last)
		}
	}
	states := spinStates.FindString(last)
	if !strings.Contains(last, "errors: 0") || states == "" {
		t.Fatalf("what came of it is not clear:\n%s", last)
	}
	t.Log(states)
	return "", output
}

// leaseEdges returns all steps of the lease protocol from all states of a job with up to most leases, in lease.pml's
// form.
func leaseEdges(r *leaseRules, most int) map[string]bool {
	edges, known := map[string]bool{}, map[string]bool{}
	todo := []jobLeases{{state: engine.Ready}}
	for len(todo) > 0 {
		from := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, s := range leaseSteps(&from, most) {
			to := from
			to.leases = slices.Clone(from.leases)
			if !r.next(&to, s) {
				continue
			}
			text := to.String()
			edges[from.String()+"|"+s.String()+"|"+text] = true
			if !known[text] {
				known[text] = true
				todo = append(todo, to)
			}
		}
	}
	return edges
}

// leaseSteps returns the steps to try in a state of a job, legal or not. Nodes are alike: the first lease is node 0's.
func leaseSteps(j *jobLeases, most int) (steps []leaseStep) {
	for _, kind := range []byte("XYMPHR") {
		if kind != 'Y' || len(j.leases) < most {
			steps = append(steps, leaseStep{kind: kind})
		}
	}
	for node := range int32(2) {
		steps = append(steps, leaseStep{kind: 'D', node: node})
		for _, kind := range []byte("LlK") {
			if len(j.leases) < most && node <= int32(len(j.leases)) {
				steps = append(steps, leaseStep{kind: kind, node: node})
			}
		}
		for token := 1; token <= len(j.leases); token++ {
			for _, kind := range []byte("SOZEF") {
				steps = append(steps, leaseStep{kind: kind, node: node, token: token})
			}
			for _, kind := range []byte("EF") {
				steps = append(steps, leaseStep{kind: kind, node: node, token: token, ok: true})
			}
			for to := engine.Ready; to <= engine.Dead; to++ {
				steps = append(steps, leaseStep{kind: 'C', node: node, token: token, to: to})
			}
		}
	}
	return steps
}

// TestChaosFollowsTheLeaseProtocol checks that every event of drawn worlds is a step of the lease protocol.
func TestChaosFollowsTheLeaseProtocol(t *testing.T) {
	seeds, steps := max(1, *seedCount/slowdown), 0
	if *long {
		seeds = max(seeds, 20_000)
	}
	for i := range seeds + 1 {
		seed := *firstSeed + i
		if i == seeds {
			seed = 726 // a lease that is taken again under no fence, while the answer to a refused heartbeat is under way
		}
		wrong, n := replayLeases(t, seed, nil)
		if steps += n; wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
	t.Logf("%d traces, %d steps", seeds, steps)
}

// TestPlantedBugsLeaveTheLeaseProtocol checks that a trace with each planted bug, of the seed that finds it or another,
// has an event that is no step of the lease protocol, unless outsideOfLeases has the bug.
func TestPlantedBugsLeaveTheLeaseProtocol(t *testing.T) {
	for i := range bugs {
		b := &bugs[i]
		t.Run(b.name, func(t *testing.T) {
			outside, seeds := outsideOfLeases[b.name], uint64(1)
			if outside == "" || *long {
				seeds = mostSeeds
			}
			wrong, seed := "", found[b.name].seed
			if wrong, _ = replayLeases(t, seed, b.plant); wrong == "" {
				for seed = 1; seed <= seeds && wrong == ""; seed++ {
					wrong, _ = replayLeases(t, seed, b.plant)
				}
				seed--
			}
			switch {
			case wrong == "" && outside == "":
				t.Errorf("every event of %d seeds is a step of the protocol", seeds)
			case wrong != "" && outside != "":
				t.Errorf("it is said to be outside of the protocol (%s), and seed %d: %s", outside, seed, wrong)
			}
			t.Logf("seed %d: %s", seed, cmp.Or(wrong, outside))
		})
	}
	for name := range outsideOfLeases {
		if !slices.ContainsFunc(bugs, func(b bug) bool { return b.name == name }) {
			t.Errorf("%q is no bug", name)
		}
	}
}

// replayLeases runs the world of a seed with a planted bug, or nil, and returns its first event that is no step of the
// lease protocol, "" if there is none, and how many steps there were.
func replayLeases(t *testing.T, seed uint64, plant func(*setup)) (wrong string, steps int) {
	t.Helper()
	var p *leaseReplay
	r := runner{plant: func(s *setup) {
		p = newLeaseReplay(&s.checked)
		s.config.Recorder = p
		if plant != nil {
			plant(s)
		}
	}}
	if report := r.once(Draw(seed), false, nil); report.Panic != "" && p.wrong == "" {
		p.wrong = report.kind()
	}
	return p.wrong, p.steps
}

// Reasons why a planted bug is outside the scope of the lease protocol.
const (
	ofRetries  = "how often a job is tried, when it is given up, and what that costs is the retry policy's"
	ofDelays   = "how long a retry waits is the retry policy's"
	ofPolicies = "which job is claimed next, and how many are, is the fetch policy's"
	ofLimits   = "what may be in flight, in a batch or to be committed is a limit of the configuration"
	ofTime     = "that something happens soon enough, or at all, is liveness"
	ofCounts   = "what a store says of its jobs beside their leases is no step"
	ofHandlers = "how long a handler runs is its own affair until it ends"
)

// outsideOfLeases maps the planted bugs outside the scope of the lease protocol to the reason.
var outsideOfLeases = map[string]string{
	"attempts are counted twice when a reply is lost":            ofRetries,
	"one attempt more than the limit":                            ofRetries,
	"one attempt less than the limit":                            ofRetries,
	"jobs die at half of their deadline":                         ofRetries,
	"jobs are tried beyond their deadline":                       ofRetries,
	"a job is buried at its first recovery":                      ofRetries,
	"a job is recovered once more than it may be":                ofRetries,
	"recoveries count for ever":                                  ofRetries,
	"an error that is final is tried again":                      ofRetries,
	"a return costs an attempt":                                  ofRetries,
	"a free failure costs an attempt":                            ofRetries,
	"without a fence a job dies at once":                         ofRetries,
	"without a fence a job goes on past its limit":               ofRetries,
	"a delay is halved":                                          ofDelays,
	"a backoff grows past its bound":                             ofDelays,
	"a backoff is one failure ahead":                             ofDelays,
	"a backoff has no bound":                                     ofDelays,
	"no backoff at all":                                          ofDelays,
	"a weighted share starves retries at batch 1":                ofPolicies,
	"a weighted share is that of the other class":                ofPolicies,
	"a cap on retries is off by one":                             ofPolicies,
	"serial keys are ignored":                                    ofPolicies,
	"a claim brings one job less":                                ofPolicies,
	"priorities are turned round":                                ofPolicies,
	"the newest job comes first":                                 ofPolicies,
	"a policy remembers other runs":                              ofPolicies,
	"what is held for its time runs at once":                     ofPolicies,
	"a cap leaks a slot for every recovery":                      ofLimits,
	"a limit on a class is off by one":                           ofLimits,
	"a limit on what is in flight is off by one":                 ofLimits,
	"a claim is larger than a batch":                             ofLimits,
	"a commit is larger than a batch":                            ofLimits,
	"a recovery is larger than a batch":                          ofLimits,
	"backpressure is ignored":                                    ofLimits,
	"a promoter that dies loses what it took":                    ofTime,
	"a job is lost on its way into the store":                    ofTime,
	"a promotion makes one job ready":                            ofTime,
	"every node reaps where the leader should":                   ofTime,
	"a stop hands nothing back":                                  ofTime,
	"nobody recovers leases":                                     ofTime,
	"recoveries are rare":                                        ofTime,
	"nobody wakes, and polls are rare":                           ofTime,
	"workers idle beside ready jobs":                             ofTime,
	"a class of jobs is claimed every quarter of an hour":        ofTime,
	"what is committed stays pending":                            ofTime,
	"what is refused of a batch is taken for done":               ofTime,
	"a lost lease keeps its place in the process":                ofTime,
	"no heartbeats are sent":                                     ofTime,
	"no heartbeats of nodes are sent":                            ofTime,
	"heartbeats are half as frequent":                            ofTime,
	"leases are prolonged beyond their limit":                    ofTime,
	"the ack at the start is not sent":                           ofTime,
	"what comes late is not handed back":                         ofTime,
	"nobody looks for leases at a start":                         ofTime,
	"a job changes its tenant":                                   ofCounts,
	"what is due at this instant stays waiting":                  ofTime,
	"a reaper does not hear when the next lease ends":            ofTime,
	"nobody is woken":                                            ofTime,
	"who leads goes on after its time":                           ofTime,
	"who holds leases asks as if every clock were right":         ofTime,
	"a retry is due at any time":                                 ofDelays,
	"every delay begins with the commit":                         ofDelays,
	"heartbeats of a node prolong the leases of its dead life":   ofTime,
	"a promoter forgets what it took when the insert is refused": ofTime,
	"a retry policy is not told the latest delay":                ofDelays,
	"an engine begins what it holds after the stop signal":       ofTime,
	"a recovered job goes to the end of the line":                ofPolicies,
	"a retry budget pays for one retry more":                     ofPolicies,
	"a retry budget forgets too late":                            ofPolicies,
	"a retry budget has another ratio":                           ofPolicies,
	"a retry budget is that of another queue":                    ofPolicies,
	"a bucket is that of ten processes":                          ofPolicies,
	"a breaker is read as one that hardly ever opens":            ofPolicies,
	"a breaker is read as one that tries twice as often":         ofPolicies,
	"codel takes a burst for a standing queue":                   ofPolicies,
	"codel is read as one that buries nothing":                   ofPolicies,
	"the lanes of workers are read as a cap on retries":          ofPolicies,
	"a claim brings jobs that the plan is not for":               ofPolicies,
	"a bucket holds twice its tokens":                            ofPolicies,
	"a timeout costs no more tokens than another failure":        ofPolicies,
	"a cap that failures lower stays where it is":                ofPolicies,
	"a cap is not used to the full":                              ofPolicies,
	"a breaker opens one failure late":                           ofPolicies,
	"a breaker tries too early":                                  ofPolicies,
	"one breaker for all dependencies":                           ofPolicies,
	"the bounds of codel change places":                          ofPolicies,
	"codel forgets that the queue was empty":                     ofPolicies,
	"what is late is served last, not buried":                    ofPolicies,
	"the newest job comes first however short the waits":         ofPolicies,
	"a split of claims is not carried":                           ofPolicies,
	"classes are tried in one order":                             ofPolicies,
	"a lane has another's worker":                                ofPolicies,
	"lanes take no turns":                                        ofPolicies,
	"fresh jobs do not come first":                               ofPolicies,
	"retries do not come first":                                  ofPolicies,
	"a coin is tossed the wrong way":                             ofPolicies,
	"deadlines are not looked at":                                ofPolicies,
	"nobody gains by waiting":                                    ofPolicies,
	"tenants take no turns":                                      ofPolicies,
	"tenants get service as they ask for it":                     ofPolicies,
	"a noisy tenant is served as any other":                      ofPolicies,
	"no pause after a claim that was refused":                    ofTime,
	"waits are counted from the wrong time":                      ofCounts,
	"the dead are not counted":                                   ofCounts,
	"an execution does not end":                                  ofHandlers,
	"executions do not time out":                                 ofHandlers,
	"executions time out too early":                              ofHandlers,
	"an execution is not told to stop":                           ofHandlers,
}
