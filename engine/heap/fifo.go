package heap

// FIFO is a first-in-first-out queue in a ring buffer that grows. The zero FIFO is empty.
type FIFO[T any] struct {
	ring []T // its length is a power of two
	head int
	size int
}

// Size returns the number of values in the queue.
func (q *FIFO[T]) Size() int { return q.size }

// Push adds the value v at the end of the queue.
func (q *FIFO[T]) Push(v T) {
	if q.size == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.size)&(len(q.ring)-1)] = v
	q.size++
}

func (q *FIFO[T]) grow() {
	grown := make([]T, max(16, 2*q.size))
	for i := range q.size {
		grown[i] = *q.At(i)
	}
	q.ring, q.head = grown, 0
}

// At returns a pointer to the value at index i of the queue, 0 for the oldest; it is valid until the next push.
func (q *FIFO[T]) At(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// Pop removes and returns the oldest value of a queue that is not empty.
func (q *FIFO[T]) Pop() T {
	var none T
	v := q.ring[q.head]
	q.ring[q.head] = none // what was removed is not kept alive
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.size--
	return v
}
