package measure

import (
	"math"
	"qsim/engine"
	"slices"
)

// onBoundary ends the segment that lasted until now and begins the next one.
func (c *Collector) onBoundary() {
	for _, w := range c.open {
		w.add(&c.segment, c.now)
	}
	whole := c.windows[0]
	if c.segment.from >= whole.to {
		c.fencedLate += c.segment.fenced
	}
	c.bucket.add(&c.segment, c.now)
	c.segment = segment{from: c.now, peak: [numPeaks]int64{c.ready[engine.Fresh], c.ready[engine.Retry], c.waiting}}
	if c.now == c.bucket.next {
		c.closeBucket()
		c.bucket.next = c.bucket.next.Add(c.settings.Bucket)
	}
	for i := len(c.recoveries) - 1; i >= 0; i-- {
		if r := c.recoveries[i]; r.next == c.now {
			c.onStep(r)
		}
	}
	if len(c.edges) > 0 && c.edges[0] == c.now {
		c.edges = c.edges[1:]
		c.onEdge()
	}
	c.boundary = min(c.now.Add(longestSegment), c.bucket.next)
	if len(c.edges) > 0 {
		c.boundary = min(c.boundary, c.edges[0])
	}
	for _, r := range c.recoveries {
		c.boundary = min(c.boundary, r.next)
	}
}

// onEdge opens and closes the windows whose edge now is.
func (c *Collector) onEdge() {
	if c.ready[engine.Fresh] > 0 {
		c.noteStretch(c.starve.since)
	}
	was := slices.Clone(c.open)
	c.open = c.open[:0]
	for _, w := range c.windows {
		if w.shares != nil && c.now == w.to {
			w.shares.end(&c.tenants)
		}
		if !w.covers(c.now) {
			continue
		}
		c.open = append(c.open, w)
		if !slices.Contains(was, w) {
			w.skip = c.starve.streak
			c.starve.hint = 0
			if w.shares != nil {
				w.shares.begin(&c.tenants)
			}
		}
	}
	if c.now == c.windows[0].from {
		c.deficit = deficit{}
	}
	if c.calm != nil {
		c.inCalm = c.calm.covers(c.now)
		if c.now >= c.calm.to && !c.stormy {
			c.stormy = true
			c.onCalmOver()
		}
		c.onStormOver()
	}
}

// bucketSum adds up the segments of one element of the series.
type bucketSum struct {
	next     engine.Time // its end
	span     float64     // s so far
	area     [numAreas]float64
	waits    Histogram // of the fresh jobs claimed
	finished uint64
	failures uint64
	firsts   uint64
	claims   [engine.NumClasses]uint64
}

// add counts the segment s, which ends at until.
func (b *bucketSum) add(s *segment, until engine.Time) {
	b.span += until.Sub(s.from).Seconds()
	for i, a := range s.area {
		b.area[i] += float64(a)
	}
	b.finished += s.finished
	b.failures += s.failures
	b.firsts += s.firsts
	for i, n := range s.claims {
		b.claims[i] += n
	}
}

// closeBucket appends the bucket that ends now to the series and empties it.
func (c *Collector) closeBucket() {
	b, s := &c.bucket, &c.series
	if b.span == 0 {
		return
	}
	mean := func(area int) float64 { return b.area[area] / 1e9 / b.span }
	rate := func(n uint64) float64 { return float64(n) / b.span }
	p50, p99 := math.NaN(), math.NaN()
	if b.waits.count > 0 {
		p50, p99 = b.waits.Quantile(0.5).Seconds(), b.waits.Quantile(0.99).Seconds()
	}
	s.FreshWaitP50 = append(s.FreshWaitP50, p50)
	s.FreshWaitP99 = append(s.FreshWaitP99, p99)
	s.FreshReady = append(s.FreshReady, mean(freshArea))
	s.RetryReady = append(s.RetryReady, mean(retryArea))
	s.Waiting = append(s.Waiting, mean(waitingArea))
	s.Utilization = append(s.Utilization, mean(busyArea)/float64(max(c.workers, 1)))
	s.Throughput = append(s.Throughput, rate(b.finished))
	s.Goodput = append(s.Goodput, rate(b.firsts))
	s.FreshClaims = append(s.FreshClaims, rate(b.claims[engine.Fresh]))
	s.RetryClaims = append(s.RetryClaims, rate(b.claims[engine.Retry]))
	s.Failures = append(s.Failures, rate(b.failures))
	b.waits.Reset()
	b.span, b.area, b.finished, b.failures, b.firsts = 0, [numAreas]float64{}, 0, 0, 0
	b.claims = [engine.NumClasses]uint64{}
}
