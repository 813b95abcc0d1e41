package memstore

// queue holds the ready jobs of one lane (priority and kind) and class, as rows by (ready key, ID). Rows that come in
// order, the usual case, go to the ends of a list; the others go to a tree.
type queue struct {
	list list
	root uint32 // root of the queue's tree in Store.late
	size int32
}

// insert adds a job's row to the queue. late has the trees of all queues; if it counts rows, every row goes there.
func (q *queue) insert(late *treap, ref uint32, r *row) {
	q.size++
	if !late.counts {
		last := q.list.last(late.rows)
		if last == nil || last.before(r) {
			q.list.pushBack(last, ref, r)
			return
		}
		if r.before(late.rows.at(q.list.head - 1)) {
			q.list.insertAfter(late.rows, ref, r, 0)
			return
		}
	}
	r.place = inTree
	late.insert(&q.root, ref)
}

func (q *queue) remove(late *treap, ref uint32, r *row) {
	q.size--
	if r.place == inTree {
		r.place = inList
		late.remove(&q.root, ref)
		return
	}
	q.list.remove(late.rows, r)
}

// peek returns the first or, with newest, the last row; none if the queue is empty.
func (q *queue) peek(late *treap, newest bool) uint32 {
	if q.root == 0 && !newest {
		return q.list.head - 1
	}
	return q.end(late, newest)
}

// end returns the first or, with newest, the last row of a queue of any form: a list, a tree or both.
func (q *queue) end(late *treap, newest bool) uint32 {
	l := q.list.head
	if newest {
		l = q.list.tail
	}
	if q.root == 0 {
		return l - 1
	}
	t := late.end(q.root, newest)
	if l == 0 || late.rows.at(t).before(late.rows.at(l-1)) != newest {
		return t
	}
	return l - 1
}

// list is a doubly linked list of rows through their fields prev and next. Links are row + 1; 0 is none.
type list struct{ head, tail uint32 }

// last returns the last row of the list; nil: it is empty.
func (l *list) last(s *rows) *row {
	if l.tail == 0 {
		return nil
	}
	return s.at(l.tail - 1)
}

// pushBack appends row r, with number ref, to a list whose last row is last.
func (l *list) pushBack(last *row, ref uint32, r *row) {
	r.prev, r.next = l.tail, 0
	l.tail = ref + 1
	if last == nil {
		l.head = ref + 1
	} else {
		last.next = ref + 1
	}
}

// insertAfter inserts row r, with number ref, after the row to which link at points, or at the front if at is 0.
func (l *list) insertAfter(s *rows, ref uint32, r *row, at uint32) {
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

// insertByKey inserts a job's row in the order of key, searching from the back: O(1) when keys come in order, as
// expiries of leases of one length do.
func (l *list) insertByKey(s *rows, ref uint32, r *row) {
	last := l.last(s)
	if last == nil || last.key <= r.key {
		l.pushBack(last, ref, r)
		return
	}
	at := last.prev
	for at != 0 && s.at(at-1).key > r.key {
		at = s.at(at - 1).prev
	}
	l.insertAfter(s, ref, r, at)
}

func (l *list) remove(s *rows, r *row) {
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

// chains holds the links of additional lists, for rows whose own links (prev, next) are used by another list.
type chains struct{ links slab[link] }

type link struct{ prev, next uint32 } // row + 1 of the neighbours; 0: none

// insertAfter inserts row ref into a list after the row to which link at points, or at the front if at is 0.
func (x *chains) insertAfter(l *list, ref, at uint32) {
	mine := x.links.reach(ref)
	mine.prev = at
	if at == 0 {
		mine.next, l.head = l.head, ref+1
	} else {
		p := x.links.at(at - 1)
		mine.next, p.next = p.next, ref+1
	}
	if mine.next == 0 {
		l.tail = ref + 1
	} else {
		x.links.at(mine.next - 1).prev = ref + 1
	}
}

func (x *chains) remove(l *list, ref uint32) {
	mine := x.links.at(ref)
	if mine.prev == 0 {
		l.head = mine.next
	} else {
		x.links.at(mine.prev - 1).next = mine.next
	}
	if mine.next == 0 {
		l.tail = mine.prev
	} else {
		x.links.at(mine.next - 1).prev = mine.prev
	}
	*mine = link{}
}
