package scenarios

import "math"

// Footprint is an estimate of the most jobs that a simulation holds at once, and of its memory.
type Footprint struct {
	Jobs  float64 // alive at once
	Bytes float64 // of one simulation; as many run at once as there are processors
	Key   string  // of the scenario: what brings most of the jobs
}

// The memory of a job and of a lease, measured on runs of millions of either.
const (
	bytesPerJob   = 190
	bytesPerLease = 1200
	bytesAtLeast  = 1 << 20
)

// Footprint estimates the most jobs that a simulation holds: those in flight, and those that arrive, bursts included,
// faster than the workers can run them. It ignores failures, and the content of traces.
func (sc *Scenario) Footprint() Footprint {
	var jobs, most, work float64
	f := Footprint{Key: "jobs"}
	add := func(count float64, class int, key string) {
		if jobs += count; count > most {
			most, f.Key = count, key
		}
		work += count * sc.Jobs[class].Service.Dist().Mean() // +Inf for a mean that is
	}
	for i := range sc.Jobs {
		add(sc.Jobs[i].comes(sc.Duration), i, "jobs."+sc.Jobs[i].Class+".arrivals")
	}
	for i := range sc.Storms {
		if s := &sc.Storms[i]; s.Burst != nil {
			add(sc.burstJobs(s), max(0, sc.ClassIndex(s.Burst.Class)), "storms."+s.Name+".burst")
		}
	}
	workers := float64(sc.Engine.Nodes) * float64(sc.Engine.Workers)
	seconds := sc.Duration.Std().Seconds()
	if work == 0 || seconds == 0 || math.IsNaN(work) {
		return Footprint{Bytes: bytesAtLeast, Key: f.Key}
	}
	running := min(workers, work/seconds, jobs)
	left := jobs * max(0, 1-workers*seconds/work)
	f.Jobs = min(jobs, running+left)
	f.Bytes = bytesAtLeast + f.Jobs*bytesPerJob + running*bytesPerLease
	return f
}
