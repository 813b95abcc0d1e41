package sim

import (
	"math"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/keyed"
)

// Fate is the set of faults injected into one store call: delay, loss, duplication or refusal.
type Fate struct {
	Delay       time.Duration // delay on the way to the store
	LoseRequest bool          // the request never reaches the store
	LoseReply   bool          // the call takes effect, but the engine never receives the answer
	Duplicate   bool          // reaches the store twice
	Echo        bool          // the answer reaches the engine twice, one copy right behind the other
	Refuse      error         // error with which the store answers, without executing the call; nil: none
	Partial     float64       // probability for each outcome that the store refuses it, while the others take effect
}

// Network decides the fate of every call to the store: the delays of request and answer, and faults.
type Network interface {
	Request(now engine.Time, c *engine.Call) Fate
	// Reply returns the delay of the answer to a call executed now. rows holds the counts of jobs in
	// the store, or nil without Config.CountRows.
	Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *Rows) time.Duration
}

// Links is a Network with a delay for each direction of each op, and with faults in windows of time. Its random draws
// are keyed by engine and call, so two policies do not have them in common: their calls differ.
type Links struct {
	Rand   keyed.Rand
	OneWay [engine.NumOps]dist.Dist // distribution of the one-way delay in seconds, by operation
	PerJob dist.Dist                // seconds added to the answer for each job of the call
	Scan   [engine.NumOps]RowCosts  // time added to the answer for the jobs in the store; requires Config.CountRows
	Slows  []fault.Slow             // windows in which all delays are multiplied
	Faults []fault.Fault
	// Met holds, by fault, the number of calls that it affected, and Slowed, by window of Slows, the
	// number of delays that it multiplied. Both are nil as long as all are 0.
	Met, Slowed []int64
}

var _ Network = (*Links)(nil)

// Request draws what the network does to a call: its delay on the way to the store, and the effects of faults.
func (l *Links) Request(now engine.Time, c *engine.Call) Fate {
	f := Fate{Delay: l.draw(&l.OneWay[c.Op], keyed.ForRequestDelay, c, 0)}
	if l.Slows != nil {
		f.Delay = l.slowed(now, f.Delay)
	}
	for i := range l.Faults {
		w := &l.Faults[i]
		if !w.Hits(now, c) {
			continue
		}
		n := uint16(i * 5)
		before := f
		f.LoseRequest = f.LoseRequest || l.happens(w.LoseRequest, c, n)
		f.LoseReply = f.LoseReply || l.happens(w.LoseReply, c, n+1)
		f.Duplicate = f.Duplicate || l.happens(w.Duplicate, c, n+2)
		f.Echo = f.Echo || l.happens(w.Echo, c, n|echoes)
		if l.happens(w.Error, c, n+3) {
			f.Refuse = engine.ErrUnavailable
		}
		f.Partial += float64((1 - f.Partial) * w.Partial)
		if w.Delay != nil {
			u := l.Rand.Uniform(keyed.ForFault, uint64(c.ID), key(c), n+4)
			f.Delay = min(f.Delay+w.Delay.Duration(u), dist.LongestDraw)
		}
		if c.Op != engine.OpCommit {
			before.Partial = f.Partial // a call without outcomes
		}
		if f != before {
			l.Met = count(l.Met, i, len(l.Faults))
		}
	}
	return f
}

// echoes is the bit in a random draw's number that keeps draws for doubled answers apart from those for other faults.
const echoes = 1 << 15

// Reply draws the delay of a call's answer on its way back, which grows with the jobs of the call and of the store.
func (l *Links) Reply(now engine.Time, c *engine.Call, r *engine.Reply, rows *Rows) time.Duration {
	d := l.draw(&l.OneWay[c.Op], keyed.ForResponseDelay, c, 0)
	if n := r.Rows(); n > 0 && l.PerJob != (dist.Dist{}) {
		d = min(d+times(float64(n), l.draw(&l.PerJob, keyed.ForResponseDelay, c, 1)), dist.LongestDraw)
	}
	if rows != nil {
		d = min(d+times(l.Scan[c.Op].of(rows), 1), dist.LongestDraw)
	}
	if l.Slows != nil {
		d = l.slowed(now, d)
	}
	return d
}

// slowed returns the delay d multiplied by the factors of the Slow windows that are open now.
func (l *Links) slowed(now engine.Time, d time.Duration) time.Duration {
	for i := range l.Slows {
		if w := &l.Slows[i]; w.Window.Has(now) {
			d = times(w.Factor, d)
			l.Slowed = count(l.Slowed, i, len(l.Slows))
		}
	}
	return d
}

// count adds one to entry i of a list of n counts, which is allocated if it is nil, and returns the list.
func count(counts []int64, i, n int) []int64 {
	if counts == nil {
		counts = make([]int64, n)
	}
	counts[i]++
	return counts
}

// times returns factor · d, at most dist.LongestDraw.
func times(factor float64, d time.Duration) time.Duration {
	if x := float64(factor * float64(d)); x < float64(dist.LongestDraw) {
		return time.Duration(math.Round(x))
	}
	return dist.LongestDraw
}

// draw returns a delay drawn from d for a call, the n-th for purpose p. A constant one needs no random number.
func (l *Links) draw(d *dist.Dist, p keyed.Purpose, c *engine.Call, n uint16) time.Duration {
	if d.IsConstant() {
		return d.Duration(0.5)
	}
	return d.Duration(l.Rand.Uniform(p, uint64(c.ID), key(c), n))
}

// waysOf returns, by operation, the one-way delay of calls if it is the same for all, so that none is drawn; else -1.
func waysOf(n Network) (ways [engine.NumOps]time.Duration) {
	l, ok := n.(*Links)
	for op := range ways {
		ways[op] = -1
		if ok && l.PerJob == (dist.Dist{}) && len(l.Slows) == 0 && len(l.Faults) == 0 && l.Scan[op] == (RowCosts{}) &&
			l.OneWay[op].IsConstant() {
			ways[op] = l.OneWay[op].Duration(0.5)
		}
	}
	return ways
}

// key returns a call's engine (node and life) as a part of the key of its random draws: other engines draw others.
func key(c *engine.Call) uint64 {
	return uint64(uint32(c.Engine.Node()))<<16 | uint64(c.Engine.Generation()&0xffff)
}

func (l *Links) happens(p float64, c *engine.Call, n uint16) bool {
	return p > 0 && l.Rand.Uniform(keyed.ForFault, uint64(c.ID), key(c), n) < p
}
