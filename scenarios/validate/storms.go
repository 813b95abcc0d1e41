package validate

import (
	"cmp"
	"slices"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkStorms() {
	if c.tooMany(len(c.sc.Storms), reference.MostStorms, "storms", "storms") {
		return
	}
	for i := range c.sc.Storms {
		c.checkStorm(i, &c.sc.Storms[i])
	}
	c.Unique("storms", c.Storms)
}

func (c *validator) checkStorm(i int, s *spec.Storm) {
	c.checkTrouble(i, s)
	if c.Node("storms", i, "on") != nil {
		c.checkTrigger(i, s)
		return
	}
	for _, key := range []string{"op", "nth", "before"} {
		c.hold(fault, []conflict{{c.Node("storms", i, key) != nil, key + ":", "the storm begins with no event",
			"write on: leased, or another event"}}, "storms", i)
	}
	c.Required("storms", i, "at")
	c.checkWindows(i, s)
}

// checkWindows compares the windows of a storm with the run, and with each other.
func (c *validator) checkWindows(i int, s *spec.Storm) {
	for _, key := range []string{"at", "for", "repeat"} {
		if !c.Sound("duration") || !c.Sound("storms", i, key) {
			return
		}
	}
	if !c.checkRepeat(i, s) {
		return
	}
	whole, end, times := c.sc.Duration, spec.Duration(s.End()), s.Windows()
	late, ends := s.At < whole && end > whole, text(" ends at %v, after the arrivals end (%v)", end, whole)
	c.hold(warning, []conflict{
		{s.At >= whole, "at", text("the storm comes at %v, after the arrivals end (%v)", s.At, whole), ""},
		{late && s.Repeat != nil, "repeat.times for at", text("the last storm of %.0f%s", times, ends), ""},
		{late && s.Repeat == nil, "for at", "the storm" + ends, ""},
	}, "storms", i)
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
	if r.Times < 1 || r.Times > mostRepeats {
		return false
	}
	endless, long := r.Every <= s.For, float64(r.Every)*float64(r.Times) > float64(quantity.Longest)
	c.hold(fault, []conflict{
		{endless, "repeat.every", text("a storm of %v every %v never ends: want a longer pause from one start to the next", s.For, r.Every), ""},
		{long && !endless, "repeat", text("%d storms, one every %v, last more than ten years", r.Times, r.Every), ""},
	}, "storms", i)
	return !endless && !long
}

// checkTrouble checks that a storm has exactly one kind of fault, and its keys.
func (c *validator) checkTrouble(i int, s *spec.Storm) {
	var kinds []string
	for _, trouble := range spec.Troubles() {
		if c.Node("storms", i, trouble) != nil {
			kinds = append(kinds, trouble)
		}
	}
	sound, second := c.Sound("storms", i), append(kinds, "", "")[1]
	c.hold(fault, []conflict{
		{len(kinds) == 0 && sound, "", "the storm brings no trouble", "want one of " + quantity.OrList(spec.Troubles())},
		{len(kinds) > 1, second + ":", "the storm brings two kinds of trouble",
			"make them two storms with windows of their own"},
	}, "storms", i)
	if _, key := s.Trouble(); key != "" && len(kinds) < 2 {
		s.CheckTrouble(c.Checker, &c.sc.Engine, c.sc.Dependencies, "storms", i, key)
		c.hold(fault, []conflict{{!s.Effect().Instant && s.For == 0 && sound, "for", "the storm lasts no time", "write for: 5m"}}, "storms", i)
	}
}

func (c *validator) checkTrigger(i int, s *spec.Storm) {
	if !c.Sound("storms", i) {
		return
	}
	if !slices.Contains(spec.Events, s.On) {
		e := reference.UnknownName("event", s.On, spec.Events)
		e.Help = cmp.Or(e.Help, "want "+quantity.OrList(spec.Events))
		c.Add(c.Near("storms", i, "on"), fault, e)
	}
	t, key := s.Trouble()
	c.hold(fault, []conflict{
		{t != nil && !s.Effect().Follows, "on:", text("this kind of storm (%s) begins at a known time only", key), ""},
		{s.Op != "" && s.On != engine.Called.String(), "op", text("only on: %v knows calls", engine.Called), ""},
	}, "storms", i)
	if c.Node("storms", i, "nth") != nil {
		c.Count(s.Nth, 1, mostEvents, "", "storms", i, "nth")
	}
	if s.Op != "" {
		spec.CheckCall(c.Checker, c.Near("storms", i, "op"), s.Op)
	}
	c.checkRepeat(i, s)
}

// mostEvents is the highest number n for a storm triggered by the n-th event.
const mostEvents = 1_000_000_000
