// Package common is the frame of the conformance suite. It runs test cases both on a real job system and in simulations
// of the preset that describes it, logs each job's events in both, and judges rules: behaviours of the system, measured
// by figures from the two logs, that the preset must reproduce.
//
// A system describes itself as a System and calls Hold in its one test:
//
//	func TestAsynq(t *testing.T) { system.Hold(t) }
package common

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Class is a class of jobs in a Case: when they arrive, how long they run and whether they fail.
type Class struct {
	Name    string
	Rate    float64         // Poisson arrivals per second, until Case.Until
	At      []time.Duration // arrival times, each delayed by up to 1 s, by the seed; instead of Rate
	Service time.Duration   // run time of each attempt: no multiple of an interval of the system
	Fails   bool            // an attempt that begins in [Case.From, Case.To) fails
	Delay   time.Duration   // from the enqueue until the job is due
	Keys    string          // further keys of the class in the scenario: "timeout: 30s"
}

// Case is one experiment, which the real system and the simulator both run: jobs, failures and crashes.
type Case struct {
	Name           string
	Nodes, Workers int
	Classes        []Class
	Until          time.Duration   // end of the arrivals
	Limit          time.Duration   // the run ends when all jobs are done, at the latest then
	Full           bool            // the run lasts until Limit even if all jobs are done
	From, To       time.Duration   // window in which attempts of failing classes fail
	Crashes        []time.Duration // times at which node 0 dies, and up to 10 s later, by the seed
	Back           time.Duration   // time from the death of node 0 to the start of the next process
	Set            []string        // keys of the scenario, KEY=VALUE, with the configuration of the real system
	Long           bool            // run only with -long, since the load takes long
}

// Job is one job that arrives in a run of a Case, at the same time in the real system and in simulations.
type Job struct {
	ID    string // class/number, as qsim names it
	Class string
	At    time.Duration
}

// Class returns the case's class of that name, or of the job with that ID (class/number); it panics if there is none.
func (c *Case) Class(name string) *Class {
	name, _, _ = strings.Cut(name, "/")
	return &c.Classes[slices.IndexFunc(c.Classes, func(k Class) bool { return k.Name == name })]
}

// sets reports whether the case sets a scenario key such as engine.lease.ttl, a map around it, or a key in it.
func (c *Case) sets(key string) bool {
	return slices.ContainsFunc(c.Set, func(setting string) bool {
		own, _, _ := strings.Cut(setting, "=")
		return strings.HasPrefix(key+".", own+".") || strings.HasPrefix(own+".", key+".")
	})
}

// jobs returns the jobs of a run of the case, by time of arrival. The seed determines these times.
func (c *Case) jobs(seed uint64) (all []Job) {
	for i, k := range c.Classes {
		at := slices.Clone(k.At)
		for n := range at {
			at[n] += time.Duration(seed*137%1000) * time.Millisecond // so that polls fall elsewhere
		}
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		for t := 0.0; k.Rate > 0; {
			t += random.ExpFloat64() / k.Rate
			if t >= c.Until.Seconds() {
				break
			}
			at = append(at, time.Duration(t*1e6)*time.Microsecond)
		}
		for n, t := range at {
			all = append(all, Job{fmt.Sprintf("%s/%d", k.Name, n), k.Name, t})
		}
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return all
}

// crashes returns the times, from the start of a run with that seed, at which the process of node 0 is killed.
func (c *Case) crashes(seed uint64) []time.Duration {
	at := slices.Clone(c.Crashes)
	for i := range at {
		at[i] += time.Duration(seed*1300%10_000) * time.Millisecond
	}
	return at
}

// scenario returns the case as YAML text of a scenario, which reads the arrivals of each class from a file CLASS.txt.
func (c *Case) scenario(s *System, seed uint64) string {
	var b strings.Builder
	engine, from := "preset: "+s.Preset+", ", ""
	if s.Clock == NoClock {
		engine = "fetch: {poll: 1h}, reaper: {every: 0s}, " // without effect on the case, but costly
		from = ", from: failure"                            // a formula excludes the duration of a commit
	}
	fmt.Fprintf(&b, "name: %s\nduration: %s\ndrain: %s\nwarmup: 0s\nseeds: 1\nretry: {preset: %s%s}\n",
		c.Name, c.Until, c.Limit-c.Until, s.Preset, from)
	fmt.Fprintf(&b, "engine: {%snodes: %d, workers: %d, restart: %s, store: {claim: 10us, commit: 10us, extend: 10us, "+
		"recover: 10us, promote: 10us, stats: 10us}}\n", engine, c.Nodes, c.Workers, max(c.Back, time.Second))
	fmt.Fprintf(&b, "dependencies: [{name: api}, {name: other}]\njobs:\n")
	for _, k := range c.Classes {
		calls := "other"
		if k.Fails {
			calls = "api"
		}
		fmt.Fprintf(&b, "  - {class: %s, calls: %s, arrivals: {process: trace, file: %[1]s.txt}, service: %[3]s, "+
			"delay: %[4]s, %[5]s}\n", k.Name, calls, k.Service, k.Delay, k.Keys)
	}
	var storms []string
	if c.To > 0 {
		storms = append(storms, fmt.Sprintf("{name: down, at: %s, for: %s, outage: {dependency: api, error: unavailable}}",
			c.From, c.To-c.From))
	}
	for i, at := range c.crashes(seed) {
		storms = append(storms, fmt.Sprintf("{name: crash-%d, at: %s, crash: {nodes: [0], restart-after: %s}}",
			i+1, at, c.Back))
	}
	fmt.Fprintf(&b, "storms: [%s]\n", strings.Join(storms, ", "))
	return b.String()
}

// At returns its arguments, times from the start of a run, as a list of arrivals for Class.At.
func At(times ...time.Duration) []time.Duration { return times }

// Burst returns n arrivals, all at one time from the start of a run, for Class.At.
func Burst(n int, at time.Duration) []time.Duration { return slices.Repeat([]time.Duration{at}, n) }
