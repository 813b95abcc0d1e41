package measure

import (
	"time"

	"qsim/engine"
)

// seriesSum adds up the event counts and integrals of consecutive segments of time into the buckets of the time series.
type seriesSum struct {
	Series
	bucket  time.Duration
	starved []float64   // seconds of starvation, by bucket
	next    engine.Time // end of the bucket under way
	sum     clockWindow // counts and integrals of the bucket so far
	waits   []*dense    // waits of the fresh jobs claimed, by class; the last one is of all classes without a series
	lowest  int         // the lowest histogram bucket of these waits
}

// add adds a segment of time, which ends at until, to the time series, and returns when the bucket under way ends.
func (b *seriesSum) add(s *segment, until engine.Time, workers *machines) (next engine.Time) {
	b.sum.add(s, until)
	if until == b.next {
		b.closeBucket(workers)
		b.next = b.next.Add(b.bucket)
	}
	return b.next
}

// claimed adds the wait of a fresh job, at its claim, to the bucket under way of the time series.
func (b *seriesSum) claimed(k *claim) {
	b.lowest = min(b.lowest, k.bucket)
	b.waits[min(int(k.Kind), len(b.waits)-1)].record(k.bucket, k.waited)
}

// closeBucket appends the bucket of time that ends now to the time series, and resets its counts.
func (b *seriesSum) closeBucket(workers *machines) {
	span := b.sum.span.Seconds()
	if span == 0 {
		return
	}
	s := &b.Series
	mean := func(area int) float64 { return b.sum.area[area] / 1e9 / span }
	rate := func(n uint64) float64 { return float64(n) / span }
	s.FreshWaitP50 = append(s.FreshWaitP50, secondsOf(0.5, b.waits...))
	s.FreshWaitP99 = append(s.FreshWaitP99, secondsOf(0.99, b.waits...))
	s.FreshReady = append(s.FreshReady, mean(freshArea))
	s.RetryReady = append(s.RetryReady, mean(retryArea))
	s.Waiting = append(s.Waiting, mean(waitingArea))
	s.Utilization = append(s.Utilization, mean(busyArea)/float64(max(workers.all, 1)))
	s.Throughput = append(s.Throughput, rate(b.sum.finished))
	s.Goodput = append(s.Goodput, rate(b.sum.firsts))
	s.FreshClaims = append(s.FreshClaims, rate(b.sum.claims[engine.Fresh]))
	s.RetryClaims = append(s.RetryClaims, rate(b.sum.claims[engine.Retry]))
	s.Failures = append(s.Failures, rate(b.sum.failures))
	for k := range s.Classes {
		s.Classes[k] = append(s.Classes[k], secondsOf(0.99, b.waits[k]))
	}
	for _, waits := range b.waits {
		waits.reset(b.lowest)
	}
	b.sum, b.lowest = clockWindow{}, bucketCount
}

// chartStretch adds a stretch in which fresh jobs starved to the buckets that it lies in.
func (b *seriesSum) chartStretch(of stretch) {
	bucket := engine.Time(b.bucket)
	for i := of.from / bucket; i*bucket < of.to; i++ {
		*reach(&b.starved, i) += of.part(stretch{i * bucket, (i + 1) * bucket}).Seconds()
	}
}

// whole returns the time series of a run that has ended.
func (b *seriesSum) whole() Series {
	b.Starved = make([]float64, len(b.FreshReady))
	for i := range b.Starved {
		b.Starved[i] = min(element(b.starved, i)/b.bucket.Seconds(), 1)
	}
	return b.Series
}
