package measure

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"qsim/engine/keyed"
)

// TestHistogramProperties compares the results of a histogram with the values recorded.
func TestHistogramProperties(t *testing.T) {
	// Values of every magnitude, from a nanosecond to a century.
	value := rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<62).Draw(t, "bits") >> rapid.IntRange(0, 61).Draw(t, "shift")
	})
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(value, 1, 300).Draw(rt, "values")
		cut := rapid.IntRange(0, len(values)).Draw(rt, "cut")
		q := rapid.Float64Range(0, 1).Draw(rt, "q")
		h, rest := new(Histogram), new(Histogram)
		var hi, lo, carry uint64
		for i, v := range values {
			if i < cut {
				h.Record(time.Duration(v))
			} else {
				rest.Record(time.Duration(v))
			}
			lo, carry = bits.Add64(lo, uint64(v), 0)
			hi += carry
		}
		h.Merge(rest)
		slices.Sort(values)
		if h.Count() != int64(len(values)) || int64(h.Max()) != values[len(values)-1] {
			rt.Fatalf("count %d, max %d of %v", h.Count(), h.Max(), values)
		}
		mean, _ := bits.Div64(hi, lo, uint64(len(values)))
		if off := float64(h.Mean()) - float64(mean); off < -1 || off > 1+float64(mean)*1e-12 {
			rt.Fatalf("mean %d, want %d", h.Mean(), mean)
		}
		fast := new(dense)
		for _, v := range values {
			fast.record(bucketOf(v), v)
		}
		if got := fast.histogram(); !reflect.DeepEqual(&got, h) || quantileOf(q, fast) != h.Quantile(q) {
			rt.Fatalf("recorded densely: %+v with a quantile %v of %v, want %+v with %v", got, q, quantileOf(q, fast), h, h.Quantile(q))
		}
		if fast.reset(bucketOf(values[0])); *fast != (dense{}) {
			rt.Fatal("what was reset is not empty")
		}
		want := float64(values[rankOf(q, uint64(len(values)))-1])
		if got := float64(h.Quantile(q)); got < want*0.995-1 || got > want*1.005+1 {
			rt.Fatalf("quantile %v is %v, want %v within half a percent", q, got, want)
		}
	})
}

// spread returns n waits from nanoseconds to years, the same for the same seed.
func spread(seed uint64, n int) []time.Duration {
	rand := keyed.Rand{Seed: seed}
	waits := make([]time.Duration, n)
	for i := range waits {
		waits[i] = time.Duration(math.Exp(43 * rand.Uniform(keyed.ForPolicy, uint64(i), 0, 0)))
	}
	return waits
}

func recorded(waits []time.Duration) *Histogram {
	h := new(Histogram)
	for _, d := range waits {
		h.Record(d)
	}
	return h
}

func TestBucketsCoverAllDurations(t *testing.T) {
	next := int64(0)
	for i := range bucketCount {
		low, width := bucketRange(i)
		if low != next || bucketOf(low) != i || bucketOf(low+width-1) != i {
			t.Fatalf("bucket %d spans [%d, +%d), want it to begin at %d", i, low, width, next)
		}
		if middle := bucketMiddle(i); max(middle-low, low+width-1-middle)*200 > low && width > 1 {
			t.Fatalf("bucket %d spans [%d, +%d): its middle is off by over 0.5 %%", i, low, width)
		}
		next = low + width // wraps behind the last one
	}
	if next != math.MinInt64 {
		t.Errorf("the buckets end at %d", next)
	}
	if size := unsafe.Sizeof(dense{}); size > 30<<10 {
		t.Errorf("a histogram takes %d bytes", size)
	}
}

func TestHistogramQuantiles(t *testing.T) {
	waits := spread(1, 10_001)
	h := recorded(waits)
	slices.Sort(waits)
	for _, q := range []float64{1e-9, 0.01, 0.07, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
		want := waits[max(int(math.Ceil(q*10_001))-1, 0)]
		if got := h.Quantile(q); math.Abs(float64(got-want)) > 0.005*float64(want) {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if h.Quantile(1) != waits[10_000] || h.Max() != waits[10_000] {
		t.Errorf("largest = %v and %v, want %v", h.Quantile(1), h.Max(), waits[10_000])
	}
	sum := 0.0
	for _, d := range waits {
		sum += float64(d)
	}
	if got := float64(h.Mean()); math.Abs(got-sum/10_001) > 1e-9*sum/10_001+1 {
		t.Errorf("mean = %v, want %v", got, sum/10_001)
	}
}

func TestHistogramIsExactAtTheEnds(t *testing.T) {
	h := recorded([]time.Duration{0, -5, 0, 17, 255, math.MaxInt64, math.MaxInt64, math.MaxInt64 - 1})
	for q, want := range map[float64]time.Duration{0.3: 0, 0.5: 17, 0.6: 255, 1: math.MaxInt64} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v = %d, want %d", q, got, want)
		}
	}
	if got := h.Mean(); got < math.MaxInt64/8*3-500 || got > math.MaxInt64/8*3+500 {
		t.Errorf("mean = %d: the sum overflowed", got)
	}
	var none Histogram
	if none.Count() != 0 || none.Max() != 0 || none.Mean() != 0 || none.Quantile(0.5) != 0 || none.Ranges() != nil || !math.IsNaN(secondsOf(0.5, new(dense))) || quantileOf(0.5, new(dense)) != 0 {
		t.Error("a new histogram is not empty")
	}
}

// A share times a count that rounding lifts above a whole number is that number.
func TestRankOfRoundProducts(t *testing.T) {
	for _, tt := range []struct {
		q       float64
		n, want uint64
	}{{0.07, 100, 7}, {0.99, 100, 99}, {0.999, 1000, 999}, {0.9, 10, 9}, {0.5, 5, 3}, {0.29, 100, 29}, {0.991, 100, 100}, {0, 5, 1}, {2, 5, 5}} {
		if got := rankOf(tt.q, tt.n); got != tt.want {
			t.Errorf("rank of %v of %d = %d, want %d", tt.q, tt.n, got, tt.want)
		}
	}
}

func TestMergeIsOrderIndependent(t *testing.T) {
	a, b, c := recorded(spread(1, 500)), recorded(spread(2, 700)), recorded(spread(3, 3))
	all := recorded(slices.Concat(spread(1, 500), spread(2, 700), spread(3, 3)))
	for _, order := range [][]*Histogram{{a, b, c}, {c, a, b}, {b, new(Histogram), c, a}} {
		h := new(Histogram)
		for _, part := range order {
			h.Merge(part)
		}
		if !reflect.DeepEqual(h, all) {
			t.Error("a merged histogram differs from one of all values")
		}
	}
	full := recorded([]time.Duration{400})
	full.Counts[0] = math.MaxUint32
	full.Merge(full)
	if full.Counts[0] != math.MaxUint32 {
		t.Errorf("a full bucket wrapped to %d", full.Counts[0])
	}
}

func TestHDRAgrees(t *testing.T) {
	waits := spread(4, 20_000)
	for i := range waits {
		waits[i] = min(waits[i], 24*time.Hour)
	}
	h := recorded(waits)
	hdr, err := h.HDR()
	if err != nil {
		t.Fatal(err)
	}
	if hdr.TotalCount() != 20_000 {
		t.Errorf("%d values, want 20,000", hdr.TotalCount())
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		want := float64(h.Quantile(q)) / 1000
		if got := float64(hdr.ValueAtQuantile(100 * q)); math.Abs(got-want) > 0.0015*want+1 {
			t.Errorf("quantile %v = %v µs, want %v µs", q, got, want)
		}
	}
	for _, longest := range []time.Duration{0, 999, 2047 * time.Microsecond, 2048 * time.Microsecond, 4096 * time.Microsecond, time.Hour} {
		if hdr, err := recorded([]time.Duration{1, longest}).HDR(); err != nil || !hdr.ValuesAreEquivalent(hdr.Max(), int64(longest/time.Microsecond)) {
			t.Errorf("the longest of %v comes out as %v: %v", longest, hdr, err)
		}
	}
	var b bytes.Buffer
	if err := recorded([]time.Duration{time.Millisecond, 3 * time.Second}).WriteHGRM(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "Percentile") || !strings.Contains(s, "#[Max     =     3000") {
		t.Errorf("hgrm:\n%s", s)
	}
}

// TestHDROfLongWaits keeps a wait of four months within the figures that an HdrHistogram has.
func TestHDROfLongWaits(t *testing.T) {
	const long = 10_000_000 * time.Second
	hdr, err := recorded([]time.Duration{long}).HDR()
	if err != nil || math.Abs(float64(hdr.Max())/float64(long/time.Microsecond)-1) > 0.001 {
		t.Errorf("got %v µs, %v", hdr.Max(), err)
	}
}

func TestCCDF(t *testing.T) {
	n := Waits{Ended: *recorded([]time.Duration{1, 1, 2, 200}), Unresolved: *recorded([]time.Duration{5})}
	waits, shares := n.CCDF()
	if !slices.Equal(waits, []float64{1e-9, 2e-9, 200e-9}) || !slices.Equal(shares, []float64{0.6, 0.4, 0.2}) {
		t.Errorf("longer than %v s waited %v", waits, shares)
	}
}

// TestNamedHistogramAsJSON writes distributions of waits, one with a sum beyond 64 bits and an empty one, and reads them.
func TestNamedHistogramAsJSON(t *testing.T) {
	var back NamedHistogram
	for _, h := range []NamedHistogram{
		{Query{Metric: "fresh.wait", Class: "mail"}, Waits{*recorded(spread(5, 50)), *recorded(spread(6, 3))}},
		{Query{Metric: "sojourn"}, Waits{Ended: *recorded([]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64})}},
	} {
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, h) {
			t.Errorf("read %+v (%v), want %+v", back, err, h)
		}
	}
	text, err := json.Marshal(NamedHistogram{Query{Metric: "sojourn"}, Waits{Ended: *recorded([]time.Duration{0, 300, 300})}})
	if want := `"ended":{"buckets":[0,278],"counts":[1,2],"sum_high":0,"sum_low":600,"max":300},"unresolved":{"buckets":null,"counts":null,"sum_high":0,"sum_low":0,"max":0}}`; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
	for _, damaged := range []string{`{"query":7}`, `{"ended":{"buckets":[2],"counts":[]}}`} {
		if err := json.Unmarshal([]byte(damaged), &back); err == nil {
			t.Errorf("%s is read", damaged)
		}
	}
}

// Mean returns the mean of the durations recorded, 0 of an empty histogram.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	mean, _ := bits.Div64(h.SumHigh, h.SumLow, h.N)
	return time.Duration(mean)
}
