package memstore

import (
	"time"

	"qsim/engine"
)

// none is no row.
const none = ^uint32(0)

// row is one live job, or a dead one that is kept. It is in exactly one place at a
// time: a queue of its lane (ready), the waiting heap or the due list (waiting), the
// leased, the lapsed or the orphaned list (in flight), the dead list. prev and next
// serve whichever list or tree that is. What only some stores need lies beside the
// rows, see slab.
type row struct {
	id          engine.JobID
	token       engine.Token
	holder      engine.EngineID
	enqueuedAt  engine.Time
	dueAt       engine.Time // when it became ready, or a waiting job will
	stoodAt     engine.Time // when it was last due other than by an outcome that let it keep its place
	key         engine.Time // ready: its place in line; in flight: when the lease expires
	recoveredAt engine.Time // the first of the recoveries
	lastDelay   time.Duration
	prev, next  uint32
	stamp       uint32 // raised whenever the row leaves the waiting heap other than by the top
	delivery    int32
	charged     int32
	failures    int32
	recoveries  int32
	snoozes     int32
	tenant      engine.TenantID
	serial      uint32
	kind        engine.Kind
	priority    int16
	lane        uint16
	state       engine.State
	place       place
	stand       engine.Place // waiting: where it will be ready
	reaped      bool         // in flight: a reaper holds it, or was the last to
}

// place says which structure holds a row, beyond what its state says.
type place uint8

const (
	inList    place = iota
	inTree          // ready: the tree of its queue instead of the list
	inHeap          // waiting: not yet due
	inTransit       // waiting: taken out to be inserted, in no structure
	inLapsed        // in flight: taken from its holder
	inOrphans       // in flight: its lease record is lost
)

// class is as which class r stands in line, or was claimed.
func (r *row) class() engine.Class {
	if r.delivery == 0 || r.delivery == 1 && r.state == engine.InFlight {
		return engine.Fresh
	}
	return engine.Retry
}

// before orders rows of one priority by (key, id).
func (r *row) before(o *row) bool {
	if r.key != o.key {
		return r.key < o.key
	}
	return r.id < o.id
}

const chunkBits = 10

// rows is a slab of rows that never move: it grows by chunks and reuses freed rows.
type rows struct {
	chunks []*[1 << chunkBits]row
	size   uint32
	free   uint32 // first of the free rows, linked by next, plus 1; 0: none
}

func (s *rows) at(ref uint32) *row { return &s.chunks[ref>>chunkBits][ref&(1<<chunkBits-1)] }

// alloc returns a row that is zero but for its stamp.
func (s *rows) alloc() uint32 {
	if s.free != 0 {
		ref := s.free - 1
		s.free = s.at(ref).next
		s.at(ref).next = 0
		return ref
	}
	if s.size>>chunkBits == uint32(len(s.chunks)) {
		s.chunks = append(s.chunks, new([1 << chunkBits]row))
	}
	s.size++
	return s.size - 1
}

func (s *rows) release(ref uint32) {
	r := s.at(ref)
	*r = row{stamp: r.stamp + 1, next: s.free}
	s.free = ref + 1
}

// slab holds a T beside each row that has one. Rows that share a chunk get theirs
// together.
type slab[T any] struct{ chunks []*[1 << chunkBits]T }

// at returns the T of a row that has one.
func (s *slab[T]) at(ref uint32) *T { return &s.chunks[ref>>chunkBits][ref&(1<<chunkBits-1)] }

// reach makes sure that a row has one.
func (s *slab[T]) reach(ref uint32) *T {
	for int(ref>>chunkBits) >= len(s.chunks) {
		s.chunks = append(s.chunks, new([1 << chunkBits]T))
	}
	return s.at(ref)
}

// index finds rows by job ID: open addressing with linear probing, at most
// three quarters full, at least an eighth. A slot holds half the hash of the ID
// besides the row, so that few probes look at rows that are not the one.
type index struct {
	slots []uint64 // half the hash << 32 | row + 1; 0: empty
	used  int
}

const smallestIndex = 1 << chunkBits

func (x *index) init() { x.slots = make([]uint64, smallestIndex) }

// half is the half of an ID's hash that says where its probe starts: Fibonacci
// hashing (Knuth, The Art of Computer Programming 3, 6.4).
func half(id engine.JobID) uint64 { return uint64(id) * 0x9E3779B97F4A7C15 >> 32 }

// home is where the probe for a half starts.
func (x *index) home(half uint64) int { return int(half & uint64(len(x.slots)-1)) }

func (x *index) find(s *rows, id engine.JobID) uint32 {
	h := half(id)
	for i := x.home(h); ; i = (i + 1) & (len(x.slots) - 1) {
		v := x.slots[i]
		if v == 0 {
			return none
		}
		if v>>32 == h && s.at(uint32(v)-1).id == id {
			return uint32(v) - 1
		}
	}
}

func (x *index) insert(id engine.JobID, ref uint32) {
	if x.used++; x.used*4 > len(x.slots)*3 {
		x.resize(len(x.slots) * 2)
	}
	x.put(half(id)<<32 | uint64(ref+1))
}

func (x *index) put(v uint64) {
	i := x.home(v >> 32)
	for x.slots[i] != 0 {
		i = (i + 1) & (len(x.slots) - 1)
	}
	x.slots[i] = v
}

// remove deletes the row of id and moves later rows of its run back, so that no
// marker of deletion is needed.
func (x *index) remove(id engine.JobID, ref uint32) {
	mask := len(x.slots) - 1
	h := half(id)
	i := x.home(h)
	for v := h<<32 | uint64(ref+1); x.slots[i] != v; {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; x.slots[j] != 0; j = (j + 1) & mask {
		home := x.home(x.slots[j] >> 32)
		if (j-home)&mask >= (j-i)&mask {
			x.slots[i] = x.slots[j]
			i = j
		}
	}
	x.slots[i] = 0
	if x.used--; x.used*8 < len(x.slots) && len(x.slots) > smallestIndex {
		x.resize(len(x.slots) / 2)
	}
}

func (x *index) resize(n int) {
	old := x.slots
	x.slots = make([]uint64, n)
	for _, v := range old {
		if v != 0 {
			x.put(v)
		}
	}
}
