package world

// bitmap is a set of numbers in pages of bits, by the number of the page. Consecutive numbers share pages, so that a
// set of nearly all of them takes little more than a bit for each: arrivals are numbered in order, and a run may have
// hundreds of millions.
type bitmap map[uint64]*[pageWords]uint64

const (
	pageBits  = 15 // low bits of a number, its place in a page of 4 KiB
	pageWords = 1 << pageBits / 64
)

func (b bitmap) has(n uint64) bool {
	page := b[n>>pageBits]
	return page != nil && page[n%(1<<pageBits)/64]>>(n%64)&1 != 0
}

func (b bitmap) add(n uint64) {
	page := b[n>>pageBits]
	if page == nil {
		page = new([pageWords]uint64)
		b[n>>pageBits] = page
	}
	page[n%(1<<pageBits)/64] |= 1 << (n % 64)
}
