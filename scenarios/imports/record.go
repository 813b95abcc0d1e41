package imports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
)

// record is what one row says of a job or an attempt, in as few bytes as will do.
type record struct {
	key      key
	at       place
	sort     recordSort
	state    jobState
	class    uint16
	queue    uint16
	failure  uint16 // 0: none
	tenant   uint32
	node     uint32
	number   int32 // of the attempt, from 1; 0: not said
	most     int32 // attempts; 0: not said
	enqueued moment
	due      moment
	started  moment
	finished moment
	check    uint32 // of the whole row, to tell what stands there twice
}

// key is the identity of a job: a hash of its id, or the place of its row.
type key [16]byte

func keyOf(text string) (k key) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

// keyAt is that of a row without an id, which is a job of its own.
func keyAt(at place) (k key) {
	var b [5]byte
	b[0] = at.file
	binary.LittleEndian.PutUint32(b[1:], at.line)
	return keyOf(string(b[:]))
}

// hash is a number that chooses samples: uniform, and equal for equal keys and numbers.
func (k key) hash(n uint64) uint64 {
	x := binary.LittleEndian.Uint64(k[:8]) ^ (n+1)*0x9E3779B97F4A7C15
	// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// recordSort is what sort of row a record comes from.
type recordSort uint8

const (
	ofAttempt recordSort = iota + 1 // it is one attempt, or the last one of a job
	ofJob                           // a job, and how often it has failed
	ofStart                         // lines of a log
	ofEnd
	ofCause
)

// jobState is what a row says became of it.
type jobState uint8

const (
	stateUnknown jobState = iota
	stateDone
	stateDead
	stateWaiting // to be tried again, or not yet due
	stateReady
	stateRunning
	stateFailed // and more is not said
)

// states are the words for them.
var states = map[string]jobState{
	"done": stateDone, "completed": stateDone, "complete": stateDone, "success": stateDone, "succeeded": stateDone, "successful": stateDone, "ok": stateDone,
	"finished": stateDone, "processed": stateDone, "acked": stateDone, "6": stateDone,
	"dead": stateDead, "discarded": stateDead, "archived": stateDead, "buried": stateDead, "cancelled": stateDead, "canceled": stateDead, "exhausted": stateDead, "5": stateDead,
	"retry": stateWaiting, "retryable": stateWaiting, "scheduled": stateWaiting, "waiting": stateWaiting, "delayed": stateWaiting, "3": stateWaiting, "4": stateWaiting,
	"ready": stateReady, "available": stateReady, "pending": stateReady, "queued": stateReady, "enqueued": stateReady, "2": stateReady, "aggregating": stateReady, "7": stateReady,
	"running": stateRunning, "active": stateRunning, "inflight": stateRunning, "executing": stateRunning, "started": stateRunning, "processing": stateRunning, "1": stateRunning,
	"failed": stateFailed, "failure": stateFailed, "error": stateFailed, "errored": stateFailed, "fail": stateFailed,
}

const recordBytes = 16 + 5 + 2 + 6 + 8 + 8 + 32 + 4

func (r *record) encode(b []byte) {
	copy(b, r.key[:])
	b[16], b[17], b[18] = r.at.file, byte(r.sort), byte(r.state)
	o := binary.LittleEndian
	o.PutUint32(b[19:], r.at.line)
	o.PutUint16(b[23:], r.class)
	o.PutUint16(b[25:], r.queue)
	o.PutUint16(b[27:], r.failure)
	o.PutUint32(b[29:], r.tenant)
	o.PutUint32(b[33:], r.node)
	o.PutUint32(b[37:], uint32(r.number))
	o.PutUint32(b[41:], uint32(r.most))
	for i, m := range []moment{r.enqueued, r.due, r.started, r.finished} {
		o.PutUint64(b[45+8*i:], uint64(m))
	}
	o.PutUint32(b[77:], r.check)
}

func decodeRecord(b []byte) (r record) {
	copy(r.key[:], b)
	r.at.file, r.sort, r.state = b[16], recordSort(b[17]), jobState(b[18])
	o := binary.LittleEndian
	r.at.line = o.Uint32(b[19:])
	r.class, r.queue, r.failure = o.Uint16(b[23:]), o.Uint16(b[25:]), o.Uint16(b[27:])
	r.tenant, r.node = o.Uint32(b[29:]), o.Uint32(b[33:])
	r.number, r.most = int32(o.Uint32(b[37:])), int32(o.Uint32(b[41:]))
	for i, m := range []*moment{&r.enqueued, &r.due, &r.started, &r.finished} {
		*m = moment(o.Uint64(b[45+8*i:]))
	}
	r.check = o.Uint32(b[77:])
	return r
}

// compareRecords orders by job, then by attempt, by time and by place.
func compareRecords(a, b *record) int {
	if c := bytes.Compare(a.key[:], b.key[:]); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.when(), b.when()), cmp.Compare(a.sort, b.sort),
		cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.started, b.started), cmp.Compare(a.failure, b.failure))
}

// when is the first time that belongs to the attempt itself.
func (r *record) when() moment {
	if r.sort == ofEnd { // its start has a line of its own, with another rounding
		return r.finished
	}
	for _, m := range []moment{r.started, r.finished, r.due} {
		if m.known() {
			return m
		}
	}
	return r.enqueued
}
