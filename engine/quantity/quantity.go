// Package quantity is the common grammar of values: durations (1h30m), rates (120/s), shares (20%), counts (100k),
// plain numbers and words of a list. Scenario files, parameters of policies, ranges of sweeps and flags of the commands
// parse and print values here, so that a text has the same value everywhere.
//
// Every type has UnmarshalText, whose error is an *Error, and String, which writes the value so that it is read again
// as the same.
package quantity

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Longest and the constants below are the largest values that users may write. They keep every product that a run
// computes inside an int64 of nanoseconds and every run inside the memory of one machine.
const (
	Longest      = 10 * 365 * 24 * time.Hour // longest duration
	Fastest      = 1_000_000_000             // events per second
	MostAttempts = 1_000_000                 // attempts of a job
	MostCount    = 1_000_000_000             // of anything counted, such as jobs
)

// Error describes a mistake in a value, for the user who wrote it: what is wrong, and what to write instead.
type Error struct {
	Message string
	Help    string // correct text to write instead; may be empty
	Note    string // conflict with another value; may be empty
	// Typed and Known are an unknown word and the known ones, if any, from which a caller can suggest the most similar.
	Typed string
	Known []string
}

// Error returns the message, without Help and Note.
func (e *Error) Error() string { return e.Message }

// Errorf returns an Error with a formatted message and no help.
func Errorf(format string, arguments ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, arguments...)}
}

// Quote returns text that a user typed as a message shows it, cut to 40 characters: numbers as they are, all else in
// quotes.
func Quote(s string) string {
	if s = Cut(s, 40); IsNumber(s) {
		return s
	}
	return strconv.Quote(s)
}

// Cut returns a text of at most most characters as it is, and of a longer one that many with … for the rest.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// OrList returns words joined as "a, b or c".
func OrList(words []string) string { return List(words, "or") }

// List returns words joined with a conjunction before the last one: "a, b and c".
func List(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// IsNumber reports whether s is a plain decimal number, not one of the other forms of strconv.ParseFloat: hexadecimal,
// infinity, NaN.
func IsNumber(s string) bool {
	return s != "" && strings.Trim(s, "+-.0123456789eE") == "" && strings.ContainsAny(s, "0123456789")
}

// ParseNumber parses a plain decimal number, exactly, with an optional k (thousand) or M (million). It rejects, with
// false, numbers other than 0 whose size is not between 1e-18 and 1e18.
func ParseNumber(s string) (*big.Rat, bool) {
	digits, unit := s, int64(1)
	switch {
	case strings.HasSuffix(s, "k"):
		digits, unit = s[:len(s)-1], 1000
	case strings.HasSuffix(s, "M"):
		digits, unit = s[:len(s)-1], 1_000_000
	}
	if !IsNumber(digits) || len(digits) > 40 {
		return nil, false
	}
	// A long exponent would make SetString build a number of as many digits.
	if f, err := strconv.ParseFloat(digits, 64); err != nil || f != 0 && (math.Abs(f) > 1e18 || math.Abs(f) < 1e-18) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, false
	}
	return r.Mul(r, big.NewRat(unit, 1)), true
}

// Decimal returns x as text, rounded to at most most digits after the decimal point, without trailing zeros.
func Decimal(x *big.Rat, most int) string {
	s := x.FloatString(most)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Scale returns n·num/den rounded down, or the largest int64 if the result is larger. n and num are at least 0, den at
// least 1.
func Scale(n, num, den int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(num))
	if high >= uint64(den) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, uint64(den))
	return int64(min(quotient, math.MaxInt64))
}

// Choice is a value that users write as one of a few words. Its type parameter W lists them, with the value of each.
type Choice[T any, W Words[T]] string

// Words is the constraint on the type that lists the possible words of a Choice, each with the value it stands for.
type Words[T any] interface{ Words() ([]string, []T) }

// Value returns the value for which the chosen word stands; that of the first word if the choice is not in the list.
func (c Choice[T, W]) Value() T {
	var list W
	words, values := list.Words()
	return values[max(0, slices.Index(words, string(c)))]
}

// Words returns the words that the choice may have, in the order of W.
func (Choice[T, W]) Words() []string {
	var list W
	words, _ := list.Words()
	return words
}

// UnmarshalText sets the choice to a text that is one of its words.
func (c *Choice[T, W]) UnmarshalText(text []byte) error {
	words := c.Words()
	i, err := Choose(string(text), words)
	if err == nil {
		*c = Choice[T, W](words[i])
	}
	return err
}

// Choose returns the index of a text in a list of words, or an *Error with these words if it is none of them.
func Choose(text string, words []string) (int, error) {
	if i := slices.Index(words, text); i >= 0 {
		return i, nil
	}
	e := &Error{Message: fmt.Sprintf("want %s, not %s", OrList(words), Quote(text)), Typed: text, Known: words}
	if meant := truths[strings.ToLower(text)]; slices.Contains(words, meant) {
		e.Help, e.Typed = "write "+meant, ""
	}
	return 0, e
}

// truths maps YAML words for booleans (yes, on, false and so on) to true or false, to suggest that word in errors.
var truths = map[string]string{"yes": "true", "on": "true", "true": "true",
	"no": "false", "off": "false", "false": "false"}
