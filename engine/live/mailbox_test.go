package live

import (
	"context"
	"testing"
	"testing/synctest"

	"qsim/engine/heap"
)

// TestRise calls one worker at most to work at a time: one that is parked before one that has yet to be hired, and
// never more than there may be.
func TestRise(t *testing.T) {
	for _, tt := range []struct {
		name              string
		starts            int
		rising            bool
		idle, hired, most int
		nowRising         bool
		nowHired          int
	}{
		{name: "nothing to do", idle: 1, hired: 1, most: 2, nowHired: 1},
		{name: "nothing to do, nobody hired", most: 2},
		{name: "one is parked", starts: 1, idle: 1, hired: 1, most: 1, nowRising: true, nowHired: 1},
		{name: "one is parked and one may be hired", starts: 2, idle: 1, hired: 1, most: 2, nowRising: true, nowHired: 1},
		{name: "all are busy and one may be hired", starts: 1, hired: 1, most: 2, nowRising: true, nowHired: 2},
		{name: "all are busy", starts: 1, hired: 2, most: 2, nowHired: 2},
		{name: "one has been told, one is parked", starts: 2, rising: true, idle: 1, hired: 2, most: 2, nowRising: true, nowHired: 2},
		{name: "one has been told, one may be hired", starts: 2, rising: true, hired: 1, most: 2, nowRising: true, nowHired: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &loop{process: &process{}}
				m := &l.box
				m.init(tt.most)
				parked, woken := tt.idle, 0
				for range parked {
					go func() {
						m.mu.Lock()
						m.parked.Wait()
						woken++
						m.mu.Unlock()
					}()
				}
				synctest.Wait()
				m.mu.Lock()
				m.rising, m.idle, m.hired = tt.rising, tt.idle, tt.hired
				for range tt.starts {
					m.starts.Push(&cell{})
				}
				l.rise()
				if m.rising != tt.nowRising || m.hired != tt.nowHired || m.idle != tt.idle {
					t.Errorf("rising %v, %d hired, %d idle; want %v, %d, %d", m.rising, m.hired, m.idle,
						tt.nowRising, tt.nowHired, tt.idle)
				}
				m.closed, m.starts = true, heap.FIFO[*cell]{} // so that a worker that was started ends at once
				m.mu.Unlock()
				synctest.Wait()
				m.mu.Lock()
				wakes := tt.nowRising && !tt.rising && tt.nowHired == tt.hired
				if wakes != (woken == 1) || m.hired != tt.hired {
					t.Errorf("%d of %d parked were woken, and of %d hired %d are left", woken, parked, tt.nowHired, m.hired)
				}
				m.mu.Unlock()
				m.parked.Broadcast()
			})
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
