package sim

import "qsim/engine"

// Kept returns how many records of calls, of late jobs, of executions and of pending ends of controls a simulation holds
// that nothing refers to any more.
func (s *Sim) Kept() [4]int {
	calls := s.messages.used - s.queue.requests.size() - s.queue.replies.size() - s.admission.line.Size()
	late, runs, ends := s.late.used, s.runs.used, s.controls.planned.used
	for _, e := range s.queue.others {
		switch rank(e.order >> rankBits) {
		case request, reply:
			calls--
		case arrival:
			late--
		case control:
			ends--
		}
	}
	for i := range s.nodes {
		for _, m := range s.nodes[i].missed {
			if m.answer != nil {
				calls--
			}
		}
		for _, at := range s.nodes[i].runs {
			if at != 0 {
				runs--
			}
		}
	}
	return [4]int{calls, late, runs, ends}
}

// StepInOrder processes one event, as Step does, and returns its kind by the order of the queue, and the kind of which
// the first one was taken: jobs due, calls, answers, ends of executions, arrivals; -1 where neither tells. ties is the
// number of these kinds of which an event comes at that instant.
func (s *Sim) StepInOrder() (want, took, ties int, more bool) {
	q := &s.queue
	e, before := q.next(), s.heads()
	want, took = int(e.order>>rankBits), -1
	if len(q.others) > 0 && q.others[0] == e || before[want] == (head{}) {
		want = -1 // a rare event, or a timer, which may have been set too early
	}
	for r := range before {
		if before[r].number != 0 && before[r].at == e.at {
			ties++
		}
	}
	more = s.Step()
	for r, now := range s.heads() {
		if want >= 0 && before[r].number != 0 && before[r].at == e.at && now != before[r] {
			took = r
		}
	}
	return want, took, ties, more
}

// head is the first event of its kind.
type head struct {
	at     engine.Time
	number uint64
}

func (s *Sim) heads() (h [announcement]head) {
	q := &s.queue
	if q.due != engine.Never {
		h[promotion] = head{q.due, 1}
	}
	if m := q.requests.head; m != nil {
		h[request] = head{m.at, m.seq}
	}
	if m := q.replies.head; m != nil {
		h[reply] = head{m.at, m.seq}
	}
	if q.finishes.First != engine.Never {
		h[finish] = head{q.finishes.First, q.finishes.Next()}
	}
	if q.arrival != engine.Never {
		h[arrival] = head{q.arrival, uint64(s.arriving[0].ID)}
	}
	return h
}

// size returns the number of calls on their way.
func (c *calls) size() (n int) {
	for m := c.head; m != nil; m = m.next {
		n++
	}
	return n
}
