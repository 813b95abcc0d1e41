package engine

// slotTime is the entry of the lease in a slot of the lease table in a heap, by time. It is void once the lease has
// another time: void entries are not searched for, but skipped when they reach the front. An entry of an earlier lease
// of the slot stands for the present one if that has the same time: whichever comes first.
type slotTime struct {
	at   Time
	slot Slot
}

// Before reports whether a is due before b: by time, then by slot.
func (a slotTime) Before(b slotTime) bool { return a.at < b.at || a.at == b.at && a.slot < b.slot }

// leaseQueues is one or more queues of held leases, to which they are added in the order of their times. A lease is in
// one of the queues, or in none. Its time lies beside the lease table, so that no lease is read to leave or to search.
type leaseQueues struct {
	queues  int      // number of queues
	entries []waiter // first those of the queues, then those of the leases, by slot
}

// waiter is an entry in a doubly linked list that is closed to a circle: the list of a queue, which begins and ends at
// the entry of that queue, or, of a lease in no queue, a list of one.
type waiter struct {
	at         Time
	prev, next int32
}

// addQueue adds an empty queue, to which its number refers, before any lease is added.
func (q *leaseQueues) addQueue() int {
	q.entries = append(q.entries, waiter{Never, int32(q.queues), int32(q.queues)})
	q.queues++
	return q.queues - 1
}

// add appends the lease in slot s of the lease table, which is in no queue, to queue number to, for the time at.
func (q *leaseQueues) add(to int, s Slot, at Time) {
	i := int(s) + q.queues
	for n := int32(len(q.entries)); int(n) <= i; n++ {
		q.entries = append(q.entries, waiter{Never, n, n})
	}
	entries := q.entries
	last := entries[to].prev
	entries[last].next, entries[to].prev = int32(i), int32(i)
	entries[i] = waiter{at, last, int32(to)}
}

// leave removes the lease in slot s of the lease table from its queue, if it is in any.
func (q *leaseQueues) leave(s Slot) {
	if i := int(s) + q.queues; i < len(q.entries) {
		x := &q.entries[i]
		q.entries[x.prev].next, q.entries[x.next].prev = x.next, x.prev
		x.prev, x.next = int32(i), int32(i)
	}
}

// first returns the slot of the lease at the front of a queue and its time; a negative slot and Never if it is empty.
func (q *leaseQueues) first(of int) (Slot, Time) {
	i := q.entries[of].next
	return Slot(int(i) - q.queues), q.entries[i].at
}
