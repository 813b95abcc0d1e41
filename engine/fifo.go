package engine

// fifo is a queue in a ring. The zero fifo is empty.
type fifo[T any] struct {
	ring []T // a power of two long
	head int
	size int
}

func (q *fifo[T]) push(v T) {
	if q.size == len(q.ring) {
		grown := make([]T, max(16, 2*q.size))
		for i := range q.size {
			grown[i] = *q.at(i)
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = v
	q.size++
}

// at is the element that i others stand before, good until the next push.
func (q *fifo[T]) at(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// pop removes the first element; there must be one.
func (q *fifo[T]) pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return v
}

// heap is a binary min-heap.
type heap[T ordered[T]] []T

// ordered is a value with a total order.
type ordered[T any] interface{ before(T) bool }

var (
	_ ordered[queued]   = queued{}
	_ ordered[expiry]   = expiry{}
	_ ordered[slotTime] = slotTime{}
)

func (h *heap[T]) push(v T) {
	*h = append(*h, v)
	q, i := *h, len(*h)-1
	for i > 0 && v.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = v
}

// pop removes the first element; there must be one.
func (h *heap[T]) pop() T {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if c >= len(q) || !q[c].before(last) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if len(q) > 0 {
		q[i] = last
	}
	return top
}
