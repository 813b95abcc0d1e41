package scenarios

import (
	"strings"
)

// Words that a key may have for its value. Each type lists its own below.
type (
	Fence        string // token, state, none
	Place        string // due, tail, head, created
	LateClaim    string // return, run, ignore
	GiveUp       string // requeue, drop
	Counts       string // failure, nothing
	Owner        string // every, leader
	PromoteOrder string // oldest, newest
	RetryCount   string // claim, failure
	Expect       string // met, missed
)

// UnmarshalText reads one of the words of Fence.
func (v *Fence) UnmarshalText(text []byte) error {
	return choose(v, "fence", text, "token", "state", "none")
}

// UnmarshalText reads one of the words of Place.
func (v *Place) UnmarshalText(text []byte) error {
	return choose(v, "place", text, "due", "tail", "head", "created")
}

// UnmarshalText reads one of the words of LateClaim.
func (v *LateClaim) UnmarshalText(text []byte) error {
	return choose(v, "late-claim", text, "return", "run", "ignore")
}

// UnmarshalText reads one of the words of GiveUp.
func (v *GiveUp) UnmarshalText(text []byte) error {
	return choose(v, "give-up", text, "requeue", "drop")
}

// UnmarshalText reads one of the words of Counts.
func (v *Counts) UnmarshalText(text []byte) error {
	return choose(v, "counts", text, "failure", "nothing")
}

// UnmarshalText reads one of the words of Owner.
func (v *Owner) UnmarshalText(text []byte) error {
	return choose(v, "owner", text, "every", "leader")
}

// UnmarshalText reads one of the words of PromoteOrder.
func (v *PromoteOrder) UnmarshalText(text []byte) error {
	return choose(v, "order", text, "oldest", "newest")
}

// UnmarshalText reads one of the words of RetryCount.
func (v *RetryCount) UnmarshalText(text []byte) error {
	return choose(v, "count", text, "claim", "failure")
}

// UnmarshalText reads one of the words of Expect.
func (v *Expect) UnmarshalText(text []byte) error {
	return choose(v, "expect", text, "met", "missed")
}

// Wake says who is told at once of new ready jobs: one (written true or one), all
// or none (written false).
type Wake string

// UnmarshalText reads true, one, all or false.
func (v *Wake) UnmarshalText(text []byte) error {
	var word string
	if err := choose(&word, "wake", text, "true", "one", "all", "false"); err != nil {
		return err
	}
	switch word {
	case "true":
		word = "one"
	case "false":
		word = "none"
	}
	*v = Wake(word)
	return nil
}

// MarshalYAML writes v as a scenario does.
func (v Wake) MarshalYAML() (any, error) {
	switch v {
	case "one":
		return true, nil
	case "none":
		return false, nil
	}
	return string(v), nil
}

// choose sets v to text if it is one of words.
func choose[S ~string](v *S, what string, text []byte, words ...string) error {
	word := string(text)
	for _, w := range words {
		if w == word {
			*v = S(word)
			return nil
		}
	}
	e := badValue("bad %s %s: want %s", what, quoted(word), orList(words))
	if near := closest(word, words); near != "" {
		e.help = "did you mean \"" + near + "\"?"
	}
	return e
}

// orList writes "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
