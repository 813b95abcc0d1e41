package sim

import "qsim/engine"

// rank orders what happens at one instant.
type rank uint8

const (
	control   rank = iota // processes die, start, freeze, go on
	promotion             // waiting jobs become due
	request               // a call reaches the store
	reply                 // an answer reaches a node
	finish                // a handler returns
	arrival               // a job is enqueued
	timer                 // an engine's deadline
)

// rankBits is where the rank stands in event.order.
const rankBits = 60

// event is something that happens at a known time: 24 bytes, by value.
type event struct {
	at    engine.Time
	order uint64 // rank, then sequence number
	ref   uint32 // a message, a run, a job to enqueue or a control, by rank
}

func (a *event) before(b *event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}

// queue holds events by (time, rank, sequence): those that come in order in a
// ring, as calls with constant delays do, the others in a binary min-heap.
type queue struct {
	heap []event
	ring []event // a power of two long
	head int
	size int // of the ring
	seq  uint64
}

// push adds an event and returns its order, which names it.
func (q *queue) push(at engine.Time, r rank, ref uint32) uint64 {
	q.seq++
	e := event{at, uint64(r)<<rankBits | q.seq, ref}
	q.rise(e)
	return e.order
}

// pushNext is push for events that mostly come in the order in which they happen.
func (q *queue) pushNext(at engine.Time, r rank, ref uint32) {
	q.seq++
	e := event{at, uint64(r)<<rankBits | q.seq, ref}
	if q.size > 0 && e.before(&q.ring[(q.head+q.size-1)&(len(q.ring)-1)]) {
		q.rise(e)
		return
	}
	if q.size == len(q.ring) {
		grown := make([]event, max(64, 2*q.size))
		for i := range q.size {
			grown[i] = q.ring[(q.head+i)&(q.size-1)]
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = e
	q.size++
}

func (q *queue) rise(e event) {
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(&q.heap[p]) {
			break
		}
		q.heap[i] = q.heap[p]
		i = p
	}
	q.heap[i] = e
}

// first is the next event, or nil; it stays good until the queue changes.
func (q *queue) first() *event {
	if q.size == 0 {
		if len(q.heap) == 0 {
			return nil
		}
		return &q.heap[0]
	}
	e := &q.ring[q.head]
	if len(q.heap) > 0 && q.heap[0].before(e) {
		return &q.heap[0]
	}
	return e
}

// pop removes the next event; there must be one.
func (q *queue) pop() event {
	if q.size > 0 {
		if e := q.ring[q.head]; len(q.heap) == 0 || e.before(&q.heap[0]) {
			q.head = (q.head + 1) & (len(q.ring) - 1)
			q.size--
			return e
		}
	}
	return q.sink()
}

// sink removes the top of the heap: the hole sinks to a leaf, then the last event
// rises from there, where it came from.
func (q *queue) sink() event {
	top := q.heap[0]
	n := len(q.heap) - 1
	last := q.heap[n]
	q.heap = q.heap[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && q.heap[c+1].before(&q.heap[c]) {
			c++
		}
		q.heap[i] = q.heap[c]
		i = c
	}
	for i > 0 {
		p := (i - 1) / 2
		if !last.before(&q.heap[p]) {
			break
		}
		q.heap[i] = q.heap[p]
		i = p
	}
	q.heap[i] = last
	return top
}

// timers keeps the deadline of every node in an indexed binary heap, so that a
// deadline that moves leaves nothing behind.
type timers struct {
	at    []engine.Time // by node
	heap  []int32       // nodes by (deadline, node)
	where []int32       // position in heap, by node
}

func (t *timers) init(nodes int) {
	t.at, t.heap, t.where = make([]engine.Time, nodes), make([]int32, nodes), make([]int32, nodes)
	for i := range nodes {
		t.at[i], t.heap[i], t.where[i] = engine.Never, int32(i), int32(i)
	}
}

func (t *timers) before(a, b int32) bool {
	if t.at[a] != t.at[b] {
		return t.at[a] < t.at[b]
	}
	return a < b
}

// first is the earliest deadline of all nodes, and whose it is.
func (t *timers) first() (engine.Time, int32) { return t.at[t.heap[0]], t.heap[0] }

func (t *timers) set(node int32, at engine.Time) {
	old := t.at[node]
	if t.at[node] = at; at == old || len(t.heap) == 1 {
		return
	}
	i := int(t.where[node])
	for i > 0 && t.before(node, t.heap[(i-1)/2]) {
		t.put(i, t.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	for {
		c := 2*i + 1
		if c >= len(t.heap) {
			break
		}
		if c+1 < len(t.heap) && t.before(t.heap[c+1], t.heap[c]) {
			c++
		}
		if t.before(node, t.heap[c]) {
			break
		}
		t.put(i, t.heap[c])
		i = c
	}
	t.put(i, node)
}

func (t *timers) put(i int, node int32) {
	t.heap[i] = node
	t.where[node] = int32(i)
}
