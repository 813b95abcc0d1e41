package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// at sets the times of a call, in milliseconds.
func at(c Call, began, ended int) Call {
	c.Began, c.Ended, c.Answer = engine.Time(began)*1e6, engine.Time(ended)*1e6, Answered
	return c
}

// lost removes the answer of a call.
func lost(c Call) Call {
	c.Ended, c.Answer = engine.Never, Unknown
	switch c.Op {
	case Claim, Recover, Promote, Redrive:
		c.Items = nil
	}
	return c
}

func enqueued(ids ...engine.JobID) (c Call) {
	c = Call{Op: Enqueue}
	for _, id := range ids {
		c.Items = append(c.Items, Item{Job: id})
	}
	return at(c, 0, 1)
}

// leased is a lease of job 1 for 100 ms.
func leased(token engine.Token, began, ended int) Call {
	return at(Call{Op: Claim, TTL: 100 * time.Millisecond, Items: []Item{{Job: 1, Token: token}}}, began, ended)
}

func extended(token engine.Token, began, ended int) Call {
	return at(Call{Op: Extend, TTL: 100 * time.Millisecond, Items: []Item{{Job: 1, Token: token, Status: engine.Applied}}}, began, ended)
}

// extendedNode extends the leases of a node for 100 ms: those of its latest life, or of all.
func extendedNode(e engine.EngineID, kept bool, began, ended int) Call {
	return at(Call{Op: ExtendNode, TTL: 100 * time.Millisecond, Batch: engine.BatchID{Engine: e}, Kept: kept, Granted: 1}, began, ended)
}

func promotedJob(began, ended int) Call {
	return at(Call{Op: Promote, Items: []Item{{Job: 1}}}, began, ended)
}

func redriven(began, ended int) Call {
	return at(Call{Op: Redrive, Items: []Item{{Job: 1}}}, began, ended)
}

// led is a call for leadership of 100 ms.
func led(role engine.Op, e engine.EngineID, granted, began, ended int) Call {
	return at(Call{Op: Lead, TTL: 100 * time.Millisecond, Role: role, Batch: engine.BatchID{Engine: e}, Granted: granted}, began, ended)
}

func buriedJob(seq uint64, token engine.Token, began, ended int) Call {
	return committed(engine.Bury, seq, token, engine.Applied, began, ended)
}

func committed(verb engine.Verb, seq uint64, token engine.Token, status engine.Status, began, ended int) Call {
	return at(Call{Op: Commit, Batch: engine.BatchID{Engine: 1, Seq: seq}, Items: []Item{{Job: 1, Token: token, Verb: verb, Status: status}}}, began, ended)
}

func acked(seq uint64, token engine.Token, began, ended int) Call {
	return committed(engine.Ack, seq, token, engine.Applied, began, ended)
}

// TestCheck plants each anomaly in a history, along with similar legal calls.
func TestCheck(t *testing.T) {
	refusedEnqueue := enqueued(1)
	refusedEnqueue.Answer = Refused
	for _, tt := range []struct {
		name  string
		calls []Call
		left  []engine.JobID
		want  []Kind
	}{
		{"a good life", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5)}, nil, nil},
		{"a job that waits", []Call{enqueued(1)}, []engine.JobID{1}, nil},
		{"lost at once", []Call{enqueued(1)}, nil, []Kind{Lost}},
		{"lost after a claim", []Call{enqueued(1), leased(1, 2, 3)}, nil, []Kind{Lost}},
		{"lost after a nack", []Call{enqueued(1), leased(1, 2, 3), committed(engine.Nack, 1, 1, engine.Applied, 4, 5)}, nil, []Kind{Lost}},
		{"lost: its ack was refused", []Call{enqueued(1), leased(1, 2, 3), committed(engine.Ack, 1, 1, engine.Stale, 4, 5)}, nil, []Kind{Lost}},
		{"an ack without an answer", []Call{enqueued(1), leased(1, 2, 3), lost(acked(1, 1, 4, 5))}, nil, nil},
		{"an enqueue without an answer", []Call{lost(enqueued(1))}, nil, nil},
		{"an enqueue that took effect by half", []Call{lost(enqueued(1, 2)), leased(1, 2, 3), acked(1, 1, 4, 5)}, nil, []Kind{Lost}},
		{"buried", []Call{enqueued(1), leased(1, 2, 3), committed(engine.Bury, 1, 1, engine.Applied, 4, 5)}, nil, nil},

		{"nobody enqueued it", []Call{leased(1, 2, 3), acked(1, 1, 4, 5)}, nil, []Kind{Unexpected}},
		{"nobody enqueued what is left", nil, []engine.JobID{1}, []Kind{Unexpected}},
		{"its enqueue was refused", []Call{refusedEnqueue, leased(1, 2, 3), acked(1, 1, 4, 5)}, nil, []Kind{Unexpected}},
		{"claimed before it was enqueued", []Call{at(enqueued(1), 10, 11), leased(1, 2, 3), acked(1, 1, 14, 15)}, nil, []Kind{Unexpected}},

		{"acked by two batches", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), acked(2, 1, 6, 7)}, nil, []Kind{AckedTwice}},
		{"acked by two batches, one by an earlier copy", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), committed(engine.Ack, 2, 1, engine.Applied.Again(), 6, 7)}, nil, []Kind{AckedTwice}},
		{"a batch applied twice", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), acked(1, 1, 6, 7)}, nil, []Kind{AckedTwice}},
		{"a batch sent twice", []Call{enqueued(1), leased(1, 2, 3), lost(acked(1, 1, 4, 5)), committed(engine.Ack, 1, 1, engine.Applied.Again(), 6, 7)}, nil, nil},
		{"the second ack is stale", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), committed(engine.Ack, 2, 1, engine.Stale, 6, 7)}, nil, nil},

		{"claimed after its ack", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), leased(2, 6, 7)}, nil, []Kind{Redelivered}},
		{"claimed after its ack under no later token", []Call{enqueued(1), leased(2, 2, 3), acked(1, 2, 4, 5), leased(1, 6, 7)}, nil, []Kind{Redelivered, TokenNotRising}},
		{"left after its ack", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5)}, []engine.JobID{1}, []Kind{Redelivered}},
		{"claimed after an ack without an answer", []Call{enqueued(1), leased(1, 2, 3), lost(acked(1, 1, 4, 5)), leased(2, 120, 121), acked(2, 2, 122, 123)}, nil, nil},

		{"claimed twice at once", []Call{enqueued(1), leased(1, 2, 3), leased(2, 50, 51), acked(1, 2, 60, 61)}, nil, []Kind{Overlapping}},
		{"claimed again after its end", []Call{enqueued(1), leased(1, 2, 3), leased(2, 103, 104), acked(1, 2, 110, 111)}, nil, nil},
		{"perhaps before its end", []Call{enqueued(1), leased(1, 2, 3), leased(2, 101, 102), acked(1, 2, 110, 111)}, nil, nil},
		{"for certain before its end", []Call{enqueued(1), leased(1, 2, 3), leased(2, 100, 101), acked(1, 2, 110, 111)}, nil, []Kind{Overlapping}},
		{"claimed before the end of its extension", []Call{enqueued(1), leased(1, 2, 3), extended(1, 80, 81), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, []Kind{Overlapping}},
		{"claimed after a nack", []Call{enqueued(1), leased(1, 2, 3), committed(engine.Nack, 1, 1, engine.Applied, 4, 5), leased(2, 6, 7), acked(2, 2, 8, 9)}, nil, nil},
		{"claimed after a nack that was refused", []Call{enqueued(1), leased(1, 2, 3), committed(engine.Nack, 1, 1, engine.Stale, 4, 5), leased(2, 6, 7), acked(2, 2, 8, 9)}, nil, []Kind{Overlapping}},
		{"claimed after a return without an answer", []Call{enqueued(1), leased(1, 2, 3), lost(committed(engine.Return, 1, 1, engine.Applied, 4, 5)), leased(2, 6, 7), acked(2, 2, 8, 9)}, nil, nil},

		{"a token twice", []Call{enqueued(1), leased(1, 2, 3), leased(1, 120, 121), acked(1, 1, 122, 123)}, nil, []Kind{TokenNotRising}},
		{"a token that falls", []Call{enqueued(1), leased(2, 2, 3), leased(1, 120, 121), committed(engine.Ack, 1, 1, engine.Unapplied, 122, 123)}, []engine.JobID{1}, []Kind{TokenNotRising}},
		{"tokens of two claims at one time", []Call{enqueued(1), leased(2, 2, 300), leased(1, 3, 4), acked(1, 2, 301, 302)}, nil, nil},

		{"acked under a lease that had passed on", []Call{enqueued(1), leased(1, 2, 3), leased(2, 120, 121), acked(1, 1, 122, 123)}, nil, []Kind{StaleAccepted}},
		{"nacked under a lease that had passed on", []Call{enqueued(1), leased(1, 2, 3), leased(2, 120, 121), committed(engine.Nack, 1, 1, engine.Applied, 122, 123)}, []engine.JobID{1}, []Kind{StaleAccepted}},
		{"claimed twice by calls that ran side by side", []Call{enqueued(1), leased(1, 2, 10), leased(2, 3, 9), acked(1, 2, 60, 61)}, nil, []Kind{Overlapping}},
		{"claimed side by side, but given up", []Call{enqueued(1), leased(1, 2, 4), leased(2, 3, 9), committed(engine.Return, 1, 1, engine.Applied, 5, 6), acked(2, 2, 60, 61)}, nil, nil},
		{"claimed before the end of its node's extension", []Call{enqueued(1), leased(1, 2, 3), extendedNode(0, false, 80, 81), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, []Kind{Overlapping}},
		{"the node's extension was lost", []Call{enqueued(1), leased(1, 2, 3), lost(extendedNode(0, false, 80, 81)), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, nil},
		{"another node's extension", []Call{enqueued(1), leased(1, 2, 3), extendedNode(engine.NewEngineID(1, 0), true, 80, 81), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, nil},
		{"an extension of the node's next life", []Call{enqueued(1), leased(1, 2, 3), extendedNode(engine.NewEngineID(0, 1), false, 80, 81), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, nil},
		{"an extension by the node's next life, which keeps its name", []Call{enqueued(1), leased(1, 2, 3), extendedNode(engine.NewEngineID(0, 1), true, 80, 81), leased(2, 150, 151), acked(1, 2, 160, 161)}, nil, []Kind{Overlapping}},
		{"a node's extension when another may have had it", []Call{enqueued(1), leased(1, 2, 3), extendedNode(0, false, 80, 81), leased(3, 150, 151), acked(1, 3, 160, 161)}, nil, nil},
		{"a node's extension after the fact", []Call{enqueued(1), leased(1, 2, 3), leased(2, 150, 151), extendedNode(0, false, 152, 153), acked(1, 2, 160, 161)}, nil, nil},

		{"promoted, claimed", []Call{enqueued(1), promotedJob(2, 3), leased(1, 4, 5), acked(1, 1, 6, 7)}, nil, nil},
		{"promoted, failed, promoted", []Call{enqueued(1), promotedJob(2, 3), leased(1, 4, 5), committed(engine.Nack, 1, 1, engine.Applied, 6, 7), promotedJob(8, 9)}, []engine.JobID{1}, nil},
		{"promoted twice", []Call{enqueued(1), promotedJob(2, 3), promotedJob(4, 5)}, []engine.JobID{1}, []Kind{NotWaiting}},
		{"promoted twice, the nack was refused", []Call{enqueued(1), promotedJob(2, 3), committed(engine.Nack, 1, 1, engine.Stale, 4, 5), promotedJob(8, 9)}, []engine.JobID{1}, []Kind{NotWaiting}},
		{"promoted twice, a nack is unknown", []Call{enqueued(1), promotedJob(2, 3), lost(committed(engine.Nack, 1, 1, engine.Applied, 4, 5)), promotedJob(8, 9)}, []engine.JobID{1}, nil},
		{"promoted at the same time", []Call{enqueued(1), promotedJob(2, 5), promotedJob(4, 6)}, []engine.JobID{1}, nil},
		{"promoted in flight", []Call{enqueued(1), leased(1, 2, 3), promotedJob(50, 51), acked(1, 1, 60, 61)}, nil, []Kind{NotWaiting}},
		{"promoted when its lease may be over", []Call{enqueued(1), leased(1, 2, 3), promotedJob(102, 103), acked(1, 1, 160, 161)}, nil, nil},
		{"promoted after its ack", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), promotedJob(6, 7)}, nil, []Kind{Redelivered}},
		{"promoted, and nobody enqueued it", []Call{promotedJob(2, 3)}, nil, []Kind{Unexpected}},
		{"promoted, and lost", []Call{lost(enqueued(1)), promotedJob(2, 3)}, nil, []Kind{Lost}},

		{"redriven", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), redriven(6, 7), leased(2, 8, 9), acked(2, 2, 10, 11)}, nil, nil},
		{"redriven by a call without an answer", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), lost(redriven(6, 7)), leased(2, 8, 9), acked(2, 2, 10, 11)}, nil, nil},
		{"redriven before its burial was sent again", []Call{enqueued(1), leased(1, 2, 3), lost(buriedJob(1, 1, 4, 5)), redriven(6, 7), committed(engine.Bury, 1, 1, engine.Applied.Again(), 8, 9), leased(2, 10, 11), acked(2, 2, 12, 13)}, nil, nil},
		{"not redriven, its burial sent again", []Call{enqueued(1), redriven(2, 3), leased(1, 4, 5), lost(buriedJob(1, 1, 6, 7)), committed(engine.Bury, 1, 1, engine.Applied.Again(), 8, 9), leased(2, 10, 11)}, []engine.JobID{1}, []Kind{Redelivered, Redelivered, NotDead}},
		{"redriven and there", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), redriven(6, 7)}, []engine.JobID{1}, nil},
		{"redriven and lost", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), redriven(6, 7)}, nil, []Kind{Lost}},
		{"redriven and promoted", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), redriven(6, 7), promotedJob(8, 9)}, []engine.JobID{1}, nil},
		{"redriven before its burial", []Call{enqueued(1), leased(1, 2, 3), redriven(4, 5), buriedJob(1, 1, 6, 7)}, nil, []Kind{NotDead}},
		{"redriven while it was buried", []Call{enqueued(1), leased(1, 2, 3), redriven(4, 8), buriedJob(1, 1, 6, 7)}, nil, nil},
		{"redriven after its ack", []Call{enqueued(1), leased(1, 2, 3), acked(1, 1, 4, 5), redriven(6, 7)}, nil, []Kind{Lost, Redelivered, NotDead}},
		{"claimed again between its burial and its redrive", []Call{enqueued(1), leased(1, 2, 3), buriedJob(1, 1, 4, 5), leased(2, 6, 7), buriedJob(2, 2, 8, 9), redriven(20, 21)}, []engine.JobID{1}, []Kind{AckedTwice, Redelivered}},

		{"one leads after the other", []Call{led(0, 1, 1, 2, 3), led(0, 2, 0, 4, 5), led(0, 2, 1, 103, 104)}, nil, nil},
		{"perhaps after the other", []Call{led(0, 1, 1, 2, 3), led(0, 2, 1, 101, 102)}, nil, nil},
		{"two leaders", []Call{led(0, 1, 1, 2, 3), led(0, 2, 1, 100, 101)}, nil, []Kind{TwoLeaders}},
		{"a leader that renewed, and another", []Call{led(0, 1, 1, 2, 3), led(0, 1, 1, 80, 81), led(0, 2, 1, 150, 151)}, nil, []Kind{TwoLeaders}},
		{"leaders for two things", []Call{led(0, 1, 1, 2, 3), led(1, 2, 1, 4, 5)}, nil, nil},
		{"a leader that was not told", []Call{lost(led(0, 1, 1, 2, 3)), led(0, 2, 1, 4, 5)}, nil, nil},

		{"nacked while it passed on", []Call{enqueued(1), leased(1, 2, 3), leased(2, 120, 130), committed(engine.Nack, 1, 1, engine.Applied, 122, 123)}, []engine.JobID{1}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Check(tt.calls, tt.left)
			var got []Kind
			for _, a := range r.Anomalies {
				got = append(got, a.Kind)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v\n%v\n%v", got, tt.want, r.Anomalies, r.Story(1))
			}
		})
	}
}

// failing is a store that fails after chosen calls.
type failing struct {
	engine.Store
	err error
}

func (f *failing) Claim(ctx context.Context, holder engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	leases, next, err := f.Store.Claim(ctx, holder, plan, ttl, dst)
	if f.err != nil {
		return dst, next, f.err
	}
	return leases, next, err
}

// TestRecord writes a history with a call of each kind and reads it back, whole and with
// its last line torn at every place.
func TestRecord(t *testing.T) {
	ctx := t.Context()
	var now engine.Time
	clock := func() engine.Time { now += 1e6; return now }
	inner := &failing{Store: memstore.New(func() engine.Time { return now }, engine.StoreOptions{LapseAfter: -1})}
	var text bytes.Buffer
	r := Record(inner, &text, clock)
	plan := engine.Plan{Limit: 2, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 2}}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.Enqueue(ctx, []engine.NewJob{{ID: 1}, {ID: 2}}))
	if err := r.Enqueue(ctx, []engine.NewJob{{ID: 1}}); !errors.Is(err, engine.ErrDuplicate) {
		t.Fatal(err)
	}
	leases, _, err := r.Claim(ctx, 7, plan, time.Second, make([]engine.Lease, 1))
	must(err)
	_, err = r.ExtendLease(ctx, []engine.LeaseKey{leases[1].Key(), {Job: 2, Token: 99}}, time.Minute, nil)
	must(err)
	now += 1e12
	_, _, err = r.Recover(ctx, 8, 1, 0, time.Second, nil)
	must(err)
	_, err = r.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: 7, Seq: 1}, Outcomes: []engine.Outcome{
		{LeaseKey: leases[1].Key(), Verb: engine.Ack}, {LeaseKey: leases[2].Key(), Verb: engine.Ack}}}, nil)
	must(err)
	inner.err = engine.ErrUnavailable
	if _, _, err := r.Claim(ctx, 7, plan, time.Second, nil); !errors.Is(err, engine.ErrUnavailable) {
		t.Fatal(err)
	}

	calls, err := Read(bytes.NewReader(text.Bytes()), "one")
	must(err)
	var got []string
	for i := range calls {
		c := &calls[i]
		for k := range c.Items {
			got = append(got, fmt.Sprintf("job %d %s", c.Items[k].Job, c.tell(&c.Items[k])))
		}
		if len(c.Items) == 0 {
			got = append(got, c.tell(&Item{}))
		}
	}
	want := []string{
		"job 1 one call 1: enqueue: answered",
		"job 2 one call 1: enqueue: answered",
		"job 1 one call 2: enqueue: refused (enqueue job 1: " + engine.ErrDuplicate.Error(),
		"job 1 one call 3: claim token 1 for 1s: answered",
		"job 2 one call 3: claim token 1 for 1s: answered",
		"job 1 one call 4: extend token 1 for 1m0s: answered, applied",
		"job 2 one call 4: extend token 99 for 1m0s: answered, stale",
		"job 2 one call 5: recover token 2 for 1s: answered",
		"job 1 one call 6: commit ack, batch 1 of engine 0/7, token 1: answered, applied",
		"job 2 one call 6: commit ack, batch 1 of engine 0/7, token 1: answered, stale",
		"one call 7: claim for 1s: unknown (" + engine.ErrUnavailable.Error(),
	}
	same := slices.EqualFunc(got, want, func(got, want string) bool { return strings.HasPrefix(got, want) })
	if !same {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	report := Check(calls, []engine.JobID{2})
	if len(report.Anomalies) > 0 || report.Jobs != 2 || report.Leases != 2 || report.Taken != 1 || report.Stale != 1 || report.Acked != 1 {
		t.Errorf("%v\n%v", report, report.Anomalies)
	}

	answers := bytes.Count(text.Bytes(), []byte("\n"))
	last := bytes.LastIndexByte(text.Bytes()[:text.Len()-1], '\n') + 1
	for cut := last; cut < text.Len(); cut++ {
		torn, err := Read(bytes.NewReader(text.Bytes()[:cut]), "one")
		if err != nil || len(torn) != len(calls) || torn[len(torn)-1].Answer != Unknown {
			t.Fatalf("cut at byte %d: %d calls, %v", cut, len(torn), err)
		}
	}
	broken := strings.Replace(text.String(), `"n":3,`, `"n":33,`, 1)
	if _, err := Read(strings.NewReader(broken), "one"); err == nil || !strings.Contains(err.Error(), "line 5") || answers != 14 {
		t.Errorf("%d lines; a call out of order: %v", answers, err)
	}
}

// full is a writer to a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestRecordFails makes no call that cannot be written down.
func TestRecordFails(t *testing.T) {
	store := memstore.New(func() engine.Time { return 0 }, engine.StoreOptions{LapseAfter: -1})
	err := Record(store, full{}, func() engine.Time { return 0 }).Enqueue(t.Context(), []engine.NewJob{{ID: 1}})
	if err == nil || !strings.Contains(err.Error(), "no space left") || store.Live() != 0 {
		t.Errorf("%v, %d jobs", err, store.Live())
	}
}
