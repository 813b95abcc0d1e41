package policies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/engine/quantity"
)

// JitterKind is a formula that replaces the delay d of a retry by a random one, so that jobs that failed together do
// not come back together. Below, U(a, b) is uniform between a and b.
type JitterKind uint8

const (
	NoJitter     JitterKind = iota // d itself
	Full                           // U(0, d)
	Equal                          // d/2 + U(0, d/2)
	Decorrelated                   // U(first delay, 3 · previous delay), at most Max, whatever n
	Around                         // d · U(1-share, 1+share): "±20%"
	Above                          // d · U(1, 1+share): "+10%"
	Below                          // d · U(1-share, 1): "-50%"
	Added                          // d + U(0, width), whatever d: "+30s"; see Addend
)

var jitterNames = [...]string{NoJitter: "none", Full: "full", Equal: "equal", Decorrelated: "decorrelated",
	Around: "±", Above: "+", Below: "-", Added: "+"}

// Jitter spreads the delays of retries, so that jobs that failed together do not return together. The zero Jitter
// spreads none.
type Jitter struct {
	Kind   JitterKind
	Share  quantity.Share // Around, Above and Below: largest part of a delay that is added or taken away
	Addend Addend         // Added: random time that is added to each delay
}

// JitterWords returns the kinds of jitter without a parameter as scenarios spell them: none, full, equal, decorrelated.
func JitterWords() []string { return slices.Clone(jitterNames[:Around]) }

// ParseJitter parses the text of a jitter: none, full, equal, decorrelated, "±20%" (or "+-20%", "+/-20%"), "+10%",
// "-50%", or an addend such as "+30s".
func ParseJitter(text string) (Jitter, error) {
	if kind := slices.Index(jitterNames[:Around], text); kind >= 0 {
		return Jitter{Kind: JitterKind(kind)}, nil
	}
	if isAddend(text) {
		a, err := parseAddend(text)
		if err != nil {
			return Jitter{}, &quantity.Error{Message: fmt.Sprintf("bad jitter %s: %v", quantity.Quote(text), err),
				Help: "write +30s, +30s/1s for whole seconds, or +10s*n/1s to grow with the n-th failure"}
		}
		return Jitter{Kind: Added, Addend: a}, nil
	}
	kind, body := NoJitter, text
	for _, form := range []struct {
		prefix string
		kind   JitterKind
	}{{"±", Around}, {"+-", Around}, {"+/-", Around}, {"+", Above}, {"-", Below}} {
		if after, ok := strings.CutPrefix(text, form.prefix); ok {
			kind, body = form.kind, after
			break
		}
	}
	var share quantity.Share
	err := share.UnmarshalText([]byte(body))
	switch {
	case err == nil && kind != NoJitter:
	case err == nil:
		return Jitter{}, quantity.Errorf("jitter %s has no sign: write ±%[2]s, +%[2]s or -%[2]s", quantity.Quote(text), text)
	case kind != NoJitter && (quantity.IsNumber(body) || strings.HasSuffix(body, "%")):
		return Jitter{}, err
	default:
		words := JitterWords()
		e := quantity.Errorf("bad jitter %s: want %s, or a spread such as ±20%%, +10%%, -50%%, +30s",
			quantity.Quote(text), strings.Join(words, ", "))
		e.Typed, e.Known = text, words
		return Jitter{}, e
	}
	if share.Num == 0 {
		return Jitter{}, nil
	}
	return Jitter{Kind: kind, Share: share}, nil
}

// UnmarshalText parses a jitter as ParseJitter does.
func (j *Jitter) UnmarshalText(text []byte) (err error) {
	*j, err = ParseJitter(string(text))
	return err
}

// MarshalText returns the jitter in the form of String.
func (j Jitter) MarshalText() ([]byte, error) { return []byte(j.String()), nil }

// String returns the jitter as text, such as "±20%", in the form that ParseJitter parses.
func (j Jitter) String() string {
	switch {
	case j.Kind < Around:
		return jitterNames[j.Kind]
	case j.Kind == Added:
		return j.Addend.String()
	}
	return jitterNames[j.Kind] + j.Share.String()
}

// apply returns the delay d after a job's n-th failure with jitter, by the uniform random draw u in (0, 1).
// Decorrelated jitter, which needs the previous delay, is computed by decorrelate instead.
func (j Jitter) apply(d time.Duration, n int64, u float64) time.Duration {
	num, den := j.Share.Fraction()
	spread := time.Duration(quantity.Scale(int64(d), num, den))
	switch j.Kind {
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
		return saturate(d, j.Addend.draw(n, u))
	}
	return d
}

// decorrelate returns a delay with decorrelated jitter, U(first, 3·last), by the random draw u in (0, 1); first is the
// delay after a first failure, last the previous delay (0: none, as if it were first). (Brooker: Exponential Backoff
// And Jitter, AWS Architecture Blog.)
func decorrelate(first, last time.Duration, u float64) time.Duration {
	return first + part(multiply(max(first, last), 3)-first, u)
}

// part returns u·d, for u in (0, 1), rounded down to a whole number, so that no processor fuses the product with an
// addition and results are the same on all. It is at most d, also where d has no exact float64.
func part(d time.Duration, u float64) time.Duration {
	if product := u * float64(d); product < float64(d) {
		return min(time.Duration(product), d)
	}
	return d
}
