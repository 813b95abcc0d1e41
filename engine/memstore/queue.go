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
		rows := late.rows
		if at := q.list.tail; at == 0 || rows.at(at).before(r) {
			rows.insertAfter(&q.list, ref, at)
			return
		}
		if r.before(rows.at(q.list.head)) {
			rows.insertAfter(&q.list, ref, 0)
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
	late.rows.remove(&q.list, ref)
}

// peek returns the first or, with newest, the last row of a queue, from its list or its tree; 0 if it is empty.
func (q *queue) peek(late *treap, newest bool) uint32 {
	l := q.list.head
	if newest {
		l = q.list.tail
	}
	if q.root == 0 {
		return l
	}
	return late.rows.former(l, late.end(q.root, newest), newest)
}

// list is a doubly linked list of rows, by the links of a chains; 0 is no row.
type list struct{ head, tail uint32 }

// chains holds the links of lists of rows, of which a row may be in one. They lie beside the rows, since a row that
// joins or leaves a list changes those of its neighbours, whose rows are not read otherwise.
type chains struct{ links []link } // by row

type link struct{ prev, next uint32 } // neighbours of a row; 0: none

// reach makes room for the links of row ref.
func (x *chains) reach(ref uint32) {
	for int(ref) >= len(x.links) {
		x.links = append(x.links, link{})
	}
}

// insertAfter inserts row ref into list l behind the row that at links to, or at the front if at is 0.
func (x *chains) insertAfter(l *list, ref, at uint32) {
	links, next, prev := x.links, &l.head, &l.tail // the two links that will lead to the row
	if at != 0 {
		next = &links[at].next
	}
	if *next != 0 {
		prev = &links[*next].prev
	}
	links[ref] = link{at, *next}
	*next, *prev = ref, ref
}

// insertByKey inserts a job's row into list l in the order of row.key, searching from the back: O(1) when keys come in
// order, as expiries of leases of one length do.
func (x *chains) insertByKey(l *list, rows *rows, ref uint32, r *row) {
	at := l.tail
	for at != 0 && rows.at(at).key > r.key {
		at = x.links[at].prev
	}
	x.insertAfter(l, ref, at)
}

func (x *chains) remove(l *list, ref uint32) {
	links, next, prev := x.links, &l.head, &l.tail // the two links that lead to the row
	mine := links[ref]
	if mine.prev != 0 {
		next = &links[mine.prev].next
	}
	if mine.next != 0 {
		prev = &links[mine.next].prev
	}
	*next, *prev = mine.next, mine.prev
}
