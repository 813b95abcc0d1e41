// Package checked has the results of comparing presets, the settings of known job systems, with the real, unmodified
// libraries: which observed behaviours (rules) of a library its preset reproduces, how far off the others are, and
// which metrics they distort. The tests in scenarios/conform write these results to conform.yaml; qsim prints them.
package checked

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/tree"
)

// Comparison is the result of running the same jobs in a real, unmodified library and in a simulation of its preset:
// for each observed behaviour of the library (rule) whether the preset has it, too.
type Comparison struct {
	Preset    string   `yaml:"preset"`
	System    string   `yaml:"system,omitempty"`         // name and version of the system: hibiken/asynq v0.26.0
	Clock     string   `yaml:"clock,omitempty"`          // the library's: virtual, wall, or none (formulas); or by rule
	On        string   `yaml:"on,omitempty"`             // date of the comparison
	Seeds     int      `yaml:"seeds,omitempty"`          // number of seeds of the arrivals
	Values    string   `yaml:"values,omitempty"`         // hash of the preset's values that were checked
	Rules     []Rule   `yaml:"rules,omitempty"`          // rules that were checked
	Unchecked []string `yaml:"unchecked,omitempty,flow"` // keys of the preset that no rule checks
	Why       string   `yaml:"-"`                        // reason why there are no rules; empty: there are
}

// Rule is one observed behaviour of a library, such as the spacing of its retries, and whether its preset has it too.
type Rule struct {
	Rule         string   `yaml:"rule"`
	Verdict      string   `yaml:"verdict"`                // holds, near or off
	Clock        string   `yaml:"clock,omitempty"`        // clock of the rule, if not that of the others
	Keys         []string `yaml:"keys,flow"`              // keys that the rule checks, with the keys below them
	Figure       string   `yaml:"figure"`                 // name of the figure that decides the verdict
	Real         string   `yaml:"real"`                   // value of the figure in the system, for people
	Simulated    string   `yaml:"simulated"`              // value of the figure in a simulation of the preset
	Off          string   `yaml:"off,omitempty"`          // difference of the simulated value: −24 %
	Cause        string   `yaml:"cause,omitempty"`        // the system's behaviour, if off, and its place in the source
	Metrics      []string `yaml:"metrics,omitempty,flow"` // metrics that are wrong if the rule does not hold
	Approximates string   `yaml:"approximates,omitempty"` // line of the approximations that this rule measures
}

//go:embed conform.yaml
var checkedText []byte

// All returns the entries of conform.yaml, one for each preset that was compared; it panics if the file is not valid.
var All = tree.Builtin[[]Comparison]("conform.yaml", checkedText)

// Of returns the comparison of a preset with its library; if there was none, Rules is empty, and Why the reason.
func Of(p *scenarios.Preset) *Comparison {
	all := All()
	if i := slices.IndexFunc(all, func(c Comparison) bool { return c.Preset == p.Name }); i >= 0 {
		return &all[i]
	}
	return &Comparison{Preset: p.Name, Why: cmp.Or(p.Unchecked, "nobody has compared them yet")}
}

// Hash returns 12 hex digits of a hash of a preset's values: a Comparison with other Values is older than these.
func Hash(p *scenarios.Preset) string {
	var b strings.Builder
	for _, s := range p.Settings() {
		fmt.Fprintf(&b, "%s=%s\n", s.Path, s.Value)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))[:12]
}

// Count returns the number of rules in a comparison that have a verdict: holds, near or off.
func (c *Comparison) Count(verdict string) int {
	return plain.Count(c.Rules, func(r Rule) bool { return r.Verdict == verdict })
}

// Version returns the version of the compared library, such as v0.26.0: the last word of System.
func (c *Comparison) Version() string { return c.System[strings.LastIndexByte(c.System, ' ')+1:] }

// Ratio returns, for a table, the rules that hold out of all and the library's version: "6/11 v0.26.0"; "–" if none.
func (c *Comparison) Ratio() string {
	if len(c.Rules) == 0 {
		return plain.Missing
	}
	return fmt.Sprintf("%d/%d %s", c.Count("holds"), len(c.Rules), c.Version())
}

// Sentence returns a line of text for users: how the comparison of preset p came out, or why there was none.
func (c *Comparison) Sentence(p *scenarios.Preset) string {
	if len(c.Rules) == 0 {
		return "not checked against a real system: " + c.Why
	}
	text := fmt.Sprintf("checked against %s (%s): %d of %d rules hold", c.System, c.On, c.Count("holds"), len(c.Rules))
	near := c.Count("near")
	text += plain.When(near > 0, fmt.Sprintf(", %d near", near))
	return text + plain.When(c.Values != Hash(p), "; checked before it was changed")
}

// Held returns the names of the rules (behaviours of the library) that hold for the preset.
func (c *Comparison) Held() (names []string) {
	for _, r := range c.Rules {
		if r.Verdict == "holds" {
			names = append(names, r.Rule)
		}
	}
	return names
}

// Sentence returns text on how far the preset deviates from its library in this rule, and the cause if it is known.
func (r *Rule) Sentence() string { return plain.Joined(": ", r.size(), r.Cause) }

// size returns the figure that a rule compares, as text: "FIGURE 5 s there, 4 s here (−20 %)"; "there": the library.
func (r *Rule) size() string {
	return fmt.Sprintf("%s %s there, %s here", r.Figure, r.Real, r.Simulated) + plain.When(r.Off != "", " ("+r.Off+")")
}

// Measured returns the lines of a preset's Approximates, which are its known deviations from the library, each with its
// measured size or "unmeasured". Presets that describe a design have no library, and their lines no size.
func Measured(p *scenarios.Preset) (lines []string) {
	for _, line := range p.Approximates {
		size := "unmeasured"
		for _, r := range Of(p).Rules {
			if r.Approximates != "" && strings.HasPrefix(line, r.Approximates) {
				size = r.size()
			}
		}
		if p.Family != "reference design" {
			line += " (" + size + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// Misses returns the warnings, as lines of text, about presets of a scenario that deviate from their library in a rule
// that distorts a metric of the scenario's objectives, or one that Scenario.Measure added.
func Misses(sc *scenarios.Scenario) (lines []string) {
	metrics := map[string]bool{}
	for _, o := range sc.Objectives {
		metrics[o.Metric] = true
	}
	for _, q := range sc.Asked() {
		metrics[q.Metric] = true
	}
	for i := range sc.Policies {
		v := sc.Variant(i)
		for _, half := range []struct {
			preset string
			retry  bool
		}{{v.Engine.Preset, false}, {cmp.Or(v.Retry.Preset, v.Engine.Preset), true}} {
			if p := scenarios.PresetNamed(half.preset); p != nil {
				line := Of(p).miss(half.retry, slices.Sorted(maps.Keys(metrics)))
				if line != "" && !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// miss returns a warning about those deviations of a preset that distort any of the given metrics, "" if there are
// none: deviations of its retry policy if retry is true, else of the rest of it.
func (c *Comparison) miss(retry bool, metrics []string) (line string) {
	more := 0
	for _, r := range c.Rules {
		touched := slices.IndexFunc(metrics, func(metric string) bool {
			return slices.ContainsFunc(r.Metrics, func(m string) bool { return strings.HasPrefix(metric+".", m+".") })
		})
		about := slices.ContainsFunc(r.Keys, func(key string) bool { return strings.HasPrefix(key, "retry.") })
		switch {
		case r.Verdict != "off" || touched < 0 || about != retry:
		case line == "":
			line = fmt.Sprintf("preset %s: %s is not that of %s: %s: %s",
				c.Preset, metrics[touched], c.System, r.Rule, r.Sentence())
		default:
			more++
		}
	}
	if more > 0 {
		line += fmt.Sprintf(", and %d more of its rules", more)
	}
	if line != "" {
		line += "; qsim list presets " + c.Preset
	}
	return line
}
