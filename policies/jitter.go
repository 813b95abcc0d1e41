package policies

import (
	"fmt"
	"strings"
	"time"
)

// JitterKind is a way of spreading a delay d with one draw, so that jobs that failed
// together do not come back together.
type JitterKind uint8

const (
	NoJitter     JitterKind = iota // d
	Full                           // U(0, d)
	Equal                          // d/2 + U(0, d/2)
	Decorrelated                   // U(first, 3 · the delay before), at most Max, whatever n
	Around                         // d · U(1-share, 1+share): "±20%"
	Above                          // d · U(1, 1+share): "+10%"
	Below                          // d · U(1-share, 1): "-50%"
	Added                          // d + U(0, width), whatever d: "+30s"; see Addend
)

var jitterNames = [...]string{NoJitter: "none", Full: "full", Equal: "equal", Decorrelated: "decorrelated", Around: "±", Above: "+", Below: "-", Added: "+"}

// Jitter is a JitterKind with the share that Around, Above and Below need, or the addend
// of Added. The zero Jitter leaves the delay as it is.
type Jitter struct {
	kind   JitterKind
	share  Share
	addend Addend
}

// NewJitter returns the jitter of that kind. Only Around, Above and Below heed share;
// Added is NewAdded's.
func NewJitter(kind JitterKind, share Share) Jitter {
	if kind < Around {
		share = Share{}
	}
	return Jitter{kind: kind, share: share}
}

// NewAdded returns the jitter that adds a.
func NewAdded(a Addend) Jitter { return Jitter{kind: Added, addend: a} }

// ParseJitter reads a jitter: none, full, equal, decorrelated, "±20%" (or "+-20%"),
// "+10%", "-50%", or what ParseAddend reads, such as "+30s".
func ParseJitter(text string) (Jitter, error) {
	for kind := NoJitter; kind < Around; kind++ {
		if jitterNames[kind] == text {
			return Jitter{kind: kind}, nil
		}
	}
	if IsAddend(text) {
		a, err := ParseAddend(text)
		if err != nil {
			return Jitter{}, fmt.Errorf("bad jitter %q: %w", text, err)
		}
		return NewAdded(a), nil
	}
	for _, form := range []struct {
		prefix string
		kind   JitterKind
	}{{"±", Around}, {"+-", Around}, {"+", Above}, {"-", Below}} {
		if body, ok := strings.CutPrefix(text, form.prefix); ok {
			share, err := ParseShare(body)
			if err != nil {
				return Jitter{}, fmt.Errorf("bad jitter %q: %w", text, err)
			}
			return NewJitter(form.kind, share), nil
		}
	}
	return Jitter{}, fmt.Errorf(`unknown jitter %q: want none, full, equal, decorrelated, "±20%%", "+10%%", "-50%%" or "+30s"`, text)
}

// Kind returns the kind of j.
func (j Jitter) Kind() JitterKind { return j.kind }

// Share returns the share of Around, Above and Below, 0 for any other kind.
func (j Jitter) Share() Share { return j.share }

// Addend returns what Added adds, the zero Addend for any other kind.
func (j Jitter) Addend() Addend { return j.addend }

// String returns j as ParseJitter reads it.
func (j Jitter) String() string {
	switch {
	case j.kind < Around:
		return jitterNames[j.kind]
	case j.kind == Added:
		return j.addend.String()
	}
	return jitterNames[j.kind] + j.share.String()
}

// apply spreads d, the delay after the n-th failure, by the draw u. Decorrelated jitter
// is decorrelate's.
func (j Jitter) apply(d time.Duration, n int64, u float64) time.Duration {
	num, den := j.share.Fraction()
	spread := time.Duration(scale(int64(d), num, den))
	switch j.kind {
	case Full:
		return part(d, u)
	case Equal:
		return d/2 + part(d-d/2, u)
	case Around:
		return d - spread + part(2*spread, u)
	case Above:
		return d + part(spread, u)
	case Below:
		return d - spread + part(spread, u)
	case Added:
		return saturate(d, j.addend.draw(n, u))
	}
	return d
}

// decorrelate returns U(first, 3·last) for the draw u. Before the first retry, first
// stands for last. (Brooker: Exponential Backoff And Jitter, AWS Architecture Blog.)
func decorrelate(first, last time.Duration, u float64) time.Duration {
	return first + part(multiply(max(first, last), 3)-first, u)
}

// part returns u of d, u in (0, 1), rounded down. Nothing is added to the product
// before it is a whole number, so no processor fuses the two. A d that no float64
// equals is rounded first, perhaps up: the result must not exceed it.
func part(d time.Duration, u float64) time.Duration {
	if product := u * float64(d); product < float64(d) {
		return min(time.Duration(product), d)
	}
	return d
}
