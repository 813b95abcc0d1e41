package history

import (
	"fmt"
	"slices"
	"strings"

	"qsim/engine"
)

// Kind is a kind of anomaly: a breach of a store's contract.
type Kind uint8

// The kinds of anomalies.
const (
	// Lost: a job was enqueued, nobody may have ended it, and it is not there.
	Lost Kind = iota + 1
	// Unexpected: a job was handed out, or is left, that nobody had enqueued.
	Unexpected
	// AckedTwice: two batches each ended the job, or one did twice.
	AckedTwice
	// Redelivered: a job was handed out, or is left, after it had ended.
	Redelivered
	// Overlapping: a lease was granted while an earlier one of another token had not run
	// out by the store's clock and its holder had not given it up.
	Overlapping
	// TokenNotRising: a lease has a token that is not above that of an earlier one.
	TokenNotRising
	// NotWaiting: a job was promoted that was leased, or that had been promoted before.
	NotWaiting
	// NotDead: a job was redriven that nobody had buried.
	NotDead
	// TwoLeaders: an engine was made the leader while another one was, by the store's
	// clock. It is about no job: Job is 0.
	TwoLeaders
	// StaleAccepted: a commit took effect under a token although the job had been handed
	// out under a later one.
	StaleAccepted
	numKinds
)

var kindNames = [numKinds]string{"?", "lost", "unexpected", "acked twice", "redelivered after its end", "overlapping leases", "token not rising", "promoted though not waiting", "redriven though not dead",
	"two leaders", "stale commit accepted"}

// String returns the kind's name in words.
func (k Kind) String() string { return kindNames[k] }

// Anomaly is one breach of a store's contract.
type Anomaly struct {
	Kind Kind
	Job  engine.JobID
	Text string // calls that show the anomaly
}

// Tally counts the calls of a method by their answers.
type Tally struct{ Answered, Unknown, Refused int }

// Report is the result of Check: anomalies and counts.
type Report struct {
	Calls    map[Op]Tally
	Jobs     int // number of jobs certainly enqueued
	Maybe    int // number of jobs whose enqueue has no answer
	Leases   int // granted by claims
	Taken    int // leases granted by recoveries
	Acked    int // jobs that ended by an answered commit
	Stale    int // outcomes that were refused as stale
	Repeated int // outcomes that an earlier copy of their batch had applied
	Extended int // leases extended with all of their node
	Promoted int // jobs that were promoted
	Redriven int
	Led      int // times that an engine was made the leader, or remained it

	Anomalies []Anomaly // anomalies by job
	history   map[engine.JobID][]sighting
}

// Count returns the number of anomalies of a kind.
func (r *Report) Count(k Kind) (n int) {
	for i := range r.Anomalies {
		if r.Anomalies[i].Kind == k {
			n++
		}
	}
	return n
}

// String returns a summary of r in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	for _, op := range ops {
		t := r.Calls[op]
		if t == (Tally{}) {
			continue
		}
		fmt.Fprintf(&b, "%s: %d answered, %d unknown, %d refused\n", op, t.Answered, t.Unknown, t.Refused)
	}
	fmt.Fprintf(&b, "%d jobs enqueued, %d more perhaps; %d leases claimed, %d recovered; %d jobs seen to end; outcomes: %d stale, %d applied by earlier copies; %d leases extended with their node; %d jobs promoted, %d redriven; led %d times\nanomalies:",
		r.Jobs, r.Maybe, r.Leases, r.Taken, r.Acked, r.Stale, r.Repeated, r.Extended, r.Promoted, r.Redriven, r.Led)
	for k := Lost; k < numKinds; k++ {
		fmt.Fprintf(&b, " %d %v,", r.Count(k), k)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// Story returns all calls that name a job as text, in the order in which they began, with times in seconds since the
// first of them.
func (r *Report) Story(job engine.JobID) string {
	seen := slices.Clone(r.history[job])
	slices.SortStableFunc(seen, byBegin)
	var b strings.Builder
	fmt.Fprintf(&b, "job %d:\n", job)
	for _, s := range seen {
		ended := "        ?"
		if s.call.Ended != engine.Never {
			ended = fmt.Sprintf("%9.6f", s.call.Ended.Sub(seen[0].call.Began).Seconds())
		}
		fmt.Fprintf(&b, "  %9.6f - %s  %s\n", s.call.Began.Sub(seen[0].call.Began).Seconds(), ended, s.call.tell(s.item))
	}
	return b.String()
}
