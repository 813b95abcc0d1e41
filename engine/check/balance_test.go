package check_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
)

// TestKeptForEver takes the lease of job 1, which its former holder then keeps for ever, as no fence prevents. The job
// may be left only if that holder has given up its outcome, and the reaper may have had no answer or has died.
func TestKeptForEver(t *testing.T) {
	begun := func() *story {
		return later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).finish(1, 0, 0, 1, engine.NoError)
	}
	taken := func(s *story) *story { return s.after(11*time.Second).take(1, 1) }
	late := func(s *story, kind engine.EventKind) *story { // under the first lease
		return s.add(engine.Event{Kind: kind, Job: 1, Delivery: 1, Token: 1})
	}
	gaveUp := func(s *story) *story { // by the reaper
		token := s.events[len(s.events)-1].Token
		return s.add(engine.Event{Kind: engine.GaveUp, Job: 1, Delivery: 1, Token: token, Node: 1, Error: engine.LeaseExpired})
	}
	const kept, drops = engine.Extended, engine.GaveUp
	tests := []struct {
		name  string
		story *story
		heard bool // every call from 2 s on was answered
		want  string
	}{
		{"given up after it was taken", late(late(taken(begun()), kept), drops), false, ""},
		{"given up before it was taken", late(taken(late(begun(), drops)), kept), false, ""},
		{"not given up", late(taken(begun()), kept), false, "I-18"},
		{"not kept", late(taken(begun()), drops), false, "I-18"},
		{"the reaper had its answer", late(late(taken(begun()), kept), drops), true, "I-18"},
		{"the reaper gave up too", late(late(gaveUp(taken(begun())), kept), drops), true, ""},
		{"the reaper gave up alone", late(gaveUp(taken(begun())), kept), true, "I-18"},
		{"an earlier reaper gave up", late(late(taken(gaveUp(taken(begun()))), kept), drops), true, "I-18"},
		{"the reaper died", late(late(taken(begun()), kept), drops).restart(1), true, ""},
		{"another process than the reaper died", late(late(taken(begun()), kept), drops).restart(0), true, "I-18"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rules()
			r.Store.Fence, r.LostInFlight, r.Node.Lease.AckAtStart, r.Node.Commit.Drop = engine.FenceNone, true, true, true
			if tt.heard {
				r.Heard, r.Trip = 2*second, time.Second
			}
			c := check.New(r)
			for i := range tt.story.events {
				c.Record(&tt.story.events[i])
			}
			if c.Breach() != nil {
				t.Fatal(c.Breach())
			}
			c.Settle()
			got := ""
			if b := c.Breach(); b != nil {
				got = b.Invariant.String()
			}
			if got != tt.want {
				t.Errorf("got %q (%v), want %q", got, c.Breach(), tt.want)
			}
		})
	}
}

// TestLateReturns gives node 0 job 1 too late. The node must hand it back, which counts also if it does so in vain: if
// the store refuses that, of a lease that was taken or a job that is dead, or the node gives it up.
func TestLateReturns(t *testing.T) {
	late := func() *story {
		return later().lease(1, 0, 1, 0, 0).add(engine.Event{Kind: engine.RefusedLate, Count: 1})
	}
	taken := func() *story { return late().after(11*time.Second).take(1, 1) }
	dead := func() *story {
		return taken().add(engine.Event{Kind: engine.Buried, Job: 1, Node: 1, Delivery: 1, Token: 2,
			Error: engine.LeaseExpired, From: engine.InFlight})
	}
	for _, tt := range []struct {
		name   string
		story  *story
		kind   engine.EventKind // of the outcome under the late lease
		err    engine.ErrorKind
		breaks bool
	}{
		{"handed back", late(), engine.Returned, engine.Canceled, false},
		{"its lease was taken", taken(), engine.Fenced, engine.Canceled, false},
		{"it is dead", dead(), engine.Fenced, engine.Canceled, false},
		{"given up", late(), engine.GaveUp, engine.Canceled, false},
		{"another outcome is refused", taken(), engine.Fenced, engine.Timeout, true},
		{"another outcome is given up", late(), engine.GaveUp, engine.Timeout, true},
	} {
		r := rules()
		r.Node.Reaper.After, r.Node.Commit.Drop = engine.Bury, true
		c := check.New(r)
		s := tt.story.add(engine.Event{Kind: tt.kind, Job: 1, Delivery: 1, Token: 1, Error: tt.err, From: engine.InFlight})
		for i := range s.events {
			c.Record(&s.events[i])
		}
		c.Released(0, 0, r.Node.Workers)
		if b := c.Breach(); (b != nil) != tt.breaks || b != nil && b.Invariant != check.Recovery {
			t.Errorf("%s: got %v", tt.name, b)
		}
	}
}
