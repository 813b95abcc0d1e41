package trace

import (
	"context"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/results/plain"
)

// Interest is a criterion for an interesting job, such as the longest wait.
type Interest string

// WorstWait and the constants below are the criteria for interesting jobs, in the order in which they are listed.
const (
	WorstWait Interest = "worst-wait" // the longest wait of a ready job for a claim
	Duplicate Interest = "duplicate"  // executed to a success most often, more than once
	Dead      Interest = "dead"       // buried after the most attempts, perhaps to be made ready again
	Fenced    Interest = "fenced"     // most commits refused because the lease had gone on
	LostLease Interest = "lost-lease" // most leases expired and taken
)

// Interests returns all criteria for interesting jobs, in the order in which they are listed.
func Interests() []Interest { return []Interest{WorstWait, Duplicate, Dead, Fenced, LostLease} }

// Finding is the job found by one criterion for interesting jobs.
type Finding struct {
	Interest Interest     `json:"find"`            // kind: worst-wait, duplicate, dead, fenced or lost-lease
	Job      engine.JobID `json:"-"`               // ID of the job; 0: there is none
	Name     string       `json:"job,omitempty"`   // name for --job; missing: no such job
	Words    string       `json:"words,omitempty"` // description of its events; missing: no such job
	Jobs     int64        `json:"jobs"`            // number of jobs of that kind

	score    float64 // measure of the criterion, such as the length of the wait, by which jobs are ranked
	delivery int32   // number of the claim or of attempts that Words name
	still    bool    // WorstWait: it waits still when the run ends
}

// Find runs the simulation and returns, for each of Interests, the most extreme job, the first of equal ones, with the
// number of jobs that meet the criterion; for waits, of all jobs. It stores some tens of bytes for every job that has
// not ended, lost a lease or was fenced, and, where dead jobs are made ready again, for every dead one.
func (s *Simulation) Find(ctx context.Context) ([]Finding, error) {
	f := &finder{s: s, open: map[engine.JobID]*known{}, best: map[Interest]*Finding{},
		redrives: s.seen.Does(fault.Redrive)}
	for _, i := range Interests() {
		f.best[i] = &Finding{Interest: i}
	}
	err := s.watch(ctx, s.End(), func(e *engine.Event) bool {
		if e.Job != 0 {
			f.see(e)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return f.findings(), nil
}

// known is the state of one job (readiness, claims, lost leases) during a search for extreme jobs.
type known struct {
	readySince engine.Time // when it was due, or is, from its enqueueing or last failure on
	ready      bool
	claimed    int32 // number of its latest claim
	successes  int32
	fenced     int32 // commits that were refused
	lapsed     int32 // leases that expired and were taken
	open       int32 // executions that run, and claims that may be begun yet
	ended      bool  // done or dead
	died       bool  // once at least
}

type finder struct {
	s        *Simulation
	open     map[engine.JobID]*known
	best     map[Interest]*Finding // most extreme jobs so far
	redrives bool                  // dead jobs may be made ready again
}

func (f *finder) see(e *engine.Event) {
	j := f.open[e.Job]
	if j == nil {
		j = &known{}
		f.open[e.Job] = j
	}
	if state := stateAfter(e); state != "" {
		switch e.Kind {
		case engine.Promoted, engine.Leased: // of held jobs, before they are due
		case engine.Returned:
			j.readySince = max(j.readySince, e.At)
		default:
			j.readySince = e.At.Add(e.Delay)
		}
		j.ready = state == "ready" || state == "waiting" && f.s.seen.Engine.Waiting.Value()
		j.ended = state == "done" || state == "dead"
	}
	switch e.Kind {
	case engine.Enqueued:
		f.best[WorstWait].Jobs++
	case engine.Leased:
		f.offer(WorstWait, e.Job, float64(e.Waited), e.Delivery, false)
		j.claimed = e.Delivery
		j.open++
	case engine.Finished:
		if j.open--; e.Error == engine.NoError {
			if j.successes++; j.successes > 1 {
				f.offer(Duplicate, e.Job, float64(j.successes), e.Delivery, j.successes == 2)
			}
		}
	case engine.Aborted:
		j.open--
	case engine.Fenced:
		j.fenced++
		f.offer(Fenced, e.Job, float64(j.fenced), e.Delivery, j.fenced == 1)
	case engine.LeaseTaken:
		j.lapsed++
		f.offer(LostLease, e.Job, float64(j.lapsed), e.Delivery, j.lapsed == 1)
	case engine.Buried:
		f.offer(Dead, e.Job, float64(j.claimed)+float64(e.Age)/1e20, j.claimed, !j.died)
		j.died = true
	}
	// A commit of a job that lost a lease may be refused long after another has ended the job; so may be one of a job that
	// was fenced before.
	if j.ended && j.open <= 0 && j.lapsed == 0 && j.fenced == 0 && !(j.died && f.redrives) {
		delete(f.open, e.Job) // nothing more can come of it that is counted
	}
}

// offer makes a job the most extreme so far by a criterion if its score is the highest; with first, it counts it, too.
func (f *finder) offer(i Interest, job engine.JobID, score float64, delivery int32, first bool) {
	best := f.best[i]
	if first {
		best.Jobs++
	}
	if score > best.score || best.Job == 0 {
		best.Job, best.score, best.delivery, best.still = job, score, delivery, false
	}
}

// findings returns the job found by each criterion at the end of the run; waits that are not over by then count.
func (f *finder) findings() (all []Finding) {
	worst := f.best[WorstWait]
	for id, j := range f.open {
		if !j.ready {
			continue
		}
		wait := float64(f.s.End() - time.Duration(j.readySince))
		// Of equals the one with the lower number: what is found depends on no map's order.
		if wait > worst.score || wait == worst.score && worst.still && id < worst.Job {
			worst.Job, worst.score, worst.delivery, worst.still = id, wait, j.claimed+1, true
		}
	}
	for _, i := range Interests() {
		found := f.best[i]
		if found.Job != 0 {
			found.Name, found.Words = f.s.seen.JobName(found.Job), found.words()
		}
		all = append(all, *found)
	}
	return all
}

// words returns what happens to the job, as a sentence without its subject and full stop.
func (f *Finding) words() string {
	claim := Length(Span(f.score)) + " for its " + ordinal(int(f.delivery)) + " claim"
	switch {
	case f.Interest == WorstWait && f.still:
		return "is left waiting, after " + claim
	case f.Interest == WorstWait:
		return "waits " + claim
	case f.Interest == Dead && f.delivery == 0:
		return "dies without having been claimed"
	case f.Interest == Dead:
		return "dies after " + plain.Plural(int(f.delivery), "attempt")
	}
	verb := map[Interest]string{Duplicate: "succeeds ", Fenced: "is fenced ", LostLease: "loses its lease "}[f.Interest]
	return verb + times(int(f.score))
}
