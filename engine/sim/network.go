package sim

import (
	"time"

	"qsim/engine"
)

// Fate is what the network does to one call.
type Fate struct {
	Delay       time.Duration // to the store
	LoseRequest bool          // never reaches the store
	LoseReply   bool          // takes effect, the engine never learns
	Duplicate   bool          // reaches the store twice
	Refuse      error         // the store answers with this and does nothing
}

// Network decides the fate of every call.
type Network interface {
	Request(now engine.Time, c *engine.Call) Fate
	// Reply is how long the answer takes, for a call that was executed now.
	Reply(now engine.Time, c *engine.Call, r *engine.Reply) time.Duration
}

// Fault is trouble of calls within [From, Until). Probabilities are in [0, 1].
type Fault struct {
	From, Until engine.Time
	Ops         [engine.NumOps]bool
	Nodes       []int32 // nil: every node

	LoseRequest float64
	LoseReply   float64
	Duplicate   float64
	Error       float64       // refused without effect, with engine.ErrUnavailable
	Delay       time.Duration // added to each way
}

// Links is a Network with a delay for each way of each op and windows of faults.
// Its draws are keyed by (engine, call), so those of two policies do not
// correspond: calls do not.
type Links struct {
	Rand   engine.Rand
	OneWay [engine.NumOps]engine.Dist // seconds, drawn for each way
	PerJob engine.Dist                // seconds, added to the answer for each job of the call
	Faults []Fault

	prepared bool
	constant [engine.NumOps]time.Duration // one way; negative: drawn
	free     bool                         // PerJob is 0
}

var _ Network = (*Links)(nil)

// Request draws what becomes of a call.
func (l *Links) Request(now engine.Time, c *engine.Call) Fate {
	f := Fate{Delay: l.delay(engine.ForRequestDelay, c, 0)}
	for i := range l.Faults {
		w := &l.Faults[i]
		if !w.hits(now, c) {
			continue
		}
		n := uint16(i * 4)
		f.LoseRequest = f.LoseRequest || l.happens(w.LoseRequest, c, n)
		f.LoseReply = f.LoseReply || l.happens(w.LoseReply, c, n+1)
		f.Duplicate = f.Duplicate || l.happens(w.Duplicate, c, n+2)
		if l.happens(w.Error, c, n+3) {
			f.Refuse = engine.ErrUnavailable
		}
		f.Delay += w.Delay
	}
	return f
}

// Reply draws how long the answer takes.
func (l *Links) Reply(now engine.Time, c *engine.Call, r *engine.Reply) time.Duration {
	d := l.delay(engine.ForResponseDelay, c, 0)
	if rows := r.Rows(); rows > 0 && !l.free {
		d += time.Duration(rows) * l.draw(&l.PerJob, engine.ForResponseDelay, c, 1)
	}
	for i := range l.Faults {
		if w := &l.Faults[i]; w.hits(now, c) {
			d += w.Delay
		}
	}
	return d
}

func (w *Fault) hits(now engine.Time, c *engine.Call) bool {
	if now < w.From || now >= w.Until || !w.Ops[c.Op] {
		return false
	}
	if w.Nodes == nil {
		return true
	}
	for _, n := range w.Nodes {
		if n == c.Engine.Node() {
			return true
		}
	}
	return false
}

func (l *Links) delay(p engine.Purpose, c *engine.Call, n uint16) time.Duration {
	if !l.prepared {
		l.prepare()
	}
	if d := l.constant[c.Op]; d >= 0 {
		return d
	}
	return l.draw(&l.OneWay[c.Op], p, c, n)
}

// prepare notes which delays are constant: they spend no random number.
func (l *Links) prepare() {
	for op := range l.OneWay {
		l.constant[op] = -1
		if l.OneWay[op].IsConstant() {
			l.constant[op] = l.OneWay[op].Duration(0.5)
		}
	}
	l.free = l.PerJob.IsConstant() && l.PerJob.Mean() == 0
	l.prepared = true
}

func (l *Links) draw(d *engine.Dist, p engine.Purpose, c *engine.Call, n uint16) time.Duration {
	return d.Duration(l.Rand.Uniform(p, uint64(c.ID), key(c), n))
}

// key is what tells the calls of one engine from those of another.
func key(c *engine.Call) uint64 {
	return uint64(uint32(c.Engine.Node()))<<16 | uint64(c.Engine.Generation()&0xffff)
}

func (l *Links) happens(p float64, c *engine.Call, n uint16) bool {
	return p > 0 && l.Rand.Uniform(engine.ForFault, uint64(c.ID), key(c), n) < p
}
