package world

// early is what a heap can hold.
type early[T any] interface {
	*T
	before(other *T) bool
}

// heap keeps values and gives back the first of them. Its zero value is empty.
type heap[T any, P early[T]] []T

func (h *heap[T, P]) push(v T) {
	*h = append(*h, v)
	all, i := *h, len(*h)-1
	for i > 0 && P(&v).before(&all[(i-1)/2]) {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = v
}

// pop takes the first out of a heap that is not empty.
func (h *heap[T, P]) pop() T {
	all := *h
	top, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	i := 0
	for {
		k := 2*i + 1
		if k+1 < len(all) && P(&all[k+1]).before(&all[k]) {
			k++
		}
		if k >= len(all) || !P(&all[k]).before(&last) {
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
