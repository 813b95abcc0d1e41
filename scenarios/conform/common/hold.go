package common

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/scenarios"
	"qsim/scenarios/checked"
)

var (
	long    = flag.Bool("long", false, "6 seeds and all cases, and hold what is recorded to the values of the preset")
	first   = flag.Uint64("first", 1, "the first seed of arrivals")
	rewrite = flag.Bool("rewrite", false, "write the verdicts into scenarios/checked/conform.yaml; implies -long")
)

// simulations is the number of simulations that are compared with one real run, each with other random delays.
const simulations = 4

// Virtual, Wall and NoClock are values of System.Clock: a virtual clock, the wall clock, or none (a formula alone).
const (
	Virtual = "virtual"
	Wall    = "wall"
	NoClock = "none"
)

// System is a real job system, the preset that describes it, and the cases and rules by which the two are compared.
type System struct {
	Preset  string
	Module  string // module of the system in go.mod
	Version string // version of a system that is no module: rabbitmq 3.10.8
	Clock   string // Virtual, Wall, or NoClock for formulas: the retry half of the preset alone
	Cases   []*Case
	Rules   []Rule
	// Run runs a case to its end, and logs it. With a virtual clock each call has a synctest bubble.
	Run func(t *testing.T, r *Run)
}

// Long reports whether the suite runs all cases with six seeds instead of two, by the flags -long or -rewrite.
func Long() bool { return *long || *rewrite }

// Rewriting reports whether the flag -rewrite is set, by which the suite writes its verdicts to conform.yaml.
func Rewriting() bool { return *rewrite }

// Debian returns the upstream version, such as v3.10.8, of an installed Debian package; without it the test is skipped.
func Debian(t *testing.T, name string) string {
	t.Helper()
	text, err := exec.Command("dpkg-query", "--show", "--showformat=${Version}", name).Output()
	if err != nil {
		t.Skipf("NOT CHECKED: Debian's package %s is not installed", name)
	}
	version := string(text)
	if _, after, epoch := strings.Cut(version, ":"); epoch {
		version = after
	}
	return "v" + strings.FieldsFunc(version, func(r rune) bool { return r == '+' || r == '-' })[0]
}

// sides holds the runs of one case that are compared: for each seed a real one, and several simulated ones.
type sides struct {
	c         *Case
	real      []*Run
	simulated [][]*Run
}

// Hold is the test of a system: it runs every case on the real system and in simulations, and judges every rule. It
// fails if a rule is off that conform.yaml records as better, or if a fault planted in the preset breaks no rule.
func (s *System) Hold(t *testing.T) {
	seeds := uint64(2)
	if Long() {
		seeds = 6
	}
	cases := map[string]*sides{}
	for _, c := range s.Cases {
		if c.Long && !Long() {
			continue
		}
		cases[c.Name] = &sides{c: c, real: make([]*Run, seeds)}
	}
	s.sideBySide(t, cases)
	for _, c := range s.Cases {
		if cases[c.Name] == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for i, r := range cases[c.Name].real {
				began, seed := time.Now(), *first+uint64(i)
				if r == nil {
					r = s.real(t, c, seed)
					cases[c.Name].real[i] = r
				}
				t.Logf("seed %d: %d jobs, %d events, %v", seed, len(r.Jobs), len(r.events),
					time.Since(began).Round(time.Millisecond))
			}
			cases[c.Name].simulated = s.simulated(t, cases[c.Name], nil)
		})
	}
	if t.Failed() {
		return
	}
	preset := scenarios.PresetNamed(s.Preset)
	record := checked.Of(preset)
	found := checked.Comparison{Preset: s.Preset, System: s.version(t), Clock: s.Clock, Seeds: int(seeds),
		On: time.Now().UTC().Format(time.DateOnly), Values: checked.Hash(preset)}
	for i := range s.Rules {
		rule := &s.Rules[i]
		if cases[rule.Case] == nil {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			v, lines := rule.judge(cases[rule.Case], cases[rule.Case].simulated)
			t.Log(lines)
			found.Rules = append(found.Rules, rule.record(&v))
			if !*rewrite {
				rule.compare(t, v.Word, record)
			}
		})
	}
	t.Run("faults", func(t *testing.T) { s.plant(t, cases) })
	switch {
	case *rewrite && !t.Failed():
		Write(t, found)
	case *long && record.Values != found.Values:
		t.Errorf("%s was checked before its values were changed: go test ./... -rewrite", s.Preset)
	}
}

// version returns the name of the system with its version, such as "hibiken/asynq v0.26.0".
func (s *System) version(t *testing.T) string {
	if s.Module == "" {
		return s.Version
	}
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(regexp.QuoteMeta(s.Module) + " (\\S+)").FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s is not in go.mod", s.Module)
	}
	return strings.TrimPrefix(s.Module, "github.com/") + " " + string(found[1])
}

// places is a semaphore for runs on the wall clock, of all cases: many go on at once, since they mostly wait.
var places = make(chan struct{}, 40)

// sideBySide makes the real runs of all cases and seeds at once, if the system has the wall clock.
func (s *System) sideBySide(t *testing.T, cases map[string]*sides) {
	if s.Clock != Wall {
		return
	}
	var running sync.WaitGroup
	for _, c := range cases {
		for i := range c.real {
			running.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				r := newRun(c.c, *first+uint64(i))
				r.lead, r.boot = wallLead, boot
				r.start = r.start.Add(wallLead)
				s.Run(t, r)
				c.real[i] = r
			})
		}
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// real returns the run of one case on the real system with a virtual clock, in a synctest bubble.
func (s *System) real(t *testing.T, c *Case, seed uint64) (r *Run) {
	runtime.GC() // twice: libraries keep timers in a sync.Pool, and those of another bubble must not be found there
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		r = newRun(c, seed)
		r.lead = lead
		r.start = r.start.Add(lead)
		s.Run(t, r)
	})
	return r
}

// simulated returns, for each seed, several simulated runs of a case. settings are overrides KEY=VALUE of the scenario.
func (s *System) simulated(t *testing.T, c *sides, settings []string) (all [][]*Run) {
	t.Helper()
	for _, real := range c.real {
		var runs []*Run
		for n := range uint64(simulations) {
			r, err := s.simulate(t.TempDir(), c.c, real.Seed, real.Seed*100+n, settings)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, r)
		}
		all = append(all, runs)
	}
	return all
}

// judge returns the worst verdict on the figures (parts) of a rule in real and simulated runs, and a line on each.
func (rule *Rule) judge(c *sides, simulated [][]*Run) (v Verdict, lines string) {
	samples := 0
	for _, p := range rule.Parts {
		if p.Sample != nil {
			samples++
		}
	}
	var all []Verdict
	for i := range rule.Parts {
		v := rule.Parts[i].judge(c.real, simulated, samples)
		all = append(all, v)
		text := v.Part.number
		lines += fmt.Sprintf("\n%-5s %-40s real %s, simulated %s, difference %s ± %s %s", v.Word, v.Part.Name, v.RealText(),
			text(v.Simulated), text(v.Difference), text(v.Uncertain), v.OffText())
	}
	return worst(all), lines
}

// compare fails the test if the verdict word on a rule is off and was not recorded so, if none was recorded or, with
// -long, if the rule holds and was recorded as off.
func (rule *Rule) compare(t *testing.T, word string, record *checked.Comparison) {
	at := slices.IndexFunc(record.Rules, func(r checked.Rule) bool { return r.Rule == rule.Name })
	switch {
	case at < 0:
		t.Errorf("nothing is recorded of it: go test ./... -rewrite")
	case word == Off && record.Rules[at].Verdict != Off:
		t.Errorf("it is off, and is recorded as one that %s", record.Rules[at].Verdict)
	case word == Holds && record.Rules[at].Verdict == Off && Long():
		t.Errorf("it holds, and is recorded as off: go test ./... -rewrite")
	}
}

// plant tests the rules themselves: with its Fault simulated, a changed value of the preset, each rule must be off, and
// no other that does not name the changed key. A fault in a key of a job class is tried on its own rule only.
func (s *System) plant(t *testing.T, cases map[string]*sides) {
	for i := range s.Rules {
		rule := &s.Rules[i]
		if rule.Fault == "" && s.Clock == Virtual {
			t.Errorf("%s: no fault is planted", rule.Name)
		}
		if rule.Fault == "" || cases[rule.Case] == nil {
			continue
		}
		t.Run(rule.Fault, func(t *testing.T) {
			if c := cases[rule.Case]; c.off(rule) {
				if !rule.moves(c, s.simulated(t, c, []string{rule.Fault})) {
					t.Errorf("%s: it is off, and %s does not change what it is judged by", rule.Name, rule.Fault)
				}
				return
			}
			seeds := 2
			if rule.Patient {
				if seeds = len(cases[rule.Case].real); !Long() {
					t.Skip("it takes the seeds of -long")
				}
			}
			key, _, _ := strings.Cut(rule.Fault, "=")
			faulty := map[string][][]*Run{}
			for j := range s.Rules {
				other := &s.Rules[j]
				c := cases[other.Case].first(seeds)
				if c == nil || j != i && (strings.HasPrefix(key, "jobs.") || other.Load || other.Patient && !rule.Patient ||
					other.has(key) || c.c.sets(key)) {
					continue
				}
				if faulty[other.Case] == nil {
					faulty[other.Case] = s.simulated(t, c, []string{rule.Fault})
				}
				switch v, lines := other.judge(c, faulty[other.Case]); {
				case i == j && !v.red(seeds):
					t.Errorf("%s: %s with %s, want off%s", rule.Name, v.Word, rule.Fault, lines)
				case i != j && v.Word == Off && !c.off(other) && other.moves(c, faulty[other.Case]):
					t.Errorf("%s is off with %s, which is not among its keys %v%s", other.Name, rule.Fault, other.Keys, lines)
				}
			}
		})
	}
}

// first returns the runs of the first few seeds only; nil for nil.
func (c *sides) first(seeds int) *sides {
	if c == nil {
		return nil
	}
	return &sides{c.c, c.real[:seeds], c.simulated[:seeds]}
}

// off reports whether the verdict on a rule is off: the preset, unchanged, does not behave as the real system does.
func (c *sides) off(rule *Rule) bool {
	v, _ := rule.judge(c, c.simulated)
	return v.Word == Off
}

// has reports whether a scenario key, such as retry.backoff, is one that the rule checks, or lies inside one.
func (rule *Rule) has(key string) bool {
	return slices.ContainsFunc(rule.Keys, func(k string) bool { return key == k || strings.HasPrefix(key, k+".") })
}
