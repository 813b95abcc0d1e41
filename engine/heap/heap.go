// Package heap has generic queues: a binary heap and a FIFO ring, for uses whose speed does not justify a special one,
// and a radix heap for times that are added in no order but never before the latest one removed.
package heap

// Before is the constraint on the values of a Heap: their method Before reports whether a value comes before another.
type Before[T any] interface{ Before(other T) bool }

// Heap is a priority queue whose first value is element 0. The zero Heap is empty. Equal values have no particular
// order.
type Heap[T Before[T]] []T

// Push adds the value v to the heap.
func (h *Heap[T]) Push(v T) {
	*h = append(*h, v)
	all, i := *h, len(*h)-1
	for i > 0 && v.Before(all[(i-1)/2]) {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = v
}

// Pop removes and returns the first value of a heap that is not empty.
func (h *Heap[T]) Pop() T {
	all := *h
	top, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	i := 0
	for {
		k := 2*i + 1
		if k+1 < len(all) && all[k+1].Before(all[k]) {
			k++
		}
		if k >= len(all) || !all[k].Before(last) {
			break
		}
		all[i] = all[k]
		i = k
	}
	if len(all) > 0 {
		all[i] = last
	}
	return top
}
