package live

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// wakers returns a waker for new loops, all of whose workers are busy, and a function that takes the indexes of the
// loops woken since its last call.
func wakers(loops int) (w *waker, woken func() []int) {
	w = &waker{}
	for range loops {
		l := &loop{unheard: &w.unheard}
		l.box.init(1)
		w.loops = append(w.loops, l)
	}
	return w, func() (list []int) {
		for i, l := range w.loops {
			if l.box.swap(&l.in) {
				list = append(list, i)
			}
		}
		return list
	}
}

// TestAnnouncedWhileAllAreBusy wakes, where one engine is woken at a time, the first that says it has an idle worker
// after a job was announced while none had said so: the claim for that worker may have come before the job.
func TestAnnouncedWhileAllAreBusy(t *testing.T) {
	w, woken := wakers(3)
	w.next()
	if got := woken(); got != nil {
		t.Fatalf("engines %v were woken without an idle worker", got)
	}
	for _, tt := range []struct {
		loop, idle int
		want       []int
	}{{1, 1, []int{1}}, {1, 2, nil}, {2, 1, nil}, {2, 0, nil}, {2, 1, nil}} {
		w.loops[tt.loop].sayIdle(tt.idle)
		if got := woken(); !slices.Equal(got, tt.want) {
			t.Fatalf("engine %d says it has %d idle workers: engines %v were woken, want %v", tt.loop, tt.idle, got, tt.want)
		}
	}
}

// TestAnnouncedWhileOneBecomesIdle loses no wake, whichever comes first: the announcement or the idle worker. There are
// many engines, so that the announcement takes its time after it has looked at the first.
func TestAnnouncedWhileOneBecomesIdle(t *testing.T) {
	w, _ := wakers(3000)
	first := w.loops[0]
	var begun, done atomic.Int32
	const rounds = 3000
	go func() {
		for round := int32(1); round <= rounds; round++ {
			for begun.Load() < round {
				runtime.Gosched()
			}
			for range round % 200 {
				begun.Load() // a pause of a few nanoseconds
			}
			first.sayIdle(1)
			done.Store(round)
		}
	}()
	for round := int32(1); round <= rounds; round++ {
		first.idle.Store(0)
		w.turn = 0
		w.unheard.Store(round%2 == 1) // an earlier announcement that nobody heard
		begun.Store(round)
		w.next()
		for done.Load() < round {
			runtime.Gosched()
		}
		if !first.box.swap(&first.in) {
			t.Fatalf("round %d: the engine with the idle worker was not woken", round)
		}
	}
}
