package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/engine/live"
	"qsim/results/plain"
	"qsim/scenarios"
)

// load returns the synthetic load that the flags describe.
func (f *runFlags) load() *load {
	l := &load{jobs: int(f.jobs.value), work: f.work.value.Std(), fails: f.fails.value.String(),
		workers: int(f.workers.value), engines: int(f.engines.value), batch: int(f.batch.value),
		prefetch: int(f.prefetch.value)}
	if f.prefetch.text == "" {
		l.prefetch = l.usualPrefetch()
	}
	if f.rate.text != "" {
		l.jobs, l.rate, l.lasts, l.warmup = 0, f.rate.value.String(), f.lasts.value.Std(), f.warmup.value.Std()
		l.expected = int(min(f.expected(), mostJobs))
	}
	return l
}

// usualPrefetch returns the default prefetch of live.Defaults, or 0 if handlers take so long that it would gain
// nothing.
func (l *load) usualPrefetch() int {
	if l.work >= 10*time.Millisecond {
		return 0
	}
	return live.Defaults(l.workers, nil).Fetch.Prefetch
}

// mostPrefetch is the highest number of jobs that an engine claims ahead.
const mostPrefetch = 100_000

// name returns the benchmark name of a candidate under the load.
func (l *load) name(c *candidate) string {
	pairs := []string{"policy", c.policy, "store", c.store, "workers", fmt.Sprint(l.workers), "engines",
		fmt.Sprint(l.engines), "batch", fmt.Sprint(l.batch)}
	if l.prefetch != l.usualPrefetch() {
		pairs = append(pairs, "prefetch", fmt.Sprint(l.prefetch))
	}
	if l.work > 0 {
		pairs = append(pairs, "work", l.work.String())
	}
	if l.fails != "0%" {
		pairs = append(pairs, "fails", l.fails)
	}
	if l.jobs > 0 {
		return benchName("Burndown", append(pairs, "jobs", fmt.Sprint(l.jobs))...)
	}
	return benchName("Open", append(pairs, "rate", strings.ReplaceAll(l.rate, "/s", ""), "for", l.lasts.String())...)
}

// policyScenario returns a scenario of the load with the policies of the command line.
func policyScenario(l *load, policies []string) (*scenarios.Scenario, error) {
	if len(policies) == 0 {
		policies = []string{"fifo"}
	}
	kinds := input.Kinds()
	texts := make([]string, len(policies))
	for i, p := range policies {
		texts[i] = p
		if strings.HasPrefix(p, "{") {
			continue
		}
		if !slices.Contains(kinds, p) {
			if near := plain.Nearest(p, kinds); near != "" {
				return nil, ui.UsageError("--policy %s: there is no such policy; did you mean %s?", p, near)
			}
			return nil, ui.UsageError("--policy %s: there is no such policy; qsim list policies names them", p)
		}
		texts[i] = "{kind: " + p + "}"
	}
	if slices.ContainsFunc(policies, func(p string) bool { return strings.ContainsAny(p, "\n\r") }) {
		return nil, ui.UsageError("--policy: want one line")
	}
	sc, diagnostics := scenarios.Load("load.yaml", []byte(l.scenario(texts)), nil)
	if sc == nil {
		var problems []string
		for _, d := range diagnostics.Errors() {
			text := d.Message
			if d.Help != "" {
				text += " (" + d.Help + ")"
			}
			problems = append(problems, text)
		}
		return nil, ui.UsageError("--policy: %s", strings.Join(problems, "; "))
	}
	return sc, nil
}

// runLoads measures all candidates in turn and reports the results, also after an interrupt.
func (s *session) runLoads(ctx context.Context,
	report func(l *load, candidates []*candidate, hash string) error) error {
	l := s.flags.load()
	sc, err := policyScenario(l, s.flags.policies)
	if err != nil {
		return err
	}
	candidates := s.candidates(sc)
	for _, c := range candidates {
		c.name = l.name(c)
	}
	err = s.measure(ctx, l, sc, candidates)
	if err == nil || errors.Is(err, context.Canceled) {
		if e := report(l, candidates, sc.ConfigHash()); e != nil {
			return e
		}
	}
	return s.settle(ui.ExitMet, err)
}

// measure runs all rounds of all candidates, and prints a benchmark line for each run if that is the format.
func (s *session) measure(ctx context.Context, l *load, sc *scenarios.Scenario, candidates []*candidate) error {
	for round, c := range s.turns(candidates, int(s.flags.rounds.value)) {
		o := playOptions{policy: c.index, seed: max(s.flags.seed, 1) + uint64(round), store: c.store}
		r, err := runLoad(ctx, l, sc, o, s.stores)
		if err == nil {
			c.rounds = append(c.rounds, r)
			s.count(c, &r.endedRun)
			err = s.line(c.name, r.done+r.dead, r.took, r.metrics(l.jobs == 0))
		}
		if err != nil {
			return failed(c.policy, c.store, err)
		}
	}
	return nil
}
