package engine

// Slot names a lease held by an engine while it is held.
type Slot int32

const noSlot Slot = -1

// phase is how far an engine is with a lease it holds.
type phase uint8

const (
	unheld   phase = iota
	early          // claimed before it is due: waits in the node for that
	buffered       // claimed ahead: waits in the node for a worker
	running        // a handler runs
	overrun        // timed out: the nack is with the committer, the handler still runs
	finished       // the handler returned: the outcome is with the committer
)

// heldLease is one slot of the table.
type heldLease struct {
	lease    Lease
	phase    phase
	lost     bool // the store no longer honours the token
	settled  bool // overrun: the outcome has been committed
	timeouts uint8
	heldAt   Time // when the claim's answer came
	dueAt    Time // early: when it may run; running: when it times out
	beatAt   Time // next heartbeat
	queue    link // buffered: in line for a worker; running: in line to time out
	beats    link // in line for a heartbeat
	expiry   Time // with LeaseConfig.Local: when the lease expires, by the wall clock; else Never
	expires  link // in line to expire
}

type link struct{ prev, next Slot }

// leaseTable holds the leases of one engine, from claim to commit.
type leaseTable struct {
	slots      []heldLease
	free       []Slot
	held       int
	idle       int // workers not running a job
	waiting    int // buffered leases
	inFlight   [NumClasses]int
	committing [NumClasses]int
}

func (t *leaseTable) init(workers int) { t.idle = workers }

// hold takes a slot for l, which is buffered until a worker takes it.
func (t *leaseTable) hold(l *Lease, now Time) Slot {
	if len(t.free) == 0 {
		t.slots = append(t.slots, heldLease{})
		t.free = append(t.free, Slot(len(t.slots)-1))
	}
	s := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	h := &t.slots[s]
	h.lease = *l
	h.phase, h.lost, h.settled, h.timeouts = buffered, false, false, noTimeout
	h.heldAt, h.dueAt, h.beatAt = now, Never, Never
	h.queue, h.beats = link{noSlot, noSlot}, link{noSlot, noSlot}
	h.expiry, h.expires = Never, link{noSlot, noSlot}
	t.held++
	t.inFlight[l.Class()]++
	return s
}

func (t *leaseTable) get(s Slot) *heldLease {
	h := &t.slots[s]
	if h.phase == unheld {
		panic("engine: slot is not held")
	}
	return h
}

// finish moves a lease whose handler has returned from in flight to committing.
func (t *leaseTable) finish(h *heldLease) {
	if h.phase != early {
		t.inFlight[h.lease.Class()]--
	}
	h.phase = finished
	t.committing[h.lease.Class()]++
}

// release frees a slot whose handler does not run.
func (t *leaseTable) release(s Slot) {
	h := t.get(s)
	switch h.phase {
	case early:
	case finished:
		t.committing[h.lease.Class()]--
	default:
		t.inFlight[h.lease.Class()]--
	}
	t.held--
	h.phase = unheld
	t.free = append(t.free, s)
}

// find returns the slot that holds key, or noSlot. It looks at every slot.
func (t *leaseTable) find(key LeaseKey) Slot {
	for i := range t.slots {
		if h := &t.slots[i]; h.phase != unheld && h.lease.Key() == key {
			return Slot(i)
		}
	}
	return noSlot
}

// slotList is a list through one of the links of the slots, in the order of insertion.
type slotList struct {
	head, tail Slot
	through    linkName
}

// linkName is one of the links of heldLease.
type linkName uint8

const (
	queueLink linkName = iota
	beatLink
	expiryLink
)

func newSlotList(through linkName) slotList { return slotList{noSlot, noSlot, through} }

func (l *slotList) link(t *leaseTable, s Slot) *link {
	switch l.through {
	case beatLink:
		return &t.slots[s].beats
	case expiryLink:
		return &t.slots[s].expires
	}
	return &t.slots[s].queue
}

func (l *slotList) pushBack(t *leaseTable, s Slot) {
	*l.link(t, s) = link{l.tail, noSlot}
	if l.tail == noSlot {
		l.head = s
	} else {
		l.link(t, l.tail).next = s
	}
	l.tail = s
}

// insertAfter puts s behind the slot after; noSlot: at the front.
func (l *slotList) insertAfter(t *leaseTable, s, after Slot) {
	if after == l.tail {
		l.pushBack(t, s)
		return
	}
	next := l.head
	if after != noSlot {
		next = l.link(t, after).next
		l.link(t, after).next = s
	} else {
		l.head = s
	}
	*l.link(t, s) = link{after, next}
	l.link(t, next).prev = s
}

func (l *slotList) remove(t *leaseTable, s Slot) {
	at := l.link(t, s)
	if at.prev == noSlot {
		l.head = at.next
	} else {
		l.link(t, at.prev).next = at.next
	}
	if at.next == noSlot {
		l.tail = at.prev
	} else {
		l.link(t, at.next).prev = at.prev
	}
	*at = link{noSlot, noSlot}
}
