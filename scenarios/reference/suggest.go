package reference

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"qsim/engine/quantity"
)

// Closest returns the word of known most similar to word, or the only one that begins with it, or "". Of several the
// one with the same case wins.
func Closest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	best, distance, inCase := "", 1+len(word)/3, 0
	for _, k := range known {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k))
		own := levenshtein.ComputeDistance(word, k)
		if d < distance || d == distance && (best == "" && len(word) > 2 || best != "" && own < inCase) {
			best, distance, inCase = k, d, own
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(k, strings.ToLower(word)) {
			if best != "" {
				return ""
			}
			best = k
		}
	}
	return best
}

// UnknownName returns the error for a name that does not exist, with the most similar name as help.
func UnknownName(what, name string, names []string) *quantity.Error {
	e := quantity.Errorf("no %s is named %s", what, quantity.Quote(name))
	switch near := Closest(name, names); {
	case near != "":
		e.Help = fmt.Sprintf("did you mean %q?", near)
	case len(names) > 0 && len(names) <= 12:
		var quoted []string
		for _, n := range names {
			quoted = append(quoted, quantity.Quote(n))
		}
		e.Help = "there is " + strings.Join(quoted, ", ")
	case len(names) == 0:
		e.Note = "the scenario has no " + what
	}
	return e
}

// UnknownWord returns the error for a word that is none of words, with the most similar one as help, or else help.
func UnknownWord(what, word string, words []string, help string) *quantity.Error {
	e := UnknownName(what, word, words)
	e.Message, e.Help = "unknown "+what+" "+quantity.Quote(word), cmp.Or(e.Help, help)
	return e
}

// UnknownKey returns the error for an unknown key, with the most similar known key as help.
func UnknownKey(key string, known []string) *quantity.Error {
	e := quantity.Errorf("unknown key %s", quantity.Quote(key))
	if !quantity.IsNumber(key) {
		e.Message = fmt.Sprintf("unknown key %q", key)
	}
	switch near := Closest(key, known); {
	case near != "":
		e.Help = fmt.Sprintf("did you mean %q?", near)
	case len(known) > 0:
		e.Help = "known keys here: " + strings.Join(known, ", ")
	}
	return e
}
