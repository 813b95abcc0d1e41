package sim_test

import (
	"math/bits"
	"syscall"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
)

// bareLoop simulates the life of every job of retry-storm in one loop over flat slices, without layers: no engine, no
// store, no network, no policy, no recorder. It draws the same kinds of numbers by the same keys, leases jobs first
// in, first out, under tokens and expiring leases, checks outcomes by token, delays failures by their backoff, and
// records waits and run times. The cost of the simulator is stated as a multiple of its cost.
type bareLoop struct {
	rand     keyed.Rand
	now      engine.Time
	rows     []bareRow
	free     []uint32
	ready    bareQueue
	waiting  bareHeap // waiting jobs by due time
	running  bareHeap // running jobs by the end of their executions
	leases   bareQueue
	idle     int
	arrivals [2]engine.Time
	count    [2]uint64

	gap, service [2]dist.Dist
	waits, lives [1 << 11]uint32 // log-linear histograms
	jobs         int64
	deliveries   int64
	acked, dead  int64
	fenced       int64
	lapsed       int64
	digest       uint64
}

type bareRow struct {
	id         uint64
	enqueuedAt engine.Time
	dueAt      engine.Time
	expiresAt  engine.Time
	token      uint32
	delivery   int32
	failures   int32
	class      uint8
	leased     bool
	fails      bool
}

// bareEvent is a time and its subject: a sequence number in the high bits, a row in the low ones.
type bareEvent struct {
	at  engine.Time
	key uint64
}

const (
	bareRowBits = 24
	bareTTL     = 30 * time.Second
	bareEnd     = engine.Time(30 * time.Minute)
	bareDown    = engine.Time(10 * time.Minute)
	bareUp      = engine.Time(15 * time.Minute)
	bareMax     = 8 // attempts
)

// bareHeap is a binary min-heap of events.
type bareHeap struct {
	h   []bareEvent
	seq uint64
}

func (q *bareHeap) push(at engine.Time, ref uint32) {
	q.seq++
	e := bareEvent{at, q.seq<<bareRowBits | uint64(ref)}
	q.h = append(q.h, e)
	i := len(q.h) - 1
	for p := (i - 1) / 2; i > 0 && (e.at < q.h[p].at || e.at == q.h[p].at && e.key < q.h[p].key); p = (i - 1) / 2 {
		q.h[i] = q.h[p]
		i = p
	}
	q.h[i] = e
}

func (q *bareHeap) first() engine.Time {
	if len(q.h) == 0 {
		return engine.Never
	}
	return q.h[0].at
}

func (q *bareHeap) pop() uint32 {
	h := q.h
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	q.h = h
	i := 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && (h[c+1].at < h[c].at || h[c+1].at == h[c].at && h[c+1].key < h[c].key) {
			c++
		}
		if last.at < h[c].at || last.at == h[c].at && last.key < h[c].key {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = last
	}
	return uint32(top.key & (1<<bareRowBits - 1))
}

// bareQueue is a ring of (time, token, row).
type bareQueue struct {
	ring       []bareEvent
	head, tail uint32
}

func (q *bareQueue) push(at engine.Time, token, ref uint32) {
	if q.tail-q.head == uint32(len(q.ring)) {
		grown := make([]bareEvent, max(1024, 2*len(q.ring)))
		n := uint32(0)
		for ; q.head != q.tail; q.head++ {
			grown[n] = q.ring[q.head&uint32(len(q.ring)-1)]
			n++
		}
		q.ring, q.head, q.tail = grown, 0, n
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = bareEvent{at, uint64(token)<<32 | uint64(ref)}
	q.tail++
}

func (q *bareQueue) empty() bool      { return q.head == q.tail }
func (q *bareQueue) peek() *bareEvent { return &q.ring[q.head&uint32(len(q.ring)-1)] }

func must2(d dist.Dist, err error) dist.Dist {
	if err != nil {
		panic(err)
	}
	return d
}

func newBareLoop(seed uint64) *bareLoop {
	b := &bareLoop{rand: keyed.Rand{Seed: seed}, idle: 100}
	b.gap = [2]dist.Dist{must2(dist.Exponential(1.0 / 72)), must2(dist.Exponential(1.0 / 28))}
	b.service = [2]dist.Dist{must2(dist.LogNormalQuantiles(0.4, 1.5)), must2(dist.Exponential(1))}
	for class := range b.arrivals {
		b.nextArrival(uint8(class))
	}
	return b
}

func (b *bareLoop) nextArrival(class uint8) {
	b.count[class]++
	u := b.rand.Uniform(keyed.ForArrival, uint64(class), b.count[class], 0)
	if b.arrivals[class] = b.arrivals[class].Add(b.gap[class].Duration(u)); b.arrivals[class] >= bareEnd {
		b.arrivals[class] = engine.Never
	}
}

func (b *bareLoop) run() {
	for {
		class := uint8(0)
		if b.arrivals[1] < b.arrivals[0] {
			class = 1
		}
		arrival, due, end := b.arrivals[class], b.waiting.first(), b.running.first()
		switch at := min(arrival, due, end); {
		case at == engine.Never:
			return
		case at == due:
			b.now = at
			b.makeReady(b.waiting.pop())
		case at == end:
			b.now = at
			b.finish(b.running.pop())
		default:
			b.now = at
			b.enqueue(class)
		}
		b.claim()
	}
}

func (b *bareLoop) note(kind uint64, r *bareRow) {
	h := (b.digest^uint64(b.now))*0xbf58476d1ce4e5b9 ^ (r.id+kind)*0x94d049bb133111eb ^ (uint64(r.token)<<32|uint64(uint32(r.delivery)))*0x9e3779b97f4a7c15
	b.digest = h ^ h>>31
}

// count adds a duration to a histogram of 32 buckets an octave.
func count(h *[1 << 11]uint32, d engine.Time) {
	v := uint64(d) | 32
	shift := 58 - bits.LeadingZeros64(v)
	h[(shift<<5+int(v>>shift))&(1<<11-1)]++
}

func (b *bareLoop) enqueue(class uint8) {
	var ref uint32
	if n := len(b.free); n > 0 {
		ref, b.free = b.free[n-1], b.free[:n-1]
	} else {
		b.rows = append(b.rows, bareRow{})
		ref = uint32(len(b.rows) - 1)
	}
	r := &b.rows[ref]
	*r = bareRow{id: uint64(class)<<32 | b.count[class], class: class, enqueuedAt: b.now, token: r.token}
	b.jobs++
	b.note(1, r)
	b.nextArrival(class)
	b.makeReady(ref)
}

func (b *bareLoop) makeReady(ref uint32) {
	b.rows[ref].dueAt = b.now
	b.ready.push(b.now, 0, ref)
}

// claim leases ready jobs to idle workers and recovers expired leases.
func (b *bareLoop) claim() {
	for !b.leases.empty() && b.leases.peek().at <= b.now {
		e := *b.leases.peek()
		b.leases.head++
		if r := &b.rows[uint32(e.key)]; r.leased && uint64(r.token) == e.key>>32 {
			b.lapsed++
			r.token++
			r.leased = false
			b.makeReady(uint32(e.key))
		}
	}
	for ; b.idle > 0 && !b.ready.empty(); b.idle-- {
		ref := uint32(b.ready.peek().key)
		b.ready.head++
		r := &b.rows[ref]
		r.token++
		r.delivery++
		r.leased, r.expiresAt = true, b.now.Add(bareTTL)
		b.deliveries++
		b.leases.push(r.expiresAt, r.token, ref)
		count(&b.waits, b.now-r.dueAt)
		b.note(2, r)
		b.running.push(b.now.Add(b.begin(r)), ref)
	}
}

// begin draws the run time and outcome of an execution.
func (b *bareLoop) begin(r *bareRow) time.Duration {
	if r.class == 0 {
		u, rate := b.rand.Uniform(keyed.ForFailure, r.id, uint64(r.delivery), 0), 0.01
		if b.now >= bareDown && b.now < bareUp {
			rate = 0.97
		}
		if r.fails = u < rate; r.fails && rate > 0.5 {
			return 620 * time.Millisecond
		}
	}
	return b.service[r.class].Duration(b.rand.Uniform(keyed.ForRunTime, r.id, uint64(r.delivery), 0))
}

func (b *bareLoop) finish(ref uint32) {
	r := &b.rows[ref]
	b.idle++
	b.note(3, r)
	if !r.leased || b.now >= r.expiresAt {
		b.fenced++
		return
	}
	r.leased = false
	switch {
	case !r.fails:
		b.acked++
	case r.delivery >= bareMax:
		b.dead++
	default:
		r.fails = false
		r.failures++
		most := min(500*time.Millisecond<<(r.failures-1), 30*time.Second)
		u := b.rand.Uniform(keyed.ForJitter, r.id, uint64(r.delivery), 0)
		b.note(4, r)
		b.waiting.push(b.now.Add(time.Duration(float64(most)*u)), ref)
		return
	}
	count(&b.lives, b.now-r.enqueuedAt)
	b.note(5, r)
	b.free = append(b.free, ref)
}

// TestBareLoop checks that the bare loop ends every job, with as many deliveries as the storm
// causes.
func TestBareLoop(t *testing.T) {
	b := newBareLoop(1)
	b.run()
	if b.jobs < 170_000 || b.acked+b.dead != b.jobs || b.idle != 100 || b.lapsed+b.fenced != 0 {
		t.Errorf("%d jobs: %d acked, %d dead, %d idle workers, %d lapsed, %d fenced", b.jobs, b.acked, b.dead, b.idle, b.lapsed, b.fenced)
	}
	if mean := float64(b.deliveries) / float64(b.jobs); mean < 1.15 || mean > 1.35 {
		t.Errorf("%.3f deliveries a job, want about as many as in retry-storm, 1.2", mean)
	}
	var waits, lives int64
	for i := range b.waits {
		waits, lives = waits+int64(b.waits[i]), lives+int64(b.lives[i])
	}
	if waits != b.deliveries || lives != b.jobs {
		t.Errorf("%d waits of %d deliveries and %d lives of %d jobs were recorded", waits, b.deliveries, lives, b.jobs)
	}
	if again := newBareLoop(1); true {
		again.run()
		if again.digest != b.digest {
			t.Error("the same seed went otherwise")
		}
	}
}

// cpuTime returns the processor time used by this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
