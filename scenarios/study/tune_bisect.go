package study

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// search is the search for the best setting of one policy: its simulator, objectives and limits, and its result so far.
type search struct {
	arena      arena
	objectives []measure.Objective
	confidence float64
	most       int // highest number of seeds of a setting
	answer
}

// extend simulates further seeds of candidates until each has the given number of seeds in all.
func (s *search) extend(ctx context.Context, list []*candidate, seeds int) error {
	asks := plain.Map(list, func(c *candidate) ask { return ask{c.setting, len(c.seen), seeds} })
	answers, err := s.arena.observe(ctx, asks)
	if err != nil {
		return err
	}
	for i, c := range list {
		c.seen = append(c.seen, answers[i]...)
	}
	return nil
}

// bisection searches a list of settings, from the most wanted to the easiest, for the first that meets all objectives.
type bisection struct {
	search
	order  []int              // settings, the most wanted first
	judged map[int]*candidate // candidates by their index in order
	err    error              // first error of the arena, after which the search judges nothing
}

// answer is the result of a search for one policy: the settings tried, the best of them, and its confidence.
type answer struct {
	tried    []*candidate
	best     int        // index of the best setting in tried; -1: none
	decided  bool       // no better setting meets the objectives, or none does, at the confidence
	refuted  bool       // fresh seeds do not confirm that the best setting meets the objectives
	monotone bool       // by bisection: no verdict contradicts another
	level    float64    // by bisection: confidence of each verdict
	misses   *candidate // by bisection: the easiest value before the best that certainly misses
	delta    float64    // by KN: difference in the goal that does not matter
	never    []string   // objectives of 0 whose metric was 0 in all seeds, fresh ones included
	least    float64    // by KN: smallest mean goal in the first stage; 0: delta is a share of the largest
}

// bisect searches for the best setting by bisection. It judges only a number of candidates that grows with the
// logarithm of their count, unless their verdicts contradict each other.
func bisect(ctx context.Context, b *bisection) (*answer, error) {
	b.judged, b.monotone = map[int]*candidate{}, true
	n := len(b.order)
	verdicts := (bits.Len(uint(n-1)) + 4) * len(looks(firstSeeds, b.most)) * max(1, len(b.objectives))
	b.level = level(b.confidence, verdicts)
	last, first := b.meets(ctx, n-1), b.meets(ctx, 0)
	low, high := 0, n-1
	switch {
	case first:
		high = 0
	case !last:
		high = n
	default:
		for high-low > 1 {
			if middle := (low + high) / 2; b.meets(ctx, middle) {
				high = middle
			} else {
				low = middle
			}
		}
	}
	b.neighbours(ctx, high)
	b.conclude()
	return &b.answer, b.err
}

// neighbours checks the result of a bisection, at index high, by judging values beside it: the next easier one must
// meet all objectives, the one two before must not. Where verdicts contradict each other it judges all.
func (b *bisection) neighbours(ctx context.Context, high int) {
	for _, at := range []int{high + 1, high - 2} {
		if at >= 0 && at < len(b.order) {
			b.meets(ctx, at)
		}
	}
	// The values must agree with all others tried.
	for at := range b.order {
		if c := b.judged[at]; c != nil && c.outcome != results.Unclear && (c.outcome == results.Met) != (at >= high) {
			b.monotone = false
		}
	}
	for at := 0; !b.monotone && at < len(b.order); at++ {
		b.meets(ctx, at)
	}
}

// conclude sets the result of the bisection: the values tried, and the most wanted one that meets all objectives.
func (b *bisection) conclude() {
	b.best = -1
	before := results.Missed // outcome of the value before the best one, or of the last one if there is none
	for at := range b.order {
		c, outcome := b.judged[at], results.Unclear
		if c != nil {
			b.tried, outcome = append(b.tried, c), c.outcome
		}
		switch {
		case b.best >= 0:
		case outcome == results.Met:
			b.best = len(b.tried) - 1
		default:
			if before = outcome; before == results.Missed {
				b.misses = c
			}
		}
	}
	b.decided = b.monotone && before == results.Missed
}

// meets reports whether the value at an index meets all objectives. It judges the value at the first call, with more
// seeds until the verdict is clear.
func (b *bisection) meets(ctx context.Context, at int) bool {
	c := b.judged[at]
	if c == nil && b.err == nil {
		c = &candidate{setting: b.order[at], outcome: results.Unclear}
		b.judged[at], b.err = c, b.judge(ctx, c)
	}
	return b.err == nil && c.outcome == results.Met
}

func (b *bisection) judge(ctx context.Context, c *candidate) error {
	for _, n := range looks(firstSeeds, b.most) {
		if err := b.extend(ctx, []*candidate{c}, n); err != nil {
			return err
		}
		if c.settle(b.objectives, b.level); c.outcome != results.Unclear || hopeless(c) {
			break
		}
	}
	return nil
}

// hopeless reports whether further seeds would not clear a verdict: the metric has had no value in any seed so far.
func hopeless(c *candidate) bool {
	return len(c.seen) >= firstSeeds && !slices.ContainsFunc(c.seen, func(o observation) bool {
		return !slices.ContainsFunc(o.Slacks, math.IsNaN) && !slices.Contains(o.Open, true)
	})
}

// wordsOf returns an objective as text in the syntax of --objective.
func wordsOf(o measure.Objective) string { return o.Query.String() + " " + o.Text }

// candidate is a setting of the keys with its observations and its verdict.
type candidate struct {
	setting int
	seen    []observation // observations by seed
	outcome results.Outcome
	why     string // reason why the setting was given up; empty: it was not
}

func (c *candidate) goals() []float64 {
	v := make([]float64, len(c.seen)) // at its full size, as KN asks for it after every seed
	for i := range c.seen {
		v[i] = c.seen[i].Goal
	}
	return v
}

// bounded reports whether the goal of a candidate is only a lower bound of its metric, as that of some seed is.
func (c *candidate) bounded() bool {
	return slices.ContainsFunc(c.seen, func(o observation) bool { return o.Bounded })
}

func (c *candidate) margins() []float64 { return plain.Map(c.seen, observation.margin) }

// judge returns met, missed or unclear for all objectives, each at the confidence, and the index of a missed one or -1.
func (c *candidate) judge(objectives []measure.Objective, confidence float64) (outcome results.Outcome, missed int) {
	outcome = results.Met
	for k := range objectives {
		slacks, open := make([]float64, len(c.seen)), false
		for i := range c.seen {
			slacks[i] = c.seen[i].Slacks[k]
			open = open || c.seen[i].Open[k]
		}
		mean := results.MeanOf(slacks)
		half := results.HalfWidth(slacks, mean, confidence)
		switch {
		case math.IsNaN(mean) || math.IsNaN(half):
			outcome = results.Unclear
		case mean+half < 0 && !(open && objectives[k].Above):
			return results.Missed, k
		case open || mean-half < 0:
			outcome = results.Unclear
		}
	}
	return outcome, -1
}

// settle judges a candidate setting by the seeds simulated so far, and gives it up if it misses an objective.
func (c *candidate) settle(objectives []measure.Objective, confidence float64) {
	var missed int
	if c.outcome, missed = c.judge(objectives, confidence); c.outcome == results.Missed {
		c.why = "misses " + wordsOf(objectives[missed])
	}
}

// never returns, as text, the metrics that objectives want to be 0 and that were 0 in all seeds, which may be luck.
func (c *candidate) never(objectives []measure.Objective) (names []string) {
	for k, o := range objectives {
		other := func(seen observation) bool { return seen.Slacks[k] != 0 }
		if o.Bound == 0 && !o.Above && !slices.ContainsFunc(c.seen, other) {
			names = append(names, o.Query.String())
		}
	}
	return names
}

// looks returns the numbers of seeds after which a verdict is attempted: first, then twice as many each time, and most
// as the last.
func looks(first, most int) []int {
	var all []int
	for n := first; n < most; n *= 2 {
		all = append(all, n)
	}
	return append(all, most)
}

// level returns the confidence needed for each of several verdicts so that all hold together with the confidence whole.
func level(whole float64, verdicts int) float64 {
	return 1 - (1-whole)/float64(max(1, verdicts))
}
