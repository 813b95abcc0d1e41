package policies

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"qsim/engine/quantity"
)

// Addend is the random time that jitter of the kind Added adds to the delay after the n-th failure: uniform below Width
// or, with a Step, a random multiple of it below Width.
//
//	"+30s"        U(0, 30 s)
//	"+30s/1s"     0, 1, ... or 29 s, each as likely
//	"+10s*n"      U(0, 10 s · n)
//	"+10s*n/1s"   0, 1, ... or 10n-1 s
//	"+30s/1s*n"   n times one of 0, 1, ... 29 s
type Addend struct {
	Width time.Duration // upper end of the draw: more than 0
	Step  time.Duration // draws are whole multiples of it, in [0, Width]; 0: any length
	Grows Growth
}

// Growth is how the random time that jitter adds to a delay (an Addend) grows with n, the number of failures so far.
type Growth uint8

const (
	GrowsNot  Growth = iota
	GrowRange        // Width is multiplied by n: later failures have more multiples of Step to draw from
	GrowDraw         // the draw is multiplied by n. Without a Step it is the same as GrowRange
)

// isAddend reports whether a jitter's text looks like an Addend: a plus and a number with a unit of time, not a share.
func isAddend(text string) bool {
	rest, ok := strings.CutPrefix(text, "+")
	unit := strings.TrimLeft(rest, "0123456789.")
	return ok && unit != "" && unit != rest && !strings.HasSuffix(rest, "%")
}

// parseAddend parses an addend, the random time that jitter adds to a delay: one of the forms listed at Addend.
func parseAddend(text string) (Addend, error) {
	var a Addend
	body, ok := strings.CutPrefix(text, "+")
	if !ok {
		return a, errors.New("there is no plus sign")
	}
	if rest, grows := strings.CutSuffix(body, "*n"); grows {
		body, a.Grows = rest, GrowDraw
	}
	width, step, stepped := strings.Cut(body, "/")
	if rest, grows := strings.CutSuffix(width, "*n"); grows && a.Grows == GrowsNot {
		width, a.Grows = rest, GrowRange
	}
	var err error
	if a.Width, err = quantity.ParseDuration(width); err != nil {
		return Addend{}, err
	}
	if stepped {
		if a.Step, err = quantity.ParseDuration(step); err != nil {
			return Addend{}, err
		}
	} else if a.Grows == GrowDraw {
		a.Grows = GrowRange
	}
	switch {
	case a.Width <= 0:
		return Addend{}, fmt.Errorf("%s is out of range: want more than 0 and at most ten years", width)
	case stepped && (a.Step <= 0 || a.Step > a.Width):
		return Addend{}, fmt.Errorf("a step of %s is out of range: want more than 0 and at most %s", step, width)
	}
	return a, nil
}

// String returns the addend as text, such as "+30s/1s", in the form that parseAddend parses.
func (a Addend) String() string {
	text := "+" + quantity.Duration(a.Width).String()
	if a.Grows == GrowRange || a.Grows == GrowDraw && a.Step == 0 {
		text += "*n"
	}
	if a.Step > 0 {
		text += "/" + quantity.Duration(a.Step).String()
	}
	if a.Grows == GrowDraw && a.Step > 0 {
		text += "*n"
	}
	return text
}

// draw returns the time to add to the delay after the n-th failure, at most Century, for a random draw u from (0, 1).
func (a Addend) draw(n int64, u float64) time.Duration {
	width := a.Width
	if a.Grows != GrowsNot && (a.Step == 0 || a.Grows == GrowRange) {
		width = min(multiply(width, n), Century)
	}
	drawn := part(width, u)
	if a.Step == 0 {
		return drawn
	}
	drawn = min(drawn, width-1) / a.Step * a.Step
	if a.Grows == GrowDraw {
		drawn = min(multiply(drawn, n), Century)
	}
	return drawn
}
