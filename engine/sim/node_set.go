package sim

import "math/bits"

// nodeSet is a bit set of nodes with a fast search for the next element. The words of level 0 have a bit for each node,
// those of each further level one for each word of the level below, set if any bit of that word is.
type nodeSet [][]uint64

func (s *nodeSet) init(nodes int) {
	for words := nodes; len(*s) == 0 || words > 1; {
		words = words/64 + 1 // room for one more, so that the one behind the last can be looked for
		*s = append(*s, make([]uint64, words))
	}
}

// put adds a node to the set or, if in is false, removes it.
func (s nodeSet) put(node int32, in bool) {
	for _, words := range s {
		w := &words[node/64]
		if *w>>(node%64)&1 != 0 == in {
			return
		}
		*w ^= 1 << (node % 64)
		if !in && *w != 0 {
			return // the word has other nodes
		}
		node /= 64
	}
}

// from returns the first node of the set with this number or a higher one; a negative number if there is none.
func (s nodeSet) from(node int) int {
	for level, words := range s {
		if w := words[node/64] >> (node % 64); w != 0 {
			node += bits.TrailingZeros64(w)
			for level--; level >= 0; level-- {
				node = node*64 + bits.TrailingZeros64(s[level][node])
			}
			return node
		}
		node = node/64 + 1
	}
	return -1
}
