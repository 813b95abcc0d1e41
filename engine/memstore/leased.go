package memstore

import (
	"iter"

	"qsim/engine"
)

// leases holds the leased rows of jobs by (expiry, order of coming) in a ring buffer. Leases of one length come in that
// order, and one that ends leaves a gap: neither touches another row. A row's prev is its position.
type leases struct {
	ring       []leased // a power of two long
	head, tail uint32   // positions, modulo the length of the ring; no gap is at the head
	held       int      // leases between them, without the gaps
}

// leased is a row in flight, by its link, and its expiry.
type leased struct {
	expiry engine.Time
	link   uint32 // row + 1; 0: a gap
}

func (l *leases) at(position uint32) *leased { return &l.ring[position&uint32(len(l.ring)-1)] }

// insert adds a row behind all that expire no later: at the end, unless leases differ in length.
func (l *leases) insert(s *rows, ref uint32, expiry engine.Time) {
	if l.tail-l.head == uint32(len(l.ring)) {
		l.makeRoom(s)
	}
	at := l.tail
	l.tail++
	l.held++
	for ; at != l.head && l.at(at-1).expiry > expiry; at-- {
		l.put(s, at, *l.at(at - 1))
	}
	l.put(s, at, leased{expiry, ref + 1})
}

func (l *leases) put(s *rows, at uint32, e leased) {
	*l.at(at) = e
	if e.link != 0 {
		s.at(e.link - 1).prev = at
	}
}

// makeRoom drops the gaps, and doubles the ring if they were less than half of it.
func (l *leases) makeRoom(s *rows) {
	old := *l
	if 2*l.held >= len(l.ring) {
		l.ring = make([]leased, max(64, 2*len(l.ring)))
	}
	l.tail = l.head
	for at := old.head; at != old.tail; at++ {
		if e := *old.at(at); e.link != 0 {
			l.put(s, l.tail, e)
			l.tail++
		}
	}
}

// remove deletes a row that is in the ring.
func (l *leases) remove(s *rows, ref uint32) {
	r := s.at(ref)
	l.at(r.prev).link, r.prev = 0, 0
	l.held--
	for l.head != l.tail && l.at(l.head).link == 0 {
		l.head++
	}
}

// from returns the first lease at a position or behind it; its link is 0 if there is none.
func (l *leases) from(position uint32) leased {
	for ; position != l.tail; position++ {
		if e := *l.at(position); e.link != 0 {
			return e
		}
	}
	return leased{}
}

// all yields the leased rows in order. Meanwhile rows may be removed, but none may be added.
func (l *leases) all() iter.Seq[uint32] {
	return func(yield func(ref uint32) bool) {
		for at := l.head; at != l.tail; at++ {
			if e := l.at(at); e.link != 0 && !yield(e.link-1) {
				return
			}
		}
	}
}
