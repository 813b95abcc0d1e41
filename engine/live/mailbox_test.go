package live

import (
	"context"
	"testing"
)

// TestRise tells one worker at most of work at a time: one that is parked before one that has yet to be hired, and
// never more than there may be.
func TestRise(t *testing.T) {
	for _, tt := range []struct {
		name              string
		starts            int
		rising            bool
		idle, hired, most int
		want              riser
		nowRising         bool
		nowHired          int
	}{
		{name: "nothing to do", idle: 1, hired: 1, most: 2, want: nobody, nowHired: 1},
		{name: "nothing to do, nobody hired", most: 2, want: nobody},
		{name: "one is parked", starts: 1, idle: 1, hired: 1, most: 1, want: parkedWorker, nowRising: true, nowHired: 1},
		{name: "one is parked and one may be hired", starts: 2, idle: 1, hired: 1, most: 2, want: parkedWorker, nowRising: true, nowHired: 1},
		{name: "all are busy and one may be hired", starts: 1, hired: 1, most: 2, want: newWorker, nowRising: true, nowHired: 2},
		{name: "all are busy", starts: 1, hired: 2, most: 2, want: nobody, nowHired: 2},
		{name: "one has been told, one is parked", starts: 2, rising: true, idle: 1, hired: 2, most: 2, want: nobody, nowRising: true, nowHired: 2},
		{name: "one has been told, one may be hired", starts: 2, rising: true, hired: 1, most: 2, want: nobody, nowRising: true, nowHired: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m mailbox
			m.init(tt.most)
			m.rising, m.idle, m.hired = tt.rising, tt.idle, tt.hired
			for range tt.starts {
				m.starts.Push(&cell{})
			}
			if got := m.rise(); got != tt.want || m.rising != tt.nowRising || m.hired != tt.nowHired || m.idle != tt.idle {
				t.Errorf("told %d; rising %v, %d hired, %d idle; want %d; %v, %d, %d", got, m.rising, m.hired, m.idle,
					tt.want, tt.nowRising, tt.nowHired, tt.idle)
			}
		})
	}
}

// meddling is a context at which another goroutine looks in the midst of a derivation from it.
type meddling struct {
	context.Context
	meanwhile func()
}

func (m *meddling) Done() <-chan struct{} {
	if f := m.meanwhile; f != nil {
		m.meanwhile = nil
		f()
	}
	return m.Context.Done()
}

// TestWatchedAtOnce has two look at a handler's context for the first time at once: both get the one that is cancelled.
func TestWatchedAtOnce(t *testing.T) {
	values := &meddling{Context: context.WithoutCancel(t.Context())}
	p := &process{values: values}
	c := &cell{process: p}
	var other <-chan struct{}
	values.meanwhile = func() { other = c.Done() }
	own := c.Done()
	if own == nil || other != own {
		t.Error("two who look at once got two contexts")
	}
	c.cancel(ErrLeaseLost)
	for _, done := range []<-chan struct{}{own, other} {
		select {
		case <-done:
		default:
			t.Error("who looked is not told of the cancellation")
		}
	}
	if cause := c.end(); cause != ErrLeaseLost {
		t.Errorf("cancelled because of %v", cause)
	}
}
