package memstore

import "qsim/engine"

// treap holds the links of any number of randomized search trees over rows, all in one order (Seidel, Aragon:
// Randomized Search Trees, Algorithmica 16, 1996). Its users keep the roots. The heap priority of a row is a hash of
// its job ID, so a tree's shape depends only on its rows. The links lie beside the rows: only stores that need the
// order have them.
type treap struct {
	rows    *rows
	tenants *tenants // state of the turns for sortByTurn
	sort    sort
	counts  bool // nodes store the number of rows below them
	nodes   slab[node]
}

// sort is the order that a treap (search tree) keeps the rows of ready jobs in; ties are broken by job ID.
type sort uint8

const (
	sortByKey  sort = iota // by ready key
	sortByDue              // by the time they became ready
	sortByAge              // by enqueue time
	sortByTurn             // by the turns of their tenants
	numSorts
)

// node holds the links of a row in its search tree. The children left and right are rows; 0: none.
type node struct {
	left, right uint32
	// of is, for sortByDue, the row of the subtree that comes first by (ready key, ID); in a treap
	// with counts, the number of rows in the subtree.
	of uint32
}

func rank(id engine.JobID) uint64 {
	h := (uint64(id) ^ uint64(id)>>29) * 0xBF58476D1CE4E5B9
	return h ^ h>>32
}

func (x *treap) before(a, b *row) bool {
	p, q := a.key, b.key
	switch x.sort {
	case sortByDue:
		p, q = a.dueAt, b.dueAt
	case sortByAge:
		p, q = a.enqueuedAt, b.enqueuedAt
	}
	if p != q {
		return p < q
	}
	return a.id < b.id
}

// less reports whether row r, with number ref, comes before row o, with number other, in the treap's order.
func (x *treap) less(ref uint32, r *row, other uint32, o *row) bool {
	if x.sort == sortByTurn {
		return x.tenants.ofRow(ref).turn < x.tenants.ofRow(other).turn
	}
	return x.before(r, o)
}

func (x *treap) rank(ref uint32) uint64 { return rank(x.rows.at(ref).id) }

func (x *treap) insert(root *uint32, ref uint32) {
	*x.nodes.reach(ref) = node{}
	x.update(ref)
	before, after := x.split(*root, ref, x.rows.at(ref))
	*root = x.merge(x.merge(before, ref), after)
}

// replace puts row with into a search tree in place of row *held, and stores it there. Either may be 0, for none.
func (x *treap) replace(root, held *uint32, with uint32) {
	if *held == with {
		return
	}
	if *held != 0 {
		x.remove(root, *held)
	}
	if *held = with; with != 0 {
		x.insert(root, with)
	}
}

// split divides a subtree into the rows that come before row ref and those after it, and returns their roots.
func (x *treap) split(at, ref uint32, r *row) (left, right uint32) {
	if at == 0 {
		return 0, 0
	}
	n := x.nodes.at(at)
	if x.less(ref, r, at, x.rows.at(at)) {
		left, n.left = x.split(n.left, ref, r)
		right = at
	} else {
		n.right, right = x.split(n.right, ref, r)
		left = at
	}
	x.update(at)
	return left, right
}

func (x *treap) remove(root *uint32, ref uint32) { *root = x.removed(*root, ref, x.rows.at(ref)) }

// removed removes a job's row, ref, from the subtree with root at, which contains it, and returns the new root.
func (x *treap) removed(at, ref uint32, r *row) uint32 {
	n := x.nodes.at(at)
	if at == ref {
		return x.merge(n.left, n.right)
	}
	if x.less(ref, r, at, x.rows.at(at)) {
		n.left = x.removed(n.left, ref, r)
	} else {
		n.right = x.removed(n.right, ref, r)
	}
	x.update(at)
	return at
}

// merge joins two search trees of jobs' rows and returns the root; all rows of left must come before all of right.
func (x *treap) merge(left, right uint32) uint32 {
	switch {
	case left == 0:
		return right
	case right == 0:
		return left
	}
	if x.rank(left) > x.rank(right) {
		n := x.nodes.at(left)
		n.right = x.merge(n.right, right)
		x.update(left)
		return left
	}
	n := x.nodes.at(right)
	n.left = x.merge(left, n.left)
	x.update(right)
	return right
}

// update recomputes what a search tree's node stores about its subtree, once that has changed: first row or size.
func (x *treap) update(at uint32) {
	switch n := x.nodes.at(at); {
	case x.counts:
		n.of = 1 + x.below(n.left) + x.below(n.right)
	case x.sort == sortByDue:
		n.of = x.rows.former(x.rows.former(at, x.below(n.left), false), x.below(n.right), false)
	}
}

// below returns what a search tree's node stores about its subtree, by the kind of tree its first row or its number of
// rows; 0 if there is no node.
func (x *treap) below(at uint32) uint32 {
	if at == 0 {
		return 0
	}
	return x.nodes.at(at).of
}

// end returns the first or, with last, the last row of a search tree of jobs; 0 if it is empty.
func (x *treap) end(root uint32, last bool) uint32 {
	at := uint32(0)
	for root != 0 {
		n := x.nodes.at(root)
		if at, root = root, n.left; last {
			root = n.right
		}
	}
	return at
}

// find returns the first row in a search tree of jobs, or with last the last one, that satisfies wanted; 0 if there
// is none. It calls wanted for all rows before that one.
func (x *treap) find(root uint32, last bool, wanted func(ref uint32) bool) uint32 {
	if root == 0 {
		return 0
	}
	near, far := x.nodes.at(root).left, x.nodes.at(root).right
	if last {
		near, far = far, near
	}
	if ref := x.find(near, last, wanted); ref != 0 {
		return ref
	}
	if wanted(root) {
		return root
	}
	return x.find(far, last, wanted)
}

// since returns, among the rows of jobs that became ready at from or later, the first by (ready key, ID), or 0. The
// treap's order must be sortByDue.
func (x *treap) since(root uint32, from engine.Time) uint32 {
	best := uint32(0)
	for root != 0 {
		n := x.nodes.at(root)
		if x.rows.at(root).dueAt < from {
			root = n.right
			continue
		}
		best = x.rows.former(x.rows.former(best, root, false), x.below(n.right), false)
		root = n.left
	}
	return best
}

// countBefore returns how many rows of a tree come before the job's row r, in a treap that counts rows, in O(log n).
func (x *treap) countBefore(root uint32, r *row) uint32 {
	before := uint32(0)
	for root != 0 {
		n := x.nodes.at(root)
		if x.before(x.rows.at(root), r) {
			before += 1 + x.below(n.left)
			root = n.right
		} else {
			root = n.left
		}
	}
	return before
}
