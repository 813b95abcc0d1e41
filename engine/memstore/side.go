package memstore

import "qsim/engine"

// side keeps the ready rows that may be claimed in treaps of an order other than that of
// the queues. Its links lie beside the rows, so that only stores that are asked for the
// order have them.
type side struct {
	rows  *rows
	order sideOrder
	nodes slab[sideNode]
	roots [][engine.NumClasses]uint32 // by lane; none for an order whose trees are elsewhere
}

type sideOrder uint8

const (
	sideByDue sideOrder = iota // by (due time, job ID)
	sideByAge                  // by (enqueue time, job ID)
	sideByKey                  // by (ready key, job ID)
)

// sideNode is a row in its tree: links are row + 1, 0 is none.
type sideNode struct {
	left, right uint32
	first       uint32 // sideByDue: the row of the subtree that comes first by (ready key, ID)
}

// newSide returns the order of the ready rows that may be claimed now.
func (s *Store) newSide(o sideOrder) *side {
	x := &side{rows: &s.rows, order: o}
	s.eachReady(func(ref uint32, r *row) { x.join(ref, r, r.class()) })
	return x
}

// eachReady visits the ready rows that may be claimed, in no order that means anything
// but always the same one.
func (s *Store) eachReady(visit func(ref uint32, r *row)) {
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.state == engine.Ready && (r.serial == 0 || !s.serials.isBehind(ref)) {
			visit(ref, r)
		}
	}
}

func (x *side) join(ref uint32, r *row, c engine.Class) {
	for int(r.lane) >= len(x.roots) {
		x.roots = append(x.roots, [engine.NumClasses]uint32{})
	}
	x.insert(&x.roots[r.lane][c], ref)
}

func (x *side) leave(ref uint32, r *row, c engine.Class) { x.remove(&x.roots[r.lane][c], ref) }

// root is the tree of a lane and class: 0 if it is empty.
func (x *side) root(lane uint16, c int) uint32 {
	if int(lane) >= len(x.roots) {
		return 0
	}
	return x.roots[lane][c]
}

func (x *side) before(a, b *row) bool {
	p, q := a.key, b.key
	switch x.order {
	case sideByDue:
		p, q = a.dueAt, b.dueAt
	case sideByAge:
		p, q = a.enqueuedAt, b.enqueuedAt
	}
	if p != q {
		return p < q
	}
	return a.id < b.id
}

func (x *side) insert(root *uint32, ref uint32) {
	*x.nodes.reach(ref) = sideNode{}
	r := x.rows.at(ref)
	*root = x.inserted(*root, ref, r, rank(r.id))
}

// inserted returns the subtree at with ref in it.
func (x *side) inserted(at, ref uint32, r *row, mine uint64) uint32 {
	if at == 0 {
		x.update(ref + 1)
		return ref + 1
	}
	here, n := x.rows.at(at-1), x.nodes.at(at-1)
	if rank(here.id) <= mine {
		mineNode := x.nodes.at(ref)
		mineNode.left, mineNode.right = x.split(at, r)
		x.update(ref + 1)
		return ref + 1
	}
	if x.before(r, here) {
		n.left = x.inserted(n.left, ref, r, mine)
	} else {
		n.right = x.inserted(n.right, ref, r, mine)
	}
	x.update(at)
	return at
}

// split divides a subtree into what comes before r and what comes after it.
func (x *side) split(at uint32, r *row) (left, right uint32) {
	if at == 0 {
		return 0, 0
	}
	n := x.nodes.at(at - 1)
	if x.before(r, x.rows.at(at-1)) {
		left, n.left = x.split(n.left, r)
		right = at
	} else {
		n.right, right = x.split(n.right, r)
		left = at
	}
	x.update(at)
	return left, right
}

func (x *side) remove(root *uint32, ref uint32) { *root = x.removed(*root, ref, x.rows.at(ref)) }

// removed returns the subtree at without ref, which is in it.
func (x *side) removed(at, ref uint32, r *row) uint32 {
	n := x.nodes.at(at - 1)
	if at == ref+1 {
		return x.merge(n.left, n.right)
	}
	if x.before(r, x.rows.at(at-1)) {
		n.left = x.removed(n.left, ref, r)
	} else {
		n.right = x.removed(n.right, ref, r)
	}
	x.update(at)
	return at
}

// merge joins two trees of which all of left comes before all of right.
func (x *side) merge(left, right uint32) uint32 {
	switch {
	case left == 0:
		return right
	case right == 0:
		return left
	}
	if rank(x.rows.at(left-1).id) > rank(x.rows.at(right-1).id) {
		n := x.nodes.at(left - 1)
		n.right = x.merge(n.right, right)
		x.update(left)
		return left
	}
	n := x.nodes.at(right - 1)
	n.left = x.merge(left, n.left)
	x.update(right)
	return right
}

// update works out what the node at knows of its subtree.
func (x *side) update(at uint32) {
	if x.order != sideByDue {
		return
	}
	n := x.nodes.at(at - 1)
	n.first = at
	for _, child := range [...]uint32{n.left, n.right} {
		if child != 0 {
			n.first = x.firstOf(n.first, x.nodes.at(child-1).first)
		}
	}
}

// firstOf returns which of two rows comes first by (ready key, ID); 0 is none.
func (x *side) firstOf(a, b uint32) uint32 {
	if a == 0 || b != 0 && x.rows.at(b-1).before(x.rows.at(a-1)) {
		return b
	}
	return a
}

// end returns the first or the last row of a tree that is not empty.
func (x *side) end(root uint32, last bool) uint32 {
	at := root
	for {
		n := x.nodes.at(at - 1)
		next := n.left
		if last {
			next = n.right
		}
		if next == 0 {
			return at - 1
		}
		at = next
	}
}

// since returns, of the rows of a tree that became ready at from or later, the one that
// comes first by (ready key, ID); none if there is none. The order is sideByDue.
func (x *side) since(root uint32, from engine.Time) uint32 {
	best, at := uint32(0), root
	for at != 0 {
		n := x.nodes.at(at - 1)
		if x.rows.at(at-1).dueAt < from {
			at = n.right
			continue
		}
		best = x.firstOf(best, at)
		if n.right != 0 {
			best = x.firstOf(best, x.nodes.at(n.right-1).first)
		}
		at = n.left
	}
	return best - 1
}
