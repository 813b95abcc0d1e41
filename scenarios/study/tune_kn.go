package study

import (
	"cmp"
	"context"
	"math"
	"slices"

	"qsim/results"
	"qsim/results/plain"
)

// selection searches, among the settings that meet all objectives, for the one with the smallest goal value.
type selection struct {
	search
	indifference float64 // difference in the goal that does not matter, relative, or absolute if the goal is the margin
	absolute     bool
	more         bool // goals are the negative values of a metric, of which the greatest is wanted
	settings     []int

	all   []*candidate
	scale float64 // h² of the procedure KN
	sure  float64 // confidence of each t test that gives up a candidate
}

// choose searches for the best setting by KN, the procedure of Kim and Nelson.
func choose(ctx context.Context, s *selection) (*answer, error) {
	s.all = plain.Map(s.settings, func(n int) *candidate { return &candidate{setting: n, outcome: results.Unclear} })
	if err := s.pilot(ctx); err != nil {
		return nil, err
	}
	if err := s.race(ctx); err != nil {
		return nil, err
	}
	s.tried, s.best = s.all, -1
	for i, c := range s.all {
		if c.why == "" && c.outcome == results.Met && (s.best < 0 || mean(c) < mean(s.all[s.best])) {
			s.best = i
		}
	}
	for _, c := range s.all {
		if c.why == whyEqual && s.best >= 0 && len(c.seen) <= len(s.all[s.best].seen) {
			same := candidate{seen: s.all[s.best].seen[:len(c.seen)]}
			if mean(c) != mean(&same) {
				c.why = whyWorse // for the same reason as the setting that it is equal to
			}
		}
	}
	return &s.answer, nil
}

func mean(c *candidate) float64 { return results.MeanOf(c.goals()) }

// pilot is the first stage of Kim and Nelson's procedure KN: it simulates seeds and sets the indifference zone.
func (s *selection) pilot(ctx context.Context) error {
	n := min(pilotSeeds, s.most)
	if err := s.extend(ctx, s.all, n); err != nil {
		return err
	}
	k := max(2, len(s.all))
	// η and h² of KN with c = 1; half of the error probability is for objectives, a tenth of the rest for t tests.
	alpha := (1 - s.confidence) / 2
	if len(s.objectives) == 0 {
		alpha *= 2
	}
	s.sure = level(1-alpha/10, (k-1)*len(looks(n, s.most)))
	alpha *= 0.9
	eta := (math.Pow(2*alpha/float64(k-1), -2/float64(n-1)) - 1) / 2
	s.scale = 2 * eta * float64(n-1)
	best, largest := math.Inf(1), 0.0
	for _, c := range s.all {
		if goal := mean(c); !math.IsNaN(goal) {
			best, largest = math.Min(best, goal), math.Max(largest, math.Abs(goal))
		}
	}
	s.least = best
	if s.delta = s.indifference; !s.absolute {
		if s.delta *= math.Abs(best); s.delta == 0 || math.IsInf(best, 0) {
			s.delta = s.indifference * largest
		}
	}
	return nil
}

// differences returns the paired differences of two candidates in the first n seeds, whose variance common random
// numbers make small.
func differences(a, b *candidate, n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = a.seen[i].Goal - b.seen[i].Goal
	}
	return d
}

// race is the second stage of Kim and Nelson's procedure KN: rounds of one more seed for each remaining candidate,
// after which those that have fallen behind are dropped, until one is left or the seeds are used up.
func (s *selection) race(ctx context.Context) error {
	n := min(pilotSeeds, s.most)
	tries := looks(n, s.most)
	confidence := level(1-(1-s.confidence)/2, len(s.all)*len(tries)*max(1, len(s.objectives)))
	next := 0
	for {
		look := next < len(tries) && n >= tries[next]
		if look {
			for _, c := range s.left() {
				if c.outcome == results.Unclear {
					c.settle(s.objectives, confidence)
				}
			}
			next++
		}
		s.eliminate(n, look)
		left := s.left()
		unclear := slices.ContainsFunc(left, func(c *candidate) bool { return c.outcome == results.Unclear })
		if len(left) == 0 || len(left) == 1 && !unclear {
			s.decided = !slices.ContainsFunc(s.all, func(c *candidate) bool { return c.why == whyUnsure })
			return nil
		}
		if n >= s.most {
			return nil
		}
		if n++; len(left) == 1 && next < len(tries) {
			n = tries[next] // only its objectives are still unclear
		}
		if err := s.extend(ctx, left, n); err != nil {
			return err
		}
	}
}

func (s *selection) left() []*candidate {
	return slices.DeleteFunc(slices.Clone(s.all), func(c *candidate) bool { return c.why != "" })
}

// whyVoid and the constants below are the reasons for giving up a setting without a goal in some seed, a worse one, one
// that is equal to an earlier one, and one whose difference from a better or equal one more seeds would not clear, as a
// goal is only a lower bound.
const (
	whyVoid   = "has no value in some seed"
	whyWorse  = "worse"
	whyEqual  = "equal"
	whyUnsure = "not told apart: runs ended too early"
)

// eliminate gives up the candidates that are behind others after n seeds, once all have been compared. At a look, t
// tests compare them too: KN takes long for a great difference of candidates that scatter much. Candidates given up by
// comparisons come back where one of those that they were compared with turns out to have no goal in some seed.
func (s *selection) eliminate(n int, look bool) {
	reasons, means := make([]string, len(s.all)), plain.Map(s.all, mean)
	void, t := false, 0.0
	if look {
		t = results.Student(n, s.sure)
	}
	for i, c := range s.all {
		reasons[i] = s.behind(i, n, means, t)
		void = void || c.why == "" && reasons[i] == whyVoid
	}
	for _, c := range s.all {
		if void && slices.Contains([]string{whyWorse, whyEqual, whyUnsure}, c.why) {
			c.why = ""
		}
	}
	for i, c := range s.all {
		c.why = cmp.Or(c.why, reasons[i])
	}
}

// behind returns why to give up a candidate after n seeds, given the mean goals of all: it has no goal in some seed, or
// its goal is significantly worse than that of one that meets all objectives, by more than the bound W of the procedure
// KN or by a t test with the quantile t (0: none), or equal to it; "" if none of these.
func (s *selection) behind(i, n int, means []float64, t float64) (why string) {
	c, r := s.all[i], float64(n)
	if math.IsNaN(means[i]) {
		return whyVoid
	}
	for k, other := range s.all {
		d := means[i] - means[k]
		// One that is ahead, or compared with one without a goal, needs no variance: this is half of the pairs.
		if k == i || c.why != "" || other.why != "" || other.outcome != results.Met || !(d >= 0) {
			continue
		}
		w := 0.0
		if s.delta > 0 {
			first := differences(c, other, min(pilotSeeds, s.most))
			variance := results.VarianceAbout(first, results.MeanOf(first))
			w = math.Max(0, s.delta/(2*r)*(s.scale*variance/(s.delta*s.delta)-r))
		}
		equal := w == 0 && d == 0 && k < i // to the end: the first one stands for both
		switch behind := d > w || t > 0 && d > t*math.Sqrt(results.VarianceAbout(differences(c, other, n), d)/r); {
		case !behind && !equal:
		case plain.Either(s.more, c, other).bounded():
			why = whyUnsure
		default:
			return plain.Either(behind, whyWorse, whyEqual)
		}
	}
	return why
}
