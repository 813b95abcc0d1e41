package memstore

import (
	"time"

	"qsim/engine"
)

// row is the record of one job in memory: live, or dead and kept. It is in exactly one place at a time: a queue of its
// lane (ready), the waiting heap or the due list (waiting), the leased, the lapsed or the orphaned list (in flight),
// the dead list. It fills one cache line of 64 bytes; fields that only some jobs need lie beside the rows, see slab.
type row struct {
	id         engine.JobID
	enqueuedAt engine.Time
	dueAt      engine.Time     // time it became ready, or a waiting job will
	key        engine.Time     // ready key, if ready; in flight: expiry of the lease
	holder     engine.EngineID // holder of its lease; in other states the last one
	token      uint32          // fencing token in 32 bits: a job is claimed and recovered fewer than 2^32 times
	delivery   int32
	charged    int32
	failures   int32
	kind       engine.Kind
	lane       uint16
	state      engine.State
	place      place
	stand      engine.Place // waiting: place rule for when it is ready
	has        features
}

// features is a set of facts about a job, such as whether it is a retry and which fields it has beside its row.
type features uint8

const (
	isRetry    features = 1 << iota // its class is Retry: it has been in flight and come back; equal to engine.Retry
	reaped                          // in flight: a reaper holds it, or was the last to hold it
	hasHistory                      // it has an entry in Store.histories
	hasSerial                       // it has a serial key, in serials
	hasTenant                       // it has a tenant other than 0, in Store.tenantIDs
)

// history is the part of a job's row that only retried or recovered jobs have: its last delay, recoveries and snoozes.
type history struct {
	stoodAt     engine.Time // time it was last due, except by an outcome that let it keep its place
	recoveredAt engine.Time // time of the first recovery counted
	lastDelay   time.Duration
	recoveries  int32
	snoozes     int32
}

// place is the queue, tree or list that holds a job's row (record), where its state alone does not determine that.
type place uint8

const (
	inList    place = iota
	inLapsed        // in flight: its lease has lapsed
	inOrphans       // in flight: its lease record is lost
	inTree          // ready: in the tree of its queue, not the list
	inHeap          // waiting: not yet due
	inTransit       // waiting: taken to be inserted, in no structure

	inLeased = inList // in flight: by the expiry of its lease
)

// former returns which of two ready jobs' rows comes first by ready key or, with newest, last; either may be 0: none.
func (s *rows) former(a, b uint32, newest bool) uint32 {
	if a == 0 || b != 0 && s.at(b).before(s.at(a)) != newest {
		return b
	}
	return a
}

// class returns the priority class (fresh or retry) of a job's row: the one in which it is ready or was claimed.
func (r *row) class() engine.Class { return engine.Class(r.has & isRetry) }

const _ = -uint(isRetry ^ features(engine.Retry)) // compiles only if they are equal

// before reports whether a ready job's row comes before another of the same priority, by (ready key, ID).
func (r *row) before(o *row) bool {
	if r.key != o.key {
		return r.key < o.key
	}
	return r.id < o.id
}

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
	chunkMask = chunkSize - 1
)

// rows is a slab of jobs' rows with stable addresses: it grows by chunks and reuses freed rows. Row 0 is no job: the
// number 0 stands for none.
type rows struct {
	chains // of the lists that hold rows by their states
	chunks []*[chunkSize]row
	size   uint32
	free   uint32 // first of the free rows, linked by their links next; 0: none
}

func (s *rows) at(ref uint32) *row { return &s.chunks[ref>>chunkBits][ref&chunkMask] }

// alloc returns a zeroed row (the record of a new job) and its number; release frees it.
func (s *rows) alloc() (uint32, *row) {
	if ref := s.free; ref != 0 {
		s.free = s.links[ref].next
		return ref, s.at(ref)
	}
	ref := max(s.size, 1)
	if ref>>chunkBits == uint32(len(s.chunks)) {
		s.chunks = append(s.chunks, new([chunkSize]row))
	}
	s.size = ref + 1
	s.chains.reach(ref)
	return ref, s.at(ref)
}

// all yields the rows in use, in order of their numbers, but reads free ones, too. Meanwhile no row may be allocated or
// released.
func (s *rows) all(yield func(ref uint32, r *row) bool) {
	for ref := range s.size {
		if r := s.at(ref); r.state != engine.NoState && !yield(ref, r) {
			return
		}
	}
}

func (s *rows) release(ref uint32, r *row) {
	*r = row{}
	s.links[ref].next = s.free
	s.free = ref
}

// slab holds a T for each job that needs one, by the number of its row. It is allocated for a chunk of rows at a time.
type slab[T any] struct{ chunks []*[chunkSize]T }

// at returns the value in the slab for a job's row (record), which must have one: see reach.
func (s *slab[T]) at(ref uint32) *T { return &s.chunks[ref>>chunkBits][ref&chunkMask] }

// reach returns the value in the slab for a job's row, allocated if needed: zero, or as an earlier job there left it.
func (s *slab[T]) reach(ref uint32) *T {
	for int(ref>>chunkBits) >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	chunk := s.chunks[ref>>chunkBits]
	if chunk == nil {
		chunk = new([chunkSize]T)
		s.chunks[ref>>chunkBits] = chunk
	}
	return &chunk[ref&chunkMask]
}

// index is a hash table from job ID to row. Rows of equal hash are linked: three for each four hashes at most, since a
// row that is passed over is read from memory. The table doubles then, and halves when less than a quarter full.
type index struct {
	heads []uint32 // by hash, the first row; 0: none. Their number is a power of two
	next  []uint32 // by row, the next one of its hash; 0: none
	used  int
}

const smallestIndex = chunkSize

func (x *index) init() { x.heads = make([]uint32, smallestIndex) }

// head returns the link to the first row whose job ID has the hash of id: Fibonacci hashing (Knuth, The Art of Computer
// Programming 3, 6.4).
func (x *index) head(id engine.JobID) *uint32 {
	return &x.heads[uint64(id)*0x9E3779B97F4A7C15>>32*uint64(len(x.heads))>>32]
}

// find returns the row of the job with an ID; 0 if there is none.
func (x *index) find(s *rows, id engine.JobID) uint32 {
	ref := *x.head(id)
	for ref != 0 && s.at(ref).id != id {
		ref = x.next[ref]
	}
	return ref
}

// insert adds a job's row to the hash table of job IDs, and reports whether its ID is new: if not, it adds nothing.
func (x *index) insert(s *rows, id engine.JobID, ref uint32) bool {
	if x.find(s, id) != 0 {
		return false
	}
	if x.used++; x.used*4 > len(x.heads)*3 {
		x.resize(s, 2*len(x.heads))
	}
	x.link(id, ref)
	return true
}

func (x *index) link(id engine.JobID, ref uint32) {
	for int(ref) >= len(x.next) {
		x.next = append(x.next, 0)
	}
	head := x.head(id)
	x.next[ref], *head = *head, ref
}

func (x *index) remove(s *rows, id engine.JobID, ref uint32) {
	link := x.head(id)
	for *link != ref {
		link = &x.next[*link]
	}
	*link = x.next[ref]
	if x.used--; x.used*4 < len(x.heads) && len(x.heads) > smallestIndex {
		x.resize(s, len(x.heads)/2)
	}
}

// all yields the rows of all jobs in the hash table, in an order that depends on their IDs.
func (x *index) all(yield func(ref uint32) bool) {
	for _, ref := range x.heads {
		for ; ref != 0; ref = x.next[ref] {
			if !yield(ref) {
				return
			}
		}
	}
}

func (x *index) resize(s *rows, n int) {
	old := x.heads
	x.heads = make([]uint32, n)
	for _, ref := range old {
		for ref != 0 {
			next := x.next[ref]
			x.link(s.at(ref).id, ref)
			ref = next
		}
	}
}
