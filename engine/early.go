package engine

// earlyHeap holds leases that a store has handed out before they are due, see
// StoreOptions.Held, in a binary heap by (due time, slot). What has left its slot
// stays in the heap until its time.
type earlyHeap []earlyLease

type earlyLease struct {
	dueAt Time
	slot  Slot
	token Token
}

func (a earlyLease) before(b earlyLease) bool {
	return a.dueAt < b.dueAt || a.dueAt == b.dueAt && a.slot < b.slot
}

func (h earlyHeap) next() Time {
	if len(h) == 0 {
		return Never
	}
	return h[0].dueAt
}

func (h *earlyHeap) push(l earlyLease) {
	*h = append(*h, l)
	q, i := *h, len(*h)-1
	for i > 0 && l.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = l
}

func (h *earlyHeap) pop() earlyLease {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if c >= len(q) || !q[c].before(last) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if len(q) > 0 {
		q[i] = last
	}
	return top
}

// hold keeps the lease in slot s, which is not due yet. It takes up no worker and no
// place among those claimed ahead, and is not in flight for a policy: it waits.
func (r *runner) hold(e *Engine, s Slot) {
	h := &e.leases.slots[s]
	h.phase, h.dueAt = early, e.now.Add(-h.lease.Waited)
	e.leases.inFlight[h.lease.Class()]--
	r.early.push(earlyLease{h.dueAt, s, h.lease.Token})
}

// isEarly reports whether l is still held for its time.
func (e *Engine) isEarly(l earlyLease) bool {
	h := &e.leases.slots[l.slot]
	return h.phase == early && h.dueAt == l.dueAt && h.lease.Token == l.token
}

// runDue places the leases whose time has come.
func (r *runner) runDue(e *Engine) {
	for r.early.next() <= e.now {
		if l := r.early.pop(); e.isEarly(l) {
			h := &e.leases.slots[l.slot]
			h.dueAt = Never
			e.leases.inFlight[h.lease.Class()]++
			r.place(e, l.slot)
		}
	}
}

// returnEarly hands back what is held for its time.
func (r *runner) returnEarly(e *Engine) {
	for len(r.early) > 0 {
		if l := r.early.pop(); e.isEarly(l) {
			h := e.leases.get(l.slot)
			e.leases.finish(h)
			e.commit.add(e, l.slot, e.outcome(&h.lease, Canceled, h.heldAt))
		}
	}
}
