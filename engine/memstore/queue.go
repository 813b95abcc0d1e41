package memstore

// queue holds the ready jobs of one lane (priority and kind) and class, as rows by (ready key, ID). Rows that come in
// order, the usual case, go to the ends of a list; the others go to a tree.
type queue struct {
	list list
	root uint32 // root of the queue's tree in Store.late
	size int32
}

// insert adds a job's row to a queue: to its list in order, else to its tree in late; always to that if late counts.
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

// peek returns the first or, with newest, the last row of a queue, from its list or its tree; none if it is empty.
func (q *queue) peek(late *treap, newest bool) uint32 {
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

// last returns the last row in a linked list of jobs; nil: it is empty.
func (l *list) last(s *rows) *row {
	if l.tail == 0 {
		return nil
	}
	return s.at(l.tail - 1)
}

// pushBack appends a job's row (record) r, with the number ref, to a linked list whose last row is last.
func (l *list) pushBack(last *row, ref uint32, r *row) {
	r.prev, r.next = l.tail, 0
	l.tail = ref + 1
	if last == nil {
		l.head = ref + 1
	} else {
		last.next = ref + 1
	}
}

// after returns the link to the row behind the one that at links to, for changes: its next or, if at is 0, the head.
func (l *list) after(s *rows, at uint32) *uint32 {
	if at == 0 {
		return &l.head
	}
	return &s.at(at - 1).next
}

// before returns the link to the row ahead of the one that at links to, for changes: its prev or, if at is 0, the tail.
func (l *list) before(s *rows, at uint32) *uint32 {
	if at == 0 {
		return &l.tail
	}
	return &s.at(at - 1).prev
}

// insertAfter inserts row r, with number ref, behind the row that at links to, or at the front of the list if at is 0.
func (l *list) insertAfter(s *rows, ref uint32, r *row, at uint32) {
	next := l.after(s, at)
	r.prev, r.next = at, *next
	*next, *l.before(s, r.next) = ref+1, ref+1
}

// insertByKey inserts a job's row in the order of row.key, searching from the back: O(1) when keys come in order, as
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
	*l.after(s, r.prev), *l.before(s, r.next) = r.next, r.prev
	r.prev, r.next = 0, 0
}

// chains holds the links of additional lists, for rows whose own links (prev, next) are used by another list.
type chains struct{ links slab[link] }

type link struct{ prev, next uint32 } // row + 1 of the neighbours; 0: none

// after returns list l's link to the row behind the one that at links to, for changes; if at is 0, to the first row.
func (x *chains) after(l *list, at uint32) *uint32 {
	if at == 0 {
		return &l.head
	}
	return &x.links.at(at - 1).next
}

// before returns list l's link to the row ahead of the one that at links to, for changes; if at is 0, to the last row.
func (x *chains) before(l *list, at uint32) *uint32 {
	if at == 0 {
		return &l.tail
	}
	return &x.links.at(at - 1).prev
}

// insertAfter inserts row ref into list l behind the row that at links to, or at the front if at is 0.
func (x *chains) insertAfter(l *list, ref, at uint32) {
	mine, next := x.links.reach(ref), x.after(l, at)
	mine.prev, mine.next = at, *next
	*next, *x.before(l, mine.next) = ref+1, ref+1
}

func (x *chains) remove(l *list, ref uint32) {
	mine := x.links.at(ref)
	*x.after(l, mine.prev), *x.before(l, mine.next) = mine.next, mine.prev
	*mine = link{}
}
