package engine

import "slices"

// Slot is the index of a held lease in an engine's table: it identifies a running job between engine and driver.
type Slot int32

const noSlot Slot = -1

// phase is the stage of a lease that an engine holds: buffered, running, finished and so on.
type phase uint8

const (
	unheld    phase = iota
	scheduled       // claimed before it is due: waits in the node until then
	buffered        // claimed ahead: waits in the node for a worker
	running         // a handler runs
	timedOut        // timed out: the nack is with the committer, the handler still runs
	finished        // the handler returned: the outcome is with the committer
)

// heldLease is one slot of an engine's lease table: a lease with its stage, in two cache lines of 64 bytes.
type heldLease struct {
	lease   Lease
	phase   phase
	lost    bool // the token is no longer valid at the store
	settled bool // timedOut: the outcome has been committed
	heldAt  Time // time of the answer to the claim
}

// dueAt returns the due time of a scheduled job.
func (h *heldLease) dueAt() Time { return h.heldAt.Add(-h.lease.Waited) }

// leaseTable holds the leases of one engine, from claim to commit.
type leaseTable struct {
	slots      []heldLease
	beats      leaseQueues      // held leases by their next heartbeat, in one queue
	free       []Slot           // slots that hold no lease
	idle       int              // number of workers that run no job
	waiting    int              // number of buffered leases
	inFlight   [NumClasses]int  // buffered, running and timed out leases, by class (fresh, retry)
	committing [NumClasses]int  // finished leases whose outcome is not committed, by class
	byKey      map[LeaseKey]int // number of held leases by key; nil until holds is first called
}

// hold puts lease l into a free slot, which it returns with its content; the lease is buffered until a worker runs its
// job.
func (t *leaseTable) hold(l *Lease, now Time) (Slot, *heldLease) {
	if len(t.free) == 0 {
		if n := len(t.slots); n == cap(t.slots) {
			t.slots = slices.Grow(t.slots, n+1) // it doubles: append grows by a quarter, and copies more
		}
		t.slots = append(t.slots, heldLease{})
		t.free = append(t.free, Slot(len(t.slots)-1))
	}
	s := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	h := &t.slots[s]
	h.lease = *l
	h.phase, h.lost, h.settled = buffered, false, false
	h.heldAt = now
	t.inFlight[l.Class()]++
	if t.byKey != nil {
		t.byKey[l.Key()]++
	}
	return s, h
}

func (t *leaseTable) get(s Slot) *heldLease {
	h := &t.slots[s]
	if h.phase == unheld {
		panic("engine: slot is not held")
	}
	return h
}

// finish moves a lease whose handler has returned from the counts in flight to those committing.
func (t *leaseTable) finish(h *heldLease) {
	t.inFlight[h.lease.Class()]--
	h.phase = finished
	t.committing[h.lease.Class()]++
}

// release removes a lease from the table and frees its slot, in which no handler may run any more.
func (t *leaseTable) release(s Slot) {
	h := &t.slots[s]
	switch h.phase {
	case unheld:
		panic("engine: slot is not held")
	case scheduled:
	case finished:
		t.committing[h.lease.Class()]--
	default:
		t.inFlight[h.lease.Class()]--
	}
	h.phase = unheld
	t.beats.leave(s)
	t.free = append(t.free, s)
	if t.byKey == nil {
		return
	}
	if key := h.lease.Key(); t.byKey[key] > 1 {
		t.byKey[key]--
	} else {
		delete(t.byKey, key)
	}
}

// held returns the number of held leases.
func (t *leaseTable) held() int { return len(t.slots) - len(t.free) }

// holds reports whether a lease with that key is held. Most engines never call it: the first call makes the table keep
// an index from then on. An answer that comes twice may bring a lease twice.
func (t *leaseTable) holds(key LeaseKey) bool {
	if t.byKey == nil {
		t.byKey = make(map[LeaseKey]int, t.held())
		for s := range t.slots {
			if h := &t.slots[s]; h.phase != unheld {
				t.byKey[h.lease.Key()]++
			}
		}
	}
	return t.byKey[key] > 0
}
