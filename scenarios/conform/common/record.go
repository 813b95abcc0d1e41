package common

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios"
)

// record is a verdict as users read it.
func (rule *Rule) record(v *Verdict) scenarios.CheckedRule {
	c := scenarios.CheckedRule{Rule: rule.Name, Verdict: v.Word, Keys: rule.Keys, Figure: v.Part.Name, Real: v.RealText(),
		Simulated: v.Part.number(v.Simulated), Off: v.OffText(), Approximates: rule.Approximates}
	if v.Word != Holds {
		c.Cause, c.Metrics = rule.Cause, rule.Metrics
	}
	return c
}

const (
	verdicts = "../../conform.yaml" // from the folder of a system
	head     = `# Which rules of the real systems their presets hold, and how far off the others are.
# Written by the suite in scenarios/conform (go test ./... -rewrite): not by hand.

`
)

// Write puts what was found into scenarios/conform.yaml, in the order of the presets. It waits for other processes that
// do the same.
func Write(t *testing.T, found ...scenarios.Checked) {
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
	var old, all []scenarios.Checked
	if err := yaml.Load(text, &old); err != nil && len(text) > 0 {
		t.Fatal(err)
	}
	for _, p := range scenarios.Presets() {
		for _, list := range [][]scenarios.Checked{found, old} {
			if i := slices.IndexFunc(list, func(c scenarios.Checked) bool { return c.Preset == p.Name }); i >= 0 {
				all = append(all, list[i])
				break
			}
		}
	}
	if text, err = yaml.Dump(all, yaml.WithIndent(2), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(verdicts, append([]byte(head), text...), 0o666); err != nil {
		t.Fatal(err)
	}
}
