package engine_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/policies"
)

const (
	walkFile  = "testdata/walks.txt"
	walks     = 400
	walkSteps = 250
)

// TestWalks plays random inputs to engines of random configurations, and compares all recorded events, requests,
// starts, cancellations and deadlines with stored fingerprints, one for each walk. Scripts specify the engine's
// behaviour with reasons; walks detect any other change, in states without a script. An intended change rewrites the
// fingerprints with -rewrite, and its commit names the changed rule. With -v, and -run TestWalks/17, the walk is
// printed.
func TestWalks(t *testing.T) {
	text, err := os.ReadFile(walkFile)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	want := strings.Fields(string(text))
	var all strings.Builder
	for i := range walks {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newWalk(t, uint64(i))
			for range walkSteps {
				w.step()
			}
			h := fnv.New64a()
			fmt.Fprint(h, w.out.String())
			got := fmt.Sprintf("%016x", h.Sum64())
			fmt.Fprintln(&all, got)
			if !*rewrite && (i >= len(want) || got != want[i]) {
				t.Errorf("walk %d has another fingerprint", i)
			}
			t.Log(w.out.String())
		})
	}
	if *rewrite && strings.Count(all.String(), "\n") == walks { // all of them ran
		if err := os.WriteFile(walkFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// walk is a script with random inputs.
type walk struct {
	*script
	draw    *rand.Rand
	open    []*engine.Call // sent and not answered
	spare   []*engine.Call // calls whose slices the engine may reuse
	running []engine.Slot
	leases  []engine.Lease // all leases handed out so far
	jobs    engine.JobID
	carried map[*engine.Call]string // contents of the commits under way, which must not change
}

func newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{script: newScript(t), draw: rand.New(rand.NewPCG(seed, 1)), carried: map[*engine.Call]string{}}
	for {
		w.configure()
		if w.cfg.Validate() == nil {
			break
		}
	}
	w.cfg.Recorder, w.cfg.Rand = w, keyed.Rand{Seed: seed}
	w.engine = engine.New(w.cfg, w, 0)
	return w
}

// of draws one of some values.
func of[T any](w *walk, values ...T) T { return values[w.draw.IntN(len(values))] }

func (w *walk) chance(percent int) bool { return w.draw.IntN(100) < percent }

func (w *walk) configure() {
	const ms = time.Millisecond
	c := &w.cfg
	c.Workers, c.CallTimeout = of(w, 1, 2, 4), of(w, 100*ms, time.Second)
	c.Fetch = engine.FetchConfig{Batch: of(w, 1, 3, 6), Poll: of(w, 50*ms, time.Second), Prefetch: of(w, 0, 0, 1, 4),
		Cooldown: of(w, 0, 0, 20*ms), ErrorPause: of(w, 0, -1, 30*ms)}
	c.Commit = engine.CommitConfig{Batch: of(w, 1, 2, 4), Linger: of(w, 0, 5*ms, 40*ms), Calls: of(w, 1, 2, 3), Timeout: of(w, 60*ms, 300*ms),
		Eager: w.chance(25), Tries: of(w, 0, 1, 3), Drop: w.chance(40), Backpressure: of(w, 0, 0, 3, 8), Backoff: of(w, nil, nil, []time.Duration{10 * ms, 50 * ms})}
	c.Lease = engine.LeaseConfig{TTL: of(w, 400*ms, 2*time.Second), Heartbeat: of(w, 0, 100*ms, 300*ms), RunLate: w.chance(30), IgnoreLate: w.chance(20),
		Max: of(w, 0, 0, 1100*ms), OfNode: w.chance(20), Kept: w.chance(30), Local: w.chance(40), AckAtStart: w.chance(15)}
	c.Reaper = engine.ReaperConfig{Every: of(w, 0, 150*ms), Batch: of(w, 1, 3), Grace: of(w, 0, 0, 50*ms), OnStart: w.chance(50), Nothing: w.chance(20),
		LeaderOnly: w.chance(30), Off: w.chance(20), BuryAt: of[int32](w, 0, 0, 2), After: of(w, 0, 0, engine.Redo, engine.Bury),
		Stand: of(w, engine.PlaceDefault, engine.PlaceDue, engine.PlaceHead),
		Guard: of(w, engine.FenceDefault, engine.FenceDefault, engine.FenceToken, engine.FenceNone), Gap: of(w, 0, 0, 20*ms)}
	c.Promoter = engine.PromoterConfig{Every: of(w, 0, 80*ms), Batch: of(w, 1, 3), Order: of(w, engine.OldestReady, engine.NewestReady),
		LeaderOnly: w.chance(30), Gap: of(w, 0, 0, 15*ms)}
	if w.chance(20) {
		c.Promoter.Tick = func(u float64) time.Duration {
			d, _ := dist.Uniform(0, 0.2)
			return d.Duration(u)
		}
	}
	c.Leader.TTL, c.Leader.Renew = 500*ms, 150*ms
	retry := &policies.Backoff{MaxAttempts: 3, Kind: policies.Exponential, First: 20 * ms, Factor: 2, Max: time.Second}
	deadline := of(w, 0, 5*time.Second)
	retry.Jitter = policies.Jitter{Kind: policies.Full}
	retry.Free, retry.FreeMax = []engine.ErrorKind{engine.Throttled}, 1
	c.Kinds = []engine.KindConfig{{Retry: retry, Deadline: deadline, Timeout: of(w, 0, 30*ms)}, {Retry: retry, Deadline: deadline, Timeout: of(w, 0, 30*ms, 90*ms)}}
	c.Policy = of[engine.Policy](w, policies.FIFO{}, policies.FIFO{}, policies.FreshFirst{}, policies.InFlightCap{Retries: 1},
		&policies.Separate{RetryWorkers: 1}, policies.AdaptiveLIFO{OlderThan: 100 * ms}, &policies.CoDel{Target: 50 * ms, Interval: 200 * ms},
		&policies.Breaker{Failures: 2, ProbeAfter: 100 * ms, Kinds: []engine.Kinds{engine.Kinds(0).With(1)}, Others: engine.Kinds(0).With(0)})
}

// step is one input, some time after the one before.
func (w *walk) step() {
	w.now = w.now.Add(of(w, 0, 0, 100*time.Microsecond, 3*time.Millisecond, 20*time.Millisecond))
	due := w.engine.Deadline()
	if is := w.engine.IsDue(w.now); is != (due <= w.now) {
		w.t.Errorf("at %v it is due: %t, and the deadline is %v", time.Duration(w.now), is, time.Duration(due))
	}
	if w.chance(25) && due != engine.Never {
		w.now = max(w.now, due)
	}
	if w.chance(1) {
		w.now = w.now.Add(2 * time.Second) // it was frozen
	}
	fmt.Fprintf(&w.out, "at %v ", time.Duration(w.now))
	switch n := w.draw.IntN(100); {
	case w.now >= due && n < 70:
		w.out.WriteString("tick\n")
		w.engine.Tick(w.now)
	case n < 58 && len(w.open) > 0:
		w.answer()
	case n < 82 && len(w.running) > 0:
		i := w.draw.IntN(len(w.running))
		slot := w.running[i]
		w.running = slices.Delete(w.running, i, i+1)
		why := of(w, engine.NoError, engine.NoError, engine.FirstErrorKind, engine.Throttled, engine.Canceled)
		fmt.Fprintf(&w.out, "finish %d %d\n", slot, why)
		w.engine.Finish(w.now, slot, why, w.now.Sub(w.began[slot]))
	case n < 88:
		w.out.WriteString("wake\n")
		w.engine.Wake(w.now)
	case n < 90 && len(w.open) > 0:
		i := w.draw.IntN(len(w.open))
		fmt.Fprintf(&w.out, "lost %d\n", w.open[i].ID)
		w.open = slices.Delete(w.open, i, i+1)
	case n < 93:
		role, stalled := of(w, engine.OpRecover, engine.OpPromote), w.chance(30)
		fmt.Fprintf(&w.out, "stall %v %t\n", role, stalled)
		w.engine.Stall(w.now, role, stalled)
	case n < 95:
		ahead := of(w, 0, 200*time.Millisecond, -200*time.Millisecond)
		fmt.Fprintf(&w.out, "clock %v\n", ahead)
		w.engine.SetWallClock(w.now, ahead)
	case n < 96 && w.chance(20):
		w.out.WriteString("stop\n")
		w.engine.Stop(w.now)
	default:
		w.out.WriteString("early tick\n")
		w.engine.Tick(w.now)
	}
	w.effects()
}

// answer answers a call that is open, now and then twice.
func (w *walk) answer() {
	i := w.draw.IntN(len(w.open))
	c := w.open[i]
	twice := w.chance(8)
	if !twice {
		w.open = slices.Delete(w.open, i, i+1)
	}
	if now := printed(c.Batch); c.Op == engine.OpCommit && now != w.carried[c] {
		w.t.Errorf("at %v call %d carries %s, and was sent with %s", time.Duration(w.now), c.ID, now, w.carried[c])
	}
	r := &engine.Call{}
	r.CopyFrom(c)
	if twice { // a copy of the call is under way as well
		copied := &engine.Call{}
		copied.CopyFrom(c)
		w.open[i], w.carried[copied] = copied, w.carried[c]
	}
	r.Reply = engine.Reply{Next: of(w, engine.Forever, 0, 30*time.Millisecond)}
	if w.chance(12) {
		r.Err = errors.New("refused")
	}
	switch {
	case r.Err != nil:
	case r.Op == engine.OpClaim, r.Op == engine.OpRecover:
		for range w.draw.IntN(min(r.Limit, 4) + 1) {
			r.Leases = append(r.Leases, w.lease(r.Op))
		}
	case r.Op == engine.OpCommit:
		for range r.Batch.Outcomes {
			s := of(w, engine.Applied, engine.Applied, engine.Applied, engine.Stale, engine.Applied.Again(), engine.Unapplied)
			r.Results = append(r.Results, engine.Result{Status: s})
		}
	case r.Op == engine.OpExtend && !r.OfNode:
		for range r.Keys {
			r.Extensions = append(r.Extensions, of(w, engine.Applied, engine.Applied, engine.Applied, engine.Applied, engine.Unapplied, engine.Stale))
		}
	case r.Op == engine.OpPromote:
		for range w.draw.IntN(3) {
			w.jobs++
			r.Promoted = append(r.Promoted, engine.Promotion{Job: w.jobs, Class: engine.Retry})
		}
	case r.Op == engine.OpLead:
		r.Leading = w.chance(70)
	case r.Op == engine.OpStats:
		r.Stats.Ready = [engine.NumClasses]int{w.draw.IntN(5), w.draw.IntN(5)}
		r.Stats.OldestReady[engine.Fresh] = of(w, 0, time.Second)
	}
	fmt.Fprintf(&w.out, "answer %d %+v\n", r.ID, r.Reply)
	w.engine.Handle(w.now, r)
	if !twice {
		w.spare = append(w.spare, c, r)
	}
}

// lease is of a new job, or of one that was handed out before.
func (w *walk) lease(op engine.Op) engine.Lease {
	w.jobs++
	l := engine.Lease{Token: 1, Job: engine.Job{ID: w.jobs, Delivery: 1, Charged: 1, Kind: of[engine.Kind](w, 0, 0, 1, 7), Tenant: of[engine.TenantID](w, 0, 3)}}
	if len(w.leases) > 0 && w.chance(30) {
		l = of(w, w.leases...)
		if w.chance(80) {
			l.Token++
			l.Delivery++
			l.Charged++
			l.Failures++
		}
	}
	l.Age, l.Waited = of(w, 0, 4980*time.Millisecond), of(w, 0, time.Millisecond)
	switch {
	case op == engine.OpRecover:
		l.Recoveries = of[int32](w, 1, 2, 3)
	case w.chance(10):
		l.Waited = -of(w, 10*time.Millisecond, 60*time.Millisecond)
	case w.chance(6):
		l.Shed = true
	}
	w.leases = append(w.leases, l)
	return l
}

// Record implements engine.Recorder.
func (w *walk) Record(e *engine.Event) { fmt.Fprintf(&w.out, "  record %+v\n", *e) }

// Call implements engine.Driver.
func (w *walk) Call() *engine.Call {
	if n := len(w.spare); n > 0 {
		c := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return c
	}
	return new(engine.Call)
}

var slots = regexp.MustCompile(` slot:-?\d+`)

// printed returns a batch as text, without the slots of its leases, which mean nothing outside the engine.
func printed(b engine.Batch) string { return slots.ReplaceAllString(fmt.Sprintf("%+v", b), "") }

// Send implements engine.Driver.
func (w *walk) Send(c *engine.Call) {
	w.open = append(w.open, c)
	q := *c
	q.Reply = engine.Reply{}
	switch q.Op { // what a record held before does not matter
	case engine.OpClaim:
		fmt.Fprintf(&w.calls, "  call %d claim %d %v %+v\n", q.ID, q.Limit, q.TTL, q.Terms)
	case engine.OpCommit:
		w.carried[c] = printed(q.Batch)
		fmt.Fprintf(&w.calls, "  call %d commit %s\n", q.ID, w.carried[c])
	case engine.OpExtend:
		fmt.Fprintf(&w.calls, "  call %d extend %v %t", q.ID, q.TTL, q.OfNode)
		if q.OfNode {
			fmt.Fprintf(&w.calls, " %t", q.Kept)
		}
		fmt.Fprintf(&w.calls, " %v\n", q.Keys)
	case engine.OpRecover:
		fmt.Fprintf(&w.calls, "  call %d recover %d %v %v %d\n", q.ID, q.Limit, q.Grace, q.TTL, q.Step)
	case engine.OpPromote:
		fmt.Fprintf(&w.calls, "  call %d promote %d", q.ID, q.Step)
		if q.Step == 2 {
			fmt.Fprintf(&w.calls, " %v\n", q.Jobs)
		} else {
			fmt.Fprintf(&w.calls, " %d %v\n", q.Limit, q.Order)
		}
	case engine.OpLead:
		fmt.Fprintf(&w.calls, "  call %d lead %v %v\n", q.ID, q.Role, q.TTL)
	case engine.OpStats:
		fmt.Fprintf(&w.calls, "  call %d stats %d\n", q.ID, q.Limit)
	}
	fmt.Fprintf(&w.calls, "    by %x, woken %t\n", uint64(q.Engine), q.Woken)
}

// Start implements engine.Driver.
func (w *walk) Start(slot engine.Slot, l *engine.Lease) {
	w.script.Start(slot, l)
	w.running = append(w.running, slot)
}
