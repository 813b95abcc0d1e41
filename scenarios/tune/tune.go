package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results"
	"qsim/scenarios/sweep"
)

// Options of Run.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// Progress is told of simulations that end, from several goroutines at once.
	Progress func(policy string, simulations int)
}

// Run searches for every policy that the keys concern. What it returns does not depend on
// Parallel. It ends with ctx.Err() when ctx is done, and with a *SettingError if a setting cannot
// be simulated.
func Run(ctx context.Context, p *Problem, o Options) (*results.Tuning, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	t := &results.Tuning{Scenario: p.settings.Scenario, Version: p.Version, Goal: p.goal(), Axes: p.axes(), Confidence: p.Confidence, Margin: p.Aim != Minimize && p.Aim != Maximize}
	if !t.Margin {
		t.Query = p.Query
	}
	for _, o := range p.settings.Objectives {
		if text := wordsOf(&o); !slices.Contains(t.Objectives, text) {
			t.Objectives = append(t.Objectives, text)
		}
	}
	if err := p.hash(t); err != nil {
		return nil, err
	}
	for _, policy := range p.policies {
		label := p.settings.Policies[policy].Label
		s := &simulator{problem: p, policy: policy, label: label, parallel: o.Parallel}
		if o.Progress != nil {
			s.done = func(n int) { o.Progress(label, n) }
		}
		one, err := p.one(ctx, s)
		if err != nil {
			return nil, err
		}
		t.Policies = append(t.Policies, *one)
	}
	return t, nil
}

// hash is equal for problems that have the same answer under one version.
func (p *Problem) hash(t *results.Tuning) error {
	sum := sha256.New()
	part := func(text string) { fmt.Fprintf(sum, "%d:%s;", len(text), text) }
	part(string(p.base.Resolved()))
	part(t.Goal)
	for i := range t.Axes {
		part(t.Axes[i].Key + "=" + strings.Join(t.Axes[i].Values, "\x00"))
	}
	part(fmt.Sprint(p.Confidence, p.Indifference, p.MostSeeds))
	if err := sweep.HashFiles(sum, &p.Source, p.base, p.Axes); err != nil {
		return err
	}
	t.ConfigHash = hex.EncodeToString(sum.Sum(nil)[:4])
	return nil
}

// one searches for one policy.
func (p *Problem) one(ctx context.Context, s *simulator) (*results.TunedPolicy, error) {
	var a *answer
	var err error
	objectives := p.objectives[s.policy]
	switch p.Aim {
	case Smallest, Largest:
		order := make([]int, p.size())
		for i := range order {
			if order[i] = i; p.Aim == Largest {
				order[i] = len(order) - 1 - i
			}
		}
		a, err = bisect(ctx, &bisection{arena: s, objectives: objectives, confidence: p.Confidence, most: p.MostSeeds, order: order})
	default:
		settings := make([]int, p.size())
		for i := range settings {
			settings[i] = i
		}
		a, err = choose(ctx, &selection{arena: s, objectives: objectives, confidence: p.Confidence, indifference: p.Indifference, absolute: p.Aim == Margin, most: p.MostSeeds, settings: settings})
	}
	if err != nil {
		return nil, err
	}
	out := &results.TunedPolicy{Label: s.label, Index: s.policy, Best: a.best, Outcome: results.Missed, Decided: a.decided}
	if a.misses != nil {
		out.Misses = p.values(a.misses.setting)
	}
	for _, c := range a.tried {
		out.Trials = append(out.Trials, p.trial(c))
		if c.outcome == results.Unclear && c.why == "" {
			out.Outcome = results.Unclear
		}
	}
	seeds := firstSeeds
	for _, c := range a.tried {
		seeds = max(seeds, len(c.seen))
	}
	if a.best >= 0 {
		out.Outcome = results.Met
		if !a.decided && p.Aim != Smallest && p.Aim != Largest {
			out.Outcome = results.Unclear
		}
		if err := p.confirm(ctx, s, a, out); err != nil {
			return nil, err
		}
	}
	out.Runs, out.Grid = s.runs, p.size()*seeds
	out.Said = p.say(a, out)
	// By setting, as charts and tables have them.
	bestSetting := -1
	if out.Best >= 0 {
		bestSetting = out.Trials[out.Best].Setting
	}
	slices.SortStableFunc(out.Trials, func(x, y results.Trial) int { return x.Setting - y.Setting })
	if bestSetting >= 0 {
		out.Best = slices.IndexFunc(out.Trials, func(t results.Trial) bool { return t.Setting == bestSetting })
	}
	return out, nil
}

// confirm judges the best setting once more, with as many seeds again that had no part in
// choosing it.
func (p *Problem) confirm(ctx context.Context, s *simulator, a *answer, out *results.TunedPolicy) (err error) {
	best, objectives := a.tried[a.best], p.objectives[s.policy]
	if len(objectives) == 0 {
		return nil
	}
	var fresh []observation
	if fresh, out.Checked, err = s.check(ctx, best.setting, a.spent+len(best.seen), len(best.seen)); err != nil {
		return err
	}
	if a.refuted = !best.holds(fresh, objectives, p.Confidence); a.refuted {
		out.Decided, out.Outcome = false, results.Unclear
	}
	return nil
}

// trial is what results have of a candidate.
func (p *Problem) trial(c *candidate) results.Trial {
	t := results.Trial{Setting: c.setting, Values: p.values(c.setting), Number: p.number(c.setting), Seeds: len(c.seen), Outcome: c.outcome, Why: c.why, Mean: math.NaN(), Half: math.NaN(), Margin: math.NaN(), Half2: math.NaN()}
	if len(c.seen) == 0 {
		return t
	}
	goals := c.goals()
	if p.Aim != Minimize {
		for i := range goals {
			goals[i] = -goals[i]
		}
	}
	t.Mean = results.MeanOf(goals)
	t.Half = results.HalfWidth(goals, t.Mean, 0.95)
	if len(c.seen[0].slacks) > 0 {
		margins := c.margins()
		t.Margin = results.MeanOf(margins)
		t.Half2 = results.HalfWidth(margins, t.Margin, 0.95)
	}
	return t
}
