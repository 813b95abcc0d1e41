package world

// bitmap is a set of numbers in pages of bits. Consecutive numbers share pages, so that a set of nearly all of them
// takes little more than a bit for each: arrivals are numbered in order, and a run may have hundreds of millions. Its
// zero value is empty.
type bitmap struct {
	pages map[uint64]*[pageWords]uint64
	last  *[pageWords]uint64 // page used last, with the number at
	at    uint64
}

const (
	pageBits  = 15 // pages of 4 KiB
	pageWords = 1 << pageBits / 64
)

func (b *bitmap) has(n uint64) bool {
	page := b.page(n>>pageBits, false)
	return page != nil && page[n%(1<<pageBits)/64]>>(n%64)&1 != 0
}

func (b *bitmap) add(n uint64) {
	b.page(n>>pageBits, true)[n%(1<<pageBits)/64] |= 1 << (n % 64)
}

// page returns the page (block of bits) of the given number: if it does not exist, nil or, with create set, a new one.
func (b *bitmap) page(number uint64, create bool) *[pageWords]uint64 {
	if b.last != nil && b.at == number {
		return b.last
	}
	page := b.pages[number]
	if page == nil {
		if !create {
			return nil
		}
		if b.pages == nil {
			b.pages = map[uint64]*[pageWords]uint64{}
		}
		page = new([pageWords]uint64)
		b.pages[number] = page
	}
	b.last, b.at = page, number
	return page
}
