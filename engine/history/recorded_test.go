package history

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// reviving is a store that redrives as package pgstore does.
type reviving struct{ *memstore.Store }

func (r reviving) Redrive(_ context.Context, _ []engine.JobID, most int, reset bool, dst []engine.Promotion) ([]engine.Promotion, error) {
	if most == 0 {
		return dst, engine.ErrUnavailable
	}
	return r.Store.Redrive(func(engine.JobID) bool { return true }, reset, dst), nil
}

// plain is a store that offers nothing beyond the contract.
type plain struct{ engine.Store }

// TestRecordMore records and reads back promotions, redrives, extensions of a node and leadership.
func TestRecordMore(t *testing.T) {
	ctx := t.Context()
	now := engine.Time(0)
	clock := func() engine.Time { now += 1e6; return now }
	options := engine.StoreOptions{LapseAfter: -1, Promoted: true, KeepDead: true}
	var text bytes.Buffer
	r := Record(reviving{memstore.New(func() engine.Time { return now }, options)}, &text, clock)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.Enqueue(ctx, []engine.NewJob{{ID: 1, Delay: time.Millisecond}}))
	ready, err := r.Promote(ctx, 5, engine.OldestReady, make([]engine.Promotion, 1))
	must(err)
	e := engine.NewEngineID(3, 4)
	leases, _, err := r.Claim(ctx, e, engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}, time.Second, nil)
	must(err)
	extended, err := r.ExtendNode(ctx, e, true, time.Minute)
	must(err)
	_, err = r.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: e, Seq: 1}, Outcomes: []engine.Outcome{{LeaseKey: leases[0].Key(), Verb: engine.Bury}}}, nil)
	must(err)
	revived, err := r.Redrive(ctx, nil, 1, false, nil)
	must(err)
	if _, err := r.Redrive(ctx, nil, 0, false, nil); !errors.Is(err, engine.ErrUnavailable) {
		t.Error(err)
	}
	leads, err := r.Lead(ctx, engine.OpPromote, e, time.Second)
	must(err)
	other, err := r.Lead(ctx, engine.OpPromote, e+1<<32, time.Second)
	must(err)
	if len(ready) != 2 || extended != 1 || len(revived) != 1 || !leads || other {
		t.Errorf("promoted %v, extended %d, redriven %v, leads %v and %v", ready, extended, revived, leads, other)
	}

	calls, err := Read(&text, "one")
	must(err)
	if len(calls) != 9 {
		t.Fatalf("%d calls", len(calls))
	}
	for i, want := range []Call{
		1: {Op: Promote, Answer: Answered, Items: []Item{{Job: 1}}},
		3: {Op: ExtendNode, Answer: Answered, TTL: time.Minute, Batch: engine.BatchID{Engine: e}, Kept: true, Granted: 1},
		5: {Op: Redrive, Answer: Answered, Items: []Item{{Job: 1}}},
		6: {Op: Redrive, Error: engine.ErrUnavailable.Error(), Ended: engine.Never},
		7: {Op: Lead, Answer: Answered, TTL: time.Second, Batch: engine.BatchID{Engine: e}, Role: engine.OpPromote, Granted: 1},
		8: {Op: Lead, Answer: Answered, TTL: time.Second, Batch: engine.BatchID{Engine: e + 1<<32}, Role: engine.OpPromote},
	} {
		if want.Op == "" {
			continue
		}
		got := calls[i]
		if want.Answer != Unknown {
			want.Ended = got.Ended
		}
		want.Process, want.Number, want.Began = "one", uint64(i+1), got.Began
		if got.tell(&Item{}) != want.tell(&Item{}) || got.Granted != want.Granted || got.Kept != want.Kept || got.Ended != want.Ended ||
			len(got.Items) != len(want.Items) || len(got.Items) > 0 && got.Items[0] != want.Items[0] {
			t.Errorf("call %d: got %+v, want %+v", i+1, got, want)
		}
	}
	report := Check(calls, []engine.JobID{1})
	if len(report.Anomalies) > 0 || report.Promoted != 1 || report.Redriven != 1 || report.Extended != 1 || report.Led != 1 {
		t.Errorf("%v\n%v", report, report.Anomalies)
	}
	for _, want := range []string{"extend-node: 1 answered", "lead: 2 answered", "redrive: 1 answered, 1 unknown", "1 jobs promoted, 1 redriven", "led 1 times"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("%q is not in\n%v", want, report)
		}
	}

	poor := Record(plain{r.Store}, &text, clock)
	_, err = poor.Redrive(ctx, nil, 1, false, nil)
	if !errors.Is(err, engine.ErrUnsupported) || text.Len() > 0 {
		t.Errorf("%v, %q", err, text.String())
	}
}
