package measure

import (
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Waits is the distribution of one kind of wait over jobs: of the waits that ended, and, as lower bounds, of the ages
// of those that had not ended (censored), which rank above all others.
type Waits struct {
	Ended      Histogram `json:"ended"`
	Unresolved Histogram `json:"unresolved"`
}

// NamedHistogram is a distribution of waits, in one run or pooled over several, with the query that selects them: the
// kind of wait and its filters.
type NamedHistogram struct {
	Query Query `json:"query"` // Metric is a family: fresh.wait, retry.wait, attempt.wait, start.wait or sojourn
	Waits
}

// Count returns the number of waits, ended or not.
func (w *Waits) Count() int64 { return w.Ended.Count() + w.Unresolved.Count() }

// merge adds the waits of another distribution to this one.
func (w *Waits) merge(other *Waits) {
	w.Ended.Merge(&other.Ended)
	w.Unresolved.Merge(&other.Unresolved)
}

// CCDF returns the complementary cumulative distribution of the waits: for each bucket that is not empty, in ascending
// order, a wait in s and the share of all jobs that waited longer. Unresolved waits count as longer than all others, so
// the last share is theirs.
func (w *Waits) CCDF() (waits, shares []float64) {
	all := w.Count()
	above := all
	for _, b := range w.Ended.Ranges() {
		above -= b.Count
		waits, shares = append(waits, b.High.Seconds()), append(shares, float64(above)/float64(all))
	}
	return waits, shares
}

// HDR returns the histogram as an HdrHistogram of microseconds with three significant figures.
func (h *Histogram) HDR() (*hdrhistogram.Histogram, error) {
	top := int64(h.Max()/time.Microsecond) + 1
	hdr := hdrhistogram.New(1, max(top, 2), 3)
	for _, b := range h.Ranges() {
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
