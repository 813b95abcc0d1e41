package measure

import (
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NamedHistogram is the distribution of a wait: of the jobs whose wait has ended, and, as lower bounds, the ages of the
// unresolved ones.
type NamedHistogram struct {
	Query      Query      // Metric is a family: fresh.wait, retry.wait, attempt.wait, start.wait or sojourn
	Hist       *Histogram // never nil
	Unresolved *Histogram // ages of the waits that had not ended (censored); nil: none
}

// Pack returns the distribution of a wait in the form for storage, without empty buckets.
func (n *NamedHistogram) Pack() RunHistogram {
	return RunHistogram{n.Query, n.Hist.Pack(), n.Unresolved.Pack()}
}

// Unpack returns the distribution with all buckets, or an error if the packed one, perhaps from a file, is invalid.
func (h *RunHistogram) Unpack() (n NamedHistogram, err error) {
	n.Query = h.Query
	if n.Hist, err = h.Ended.Unpack(); err == nil {
		n.Unresolved, err = h.Unresolved.Unpack()
	}
	made(&n.Hist)
	return n, err
}

// CCDF returns the complementary cumulative distribution of the waits: for each bucket that is not empty, in ascending
// order, a wait in s and the share of all jobs that waited longer. Unresolved waits count as longer than all others, so
// the last share is theirs.
func (n *NamedHistogram) CCDF() (waits, shares []float64) {
	all := n.Hist.Count() + n.Unresolved.Count()
	above := all
	for _, b := range n.Hist.Buckets() {
		above -= b.Count
		waits, shares = append(waits, b.High.Seconds()), append(shares, float64(above)/float64(all))
	}
	return waits, shares
}

// merge adds the waits of one run, from a histogram of the same query, to this distribution.
func (n *NamedHistogram) merge(other *RunHistogram) {
	n.Hist.mergePacked(&other.Ended)
	if other.Unresolved.N > 0 {
		made(&n.Unresolved).mergePacked(&other.Unresolved)
	}
}

// HDR returns the histogram as an HdrHistogram of microseconds with three significant figures.
func (h *Histogram) HDR() (*hdrhistogram.Histogram, error) {
	top := int64(h.Max()/time.Microsecond) + 1
	hdr := hdrhistogram.New(1, max(top, 2), 3)
	for _, b := range h.Buckets() {
		middle := b.Low + (b.High-b.Low)/2
		if b.High == h.Max() {
			middle = b.High
		}
		if err := hdr.RecordValues(int64(middle/time.Microsecond), b.Count); err != nil {
			return nil, err
		}
	}
	return hdr, nil
}

// WriteHGRM writes the percentiles of the histogram in milliseconds, as HdrHistogram's plotters read them.
func (h *Histogram) WriteHGRM(w io.Writer) error {
	hdr, err := h.HDR()
	if err != nil {
		return err
	}
	_, err = hdr.PercentilesPrint(w, 5, 1000)
	return err
}
