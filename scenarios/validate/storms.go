package validate

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkStorms() {
	if len(c.sc.Storms) > reference.MostStorms {
		c.Errorf(c.Near("storms", reference.MostStorms), "%d storms are too many: at most %d", len(c.sc.Storms), reference.MostStorms)
		return
	}
	for i := range c.sc.Storms {
		c.checkStorm(i, &c.sc.Storms[i])
	}
	c.Unique("storms", c.Storms)
}

func (c *validator) checkStorm(i int, s *spec.Storm) {
	if c.Has("storms", i, "name") && c.Sound("storms", i, "name") {
		if bad := checks.BadName(s.Name); bad != "" {
			c.Errorf(c.Near("storms", i, "name"), "bad storm name %s: %s", quantity.Quote(s.Name), bad)
		}
	}
	c.checkTrouble(i, s)
	if !c.checkTrigger(i, s) {
		c.Required("storms", i, "at")
		c.checkWindows(i, s)
	}
}

// checkWindows compares the windows of a storm with the run, and with each other.
func (c *validator) checkWindows(i int, s *spec.Storm) {
	if !c.Sound("duration") || !c.Sound("storms", i, "at") || !c.Sound("storms", i, "for") || !c.Sound("storms", i, "repeat") || !c.checkRepeat(i, s) {
		return
	}
	ends := [][]any{{"storms", i, "repeat", "times"}, {"storms", i, "for"}, {"storms", i, "at"}}
	switch end := s.End(); {
	case s.At >= c.sc.Duration:
		c.Warnf(c.Near("storms", i, "at"), "the storm comes at %v, after the arrivals end (%v)", s.At, c.sc.Duration)
	case end > c.sc.Duration.Std() && s.Repeat != nil:
		c.Warnf(c.Given(ends...), "the last storm of %d ends at %v, after the arrivals end (%v)", s.Repeat.Times, spec.Duration(end), c.sc.Duration)
	case end > c.sc.Duration.Std():
		c.Warnf(c.Given(ends[1:]...), "the storm ends at %v, after the arrivals end (%v)", spec.Duration(end), c.sc.Duration)
	}
}

// mostRepeats is the highest number of windows of one storm.
const mostRepeats = 10_000

// checkRepeat reports whether the windows of a storm do not overlap and end at a time that can be represented; it adds
// errors otherwise.
func (c *validator) checkRepeat(i int, s *spec.Storm) bool {
	r := s.Repeat
	if r == nil {
		return true
	}
	every, times := c.Required("storms", i, "repeat", "every"), c.Required("storms", i, "repeat", "times")
	if !every || !times {
		return false
	}
	c.Count(r.Times, 1, mostRepeats, "since each is a storm of its own", "storms", i, "repeat", "times")
	switch {
	case r.Times < 1 || r.Times > mostRepeats:
		return false
	case r.Every <= s.For:
		c.Errorf(c.Near("storms", i, "repeat", "every"), "a storm of %v every %v never ends: want a longer pause from one start to the next", s.For, r.Every)
		return false
	case float64(r.Every)*float64(r.Times) > float64(quantity.Longest):
		c.Errorf(c.Near("storms", i, "repeat"), "%d storms, one every %v, last more than ten years", r.Times, r.Every)
		return false
	}
	return true
}

// checkTrouble checks that a storm has exactly one kind of fault, and its keys.
func (c *validator) checkTrouble(i int, s *spec.Storm) {
	var kinds []*yaml.Node
	for _, trouble := range spec.Troubles() {
		if c.Node("storms", i, trouble) != nil {
			kinds = append(kinds, c.Key("storms", i, trouble))
		}
	}
	switch {
	case len(kinds) == 0 && c.Sound("storms", i):
		c.Errorf(c.Near("storms", i), "the storm brings no trouble").Help = "want one of " + quantity.OrList(spec.Troubles())
		return
	case len(kinds) > 1:
		c.Errorf(kinds[1], "the storm brings two kinds of trouble").Help = "make them two storms with windows of their own"
		return
	}
	t, key := s.Trouble()
	if t == nil {
		return
	}
	s.CheckTrouble(c.Checker, &c.sc.Engine, c.sc.Dependencies, "storms", i, key)
	if !s.Effect().Instant && s.For == 0 && c.Sound("storms", i) {
		c.Errorf(c.Near("storms", i, "for"), "the storm lasts no time").Help = "write for: 5m"
	}
}

// checkTrigger checks the event that triggers a storm, and reports whether there is one.
func (c *validator) checkTrigger(i int, s *spec.Storm) bool {
	if c.Node("storms", i, "on") == nil {
		for _, key := range []string{"op", "nth", "before"} {
			if c.Node("storms", i, key) != nil {
				c.Errorf(c.Key("storms", i, key), "the storm begins with no event").Help = "write on: leased, or another event"
			}
		}
		return false
	}
	if !c.Sound("storms", i) {
		return true
	}
	on := c.Near("storms", i, "on")
	if !slices.Contains(spec.Events, s.On) {
		e := reference.UnknownName("event", s.On, spec.Events)
		if e.Help == "" {
			e.Help = "want " + quantity.OrList(spec.Events)
		}
		c.Add(on, diagnostics.Error, e)
	}
	if t, key := s.Trouble(); t != nil && !s.Effect().Follows {
		c.Errorf(c.Key("storms", i, "on"), "this kind of storm (%s) begins at a known time only", key)
	}
	if c.Node("storms", i, "nth") != nil {
		c.Count(s.Nth, 1, mostEvents, "", "storms", i, "nth")
	}
	if s.Op != "" {
		at := c.Near("storms", i, "op")
		if spec.CheckCall(c.Checker, at, s.Op); s.On != engine.Called.String() {
			c.Errorf(at, "only on: %v knows calls", engine.Called)
		}
	}
	if s.Repeat != nil {
		c.checkRepeat(i, s)
	}
	return true
}

// mostEvents is the highest number n for a storm triggered by the n-th event.
const mostEvents = 1_000_000_000
