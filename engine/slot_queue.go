package engine

// purpose is the event that leases in a queue await: a free worker, their next heartbeat or their execution timeout.
type purpose uint8

const (
	forWorker  purpose = iota // buffered leases
	forBeat                   // leases by their next heartbeat
	forTimeout                // running leases by their execution timeout: a queue for each length of it
	numPurposes
)

// slotQueue is a first-in-first-out queue of held leases, by slot. A lease that leaves it early is not searched for:
// its ticket, the number of its entry in the queue, is cleared, and the entry skipped when it reaches the front.
type slotQueue struct {
	of         purpose
	ring       []Slot // entries by number; its length is a power of two
	head, tail uint64 // number of the first entry, and of the next to come; ticket 0 is none
}

// init makes an empty queue for a purpose. Queues for one purpose have distinct numbers, in [0, 2^16), and number their
// entries from different starts, so that a lease's ticket from one of them is void in the others.
func (q *slotQueue) init(of purpose, number int) {
	first := uint64(number)<<48 + 1
	q.of, q.head, q.tail = of, first, first
}

// add appends the held lease h, in slot s of the lease table, to a queue of leases, in which the lease must not be yet.
func (q *slotQueue) add(t *leaseTable, s Slot, h *heldLease) {
	number := q.tail
	if number-q.head == uint64(len(q.ring)) {
		number = q.grow(t)
	}
	q.ring[number&uint64(len(q.ring)-1)] = s
	h.tickets[q.of] = number
	q.tail = number + 1
}

// first returns the slot and the lease at the front of a queue of leases (slotQueue); noSlot and nil if it is empty.
func (q *slotQueue) first(t *leaseTable) (Slot, *heldLease) {
	for ; q.head != q.tail; q.head++ {
		s := q.ring[q.head&uint64(len(q.ring)-1)]
		if h := &t.slots[s]; h.tickets[q.of] == q.head {
			return s, h
		}
	}
	return noSlot, nil
}

// leave removes a lease, if it is in it, from the queue for a purpose: free worker, heartbeat or timeout.
func (h *heldLease) leave(of purpose) { h.tickets[of] = 0 }

// grow makes room in a full queue of leases and returns the number of its next entry: it removes the entries of leases
// that have left, and doubles the ring unless those were more than seven eighths of it.
func (q *slotQueue) grow(t *leaseTable) (tail uint64) {
	to, mask := q.head, uint64(len(q.ring)-1)
	for from := q.head; from != q.tail; from++ {
		s := q.ring[from&mask]
		if h := &t.slots[s]; h.tickets[q.of] == from {
			q.ring[to&mask], h.tickets[q.of] = s, to
			to++
		}
	}
	if size := to - q.head; 8*size >= uint64(len(q.ring)) {
		grown := make([]Slot, max(16, 2*len(q.ring)))
		for i := q.head; i != to; i++ {
			grown[i&uint64(len(grown)-1)] = q.ring[i&mask]
		}
		q.ring = grown
	}
	return to
}
