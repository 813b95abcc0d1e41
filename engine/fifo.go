package engine

// fifo is a queue in a ring buffer that grows. The zero fifo is empty.
type fifo[T any] struct {
	ring []T // its length is a power of two
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

// at returns the element at index i of the queue, valid until the next push.
func (q *fifo[T]) at(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// pop removes the first element; there must be one.
func (q *fifo[T]) pop() T {
	v := q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return v
}
