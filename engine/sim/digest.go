package sim

import (
	"math/bits"
	"time"

	"qsim/engine"
)

// Digest is a fingerprint of a sequence of events: equal sequences have equal digests on any processor. It covers all
// fields of an engine.Event but Reaped and Aged, which follow from the events before it, and Freed and WaitsOut, which
// follow from the configuration.
type Digest uint64

// Add adds an event to the digest of those before it.
func (d *Digest) Add(e *engine.Event) {
	// Rotations, not shifts: of shifts the compiler makes one wide load, which must wait until the
	// narrow stores before it have left the store buffer.
	kinds := uint64(e.Kind) | bits.RotateLeft64(uint64(e.Class), 8) | bits.RotateLeft64(uint64(e.From), 16) |
		bits.RotateLeft64(uint64(e.Op), 24) | bits.RotateLeft64(uint64(e.Error), 32) |
		bits.RotateLeft64(uint64(e.JobKind), 48)
	who := uint64(uint32(e.Delivery)) | bits.RotateLeft64(uint64(uint32(e.Node)), 32)
	where := uint64(uint32(e.Slot)) | bits.RotateLeft64(uint64(uint32(e.Count)), 32)
	d.fold(firstWord(e.At, e.Waited, e.Age, e.Tenant), secondWord(e.Job, e.Delay, e.Ran, where),
		thirdWord(kinds, e.Token, e.Holder, who))
}

// fold mixes the three words of an event, each field rotated by an amount of its own, into the digest by a
// multiply-xorshift round each. The constants are those of Steele's SplitMix64 and of the golden ratio.
func (d *Digest) fold(a, b, c uint64) {
	h := (uint64(*d)^a)*0xbf58476d1ce4e5b9 ^ b*0x94d049bb133111eb ^ c*0x9e3779b97f4a7c15
	*d = Digest(h ^ h>>31)
}

// rotate rotates x left by k bits, as bits.RotateLeft64 does; but where x is a constant 0 the compiler leaves it out.
func rotate(x uint64, k int) uint64 { return x<<k | x>>(64-k) }

func firstWord(at engine.Time, waited, age time.Duration, tenant engine.TenantID) uint64 {
	return uint64(at) ^ rotate(uint64(waited), 23) ^ rotate(uint64(age), 47) ^ rotate(uint64(tenant), 13)
}

func secondWord(job engine.JobID, delay, ran time.Duration, where uint64) uint64 {
	return uint64(job) ^ rotate(uint64(delay), 19) ^ rotate(uint64(ran), 41) ^ rotate(where, 53)
}

func thirdWord(kinds uint64, token engine.Token, holder engine.EngineID, who uint64) uint64 {
	return kinds ^ rotate(uint64(token), 11) ^ rotate(uint64(holder), 29) ^ rotate(who, 37)
}

func kindsOf(l *engine.Lease, k engine.EventKind) uint64 {
	return uint64(k) | uint64(l.Class())<<8 | uint64(l.Kind)<<48
}

func whose(delivery, node int32) uint64 { return uint64(uint32(delivery)) | uint64(uint32(node))<<32 }
