package quantity

import (
	"fmt"
	"slices"
)

// Enumeration is a type whose values are small numbers, each with a word.
type Enumeration interface {
	~uint8
	Words() []string // by value, from 0; "" for a value that texts cannot name
}

// Enum is a value of E that is read and written as its word.
type Enum[E Enumeration] struct{ Value E }

// String returns the word of e.
func (e Enum[E]) String() string { return e.Value.Words()[e.Value] }

// MarshalText writes e as String does.
func (e Enum[E]) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads one of the words of E.
func (e *Enum[E]) UnmarshalText(text []byte) error {
	i, err := Choose(string(text), e.Value.Words())
	if err == nil {
		e.Value = E(i)
	}
	return err
}

// Choose returns the index of text among words. Empty words cannot be chosen.
func Choose(text string, words []string) (int, error) {
	if i := slices.Index(words, text); i >= 0 && text != "" {
		return i, nil
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	return 0, &Error{Message: fmt.Sprintf("want %s, not %s", OrList(words), Quote(text)), Typed: text, Known: words}
}
