// Package estimate computes, before a run of a scenario (a simulated job queue with its load), how large it will be:
// how many jobs arrive, how many attempts fail, and how much memory a simulation takes.
package estimate

import (
	"slices"

	"qsim/results/plain"
	"qsim/scenarios/spec"
)

// Footprint is an estimate of the jobs and the memory of one simulation, for commands to see whether it fits.
type Footprint struct {
	All    float64 // number of jobs of a simulation
	Jobs   float64 // highest number of jobs alive at once
	Nodes  int
	Bytes  float64 // memory of one simulation; as many run at once as there are processors
	Key    string  // key of the scenario that brings most of the jobs
	Traced bool    // jobs of traces come as well, which are not counted
}

// Cause returns a sentence on what takes most of the memory: the number of nodes, or the jobs that a key brings.
func (f *Footprint) Cause() string {
	jobs := plain.Grouped(plain.Digits(f.Jobs, 2))
	if float64(f.Nodes)*bytesPerNode > f.Bytes/2 {
		return "engine.nodes takes most of the memory, with about " + jobs + " jobs alive at once"
	}
	return f.Key + " brings so many jobs that about " + jobs + " are alive at once"
}

// bytesPerJob, bytesPerLease and bytesPerNode are the memory of a job, of a lease and of a node, measured on runs of
// millions of jobs or leases, or of 100,000 nodes.
const (
	bytesPerJob   = 190
	bytesPerLease = 1200
	bytesPerNode  = 6000
	bytesAtLeast  = 1 << 20
)

// longest is the number of seconds that stands for an infinite mean run time: longer than any run.
const longest = 1e12

// Of estimates the jobs and the memory of a simulation of a scenario at its fullest, with the policy whose overrides
// bring the most: jobs in flight, jobs that wait until they are due, and those that arrive, bursts included, faster
// than the workers can run them, also when storms slow them down, make them hang or fail, or take workers away. It
// ignores the content of traces, what dependencies refuse, attempts that kill their process, and faults of leases and
// of single calls.
func Of(sc *spec.Scenario) Footprint {
	most := of(sc.Variant(0))
	for i := 1; i < len(sc.Policies); i++ {
		if v := sc.Variant(i); v != sc.Variant(i-1) {
			f := of(v)
			all := max(f.All, most.All)
			most = plain.Either(f.Bytes > most.Bytes, f, most)
			most.All = all
		}
	}
	return most
}

// of estimates the footprint of a scenario as it is, which may be a variant with one policy's overrides.
func of(sc *spec.Scenario) Footprint {
	var most, work, waiting float64
	var flows, troubles []flow
	own := make([]float64, len(sc.Jobs)) // mean seconds of all attempts of a job, by class
	f := Footprint{Key: "jobs", Nodes: int(sc.Engine.Nodes)}
	add := func(count, each float64, more []flow, key string) {
		if f.All += count; count > most {
			most, f.Key = count, key
		}
		work += count * each
		flows = append(flows, more...)
	}
	for i := range sc.Jobs {
		f.Traced = f.Traced || sc.Jobs[i].Arrivals.Process == "trace"
		count := JobsOf(&sc.Jobs[i], sc.Duration)
		e := effortOf(sc, i, false)
		troubles = append(troubles, e.storms...)
		waiting += count * e.waiting
		own[i] = min(e.busy, longest)
		add(count, own[i], arriving(sc, i, own[i]), "jobs."+sc.Jobs[i].Class+".arrivals")
	}
	for i := range sc.Storms {
		s := &sc.Storms[i]
		x := s.Effect()
		if x.Jobs != nil || x.Rate != nil {
			each, jobs := own[max(0, sc.ClassIndex(x.Class))], BurstJobs(sc, s)/s.Windows()
			add(BurstJobs(sc, s), each, inWindows(s, jobs, each, 0), "storms."+s.Name+"."+s.Kind())
		}
		if s.On == "" {
			troubles = append(troubles, inWindows(s, 0, 0, away(sc, &x))...)
		}
		for _, class := range sc.ClassesHit(x.Hits) {
			if more := max(0, x.Slower-1)*own[class] + x.Hangs*x.Extra.Seconds(); more > 0 {
				troubles = append(troubles, harder(sc, s, class, more)...)
			}
		}
	}
	workers := float64(sc.Engine.Nodes) * float64(sc.Engine.Workers)
	running := min(workers, f.All)
	if seconds := sc.Duration.Std().Seconds(); seconds > 0 {
		running = min(running, work/seconds)
	}
	// In a storm the same jobs are queued or wait for a retry.
	queued := max(backlog(flows, workers)+waiting, backlog(slices.Concat(flows, troubles), workers))
	f.Jobs = min(f.All, running+queued)
	f.Bytes = bytesAtLeast + f.Jobs*bytesPerJob + running*bytesPerLease + float64(sc.Engine.Nodes)*bytesPerNode
	return f
}

// Busy estimates, for a job of the class with that index, the mean seconds for which it occupies workers in all its
// attempts, and the mean number of its retries. Failures by storms, and jobs that always fail, are left out. seconds is
// +Inf if the mean service time is infinite and no timeout ends attempts.
func Busy(sc *spec.Scenario, class int) (seconds, retries float64) {
	e := effortOf(sc, class, true)
	return e.busy, e.retries
}

// effort is an estimate of how much one job of a class costs in a run, by which memory and load are estimated.
type effort struct {
	busy    float64 // mean seconds of all attempts
	retries float64 // mean number of retries among them
	waiting float64 // largest share of the jobs of the class that is scheduled or in backoff at one time
	storms  []flow  // workers busy with the retries that storms cause for a part of the run
}

// effortOf estimates the effort of a job of the class with that index; with offered, only what Busy counts. Failures
// because a dependency is over its limit are left out: they depend on the load.
func effortOf(sc *spec.Scenario, class int, offered bool) (e effort) {
	job, total, retry := &sc.Jobs[class], sc.Duration.Std().Seconds(), sc.RetryOf(class)
	service := Service(sc, class)
	e.busy = service
	b, err := sc.RetryPolicy(class)
	if err != nil || total == 0 {
		return e
	}
	e.waiting = job.Delay.Std().Seconds() / total
	tries := int(retry.MaxAttempts)
	if tries == 0 || tries > mostTries {
		tries = mostTries
	}
	all, causes := mostJobsOf(sc, job), []failing(nil)
	usual := failing{jobs: all, lasts: sc.Longest().Seconds()} // the causes for which any attempt may fail, as one
	for _, f := range failings(sc, class, job) {
		switch {
		case f.storm != nil && offered || f.over:
		case f.storm == nil && f.jobs == all:
			usual = usual.with(f)
		default:
			causes = append(causes, f)
			if f.storm == nil {
				usual.jobs -= f.jobs // all of whose attempts fail
			}
		}
	}
	for _, f := range append(causes, usual) {
		goesOn := f.share * f.again           // share of the attempts that are followed by another
		waits, again, passed := 0.0, 0.0, 0.0 // of one job: seconds in all, and how often
		for n, left := 1, goesOn; n < tries && left > 1e-3 && passed < f.lasts; n++ {
			delay := min(meanDelay(b, int32(n)), total)
			if retry.Deadline > 0 && passed+f.takes+delay >= retry.Deadline.Std().Seconds() {
				break
			}
			waits += left * delay
			again += left
			left *= goesOn
			passed += delay + f.takes
		}
		// Those that fail come while something fails; each waits for no longer than that.
		fails, part := min(1, f.lasts/total), f.jobs/all
		e.waiting += part * min(waits/total, fails*f.share)
		endless := goesOn == 1 && tries == mostTries && retry.Deadline == 0
		// In a storm no more are waiting than come, however often they are tried.
		more := part * (f.share*(1+again)*f.adds + again*service)
		switch {
		case service >= longest || endless && offered:
		case fails == 1:
			e.busy, e.retries = e.busy+more, e.retries+part*again
		case f.storm != nil:
			e.storms = append(e.storms, harder(sc, f.storm, class, more)...)
		}
	}
	e.waiting, e.busy = min(e.waiting, 1), max(0, e.busy)
	return e
}
