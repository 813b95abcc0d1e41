package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// Run searches for the best setting for every policy affected by the keys. Run ends with ctx.Err() when ctx is done,
// and with a *SettingError if a setting cannot be simulated.
func (p *Problem) Run(ctx context.Context, progress func(policy string)) (*results.Tuning, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	t := &results.Tuning{Scenario: p.settings.Scenario, Version: p.Source.Version, Goal: p.goal(), Axes: p.plan.Sweep.Axes,
		Confidence: p.Confidence, Query: p.Query, Margin: !p.Aim.ofMetric()}
	t.Objectives = plain.Distinct(plain.Map(p.settings.Objectives, wordsOf))
	parts := []string{t.Goal}
	for i := range t.Axes {
		parts = append(parts, t.Axes[i].Key+"="+strings.Join(t.Axes[i].Values, "\x00"))
	}
	var err error
	if t.ConfigHash, err = p.plan.hash(append(parts, fmt.Sprint(p.Confidence, p.Indifference, p.MostSeeds))); err != nil {
		return nil, err
	}
	kept := memory{}
	if p.Keep != nil {
		if kept, err = openMemory(p.Keep(t.ConfigHash), origin{t.ConfigHash, t.Version}); err != nil {
			return nil, fmt.Errorf("keep observations: %w", err)
		}
	}
	for _, policy := range p.policies {
		s := &simulated{problem: p, policy: policy, label: p.settings.Policies[policy].Label, kept: kept,
			judged: map[int]bool{}, simulator: simulator{source: &p.Source, each: 1}}
		if progress != nil {
			s.simulator.ended = func(*measure.Run) { progress(s.label) }
		}
		one, err := p.search(ctx, s)
		if err != nil {
			return nil, err
		}
		t.Policies = append(t.Policies, *one)
		if p.Judged != nil {
			p.Judged(s.label, p.plan.Size(), p.plan.Size())
		}
	}
	return t, nil
}

// search searches for the best setting for one policy, checks it with fresh seeds, and returns it with all it tried.
func (p *Problem) search(ctx context.Context, s *simulated) (*results.TunedPolicy, error) {
	var a *answer
	var err error
	of := search{arena: s, objectives: p.objectives[s.policy], confidence: p.Confidence, most: p.MostSeeds}
	settings := make([]int, p.plan.Size())
	for i := range settings {
		settings[i] = i
	}
	if p.Aim.ofKey() {
		if p.Aim == Largest {
			slices.Reverse(settings)
		}
		a, err = bisect(ctx, &bisection{search: of, order: settings})
	} else {
		a, err = choose(ctx, &selection{search: of, indifference: p.Indifference, absolute: p.Aim == Margin,
			more: p.Aim == Maximize, settings: settings})
	}
	if err != nil {
		return nil, err
	}
	out := &results.TunedPolicy{Label: s.label, Outcome: results.Missed, Decided: a.decided}
	if a.misses != nil {
		out.Misses = p.values(a.misses.setting)
	}
	seeds := firstSeeds
	for _, c := range a.tried {
		out.Trials, seeds = append(out.Trials, p.trial(c)), max(seeds, len(c.seen))
		if c.outcome == results.Unclear && c.why == "" {
			out.Outcome = results.Unclear
		}
	}
	if a.best >= 0 {
		out.Outcome, out.Best = results.Met, p.values(a.tried[a.best].setting)
		if !a.decided && !p.Aim.ofKey() {
			out.Outcome = results.Unclear
		}
		if err := p.confirm(ctx, s, a, out); err != nil {
			return nil, err
		}
	}
	out.Runs, out.Grid = s.runs, p.plan.Size()*seeds
	out.Said = p.say(a, out)
	// Sorted by setting, as in charts and tables.
	slices.SortStableFunc(out.Trials, func(x, y results.Trial) int { return x.Setting - y.Setting })
	return out, nil
}

// confirm checks the best setting against the objectives once more, with as many fresh seeds as chose it. A search goes
// by the mean of the seeds' values, qsim run by the jobs of all seeds: one that misses in this way becomes unclear.
func (p *Problem) confirm(ctx context.Context, s *simulated, a *answer, out *results.TunedPolicy) error {
	best, objectives := a.tried[a.best], p.objectives[s.policy]
	if len(objectives) == 0 {
		return nil
	}
	n := len(best.seen)
	s.runs += n
	return s.simulator.all(ctx, 1, func(_ int, simulate simulation) error {
		settings, runs, err := simulate(s.task(ask{best.setting, n, 2 * n}))
		if err != nil {
			return err
		}
		summary, err := results.Summarize(settings, runs, results.Options{})
		if err != nil {
			return fmt.Errorf("summarize: %w", err)
		}
		out.Checked = summary.Objectives
		all := &candidate{seen: slices.Concat(best.seen, s.observations(runs))}
		outcome, _ := all.judge(objectives, p.Confidence)
		a.refuted, a.never = outcome != results.Met, all.never(objectives)
		missed := func(v results.Verdict) bool { return v.Outcome == results.Missed }
		if a.refuted || slices.ContainsFunc(out.Checked, missed) {
			out.Decided, out.Outcome = false, results.Unclear
		}
		return nil
	})
}

// ask is a request to simulate a setting under the seeds with the numbers [from, to), counted from 0.
type ask struct {
	setting  int
	from, to int
}

// arena simulates settings for a search under one policy; its answers are in the order of the requests.
type arena interface {
	observe(ctx context.Context, asks []ask) ([][]observation, error)
}

// simulated answers the requests of a search by simulating the scenario under one policy.
type simulated struct {
	problem   *Problem
	policy    int // index of the policy in the scenario
	label     string
	simulator simulator
	runs      int // number of simulations so far
	kept      memory
	mutex     sync.Mutex   // guards runs and judged
	judged    map[int]bool // settings judged so far
}

func (s *simulated) observe(ctx context.Context, asks []ask) ([][]observation, error) {
	answers := make([][]observation, len(asks))
	err := s.simulator.all(ctx, len(asks), func(i int, simulate simulation) error {
		a := asks[i]
		seen, known := s.kept.known[a.name(s.label)]
		if !known {
			_, runs, err := simulate(s.task(a))
			if err != nil {
				return err
			}
			seen = s.observations(runs)
			if err := s.kept.keep(answered{a.name(s.label), seen}); err != nil {
				return err
			}
		}
		answers[i] = seen
		s.judge(a)
		return nil
	})
	return answers, err
}

// judge counts the simulations of an answered request, notes its setting as judged, and reports progress.
func (s *simulated) judge(a ask) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.runs += a.to - a.from
	s.judged[a.setting] = true
	if s.problem.Judged != nil {
		s.problem.Judged(s.label, len(s.judged), s.problem.plan.Size())
	}
}

// task returns the simulations that answer a search's request: one setting under the requested seeds.
func (s *simulated) task(a ask) *task {
	return &task{sets: s.problem.plan.Overrides(a.setting), policy: s.label, from: a.from, seeds: a.to - a.from}
}

func (s *simulated) observations(runs []measure.Run) []observation {
	return plain.Map(runs, func(run measure.Run) observation { return s.problem.observe(s.policy, &run) })
}

// trial returns the row for a candidate setting in the results of a search.
func (p *Problem) trial(c *candidate) results.Trial {
	nan := math.NaN()
	t := results.Trial{Setting: c.setting, Values: p.values(c.setting), Number: p.number(c.setting), Seeds: len(c.seen),
		Mean: nan, Half: nan, Margin: nan, MarginHalf: nan, Outcome: c.outcome, Why: c.why}
	if len(c.seen) == 0 {
		return t
	}
	goals := c.goals()
	if p.Aim != Minimize {
		for i := range goals {
			goals[i] = 0 - goals[i]
		}
	}
	t.Mean = results.MeanOf(goals) // infinite, and so written as null, of a policy without objectives
	t.Half, t.Bound = results.HalfWidth(goals, t.Mean, 0.95), plain.When(c.bounded(), ">=")
	if len(c.seen[0].Slacks) > 0 {
		t.Margin, t.MarginHalf = results.Interval(c.margins())
	}
	return t
}

// memory is the journal of a search's observations, by which an interrupted search, which makes the same requests in
// the same order, resumes without repeating simulations.
type memory struct {
	journal
	known map[string][]observation // observations found in the journal at first, by the name of their request
}

// answered holds the observations that answer a request, as a search stores them in its journal.
type answered struct {
	Ask  string // name of the request
	Seen []observation
}

// name returns a text that identifies a request of a search about one policy.
func (a ask) name(policy string) string {
	return fmt.Sprintf("%d %d-%d %s", a.setting, a.from, a.to, policy)
}

// openMemory reads the stored observations of a search from its journal.
func openMemory(path string, search origin) (memory, error) {
	m := memory{journal{path, search}, map[string][]observation{}}
	err := m.read(func(line []byte) {
		var a answered
		if from, err := unseal(line, &a); err == nil && from == search {
			m.known[a.Ask] = a.Seen
		}
	})
	return m, cmp.Or(err, m.begin())
}
