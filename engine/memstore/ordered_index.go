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

// node holds the links of a row in its search tree. The children left and right are row + 1; 0 is none.
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
	x.update(ref + 1)
	before, after := x.split(*root, ref, x.rows.at(ref))
	*root = x.merge(x.merge(before, ref+1), after)
}

// replace puts row with into a search tree in place of row *held, and stores it there. Rows are numbers + 1; 0 is none.
func (x *treap) replace(root, held *uint32, with uint32) {
	if *held == with {
		return
	}
	if *held != 0 {
		x.remove(root, *held-1)
	}
	if *held = with; with != 0 {
		x.insert(root, with-1)
	}
}

// split divides a subtree into the rows that come before row ref and those after it, and returns their roots.
func (x *treap) split(at, ref uint32, r *row) (left, right uint32) {
	if at == 0 {
		return 0, 0
	}
	n := x.nodes.at(at - 1)
	if x.less(ref, r, at-1, x.rows.at(at-1)) {
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
	n := x.nodes.at(at - 1)
	if at == ref+1 {
		return x.merge(n.left, n.right)
	}
	if x.less(ref, r, at-1, x.rows.at(at-1)) {
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
	if x.rank(left-1) > x.rank(right-1) {
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

// update recomputes what a search tree's node stores about its subtree, once that has changed: first row or size.
func (x *treap) update(at uint32) {
	switch n := x.nodes.at(at - 1); {
	case x.counts:
		n.of = 1 + x.below(n.left) + x.below(n.right)
	case x.sort == sortByDue:
		n.of = x.firstOf(x.firstOf(at, x.below(n.left)), x.below(n.right))
	}
}

// below returns what a search tree's node stores about its subtree, by the kind of tree its first row or its number of
// rows; 0 if there is no node.
func (x *treap) below(at uint32) uint32 {
	if at == 0 {
		return 0
	}
	return x.nodes.at(at - 1).of
}

// firstOf returns which of two rows of jobs comes first by (ready key, ID). Rows are numbers + 1; 0 is none.
func (x *treap) firstOf(a, b uint32) uint32 {
	if a == 0 || b != 0 && x.rows.at(b-1).before(x.rows.at(a-1)) {
		return b
	}
	return a
}

// end returns the first or, with last, the last row of a search tree of jobs, which must not be empty.
func (x *treap) end(root uint32, last bool) uint32 {
	for {
		n := x.nodes.at(root - 1)
		next := n.left
		if last {
			next = n.right
		}
		if next == 0 {
			return root - 1
		}
		root = next
	}
}

// find returns the first row in a search tree of jobs, or with last the last one, that satisfies wanted; none if there
// is none. It calls wanted for all rows before that one.
func (x *treap) find(root uint32, last bool, wanted func(ref uint32) bool) uint32 {
	if root == 0 {
		return none
	}
	near, far := x.nodes.at(root-1).left, x.nodes.at(root-1).right
	if last {
		near, far = far, near
	}
	if ref := x.find(near, last, wanted); ref != none {
		return ref
	}
	if wanted(root - 1) {
		return root - 1
	}
	return x.find(far, last, wanted)
}

// since returns, among the rows of jobs that became ready at from or later, the first by (ready key, ID), or none. The
// treap's order must be sortByDue.
func (x *treap) since(root uint32, from engine.Time) uint32 {
	best := uint32(0)
	for root != 0 {
		n := x.nodes.at(root - 1)
		if x.rows.at(root-1).dueAt < from {
			root = n.right
			continue
		}
		best = x.firstOf(x.firstOf(best, root), x.below(n.right))
		root = n.left
	}
	return best - 1
}

// countBefore returns how many rows of a tree come before the job's row r, in a treap that counts rows, in O(log n).
func (x *treap) countBefore(root uint32, r *row) uint32 {
	before := uint32(0)
	for root != 0 {
		n := x.nodes.at(root - 1)
		if x.before(x.rows.at(root-1), r) {
			before += 1 + x.below(n.left)
			root = n.right
		} else {
			root = n.left
		}
	}
	return before
}
