package bench

import (
	"context"
	"slices"
	"strings"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/scenarios"
)

// policyScenario returns a scenario of a synthetic load under the given policies (kinds, or maps in YAML), or fifo.
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
			return nil, ui.UsageError("--policy %s: there is no such policy%s", p,
				ui.Meant(p, kinds, "; qsim list policies names them"))
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
			problems = append(problems, d.Message+plain.When(d.Help != "", " ("+d.Help+")"))
		}
		return nil, ui.UsageError("--policy: %s", strings.Join(problems, "; "))
	}
	return sc, nil
}

// runLoads measures all candidates in turn and reports the results, also after an interrupt.
func (s *session) runLoads(ctx context.Context, report func(candidates []*candidate, hash string) error) error {
	l := s.flags.load.complete()
	sc, err := policyScenario(l, s.flags.policies)
	if err != nil {
		return err
	}
	candidates := s.candidates(sc)
	for _, c := range candidates {
		c.name = l.name(c)
	}
	return s.measureAll(candidates, int(s.flags.rounds), func(round int, c *candidate) error {
		o := playOptions{policy: c.index, seed: max(s.flags.seed, 1) + uint64(round), store: c.store}
		r, err := runLoad(ctx, l, sc, o, s.stores)
		if err != nil {
			return err
		}
		c.rounds = append(c.rounds, r)
		s.count(c, &r.endedRun)
		return s.line(c.name, r.done+r.dead, r.took, r.metrics()) // if that is the format
	}, func() (ui.Exit, error) { return ui.ExitMet, report(candidates, sc.ConfigHash()) })
}
