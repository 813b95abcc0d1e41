package chaos

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
)

// arrivals yields the jobs of a world: its steady stream and its bursts, by time.
type arrivals struct {
	w      *World
	rand   engine.Rand
	gap    dist.Dist
	index  int
	at     engine.Time
	bursts []burst // earliest first
	came   map[*Fault]int
}

type burst struct {
	at     engine.Time
	fault  *Fault
	id     engine.JobID
	number int // of its jobs that have come
}

func (w *World) arrivals() (*arrivals, error) {
	a := &arrivals{w: w, came: make(map[*Fault]int), rand: engine.Rand{Seed: w.Seed}}
	if w.Load.Jobs > 0 {
		var err error
		if a.gap, err = dist.Exponential(w.Load.Gap.Seconds()); err != nil {
			return nil, err
		}
	}
	for i := range w.Faults {
		f := &w.Faults[i]
		if f.Kind != Burst || f.Count == 0 {
			continue
		}
		for came := range max(1, f.Times) {
			a.bursts = append(a.bursts, burst{at: engine.Time(f.At + f.Every*time.Duration(came)), fault: f, id: f.ID + engine.JobID(came*f.Count)})
		}
	}
	slices.SortStableFunc(a.bursts, func(a, b burst) int { return cmp.Compare(a.at, b.at) })
	a.advance()
	return a, nil
}

// advance draws when the next job of the stream comes.
func (a *arrivals) advance() {
	if a.index++; a.index > a.w.Load.Jobs {
		a.at = engine.Never
		return
	}
	a.at = a.at.Add(a.gap.Duration(a.rand.Uniform(engine.ForArrival, uint64(a.index), 0, 0)))
}

// Next yields the next job that is to come.
func (a *arrivals) Next() (engine.Time, engine.NewJob, bool) {
	for {
		at, id, f := a.at, engine.JobID(a.index), (*Fault)(nil)
		if len(a.bursts) > 0 && a.bursts[0].at <= at {
			b := &a.bursts[0]
			at, id, f = b.at, b.id+engine.JobID(b.number), b.fault
			if b.number++; b.number == f.Count {
				a.came[f]++
				a.bursts = a.bursts[1:]
			}
		} else if at == engine.Never {
			return 0, engine.NewJob{}, false
		} else {
			a.advance()
		}
		if a.w.comes(id) {
			return at, a.w.job(id, f), true
		}
	}
}

// comes reports whether a job comes at all.
func (w *World) comes(id engine.JobID) bool {
	if w.Load.Only == nil {
		return true
	}
	_, found := slices.BinarySearch(w.Load.Only, id)
	return found
}

// job is what is enqueued, by a burst or, without one, by the stream.
func (w *World) job(id engine.JobID, by *Fault) engine.NewJob {
	l := &w.Load
	j := engine.NewJob{ID: id, Serial: w.serialKey(id), Kind: engine.Kind(uint64(id) % uint64(max(1, l.Kinds)))}
	if l.Ranked {
		j.Priority = int16(j.Kind)
	}
	j.Tenant = engine.TenantID(1 + uint64(id)*5%uint64(max(1, l.Tenants)))
	if by != nil {
		j.Delay = by.Extra
		if by.Tenant != 0 {
			j.Tenant = by.Tenant
		}
	} else if id%3 == 0 {
		j.Delay = l.Delay
	}
	return j
}

// serialKey is the serial key of a job; 0: it has none.
func (w *World) serialKey(id engine.JobID) uint32 {
	if w.Load.Keys == 0 {
		return 0
	}
	return 1 + uint32(uint64(id)*7%uint64(w.Load.Keys))
}

// jobs is how many there are at most, and last when the last of them may run.
func (w *World) jobs() (n int, last time.Duration) {
	n = w.Load.Jobs
	// A sum of exponentials: six standard deviations above its mean, and one draw more.
	last = time.Duration(n+40)*w.Load.Gap*3/2 + w.Load.Delay
	for i := range w.Faults {
		if f := &w.Faults[i]; f.Kind == Burst {
			n += f.Count * max(1, f.Times)
			last = max(last, f.last()+f.Extra)
		}
	}
	if w.Load.Only != nil {
		n = len(w.Load.Only)
	}
	return n, last
}
