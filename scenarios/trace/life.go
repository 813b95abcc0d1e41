package trace

import (
	"context"
	"time"

	"qsim/engine"
	"qsim/scenarios"
)

// Life is what happened to one job.
type Life struct {
	Job      string
	ID       engine.JobID
	Class    string
	Tenant   string // empty: the class has one
	Enqueued time.Duration
	Ended    time.Duration // when it was acked or buried; 0: it was neither, or was made ready again after that
	State    string        // at the end of the run: ready, waiting, in-flight, done, dead
	Attempts []Attempt
	Facts    []Fact // in order; what happened to the nodes that held it among them
	// Successes counts executions that ended in success, Fenced commits that were refused and
	// Lapsed leases that a reaper took.
	Successes, Fenced, Lapsed int
	Copies                    []string // of a caller that enqueued the same again: the other ones
	LeftOut                   int      // facts that were too many to keep
}

// Attempt is one delivery.
type Attempt struct {
	Number int32
	Node   int32         // that claimed it
	Token  engine.Token  // that it was claimed under
	Leased time.Duration // when it was claimed
	Waited time.Duration // ready until then
	Fresh  bool
	// Ran is how long its handler ran, if Ended; it began at Started. Neither says that
	// the node heard of the claim.
	Began, Ended bool
	Started, Ran time.Duration
	Error        string // why it failed; empty: it did not, or has not ended
	Status       string // what became of it: done, retried, dead, lapsed, handed-back, dropped, succeeded, failed, running, claimed
	Notes        []string
	Storms       []string // that were on while it was claimed

	until      time.Duration // when its part of the job's life was over; 0: not yet
	taken      bool          // a reaper took its lease
	aborted    bool          // it died with its process
	process    process       // that claimed it
	heartbeats int
}

// process is what became of the process that claimed an attempt, while that was of matter.
type process uint8

const (
	lives    process = iota
	died             // and its node is down
	replaced         // by another on the same node
)

// held reports whether what becomes of its node matters to a: its lease is its own, or
// its handler runs.
func (a *Attempt) held() bool {
	return a.process != replaced && (a.until == 0 && !a.taken || a.Began && !a.Ended)
}

// mostFacts are kept of one life: those of a job that is retried without end are more than
// anybody reads.
const mostFacts = 20_000

// Job follows one job through the run. It returns nil if the run has no such job.
func (s *Simulation) Job(ctx context.Context, id engine.JobID) (*Life, error) {
	b := &biographer{s: s, id: id, down: map[int32]bool{}, frozen: map[int32]bool{}, deaths: map[int32]uint32{}}
	err := s.watch(ctx, s.End(), func(e *engine.Event) (bool, error) {
		b.see(e)
		return true, nil
	})
	if b.life != nil {
		b.finish()
	}
	return b.life, err
}

// biographer writes a Life.
type biographer struct {
	s       *Simulation
	id      engine.JobID
	life    *Life
	byToken map[engine.Token]int // index of the attempt claimed under it
	down    map[int32]bool       // nodes that are not up
	frozen  map[int32]bool       // nodes that are paused
	deaths  map[int32]uint32     // by node: how often it died
}

func (b *biographer) see(e *engine.Event) {
	switch {
	case e.Job == b.id:
		b.own(e)
	case e.Job == 0:
		b.machine(e)
	case e.Kind == engine.Enqueued && scenarios.FirstCopy(e.Job) == scenarios.FirstCopy(b.id) && b.life != nil:
		name := b.s.seen.JobName(e.Job)
		b.life.Copies = append(b.life.Copies, name)
		b.add(Fact{At: time.Duration(e.At), Event: "resubmitted", Job: b.life.Job, Node: -1, Words: "its caller waits no longer and enqueues " + name})
	}
}

// machine takes note of what happens to the nodes, and tells it if they hold the job.
func (b *biographer) machine(e *engine.Event) {
	switch e.Kind {
	case engine.NodeUp:
		b.down[e.Node] = false
	case engine.NodeDown:
		b.down[e.Node], b.frozen[e.Node] = true, false
		b.deaths[e.Node]++
	case engine.NodePause:
		b.frozen[e.Node] = true
	case engine.NodeWake:
		b.frozen[e.Node] = false
	default:
		return
	}
	if b.life == nil {
		return
	}
	told := false
	for i := range b.life.Attempts {
		if a := &b.life.Attempts[i]; a.Node == e.Node && a.held() {
			b.touch(a, e.Kind)
			told = true
		}
	}
	if told {
		b.add(b.s.tell(e))
	}
}

// touch takes note in a of what happens to its node.
func (b *biographer) touch(a *Attempt, kind engine.EventKind) {
	switch {
	case kind == engine.NodeUp && a.process == died:
		a.process = replaced
	case kind != engine.NodeDown || a.process != lives:
	case a.Status == "dropped", a.aborted: // it would have told nobody, or that is told
		a.process = died
	case !a.Began:
		a.process = died
		a.note("its process died before it began")
	default:
		a.process = died
		a.note("its process died before the store knew how it had ended")
	}
}

func (b *biographer) own(e *engine.Event) {
	if b.life == nil {
		b.life = &Life{Job: b.s.seen.JobName(b.id), ID: b.id, Enqueued: time.Duration(e.At), State: "ready", Class: b.s.seen.Jobs[e.JobKind].Class}
		if b.s.manyTenants(e.JobKind) {
			b.life.Tenant = b.s.seen.TenantNames()[e.Tenant]
		}
		b.byToken = map[engine.Token]int{}
	}
	f := b.s.tell(e)
	a := b.attempt(e)
	if f.Attempt == 0 && a != nil {
		f.Attempt = a.Number
	}
	b.add(f)
	b.track(e, a)
}

func (b *biographer) add(f Fact) {
	if len(b.life.Facts) == mostFacts {
		b.life.LeftOut++
		return
	}
	b.life.Facts = append(b.life.Facts, f)
}

// attempt is the one that e is about, nil if it is about none.
func (b *biographer) attempt(e *engine.Event) *Attempt {
	all := b.life.Attempts
	if i, ok := b.byToken[e.Token]; ok && e.Token != 0 {
		return &all[i]
	}
	if e.Delivery > 0 {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Number == e.Delivery {
				return &all[i]
			}
		}
	}
	if len(all) > 0 && e.Kind != engine.Leased && e.Kind != engine.Enqueued {
		return &all[len(all)-1]
	}
	return nil
}
