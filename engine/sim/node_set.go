package sim

import "math/bits"

// nodeSet is a bit set of nodes with a fast search for the next element, which skips 4096 absent nodes at a time.
type nodeSet struct {
	words []uint64 // bits of the nodes, 64 to a word
	some  []uint64 // bits of the words that are not 0, 64 to a word
}

func (s *nodeSet) init(nodes int) {
	s.words = make([]uint64, nodes/64+1)
	s.some = make([]uint64, len(s.words)/64+1)
}

// put adds a node to the set or, if in is false, removes it.
func (s *nodeSet) put(node int32, in bool) {
	w := &s.words[node/64]
	if *w>>(node%64)&1 != 0 == in {
		return
	}
	*w ^= 1 << (node % 64)
	if *w == 0 {
		s.some[node/4096] &^= 1 << (node / 64 % 64)
	} else {
		s.some[node/4096] |= 1 << (node / 64 % 64)
	}
}

// from returns the first node of the set with this number or a higher one; a negative number if there is none.
func (s *nodeSet) from(node int) int {
	i := node / 64
	if i >= len(s.words) {
		return -1
	}
	if w := s.words[i] >> (node % 64); w != 0 {
		return node + bits.TrailingZeros64(w)
	}
	i++
	k := i / 64
	if k >= len(s.some) {
		return -1
	}
	for v := s.some[k] >> (i % 64) << (i % 64); ; v = s.some[k] {
		if v != 0 {
			i = k*64 + bits.TrailingZeros64(v)
			return i*64 + bits.TrailingZeros64(s.words[i])
		}
		if k++; k == len(s.some) {
			return -1
		}
	}
}
