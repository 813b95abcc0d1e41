package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"qsim/engine"
)

// listener is one call of Store.Listen that has not returned.
type listener struct {
	wake   func()
	sooner chan struct{} // channel with room for one: a job is due earlier than expected
}

// Listen calls wake for each job that may have become ready, as live.Announcer does: by an enqueue, by an outcome that
// makes it ready or makes room for others, by a promotion, and by becoming due. It blocks its caller and starts no
// goroutine. A store of NewSingle has no listeners.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	if !s.mu.shared {
		return fmt.Errorf("listen: a store for one goroutine: %w", engine.ErrUnsupported)
	}
	l := &listener{wake, make(chan struct{}, 1)}
	s.mu.hear(l, true)
	defer s.mu.hear(l, false)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.mu.lock()
		due := s.untilDue(s.now())
		s.mu.unlock()
		timer.Reset(due)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		case <-l.sooner:
		}
	}
}

// hear adds a listener to the store or, if on is false, removes it. It makes a new list of listeners, since tell reads
// the old one without the lock.
func (m *mutex) hear(l *listener, on bool) {
	m.Lock()
	defer m.Unlock()
	without := func(x *listener) bool { return x == l }
	m.listeners = slices.DeleteFunc(slices.Clone(m.listeners), without)
	if on {
		m.listeners = append(m.listeners, l)
	}
}

// mostWakes is the most calls of wake for jobs that become ready at once: a process seldom has more engines.
const mostWakes = 100

// tell releases the lock and then wakes the listeners for the changes made while it was held, once for each job.
func (m *mutex) tell() {
	ready, sooner, listeners := m.ready, m.sooner, m.listeners
	m.ready, m.sooner = 0, false
	m.Unlock()
	for _, l := range listeners {
		for range min(ready, mostWakes) {
			l.wake()
		}
		if sooner {
			select {
			case l.sooner <- struct{}{}:
			default: // the listener has not handled the last wake yet
			}
		}
	}
}

// NextLife counts one more start of a node and returns the number of its earlier starts, as live.Registry requires.
func (s *Store) NextLife(_ context.Context, node int32) (generation uint32, err error) {
	if node < 0 {
		return 0, fmt.Errorf("count the lives of node %d: it must not be negative", node)
	}
	s.mu.lock()
	defer s.mu.unlock()
	for len(s.lives) <= int(node) {
		s.lives = append(s.lives, 0)
	}
	s.lives[node]++
	return s.lives[node] - 1, nil
}
