package sim

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

// size returns the number of calls on their way.
func (c *calls) size() (n int) {
	for m := c.head; m != nil; m = m.next {
		n++
	}
	return n
}
