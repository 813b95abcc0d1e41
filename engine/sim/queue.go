package sim

import (
	"slices"

	"qsim/engine"
	"qsim/engine/heap"
)

// rank is the kind of a pending event; of several events at one instant, those of lower rank come first.
type rank uint8

const (
	control      rank = iota // processes die, start, freeze, go on
	promotion                // waiting jobs become due
	request                  // a call reaches the store
	reply                    // an answer reaches a node
	finish                   // a handler returns
	arrival                  // a job is enqueued
	timer                    // an engine's deadline
	announcement             // nodes are woken for jobs that became ready before
)

// rankBits is the number of low bits of event.order, which hold the sequence number; the event's rank is above them.
const rankBits = 60

// event is a pending event of the simulation, of any kind, in 24 bytes.
type event struct {
	at    engine.Time
	order uint64 // rank in the highest bits, then sequence number
	ref   uint32 // index of a message, a run, a job to enqueue or a control, by rank
}

// Before reports whether event a comes before b: by time, rank and sequence.
func (a event) Before(b event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

// refBits is the number of low bits of a finish event's key that hold the index of its execution, with the event's
// sequence number above them. It bounds the size of a slab.
const refBits = 24

// runOf returns the number of the execution whose end has that key.
func runOf(key uint64) uint32 { return uint32(key & (1<<refBits - 1)) }

// queue holds the pending events, each kind in the cheapest structure: single times as scalars, calls, whose delays are
// mostly constant, in lists, ends of executions in a heap of their own, the deadline of every node in another, and rare
// or unordered events in a third. It is ordered by time, rank and sequence of pushes.
type queue struct {
	due      engine.Time // time at which a waiting job becomes ready; Never: none
	arrival  engine.Time // time of the next job; Never: no more
	requests calls
	replies  calls
	finishes heap.Radix[engine.Time]
	timers   timers
	others   heap.Heap[event]
	seq      uint64 // of the latest event pushed

	overtaken  bool // the first of others is the next event
	announcing int  // number of jobs for which an announcement is among others; 0: there is none
}

func (q *queue) init(nodes int) {
	q.due, q.arrival = engine.Never, engine.Never
	q.requests.first, q.replies.first = engine.Never, engine.Never
	q.finishes.Init()
	q.timers.init(nodes)
}

// usual returns the time of the next event that is neither a timer nor in others, the heap of rare events.
func (q *queue) usual() engine.Time {
	return min(q.due, q.requests.first, q.replies.first, q.finishes.First, q.arrival)
}

// next returns the next pending event, at Never if there is none; it has a ref if it is in others or a call.
func (q *queue) next() event {
	at := min(q.usual(), q.timers.first)
	if q.overtakes(at) {
		return q.others[0]
	}
	return q.frequent(at)
}

// overtakes reports whether the first of the rare events comes before the first of all others, whose time is at.
func (q *queue) overtakes(at engine.Time) bool {
	return len(q.others) > 0 && q.others[0].at <= at && q.others[0].Before(q.frequent(at))
}

// frequent returns the first event outside others, the heap of rare events; at is its time.
func (q *queue) frequent(at engine.Time) event {
	r, seq, ref := timer, uint64(1<<rankBits-1), uint32(0) // behind the one other event of its kind that there may be
	switch at {
	case q.due:
		r = promotion
	case q.requests.first:
		r, seq, ref = request, q.requests.head.seq, q.requests.head.ref
	case q.replies.first:
		r, seq, ref = reply, q.replies.head.seq, q.replies.head.ref
	case q.finishes.First:
		r = finish
	case q.arrival:
		r = arrival
	}
	return event{at, uint64(r)<<rankBits | seq, ref}
}

// push adds a pending event of any rank (kind), for index ref, to others, the heap of rare events.
func (q *queue) push(at engine.Time, r rank, ref uint32) {
	q.seq++
	q.others.Push(event{at, uint64(r)<<rankBits | q.seq, ref})
}

// pushFinish adds the end of execution ref to the pending events and returns the event's key, by which finish knows it.
func (q *queue) pushFinish(at engine.Time, ref uint32) uint64 {
	q.seq++
	key := q.seq<<refBits | uint64(ref)
	q.finishes.Push(at, key)
	return key
}

// pushNext adds a call or an answer to those on their way or, if it comes before the last of them, to others, the heap
// of rare events.
func (q *queue) pushNext(to *calls, at engine.Time, r rank, m *message) {
	switch {
	case to.head == nil:
		to.head, to.first = m, at
	case at < to.last.at:
		q.push(at, r, m.ref)
		return
	default:
		to.last.next = m
	}
	q.seq++
	m.at, m.seq, m.next, to.last = at, q.seq, nil, m
}

// calls is the list of calls on their way to the store, or of answers on their way back, in order of arrival.
type calls struct {
	first engine.Time // time at which the first call arrives; Never: there is none
	head  *message    // nil: the list is empty
	last  *message
}

// pop removes and returns the first call of the list, which must not be empty.
func (c *calls) pop() *message {
	m := c.head
	c.first, c.head = engine.Never, m.next
	if c.head != nil {
		c.first = c.head.at
	}
	return m
}

// timers holds the deadline of every node in a tournament tree (Knuth, The Art of Computer Programming 3, 5.4.1), so
// that moving a deadline leaves no stale entry behind.
type timers struct {
	first engine.Time // earliest deadline
	// tree holds, of n nodes, the deadline of node i at n+i, and at i in [1, n) the earlier of those at 2i and 2i+1: at 1
	// the earliest of all.
	tree []deadline
}

// deadline is the time at which a node has to act.
type deadline struct {
	at   engine.Time
	node int32
}

func (t *timers) init(nodes int) {
	t.tree = slices.Repeat([]deadline{{at: engine.Never}}, 2*nodes)
	for i := range nodes {
		t.set(int32(i), engine.Never)
	}
}

// soonest returns the node with the earliest deadline: of equal deadlines, that of the lower node is the earlier.
func (t *timers) soonest() int32 { return t.tree[1].node }

func (t *timers) set(node int32, at engine.Time) {
	tree, earliest := t.tree, deadline{at, node}
	for i := uint(len(tree)/2 + int(node)); i > 0; i /= 2 {
		tree[i] = earliest
		if d := tree[i^1]; d.at < earliest.at || d.at == earliest.at && d.node < earliest.node {
			earliest = d
		}
	}
	t.first = tree[1].at
}
