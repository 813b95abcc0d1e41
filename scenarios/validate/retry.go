package validate

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// checkRetry checks retry settings r, whose keys, with those inherited, are at in; own: the YAML map of them alone.
func (c *validator) checkRetry(in checks.Section, own *yaml.Node, r *spec.Retry) {
	node := in.Node("")
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	first, second := tree.Position(node, "max-attempts"), tree.Position(node, "max-retries")
	if first >= 0 && second >= 0 {
		c.Errorf(node.Content[max(first, second)], "max-attempts and max-retries are both given").Help =
			"max-retries: 3 says the same as max-attempts: 4; keep one"
	}
	backoff := tree.Lookup(node, "backoff")
	if backoff == nil || backoff.Kind != yaml.MappingNode {
		return
	}
	if !c.SoundNode(backoff) {
		kind := tree.Lookup(backoff, "kind")
		if kind != nil && kind.Kind == yaml.ScalarNode && !slices.Contains(reference.Tables().Backoffs.Kinds(), kind.Value) {
			c.AddAll([]*yaml.LoadError{reference.Tables().Backoffs.Unknown(kind)})
		}
		return
	}
	problems := reference.Tables().Backoffs.Check(backoff)
	c.AddAll(problems)
	if len(problems) > 0 || !c.SoundNode(node) {
		return
	}
	b := &r.Backoff
	in.Fault(b.Kind == "fixed" && b.Delay.Kind != "constant", "backoff.delay",
		"a fixed backoff has one delay, not a distribution").Help = "kind: random draws its delay from one"
	delays := len(b.Delays)
	in.Fault(b.Kind == "table" && delays == 0, "backoff.delays", "the table of delays is empty")
	in.Fault(delays > mostSteps, "backoff.delays", "%d delays are too many: at most %d", delays, mostSteps)
	in.Fault(b.Power > 100, "backoff.power", "power %d is too large: at most 100", b.Power)
	in.Fault(b.Less > 100, "backoff.less", "less %d is too large: at most 100", b.Less)
	in.Fault(b.Scale > quantity.MostAttempts, "backoff.scale",
		"scale %d is too large: at most %d", b.Scale, quantity.MostAttempts)
	in.Warn(b.Max > 0 && b.First > b.Max, "backoff",
		"the first delay (%v) is longer than the longest (%v)", b.First, b.Max)
	jitter := tree.Lookup(own, "jitter")
	if b.Kind == "random" && jitter != nil && jitter.Line != 0 && jitter.Value != "none" {
		c.Warnf(jitter, "a random backoff takes no jitter: it is drawn already")
	}
	c.checkNever(tree.Lookup(node, "never"), r.Never)
	c.checkFree(node, r)
}

// checkNever warns of an error kind in never or free that no attempt fails with, but only if one is spelled like it:
// the default list has kinds that most scenarios lack. node is the YAML list.
func (c *validator) checkNever(node *yaml.Node, never []string) {
	if node == nil || node.Line == 0 || node.Kind != yaml.SequenceNode || len(node.Content) != len(never) {
		return
	}
	kinds := c.sc.ErrorNames()
	for i, name := range never {
		if slices.Contains(kinds, name) {
			continue
		}
		if near := plain.Nearest(name, kinds); near != "" && near != reference.DefaultError {
			c.Warnf(node.Content[i], "nothing fails with %s", quantity.Quote(name)).Help = fmt.Sprintf("did you mean %q?", near)
		}
	}
}

// checkFree checks the error kinds of retry settings r whose failures cost no attempt; node: the YAML of r.
func (c *validator) checkFree(node *yaml.Node, r *spec.Retry) {
	free := tree.Lookup(node, "free")
	c.checkNever(free, r.Free)
	for i, name := range r.Free {
		if slices.Contains(r.Never, name) && free != nil && i < len(free.Content) {
			at := free.Content[i]
			if never := tree.Lookup(node, "never"); at.Line == 0 && never != nil {
				at = never
			}
			c.Errorf(at, "%s cannot be free and bury at once", quantity.Quote(name)).Help = "take it out of free or of never"
		}
	}
	at, limited := tree.Lookup(node, "free-max"), r.FreeMax >= 0 && len(r.Free) == 0
	if limited && c.Stated(at) {
		c.Warnf(at, "free-max changes nothing: no error kind is free")
	}
}
