package memstore

import "qsim/engine"

// serials holds the live jobs of each serial key in the order in which they were enqueued. Only the first of a key may
// be claimed: the others wait behind it (head-of-line blocking on purpose).
type serials struct {
	chains
	keys  map[uint32]list
	keyOf slab[uint32]
}

// join appends a new job's row to the list of its serial key, and reports whether it stands behind others there: it may
// be claimed once all before it have ended.
func (x *serials) join(ref, key uint32) (behind bool) {
	if x.keys == nil {
		x.keys = make(map[uint32]list)
	}
	*x.keyOf.reach(ref) = key
	l := x.keys[key]
	x.reach(ref)
	x.insertAfter(&l, ref, l.tail)
	x.keys[key] = l
	return l.head != ref
}

// leaveSerial removes a job that has ended from the list of its serial key. If it was the first, the next one may be
// claimed from now on.
func (s *Store) leaveSerial(ref uint32) {
	x := &s.serials
	key, next := *x.keyOf.at(ref), x.links[ref].next
	l := x.keys[key]
	first := l.head == ref
	if x.remove(&l, ref); l.head == 0 {
		delete(x.keys, key)
		return
	}
	if x.keys[key] = l; !first {
		return
	}
	follower := s.rows.at(next)
	ready := follower.state == engine.Ready
	if ready {
		s.unready(next)
	}
	follower.lane = s.lines.of(s.lines.lanes[follower.lane].priority, follower.kind, false)
	if ready {
		s.toReadyAt(next, follower, follower.dueAt, follower.key)
	}
}
