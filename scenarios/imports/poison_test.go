package imports

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"qsim/engine/keyed"
)

// TestPoisonIsFound draws histories of jobs with a known share of poison: 5 % of it are always found, 1 % with nine seeds
// of ten, unless of 600 jobs some six that are poisoned stand beside one or two others that fail as often. The estimates
// of poison and of other failures are right on average, and that of poison each time. The seeds are fixed: with fresh
// ones four standard errors would show poison where there is none once in fifty runs.
func TestPoisonIsFound(t *testing.T) {
	t.Parallel()
	const seeds, limit = 100, 5
	for _, jobs := range []int{600, 3000} {
		for _, fails := range []float64{0.02, 0.1, 0.3} {
			for _, share := range []float64{0, 0.01, 0.05, 0.2} {
				found, sum, rates := 0, 0.0, 0.0
				deviation := math.Sqrt(share * (1 - share) / float64(jobs))
				for seed := range uint64(seeds) {
					c, rand := newCollected(Class{}), keyed.Rand{Seed: seed}
					poisoned := 0
					for n := range uint64(jobs) {
						j := job{}
						poison := rand.Uniform(keyed.ForPoison, n, 0, 0) < share
						if poison {
							poisoned++
						}
						for k := range limit {
							j.tries = append(j.tries, try{number: int32(k + 1), started: unknown, finished: unknown, due: unknown, ended: true})
							if !poison && rand.Uniform(keyed.ForFailure, n, uint64(k), 0) >= fails {
								break
							}
							j.tries[k].failure = 1
						}
						c.add(&j)
					}
					rate, got := c.rates()
					if got > 0 {
						found++
					}
					sum, rates = sum+got, rates+rate
					// Some of the others fail five times, too; poison is told from them by their number alone.
					drawn, unsure := float64(poisoned)/float64(jobs), math.Sqrt(math.Pow(fails, limit)/float64(jobs))
					if got > 0 && math.Abs(got-drawn) > 6*unsure+1/float64(jobs) {
						t.Errorf("seed %d, %d jobs, rate %v: poison %.4f, of the jobs are %.4f", seed, jobs, fails, got, drawn)
					}
				}
				least := map[float64]int{0.01: seeds * 9 / 10, 0.05: seeds, 0.2: seeds}[share]
				if jobs == 600 && fails == 0.3 && share == 0.01 {
					least = 1
				}
				if found < least || share == 0 && found > 0 {
					t.Errorf("%d jobs, rate %v, poison %v: found with %d of %d seeds", jobs, fails, share, found, seeds)
				}
				if mean := sum / seeds; (found == seeds || share == 0) && math.Abs(mean-share) > 6*deviation/math.Sqrt(seeds)+0.0003 {
					t.Errorf("%d jobs, rate %v, poison %v: %.4f on average", jobs, fails, share, mean)
				}
				attempts := float64(jobs*seeds) * (1 - share)
				if mean := rates / seeds; (found == seeds || share == 0) && math.Abs(mean-fails) > 6*math.Sqrt(fails/attempts)+0.0003 {
					t.Errorf("%d jobs, poison %v: the others fail with %.4f, want %v", jobs, share, mean, fails)
				}
			}
		}
	}
}

// TestPoisonOfRecords simulates a scenario with a share of poison and imports the records of its attempts, or only the
// last one of each job.
func TestPoisonOfRecords(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 1, 5, 20} {
		text := strings.Replace(fmt.Sprintf(known, 20, "none"), "    fails: {rate: 30%", fmt.Sprintf("    poison: %v%%\n    fails: {rate: 30%%", share), 1)
		x := exportOf(t, text)
		for _, all := range []bool{true, false} {
			rows := strings.SplitAfter(x.csv(true), "\n")
			kept := rows[:1:1]
			for i := range x.rows {
				if r := &x.rows[i]; all || int(r.attempt) == x.last(r.job) {
					kept = append(kept, rows[i+1])
				}
			}
			mail := &read(t, "csv", strings.Join(kept, "")).Classes[0]
			if math.Abs(100*mail.Poison-share) > 0.2+share/8 || math.Abs(mail.Rate-0.3) > 0.022 {
				t.Errorf("every attempt %v, poison %v%%: found %.2f%% beside a rate of %.3f", all, share, 100*mail.Poison, mail.Rate)
			}
		}
	}
}

// TestPoisonOfManyFailures imports one job that failed so often that the likelihood of that without poison is below the
// smallest number, beside jobs that never failed: it is poisoned unless it succeeded in the end.
func TestPoisonOfManyFailures(t *testing.T) {
	t.Parallel()
	const others, failures = 3000, 700
	for failure, want := range map[string][2]float64{"timeout": {0, 1. / (others + 1)}, "": {failures / (others + 1. + failures), 0}} {
		text := fmt.Sprintf("id,enqueued,started,finished,attempt,error\nlast,0,4000,4000.2,%d,%s\n", failures+1, failure)
		for i := range others {
			text += fmt.Sprintf("%d,%d,%d,%d.2,1,\n", i, i, i, i)
		}
		c := &read(t, "csv", text).Classes[0]
		if !(math.Abs(c.Rate-want[0]) < 1e-6 && math.Abs(c.Poison-want[1]) < 1e-6) {
			t.Errorf("after the last error %q: rate %v, poison %v, want %v", failure, c.Rate, c.Poison, want)
		}
	}
}

// TestRareKinds joins the rarest error kinds of a class to one, with the sum of their counts.
func TestRareKinds(t *testing.T) {
	t.Parallel()
	g := &gathering{reader: &reader{kinds: newNames(mostKinds)}}
	c := &collected{kinds: map[uint16]*kindCount{}}
	for i := range mostKindsTold + 2 {
		c.kinds[uint16(g.kinds.of(fmt.Sprint("kind", i)))] = &kindCount{count: int64(10 * (i + 1))}
	}
	kinds := g.kindsOf(c)
	if last := kinds[len(kinds)-1]; len(kinds) != mostKindsTold || last != (Kind{"other-kinds", 10 + 20 + 30}) || kinds[0].Count != 140 {
		t.Errorf("%d kinds: %v", len(kinds), kinds)
	}
}
