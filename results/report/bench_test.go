package report

import "testing"

// BenchmarkFigures draws the charts of a run, as SVGs and as PNGs.
func BenchmarkFigures(b *testing.B) {
	f := storm()
	_, sum := f.build()
	figures, err := Charts(sum, "v0.1.0")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("format=svg", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Charts(sum, "v0.1.0"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("format=png", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Files("", figures)
		}
	})
}
