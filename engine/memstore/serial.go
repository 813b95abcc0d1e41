package memstore

import "qsim/engine"

// serials keeps the live jobs of each serial key in the order in which they were
// enqueued. Only the first of them may be claimed.
type serials struct {
	keys  map[uint32]serialKey
	links slab[serialLinks]
}

type serialKey struct{ first, last uint32 } // row + 1

type serialLinks struct{ prev, next uint32 } // row + 1; 0: none

// isBehind reports whether a row with a key has others before it.
func (x *serials) isBehind(ref uint32) bool { return x.links.at(ref).prev != 0 }

// join puts a row at the end of its key.
func (x *serials) join(ref, key uint32) {
	if x.keys == nil {
		x.keys = make(map[uint32]serialKey)
	}
	k := x.keys[key]
	*x.links.reach(ref) = serialLinks{prev: k.last}
	if k.last == 0 {
		k.first = ref + 1
	} else {
		x.links.at(k.last - 1).next = ref + 1
	}
	k.last = ref + 1
	x.keys[key] = k
}

// leaveSerial takes a row that ended, and is in no structure, out of its key. If it was
// the first, the next one may be claimed from now on.
func (s *Store) leaveSerial(ref uint32, r *row) {
	if r.serial == 0 {
		return
	}
	x := &s.serials
	l := *x.links.at(ref)
	k := x.keys[r.serial]
	if l.next == 0 {
		k.last = l.prev
	}
	if l.prev == 0 {
		k.first = l.next
	} else {
		x.links.at(l.prev - 1).next = l.next
	}
	if k.first == 0 {
		delete(x.keys, r.serial)
		return
	}
	x.keys[r.serial] = k
	if l.next == 0 {
		return
	}
	next := l.next - 1
	n := s.rows.at(next)
	moves := l.prev == 0 && n.state == engine.Ready
	if moves {
		s.lanes[n.lane].behind[n.class()].remove(&s.rows, next)
		n.place = inList
	}
	x.links.at(next).prev = l.prev
	if moves {
		s.mu.ready = true
		s.join(next, n)
	}
}
