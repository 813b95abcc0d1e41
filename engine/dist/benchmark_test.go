package dist

import (
	"testing"

	"qsim/engine/keyed"
)

func BenchmarkDist(b *testing.B) {
	var us [4096]float64
	for i := range us {
		us[i] = keyed.Rand{Seed: 1}.Uniform(keyed.ForRunTime, uint64(i), 1, 0)
	}
	benchmarks := []distCase{
		{name: "constant", dist: mustDist(Constant(1))},
		{name: "uniform", dist: mustDist(Uniform(1, 2))},
		{name: "exponential", dist: mustDist(Exponential(1))},
		{name: "lognormal", dist: mustDist(LogNormalQuantiles(0.4, 1.5))},
		{name: "normal", dist: mustDist(Normal(0.010, 0.002))},
		{name: "gamma", dist: mustDist(Gamma(1, 0.5))},
		{name: "weibull", dist: mustDist(Weibull(1, 0.5))},
		{name: "pareto", dist: mustDist(Pareto(1, 1.5))},
		{name: "hyperexponential", dist: mustDist(HyperExponential(1, 3))},
		{name: "empirical", dist: mustDist(Empirical(us[:1000]))},
	}
	for _, bb := range benchmarks {
		b.Run("dist="+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			sum, i := 0.0, 0
			for b.Loop() {
				sum += bb.dist.Sample(us[i%len(us)])
				i++
			}
			if sum <= 0 {
				b.Fatal(sum)
			}
		})
	}
}

func BenchmarkNewDist(b *testing.B) {
	b.Run("dist=lognormal", func(b *testing.B) {
		for b.Loop() {
			mustDist(LogNormalQuantiles(0.4, 1.5))
		}
	})
	b.Run("dist=gamma", func(b *testing.B) {
		for b.Loop() {
			mustDist(Gamma(1, 0.5))
		}
	})
}
