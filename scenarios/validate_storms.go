package scenarios

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

func (c *checker) checkStorms() {
	if len(c.sc.Storms) > mostStorms {
		c.errorf(c.near("storms", mostStorms), "%d storms are too many: at most %d", len(c.sc.Storms), mostStorms)
		return
	}
	for i := range c.sc.Storms {
		c.checkStorm(i, &c.sc.Storms[i])
	}
	c.unique("storms", c.storms())
}

func (c *checker) checkStorm(i int, s *Storm) {
	if c.required("storms", i, "name") && c.sound("storms", i, "name") {
		if bad := checkName(s.Name); bad != "" {
			c.errorf(c.near("storms", i, "name"), "bad storm name %s: %s", quoted(s.Name), bad)
		}
	}
	c.required("storms", i, "at")
	c.checkTrouble(i, s)
	if !c.sound("duration") || !c.sound("storms", i, "at") || !c.sound("storms", i, "for") {
		return
	}
	switch end := s.end(); {
	case s.At >= c.sc.Duration:
		c.warnf(c.near("storms", i, "at"), "the storm comes at %v, after the arrivals end (%v)", s.At, c.sc.Duration)
	case end > c.sc.Duration.Std():
		c.warnf(c.given([]any{"storms", i, "for"}, []any{"storms", i, "at"}), "the storm ends at %v, after the arrivals end (%v)", Duration(end), c.sc.Duration)
	}
}

// checkTrouble checks the one kind of trouble that a storm brings.
func (c *checker) checkTrouble(i int, s *Storm) {
	var kinds []*yaml.Node
	for _, kind := range troubles {
		if c.node("storms", i, kind) != nil {
			kinds = append(kinds, c.key("storms", i, kind))
		}
	}
	switch {
	case len(kinds) == 0 && c.sound("storms", i):
		c.errorf(c.near("storms", i), "the storm brings no trouble").help = "want one of " + orList(troubles)
		return
	case len(kinds) > 1:
		c.errorf(kinds[1], "the storm brings two kinds of trouble").help = "make them two storms with windows of their own"
	}
	window := true
	switch {
	case s.Fail != nil:
		c.checkHits(s.Fail.Hits, "storms", i, "fail", "hits")
		if c.required("storms", i, "fail", "rate") && s.Fail.Rate.Num == 0 && c.sound("storms", i, "fail", "rate") {
			c.warnf(c.near("storms", i, "fail", "rate"), "the storm fails nothing")
		}
		if bad := checkErrorKind(s.Fail.Error); bad != "" && c.sound("storms", i, "fail", "error") {
			c.errorf(c.near("storms", i, "fail", "error"), "bad error kind %s: %s", quoted(s.Fail.Error), bad)
		}
	case s.Slow != nil:
		c.checkHits(s.Slow.Hits, "storms", i, "slow", "hits")
		c.required("storms", i, "slow", "factor")
	case s.Burst != nil:
		window = s.Burst.Factor != nil
		c.checkBurst(i, s.Burst)
	case s.Crash != nil:
		window = false
		if c.required("storms", i, "crash", "nodes") {
			c.checkNodes(s.Crash.Nodes, "storms", i, "crash", "nodes")
		}
		c.required("storms", i, "crash", "restart-after")
	}
	if window && s.For == 0 && c.sound("storms", i) {
		c.errorf(c.near("storms", i, "for"), "the storm lasts no time").help = "write for: 5m"
	}
}

// troubles are the kinds of storm.
var troubles = []string{"fail", "slow", "burst", "crash"}

func (c *checker) checkBurst(i int, b *BurstStorm) {
	if c.required("storms", i, "burst", "class") && c.sound("storms", i, "burst", "class") {
		c.known("job class", c.near("storms", i, "burst", "class"), b.Class, c.classes())
	}
	switch {
	case b.Count == nil && b.Factor == nil && c.sound("storms", i, "burst"):
		c.errorf(c.near("storms", i, "burst"), "the burst needs a count or a factor").help = "count: 10k comes all at once; factor: 3 triples the rate during the storm"
	case b.Count != nil && b.Factor != nil:
		c.errorf(c.key("storms", i, "burst", "factor"), "a burst has a count or a factor, not both")
	}
}

// checkHits checks the classes that a storm hits; none means all.
func (c *checker) checkHits(hits []string, path ...any) {
	node := c.node(path...)
	if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) != len(hits) {
		return
	}
	for k, name := range hits {
		c.known("job class", node.Content[k], name, c.classes())
	}
}

func (c *checker) checkNodes(n Nodes, path ...any) {
	if !c.sound(path...) || !c.sound("engine", "nodes") {
		return
	}
	nodes := int(c.sc.Engine.Nodes)
	for k, index := range n.List {
		if int(index) >= nodes {
			item := c.near(append(append([]any{}, path...), k)...)
			c.errorf(item, "there is no node %d: the nodes are 0 to %d", index, nodes-1)
		}
	}
	switch {
	case n.List == nil && !n.IsShare && int(n.Count) > nodes:
		c.errorf(c.near(path...), "%d nodes are more than there are (%d)", n.Count, nodes)
	case n.List != nil && len(n.List) == 0, n.List == nil && n.Of(nodes) == 0:
		c.warnf(c.near(path...), "the storm hits no node")
	}
}

// checkLabel says what is wrong with the label of a policy, which tables and charts show.
func checkLabel(label string) string {
	if label == "" || strings.TrimSpace(label) != label {
		return "it is empty, or starts or ends with a space"
	}
	if len([]rune(label)) > 40 {
		return "it is longer than 40 characters"
	}
	for _, r := range label {
		if !unicode.IsPrint(r) {
			return "want only printable characters"
		}
	}
	return ""
}
