package common

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios"
	"qsim/scenarios/checked"
)

// record returns the verdict on a rule in the form that conform.yaml has, with texts for users.
func (rule *Rule) record(v *Verdict) checked.Rule {
	c := checked.Rule{Rule: rule.Name, Verdict: v.Word, Keys: rule.Keys, Figure: v.Part.Name, Real: v.RealText(),
		Simulated: v.Part.number(v.Simulated), Off: v.OffText(), Approximates: rule.Approximates}
	if v.Word != Holds {
		c.Cause, c.Metrics = rule.Cause, rule.Metrics
	}
	return c
}

// beside returns what conform.yaml is to have on a preset: the new comparison, with those rules of the old one that
// were judged on another clock for the same system and values, and with the keys of the preset that no rule checks.
func beside(found, old *checked.Comparison, p *scenarios.Preset) checked.Comparison {
	all := *found
	if old.System == found.System && old.Values == found.Values {
		others := slices.DeleteFunc(slices.Clone(old.Rules), func(r checked.Rule) bool {
			return cmp.Or(r.Clock, old.Clock) == found.Clock
		})
		if len(others) > 0 && found.Clock != old.Clock {
			all.Clock, all.Rules = old.Clock, others
			for _, r := range found.Rules {
				r.Clock = found.Clock
				all.Rules = append(all.Rules, r)
			}
		} else {
			all.Rules = append(slices.Clone(found.Rules), others...)
		}
	}
	for _, setting := range p.Settings() {
		if len(all.Rules) > 0 && !slices.ContainsFunc(all.Rules, func(r checked.Rule) bool {
			return slices.ContainsFunc(r.Keys, func(k string) bool { return strings.HasPrefix(setting.Path+".", k+".") })
		}) {
			all.Unchecked = append(all.Unchecked, setting.Path)
		}
	}
	return all
}

const (
	verdicts = "../../checked/conform.yaml" // path relative to the folder of a system
	head     = `# Which rules of the real systems their presets hold, and how far off the others are.
# Written by the suite in scenarios/conform (go test ./... -rewrite): not by hand.

`
)

// Write puts comparisons into scenarios/checked/conform.yaml in place of earlier ones, under a file lock; see beside.
func Write(t *testing.T, found ...checked.Comparison) {
	t.Helper()
	file, err := os.OpenFile(verdicts, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	var old, all []checked.Comparison
	if err := yaml.Load(text, &old); err != nil && len(text) > 0 {
		t.Fatal(err)
	}
	for _, p := range scenarios.Presets() {
		is := func(c checked.Comparison) bool { return c.Preset == p.Name }
		now, before := slices.IndexFunc(found, is), slices.IndexFunc(old, is)
		switch {
		case now >= 0 && before >= 0:
			all = append(all, beside(&found[now], &old[before], &p))
		case now >= 0:
			all = append(all, beside(&found[now], &checked.Comparison{}, &p))
		case before >= 0:
			all = append(all, old[before])
		}
	}
	text, err = yaml.Dump(all, yaml.WithIndent(2), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(verdicts, append([]byte(head), text...), 0o666); err != nil {
		t.Fatal(err)
	}
}
