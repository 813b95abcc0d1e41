package memstore

import "qsim/engine"

// serials holds the live jobs of each serial key in the order in which they were enqueued. Only the first of a key may
// be claimed: the others wait behind it (head-of-line blocking on purpose).
type serials struct {
	chains
	keys  map[uint32]list
	keyOf slab[uint32]
}

// isBehind reports whether a job's row (record) waits behind an earlier job of its serial key (head-of-line blocking).
func (s *Store) isBehind(ref uint32, r *row) bool {
	return r.has&hasSerial != 0 && s.serials.links.at(ref).prev != 0
}

// join appends a new job's row to the list of its serial key: the job may be claimed once all before it have ended.
func (x *serials) join(ref, key uint32) {
	if x.keys == nil {
		x.keys = make(map[uint32]list)
	}
	*x.keyOf.reach(ref) = key
	l := x.keys[key]
	x.insertAfter(&l, ref, l.tail)
	x.keys[key] = l
}

// leaveSerial removes a job that has ended from the list of its serial key. If it was the first, the next one may be
// claimed from now on.
func (s *Store) leaveSerial(ref uint32) {
	x := &s.serials
	key, next := *x.keyOf.at(ref), x.links.at(ref).next
	l := x.keys[key]
	moves := l.head == ref+1 && next != 0 && s.rows.at(next-1).state == engine.Ready
	if moves {
		s.unready(next - 1)
	}
	if x.remove(&l, ref); l.head == 0 {
		delete(x.keys, key)
	} else {
		x.keys[key] = l
	}
	if moves {
		follower := s.rows.at(next - 1)
		s.toReadyAt(next-1, follower, follower.dueAt, follower.key)
	}
}
