package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"qsim/results"
	"qsim/results/measure"
)

var pictures = flag.String("pictures", "", "write the figures of all fixtures into this `folder`, to be looked at")

// coarse is the resolution of most tests' PNGs, in dots per inch: encoding a fine one is slow under the race detector.
const coarse = 24

func resolution() int {
	if *pictures != "" {
		return dpi
	}
	return coarse
}

func TestChartsBearAnyData(t *testing.T) {
	if names := strings.Join(standardCharts(), " "); !strings.HasPrefix(names, "1-fresh-p99 2-backlog 3-ccdf 4-dots 5-attempts 6-starvation") {
		t.Errorf("the charts of a run are %s", names)
	}
	for _, f := range fixtures() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			_, sum := f.build()
			figures, err := Charts(sum, "v0.1.0")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, fig := range figures {
				names = append(names, fig.Name)
				checkFigure(t, fig)
				save(t, f.name, fig)
			}
			if !slices.Equal(names, standardCharts()) {
				t.Errorf("got figures %q, want %q", names, standardCharts())
			}
			page, err := Page(sum, figures, "v0.1.0", nil)
			if err != nil {
				t.Fatal(err)
			}
			checkPage(t, page)
		})
	}
}

// TestChartRanks: no two sections of a page have one rank, so that their order does not depend on the order of the files.
func TestChartRanks(t *testing.T) {
	for i, f := range families[1:] {
		if before := families[i]; before.rank >= f.rank {
			t.Errorf("section %s has rank %d, and %s before it %d", f.ID, f.rank, before.ID, before.rank)
		}
	}
}

// standardCharts returns the names of the charts of a run with few tenants.
func standardCharts() (names []string) {
	for _, f := range families {
		if f.chart != nil && f.figure != "7-tenants" {
			names = append(names, f.figure)
		}
	}
	slices.Sort(names)
	return names
}

// bitmapOf returns the PNG of a figure, coarse unless the flag -pictures writes it for inspection.
func bitmapOf(t *testing.T, f *Figure) []byte {
	t.Helper()
	return new(printer).png(f, resolution())
}

func checkFigure(t *testing.T, f Figure) {
	t.Helper()
	for what, text := range map[string]string{"title": f.Title, "alt": f.Alt} {
		if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\x00") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s is %q", f.Name, what, text)
		}
	}
	if !strings.HasPrefix(f.Alt, f.Title) {
		t.Errorf("%s: alt %q does not begin with the title %q", f.Name, f.Alt, f.Title)
	}
	picture, err := png.Decode(bytes.NewReader(bitmapOf(t, &f)))
	if err != nil {
		t.Fatalf("%s: PNG: %v", f.Name, err)
	}
	if got, want := picture.Bounds().Dx(), int(7.6*float64(resolution())+.5); got != want {
		t.Errorf("%s: PNG is %d pixels wide, want %d", f.Name, got, want)
	}
	for _, element := range elements(t, f) {
		if element == "script" || element == "b" {
			t.Errorf("%s: SVG has an element <%s>: a label is not escaped", f.Name, element)
		}
	}
	if bytes.Contains(f.SVG, []byte("NaN")) || bytes.Contains(f.SVG, []byte("Inf")) {
		t.Errorf("%s: SVG has a coordinate that is no number", f.Name)
	}
	if bytes.Contains(f.SVG, []byte(">0.0000")) {
		t.Errorf("%s: SVG has an axis of next to nothing", f.Name)
	}
	if !bytes.Contains(f.SVG, []byte(`font-family="'Liberation Sans',Arial,Helvetica,sans-serif"`)) || bytes.Count(f.SVG, []byte("font-family")) != 1 {
		t.Errorf("%s: SVG has a font without fallback", f.Name)
	}
}

// elements parses an SVG and returns the names of its elements, in order.
func elements(t *testing.T, f Figure) []string {
	t.Helper()
	var names []string
	decoder := xml.NewDecoder(bytes.NewReader(f.SVG))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatalf("%s: SVG: %v", f.Name, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			names = append(names, start.Name.Local)
		}
	}
}

func save(t *testing.T, fixture string, f Figure) {
	if *pictures == "" {
		return
	}
	folder := filepath.Join(*pictures, strings.ReplaceAll(fixture, " ", "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for ending, data := range map[string][]byte{".png": bitmapOf(t, &f), ".svg": f.SVG, ".txt": []byte(f.Title + "\n" + f.Alt + "\n")} {
		if err := os.WriteFile(filepath.Join(folder, f.Name+ending), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEqualInputDrawsEqualBytes(t *testing.T) {
	t.Parallel()
	f := storm()
	digest := func() [32]byte {
		_, sum := f.build()
		figures, err := Charts(sum, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, fig := range figures {
			h.Write(bitmapOf(t, &fig))
			h.Write(fig.SVG)
			io.WriteString(h, fig.Title+fig.Alt)
		}
		return [32]byte(h.Sum(nil))
	}
	first := digest()
	if second := digest(); first != second {
		t.Errorf("two renders differ: %x and %x", first, second)
	}
	f.wait *= 1.01
	if other := digest(); first == other {
		t.Error("other data draw the same figures")
	}
}

func TestChartsLeaveTheirInputAlone(t *testing.T) {
	t.Parallel()
	f := storm()
	_, sum := f.build()
	before := append([]float64(nil), sum.Data[0].Series[0].FreshWaitP99...)
	if _, err := Charts(sum, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for i, v := range sum.Data[0].Series[0].FreshWaitP99 {
		if v != before[i] {
			t.Fatalf("element %d was %v and is %v", i, before[i], v)
		}
	}
}

func TestFiguresAreFine(t *testing.T) {
	t.Parallel()
	f := with("small", func(f *fixture) { f.policies, f.seeds, f.bucket = 1, 1, f.duration })
	figure := comparisonChart(f.drawing(t)).render()
	bitmap := new(printer).png(&figure, dpi)
	if picture, err := png.DecodeConfig(bytes.NewReader(bitmap)); err != nil || picture.Width != 1094 {
		t.Errorf("got a PNG %d pixels wide (%v), want 1094: 7.6 inches at 144 dpi", picture.Width, err)
	}
}

func TestChartsRefuseWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(s *measure.Settings, sum *results.Summary)
		want   string
	}{
		{"no settings", func(_ *measure.Settings, sum *results.Summary) { sum.Settings = nil },
			"draw charts: settings or summary is missing"},
		{"no data", func(_ *measure.Settings, sum *results.Summary) { sum.Data = nil }, "draw charts: data of 0 policies for 4"},
		{"no policy", func(_ *measure.Settings, sum *results.Summary) { sum.Policies = nil }, "draw charts: there is no policy"},
		{"no bucket", func(s *measure.Settings, _ *results.Summary) { s.Bucket = 0 }, "draw charts: bucket 0s is not positive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := storm()
			s, sum := f.build()
			tt.change(s, sum)
			if _, err := Charts(sum, "v0.1.0"); err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Charts(nil, ""); err == nil {
		t.Error("got no error for missing settings")
	}
}

// A single bucket of time that is longer than the arrivals has an end as several have: that of the bucket, for retries
// left over and for starvation alike.
func TestEndOfASingleBucket(t *testing.T) {
	for _, tt := range []struct{ retries, starved float64 }{{20000, 0}, {0, .5}, {20000, .5}} {
		f := with("single bucket", func(f *fixture) { f.bucket = f.duration })
		f.adjust = func(s *measure.Settings, sum *results.Summary) {
			s.Duration /= 2
			for i := range sum.Data {
				for k := range sum.Data[i].Series {
					sum.Data[i].Series[k].RetryReady[0], sum.Data[i].Series[k].Starved[0] = tt.retries, tt.starved
				}
			}
		}
		s := stormChart(f.drawing(t))
		if got := s.panels.plot(0, true).X.Max; got != f.bucket.Seconds() {
			t.Errorf("%v: the lanes end at %vs, want %v", tt, got, f.bucket)
		}
		if want := "Shared FIFO " + seconds(tt.starved*f.bucket.Seconds()); !strings.Contains(s.alt, want) {
			t.Errorf("%v: fresh jobs starve in %s, want %s", tt, s.alt, want)
		}
	}
}

func BenchmarkCharts(b *testing.B) {
	f := storm()
	f.bucket, f.seeds = 2500*time.Millisecond, 20 // 720 buckets
	_, sum := f.build()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Charts(sum, "v0.1.0"); err != nil {
			b.Fatal(err)
		}
	}
}
