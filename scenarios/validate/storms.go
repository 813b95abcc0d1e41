package validate

import (
	"cmp"
	"slices"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

func (c *validator) checkStorms() {
	for i := range c.sc.Storms {
		c.checkStorm(c.In("storms", i), &c.sc.Storms[i])
	}
}

func (c *validator) checkStorm(in checks.Section, s *spec.Storm) {
	c.checkTrouble(in, s)
	if in.Has("on") {
		c.checkTrigger(in, s)
		return
	}
	for _, key := range []string{"op", "nth", "before"} {
		in.Fault(in.Has(key), key+":", "the storm begins with no event").Help = "write on: leased, or another event"
	}
	in.Required("at")
	c.checkWindows(in, s)
}

// checkWindows adds errors for windows of a storm that overlap, and warns of those that begin or end after the last
// arrival.
func (c *validator) checkWindows(in checks.Section, s *spec.Storm) {
	if !c.Sound("duration") || !in.Sound("at", "for", "repeat") || !c.checkRepeat(in, s) {
		return
	}
	whole, end := c.sc.Duration, spec.Duration(s.End())
	in.Warn(s.At >= whole, "at", "the storm comes at %v, after the arrivals end (%v)", s.At, whole)
	late := s.At < whole && end > whole
	in.Warn(late && s.Repeat != nil, "repeat.times for at",
		"the last storm of %.0f ends at %v, after the arrivals end (%v)", s.Windows(), end, whole)
	in.Warn(late && s.Repeat == nil, "for at", "the storm ends at %v, after the arrivals end (%v)", end, whole)
}

// checkRepeat reports whether a storm's windows do not overlap and end in the time of a run; it adds errors otherwise.
func (c *validator) checkRepeat(in checks.Section, s *spec.Storm) bool {
	r := s.Repeat
	if r == nil {
		return true
	}
	if r.Times < 1 || int(r.Times) > reference.MostOf("storms.*.repeat.times") || !in.Has("repeat.every") {
		return false
	}
	endless, long := r.Every <= s.For, float64(r.Every)*float64(r.Times) > float64(quantity.Longest)
	in.Fault(endless, "repeat.every",
		"a storm of %v every %v never ends: want a longer pause from one start to the next", s.For, r.Every)
	in.Fault(long && !endless, "repeat", "%d storms, one every %v, last more than ten years", r.Times, r.Every)
	return !endless && !long
}

// checkTrouble adds errors unless a storm has exactly one kind of fault, whose keys are valid.
func (c *validator) checkTrouble(in checks.Section, s *spec.Storm) {
	kinds := slices.DeleteFunc(spec.Troubles(), func(kind string) bool { return !in.Has(kind) })
	sound, second := in.Sound(), append(kinds, "", "")[1]
	in.Fault(len(kinds) == 0 && sound, "", "the storm brings no trouble").Help =
		"want one of " + quantity.OrList(spec.Troubles())
	in.Fault(len(kinds) > 1, second+":", "the storm brings two kinds of trouble").Help =
		"make them two storms with windows of their own"
	if s.Trouble != nil && len(kinds) < 2 {
		s.CheckTrouble(in, c.sc)
		in.Fault(!s.Effect().Instant && s.For == 0 && sound, "for", "the storm lasts no time").Help = "write for: 5m"
	}
}

func (c *validator) checkTrigger(in checks.Section, s *spec.Storm) {
	if !in.Sound() {
		return
	}
	if !slices.Contains(spec.Events, s.On) {
		e := reference.UnknownName("event", s.On, spec.Events)
		e.Help = cmp.Or(e.Help, "want "+quantity.OrList(spec.Events))
		c.Add(in.Place("on"), e)
	}
	timed := s.Trouble != nil && !s.Effect().Follows
	in.Fault(timed, "on:", "this kind of storm (%s) begins at a known time only", s.Kind())
	in.Fault(s.Op != "" && s.On != engine.Called.String(), "op", "only on: %v knows calls", engine.Called)
	if s.Op != "" {
		spec.CheckCall(c.Checker, in.Place("op"), s.Op)
	}
	c.checkRepeat(in, s)
}
