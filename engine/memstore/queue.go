package memstore

import "qsim/engine"

// queue keeps the ready rows of one lane and class by (key, id). Rows that come
// in order, the usual case, go to the ends of a list; the others go to a tree.
type queue struct {
	list   list
	tree   tree
	size   int
	inTree int
}

func (q *queue) insert(s *rows, ref uint32) {
	q.size++
	r := s.at(ref)
	switch {
	case q.list.tail == 0 || s.at(q.list.tail-1).before(r):
		r.place = inList
		q.list.pushBack(s, ref)
	case r.before(s.at(q.list.head - 1)):
		r.place = inList
		q.list.pushFront(s, ref)
	default:
		r.place = inTree
		q.inTree++
		q.tree.insert(s, ref)
	}
}

func (q *queue) remove(s *rows, ref uint32) {
	q.size--
	if s.at(ref).place == inTree {
		q.inTree--
		q.tree.remove(s, ref)
		return
	}
	q.list.remove(s, ref)
}

// peek returns the first or the last row; the queue must not be empty.
func (q *queue) peek(s *rows, o engine.Order) uint32 {
	newest := o == engine.NewestReady
	l := q.list.head
	if newest {
		l = q.list.tail
	}
	if q.tree.root == 0 {
		return l - 1
	}
	t := q.tree.end(s, newest)
	if l == 0 || s.at(t).before(s.at(l-1)) != newest {
		return t
	}
	return l - 1
}

// countBefore returns how many rows come before r. Of the list it looks at as many
// rows as the smaller of the two parts has, of the tree at those before r.
func (q *queue) countBefore(s *rows, r *row) int {
	n, inList := q.tree.countBefore(s, q.tree.root, r), q.size-q.inTree
	front, back := q.list.head, q.list.tail
	for i := range inList {
		if !s.at(front - 1).before(r) {
			return n + i
		}
		if s.at(back - 1).before(r) {
			return n + inList - i
		}
		front, back = s.at(front-1).next, s.at(back-1).prev
	}
	return n
}

// list is a doubly linked list through prev and next of its rows. Links are row
// plus 1; 0 is none.
type list struct{ head, tail uint32 }

func (l *list) pushBack(s *rows, ref uint32) { l.insertAfter(s, ref, l.tail) }

func (l *list) pushFront(s *rows, ref uint32) { l.insertAfter(s, ref, 0) }

// insertAfter puts ref behind the row that link at names; 0: at the front.
func (l *list) insertAfter(s *rows, ref, at uint32) {
	r := s.at(ref)
	r.prev = at
	if at == 0 {
		r.next, l.head = l.head, ref+1
	} else {
		p := s.at(at - 1)
		r.next, p.next = p.next, ref+1
	}
	if r.next == 0 {
		l.tail = ref + 1
	} else {
		s.at(r.next - 1).prev = ref + 1
	}
}

// insertByKey keeps the list in order of key, looking from the back: O(1) when
// keys come in order, as the expiries of leases of one length do.
func (l *list) insertByKey(s *rows, ref uint32) {
	key, at := s.at(ref).key, l.tail
	for at != 0 && s.at(at-1).key > key {
		at = s.at(at - 1).prev
	}
	l.insertAfter(s, ref, at)
}

func (l *list) remove(s *rows, ref uint32) {
	r := s.at(ref)
	if r.prev == 0 {
		l.head = r.next
	} else {
		s.at(r.prev - 1).next = r.next
	}
	if r.next == 0 {
		l.tail = r.prev
	} else {
		s.at(r.next - 1).prev = r.prev
	}
	r.prev, r.next = 0, 0
}

// tree is a treap by (key, id) through prev (left) and next (right) of its rows
// (Seidel, Aragon: Randomized Search Trees, Algorithmica 16, 1996). The heap
// order is by a hash of the job ID, so the shape is a function of what it holds.
type tree struct{ root uint32 }

func rank(id engine.JobID) uint64 {
	h := (uint64(id) ^ uint64(id)>>29) * 0xBF58476D1CE4E5B9
	return h ^ h>>32
}

// insert descends to where the new row outranks the subtree, splits that subtree
// by key and hangs the halves below it.
func (t *tree) insert(s *rows, ref uint32) {
	r := s.at(ref)
	mine := rank(r.id)
	link := &t.root
	for *link != 0 {
		at := s.at(*link - 1)
		if rank(at.id) <= mine {
			break
		}
		if r.before(at) {
			link = &at.prev
		} else {
			link = &at.next
		}
	}
	rest := *link
	*link = ref + 1
	left, right := &r.prev, &r.next
	for rest != 0 {
		at := s.at(rest - 1)
		if r.before(at) {
			*right, right, rest = rest, &at.prev, at.prev
		} else {
			*left, left, rest = rest, &at.next, at.next
		}
	}
	*left, *right = 0, 0
}

func (t *tree) remove(s *rows, ref uint32) {
	r := s.at(ref)
	link := &t.root
	for *link != ref+1 {
		if at := s.at(*link - 1); r.before(at) {
			link = &at.prev
		} else {
			link = &at.next
		}
	}
	left, right := r.prev, r.next
	for left != 0 && right != 0 {
		a, b := s.at(left-1), s.at(right-1)
		if rank(a.id) > rank(b.id) {
			*link, link, left = left, &a.next, a.next
		} else {
			*link, link, right = right, &b.prev, b.prev
		}
	}
	*link = left | right // one of them is 0
	r.prev, r.next = 0, 0
}

// countBefore returns how many rows below at, itself included, come before r.
func (t *tree) countBefore(s *rows, at uint32, r *row) int {
	n := 0
	for at != 0 {
		here := s.at(at - 1)
		if !here.before(r) {
			at = here.prev
			continue
		}
		n += 1 + t.countBefore(s, here.prev, r)
		at = here.next
	}
	return n
}

// end returns the first or, if last, the last row; the tree must not be empty.
func (t *tree) end(s *rows, last bool) uint32 {
	at := t.root
	for {
		r := s.at(at - 1)
		next := r.prev
		if last {
			next = r.next
		}
		if next == 0 {
			return at - 1
		}
		at = next
	}
}
