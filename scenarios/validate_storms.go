package scenarios

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
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
			c.errorf(c.near("storms", i, "name"), "bad storm name %s: %s", quantity.Quote(s.Name), bad)
		}
	}
	c.required("storms", i, "at")
	c.checkTrouble(i, s)
	c.checkWindows(i, s)
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

// mostRepeats bounds the windows of one storm, and mostRestarts the processes it kills.
const (
	mostRepeats  = 10_000
	mostRestarts = 1_000_000
)

// checkRepeat reports whether the windows of a storm are apart, and end at a time that
// can be told.
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

// troubles are the kinds of storm.
var troubles = []string{"fail", "slow", "burst", "outage", "limit", "crash", "rolling", "pause", "heartbeats", "calls", "store", "reaper", "promoter", "leases", "clock", "redrive"}

// checkTrouble checks the one kind of trouble that a storm brings.
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
	case len(kinds) == 0:
		return
	}
	c.checkTroubleOf(i, s)
	if s.lasts() && s.For == 0 && c.sound("storms", i) {
		c.errorf(c.near("storms", i, "for"), "the storm lasts no time").Help = "write for: 5m"
	}
}

// lasts reports whether the trouble of s is that of a window rather than of an instant.
func (s *Storm) lasts() bool {
	switch {
	case s.Burst != nil:
		return s.Burst.Factor != nil
	case s.Clock != nil:
		return s.Clock.Jump == nil
	}
	return s.Crash == nil && s.Leases == nil && s.Redrive == nil
}

// checkTroubleOf checks the trouble of a storm that has one.
func (c *checker) checkTroubleOf(i int, s *Storm) {
	switch {
	case s.Fail != nil:
		c.checkHits(s.Fail.Hits, "storms", i, "fail", "hits")
		c.checkLoss(s.Fail.Rate, "the storm fails nothing", "storms", i, "fail", "rate")
		c.checkErrorKind(s.Fail.Error, "storms", i, "fail", "error")
	case s.Slow != nil:
		c.checkHits(s.Slow.Hits, "storms", i, "slow", "hits")
		c.required("storms", i, "slow", "factor")
	case s.Burst != nil:
		c.checkBurst(i, s.Burst)
	case s.Outage != nil:
		c.checkDependencyHit(s.Outage.Dependency, "storms", i, "outage")
		c.checkErrorKind(s.Outage.Error, "storms", i, "outage", "error")
	case s.Limit != nil:
		c.checkLimit(i, s.Limit)
	case s.Crash != nil:
		c.checkNodes(s.Crash.Nodes, "storms", i, "crash", "nodes")
		c.required("storms", i, "crash", "restart-after")
	case s.Rolling != nil:
		c.checkRolling(i, s)
	case s.Pause != nil:
		c.checkNodes(s.Pause.Nodes, "storms", i, "pause", "nodes")
	case s.Clock != nil:
		c.checkClock(i, s.Clock)
	case s.Redrive != nil:
		c.checkLoss(s.Redrive.Share, "the storm redrives nothing", "storms", i, "redrive", "share")
	default:
		c.checkStoreTrouble(i, s)
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
