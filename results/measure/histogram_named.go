package measure

import (
	"encoding/json"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Waits is the distribution of one kind of wait over jobs: of the waits that ended, and, as lower bounds, of the ages
// of those that had not ended (censored), which rank above all others. Either may be nil: there are none.
type Waits struct{ Ended, Unresolved *Histogram }

// NamedHistogram is a distribution of waits, with the query that selects them: the kind of wait and its filters.
type NamedHistogram struct {
	Query Query // Metric is a family: fresh.wait, retry.wait, attempt.wait, start.wait or sojourn
	Waits
}

// Count returns the number of waits, ended or not.
func (w *Waits) Count() int64 { return w.Ended.Count() + w.Unresolved.Count() }

// Pack returns the distribution in the form for storage, without empty buckets.
func (w *Waits) Pack() PackedWaits { return PackedWaits{w.Ended.Pack(), w.Unresolved.Pack()} }

// Unpack returns the distribution with all buckets, or an error if the packed one, perhaps from a file, is invalid.
func (p *PackedWaits) Unpack() (w Waits, err error) {
	if w.Ended, err = p.Ended.Unpack(); err == nil {
		w.Unresolved, err = p.Unresolved.Unpack()
	}
	made(&w.Ended)
	return w, err
}

// MarshalJSON returns the distribution as JSON, in the form of a RunHistogram.
func (h NamedHistogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(RunHistogram{h.Query, h.Pack()})
}

// UnmarshalJSON reads what MarshalJSON writes. It fails if that is invalid.
func (h *NamedHistogram) UnmarshalJSON(text []byte) error {
	var packed RunHistogram
	err := json.Unmarshal(text, &packed)
	if err == nil {
		h.Query = packed.Query
		h.Waits, err = packed.Unpack()
	}
	return err
}

// CCDF returns the complementary cumulative distribution of the waits: for each bucket that is not empty, in ascending
// order, a wait in s and the share of all jobs that waited longer. Unresolved waits count as longer than all others, so
// the last share is theirs.
func (w *Waits) CCDF() (waits, shares []float64) {
	all := w.Count()
	above := all
	for _, b := range w.Ended.Buckets() {
		above -= b.Count
		waits, shares = append(waits, b.High.Seconds()), append(shares, float64(above)/float64(all))
	}
	return waits, shares
}

// merge adds the waits of one run to this distribution.
func (w *Waits) merge(run *PackedWaits) {
	made(&w.Ended).mergePacked(&run.Ended)
	if run.Unresolved.N > 0 {
		made(&w.Unresolved).mergePacked(&run.Unresolved)
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
