package scenarios

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/scenarios/diagnostics"
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
	if c.has("storms", i, "name") && c.sound("storms", i, "name") {
		if bad := checkName(s.Name); bad != "" {
			c.errorf(c.near("storms", i, "name"), "bad storm name %s: %s", quantity.Quote(s.Name), bad)
		}
	}
	c.checkTrouble(i, s)
	if !c.checkTrigger(i, s) {
		c.required("storms", i, "at")
		c.checkWindows(i, s)
	}
}

// checkWindows compares the windows of a storm with the run, and with each other.
func (c *checker) checkWindows(i int, s *Storm) {
	if !c.sound("duration") || !c.sound("storms", i, "at") || !c.sound("storms", i, "for") || !c.sound("storms", i, "repeat") || !c.checkRepeat(i, s) {
		return
	}
	ends := [][]any{{"storms", i, "repeat", "times"}, {"storms", i, "for"}, {"storms", i, "at"}}
	switch end := s.End(); {
	case s.At >= c.sc.Duration:
		c.warnf(c.near("storms", i, "at"), "the storm comes at %v, after the arrivals end (%v)", s.At, c.sc.Duration)
	case end > c.sc.Duration.Std() && s.Repeat != nil:
		c.warnf(c.given(ends...), "the last storm of %d ends at %v, after the arrivals end (%v)", s.Repeat.Times, Duration(end), c.sc.Duration)
	case end > c.sc.Duration.Std():
		c.warnf(c.given(ends[1:]...), "the storm ends at %v, after the arrivals end (%v)", Duration(end), c.sc.Duration)
	}
}

// mostRepeats is the highest number of windows of one storm.
const mostRepeats = 10_000

// checkRepeat reports whether the windows of a storm do not overlap and end at a time that can be represented; it adds
// errors otherwise.
func (c *checker) checkRepeat(i int, s *Storm) bool {
	r := s.Repeat
	if r == nil {
		return true
	}
	every, times := c.required("storms", i, "repeat", "every"), c.required("storms", i, "repeat", "times")
	if !every || !times {
		return false
	}
	c.count(r.Times, 1, mostRepeats, "since each is a storm of its own", "storms", i, "repeat", "times")
	switch {
	case r.Times < 1 || r.Times > mostRepeats:
		return false
	case r.Every <= s.For:
		c.errorf(c.near("storms", i, "repeat", "every"), "a storm of %v every %v never ends: want a longer pause from one start to the next", s.For, r.Every)
		return false
	case float64(r.Every)*float64(r.Times) > float64(quantity.Longest):
		c.errorf(c.near("storms", i, "repeat"), "%d storms, one every %v, last more than ten years", r.Times, r.Every)
		return false
	}
	return true
}

// checkTrouble checks that a storm has exactly one kind of fault, and its keys.
func (c *checker) checkTrouble(i int, s *Storm) {
	var kinds []*yaml.Node
	for _, trouble := range troubles {
		if c.node("storms", i, trouble) != nil {
			kinds = append(kinds, c.key("storms", i, trouble))
		}
	}
	switch {
	case len(kinds) == 0 && c.sound("storms", i):
		c.errorf(c.near("storms", i), "the storm brings no trouble").Help = "want one of " + quantity.OrList(troubles)
		return
	case len(kinds) > 1:
		c.errorf(kinds[1], "the storm brings two kinds of trouble").Help = "make them two storms with windows of their own"
		return
	}
	t, key := s.Trouble()
	if t == nil {
		return
	}
	t.check(c, s, keyPath{"storms", i, key})
	if !s.Effect().Instant && s.For == 0 && c.sound("storms", i) {
		c.errorf(c.near("storms", i, "for"), "the storm lasts no time").Help = "write for: 5m"
	}
}

// events lists the names of the engine's events, all on a node, that can trigger a storm.
var events = func() (names []string) {
	for k := engine.EventKind(1); k < engine.NumEventKinds; k++ {
		switch k {
		case engine.Enqueued, engine.Promoted, engine.Redriven, engine.LeaseForgotten:
		default:
			names = append(names, k.String())
		}
	}
	return names
}()

// checkTrigger checks the event that triggers a storm, and reports whether there is one.
func (c *checker) checkTrigger(i int, s *Storm) bool {
	if c.node("storms", i, "on") == nil {
		for _, key := range []string{"op", "nth", "before"} {
			if c.node("storms", i, key) != nil {
				c.errorf(c.key("storms", i, key), "the storm begins with no event").Help = "write on: leased, or another event"
			}
		}
		return false
	}
	if !c.sound("storms", i) {
		return true
	}
	on := c.near("storms", i, "on")
	if !slices.Contains(events, s.On) {
		e := unknownName("event", s.On, events)
		if e.Help == "" {
			e.Help = "want " + quantity.OrList(events)
		}
		c.add(on, diagnostics.Error, e)
	}
	if t, key := s.Trouble(); t != nil && !s.Effect().Follows {
		c.errorf(c.key("storms", i, "on"), "this kind of storm (%s) begins at a known time only", key)
	}
	if c.node("storms", i, "nth") != nil {
		c.count(s.Nth, 1, mostEvents, "", "storms", i, "nth")
	}
	if s.Op != "" {
		at := c.near("storms", i, "op")
		if c.checkCall(at, s.Op); s.On != engine.Called.String() {
			c.errorf(at, "only on: %v knows calls", engine.Called)
		}
	}
	if s.Repeat != nil {
		c.checkRepeat(i, s)
	}
	return true
}

// mostEvents is the highest number n for a storm triggered by the n-th event.
const mostEvents = 1_000_000_000

// checkHits checks the names of the classes and dependencies that a storm hits; none means all classes.
func (c *checker) checkHits(hits []string, path ...any) {
	node := c.node(path...)
	if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) != len(hits) {
		return
	}
	for k, name := range hits {
		c.known("job class or dependency", node.Content[k], name, append(c.classes(), c.dependencies()...))
	}
}

// checkNodes reports a storm without the processes it hits, or with processes that do not exist.
func (c *checker) checkNodes(s *Storm, n Nodes, path ...any) {
	if c.required(path...) {
		c.checkWhichNodes(s, n, path...)
	}
}

// checkWhichNodes checks that the processes that a storm hits exist.
func (c *checker) checkWhichNodes(s *Storm, n Nodes, path ...any) {
	if !c.sound(path...) || !c.sound("engine", "nodes") {
		return
	}
	if n.That {
		if s.On == "" {
			c.errorf(c.near(path...), "no node is that one: the storm begins with no event").Help = "write on: leased, or another event"
		}
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

// checkLoss checks a required share of a storm; 0% has no effect, which is a warning with the words nothing.
func (c *checker) checkLoss(share Share, nothing string, path ...any) {
	if c.required(path...) && share.Num == 0 && c.sound(path...) {
		c.warnf(c.near(path...), "%s", nothing)
	}
}

func (c *checker) checkErrorKind(name string, path ...any) {
	if bad := checkErrorKind(name); bad != "" && c.sound(path...) {
		c.errorf(c.near(path...), "bad error kind %s: %s", quantity.Quote(name), bad)
	}
}

// checkDependencyHit checks the dependency named at path of a storm, and returns it; nil if there is none.
func (c *checker) checkDependencyHit(name string, path ...any) *Dependency {
	path = append(path, "dependency")
	if !c.required(path...) || !c.sound(path...) || !c.known("dependency", c.near(path...), name, c.dependencies()) {
		return nil
	}
	i := slices.IndexFunc(c.sc.Dependencies, func(d Dependency) bool { return d.Name == name })
	return &c.sc.Dependencies[i]
}

// checkSomeNodes checks the processes that a storm hits, if any are given.
func (c *checker) checkSomeNodes(s *Storm, n *Nodes, path ...any) {
	if n != nil {
		c.checkWhichNodes(s, *n, path...)
	}
}

// checkLabel returns an error text for a policy's label that tables and charts cannot show; "" if it is valid.
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
