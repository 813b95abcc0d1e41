package quantity

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is one of the words of W: it is read, compared and written as the word, and its Value is what the word means.
type Choice[T any, W Words[T]] string

// Words are the words of a Choice, and what each means.
type Words[T any] interface{ Words() ([]string, []T) }

// Value returns what c means: what the first word of W does for a c that is none of them.
func (c Choice[T, W]) Value() T {
	var list W
	words, values := list.Words()
	return values[max(0, slices.Index(words, string(c)))]
}

// Words returns the words of W.
func (Choice[T, W]) Words() []string {
	var list W
	words, _ := list.Words()
	return words
}

// UnmarshalText reads one of the words of W.
func (c *Choice[T, W]) UnmarshalText(text []byte) error {
	words := c.Words()
	i, err := Choose(string(text), words)
	if err == nil {
		*c = Choice[T, W](words[i])
	}
	return err
}

// Choose returns the index of text among words.
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

// truths are the words that older YAML took for true and false.
var truths = map[string]string{"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
