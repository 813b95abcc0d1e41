package quantity

import (
	"fmt"
	"slices"
	"strings"
)

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
