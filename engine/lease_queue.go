package engine

// purpose names a wait of a lease held by an engine: for a worker, its due time, heartbeat, timeout or expiry.
type purpose uint8

const (
	forWorker  purpose = iota // buffered leases, by a number in place of a time: many may join at one instant
	forDue                    // leases claimed before they are due
	forBeat                   // leases by their next heartbeat
	forTimeout                // running leases by their execution timeout: a queue for each length of it
	forExpiry                 // leases by their expiry by the node's own wall clock
	numPurposes
)

// nothing holds the due times of a lease that waits for nothing.
var nothing = [numPurposes]Time{Never, Never, Never, Never, Never}

// slotTime is the entry of the lease in a slot of the lease table in a queue or a heap, by time. It is void once the
// lease has another time for that purpose: void entries are not searched for, but skipped when they reach the front. An
// entry of an earlier lease of the slot stands for the present one if that has the same time: whichever comes first.
type slotTime struct {
	at   Time
	slot Slot
}

// Before reports whether a is due before b: by time, then by slot.
func (a slotTime) Before(b slotTime) bool { return a.at < b.at || a.at == b.at && a.slot < b.slot }

// leaseQueue is a queue of held leases for a purpose, to which they are added in the order of their times.
type leaseQueue struct {
	of         purpose
	ring       []slotTime // its length is a power of two
	head, tail uint64     // number of the first entry, and of the next to come
}

// add appends the held lease h, in slot s of the lease table, to a queue of leases, for the time at.
func (q *leaseQueue) add(t *leaseTable, s Slot, h *heldLease, at Time) {
	if q.tail-q.head == uint64(len(q.ring)) {
		q.tidy(t)
	}
	q.ring[q.tail&uint64(len(q.ring)-1)] = slotTime{at, s}
	q.tail++
	h.due[q.of] = at
}

// first returns the slot and the lease at the front of a queue of leases; noSlot and nil if it is empty.
func (q *leaseQueue) first(t *leaseTable) (Slot, *heldLease) {
	for ; q.head != q.tail; q.head++ {
		d := &q.ring[q.head&uint64(len(q.ring)-1)]
		if h := &t.slots[d.slot]; h.due[q.of] == d.at {
			return d.slot, h
		}
	}
	return noSlot, nil
}

// tidy makes room in a full queue of leases: it removes the void entries, and doubles the ring unless those were more
// than seven eighths of it.
func (q *leaseQueue) tidy(t *leaseTable) {
	to, mask := q.head, uint64(len(q.ring)-1)
	for from := q.head; from != q.tail; from++ {
		if d := q.ring[from&mask]; t.slots[d.slot].due[q.of] == d.at {
			q.ring[to&mask] = d
			to++
		}
	}
	q.tail = to
	if size := to - q.head; 8*size >= uint64(len(q.ring)) {
		grown := make([]slotTime, max(16, 2*len(q.ring)))
		for i := q.head; i != to; i++ {
			grown[i&uint64(len(grown)-1)] = q.ring[i&mask]
		}
		q.ring = grown
	}
}

// leave removes a lease, if it is in it, from the queue for a purpose.
func (h *heldLease) leave(of purpose) { h.due[of] = Never }
