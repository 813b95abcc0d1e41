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
	failures   int32
	tenant     engine.TenantID
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
)

// history is the part of a job's row that only retried or recovered jobs have: its last delay, recoveries and so on.
type history struct {
	stoodAt     engine.Time // time it was last due, except by an outcome that let it keep its place
	recoveredAt engine.Time // time of the first recovery counted
	lastDelay   time.Duration
	recoveries  int32
	snoozes     int32
	refunds     int32 // number of claims that a limit on attempts does not count
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
	free   uint32       // first of the free rows, linked by their links next; 0: none
	latest engine.State // state of the row fetched last
}

// resident is the number of rows that stay in the processor's cache.
const resident = 4 * chunkSize

// fetch loads a row, if there is one with that number, into the processor's cache. Rows that a call is to change one
// after the other are fetched before, since the processor waits for them together then.
func (s *rows) fetch(ref uint32) {
	if ref < s.size {
		s.latest = s.at(ref).state
	}
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

// index is a hash table from job ID to row, with open addressing and linear probing. It doubles when three quarters
// full and halves when less than a quarter full. A slot holds half the hash of the ID and the row's number, so that few
// probes read other rows. It is built when a job is first looked up by its ID: the handles of leases save most
// look-ups, and an ID above all earlier ones of its series is new.
type index struct {
	slots  []uint64 // half of the hash << 32 | row; 0: empty. Their number is a power of two, or 0: not needed yet
	used   int
	latest [1 << seriesBits]engine.JobID // by series, which are IDs with the same upper bits, the highest ID so far
}

const (
	smallestIndex = chunkSize
	seriesBits    = 12 // a simulation numbers the jobs of each class in a series of its own
)

// need builds the hash table of the jobs in rows, unless it is there.
func (x *index) need(s *rows) {
	if x.slots == nil {
		x.slots = make([]uint64, smallestIndex)
		for ref, r := range s.all {
			x.insert(s, r.id, ref)
		}
	}
}

// add adds the row of a new job, and reports whether its ID is new: if not, it adds nothing.
func (x *index) add(s *rows, id engine.JobID, ref uint32) bool {
	if latest := &x.latest[id>>(64-seriesBits)]; id > *latest {
		*latest = id
	} else {
		x.need(s)
	}
	return x.slots == nil || x.insert(s, id, ref)
}

// half returns the upper half of a job ID's hash: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4).
func half(id engine.JobID) uint64 { return uint64(id) * 0x9E3779B97F4A7C15 >> 32 }

// home returns the slot (entry) of the hash table at which the search for an ID starts, given half of its hash.
func (x *index) home(half uint64) int { return int(half * uint64(len(x.slots)) >> 32) }

// after returns the slot behind slot i in the order of probes.
func (x *index) after(i int) int { return (i + 1) & (len(x.slots) - 1) }

// slot returns the entry of the hash table with a job ID, h being half its hash, or the empty one where a search ends.
func (x *index) slot(s *rows, id engine.JobID, h uint64) int {
	for i := x.home(h); ; i = x.after(i) {
		if v := x.slots[i]; v == 0 || v>>32 == h && s.at(uint32(v)).id == id {
			return i
		}
	}
}

func (x *index) find(s *rows, id engine.JobID) uint32 {
	x.need(s)
	return uint32(x.slots[x.slot(s, id, half(id))])
}

// insert adds a job's row to the hash table of job IDs, and reports whether its ID is new: if not, it adds nothing.
func (x *index) insert(s *rows, id engine.JobID, ref uint32) bool {
	if (x.used+1)*4 > len(x.slots)*3 {
		x.resize(2 * len(x.slots))
	}
	h := half(id)
	i := x.slot(s, id, h)
	if x.slots[i] != 0 {
		return false
	}
	x.used++
	x.slots[i] = h<<32 | uint64(ref)
	return true
}

// remove deletes a job from the hash table; it moves later entries of the probe sequence back instead of using
// tombstones.
func (x *index) remove(id engine.JobID, ref uint32) {
	slots, n := x.slots, len(x.slots)
	h := half(id)
	i := x.home(h)
	for slots[i] != h<<32|uint64(ref) {
		i = x.after(i)
	}
	for j := x.after(i); slots[j] != 0; j = x.after(j) {
		if fromHome := (j - x.home(slots[j]>>32)) & (n - 1); fromHome >= (j-i)&(n-1) {
			slots[i] = slots[j]
			i = j
		}
	}
	slots[i] = 0
	if x.used--; x.used*4 < n && n > smallestIndex {
		x.resize(n / 2)
	}
}

func (x *index) resize(n int) {
	old := x.slots
	x.slots = make([]uint64, n)
	for _, v := range old {
		if v == 0 {
			continue
		}
		i := x.home(v >> 32)
		for x.slots[i] != 0 {
			i = x.after(i)
		}
		x.slots[i] = v
	}
}
