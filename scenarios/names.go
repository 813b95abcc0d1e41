package scenarios

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"qsim/engine"
	"qsim/engine/quantity"
)

// closest returns the word of known most similar to word, or the only one that begins with it, or "". Of several the
// one with the same case wins.
func closest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	best, distance, inCase := "", 1+len(word)/3, 0
	for _, k := range known {
		d, own := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)), levenshtein.ComputeDistance(word, k)
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

// unknownName returns the error for a name that does not exist, with the most similar name as help.
func unknownName(what, name string, names []string) *quantity.Error {
	e := quantity.Errorf("no %s is named %s", what, quantity.Quote(name))
	switch near := closest(name, names); {
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

// checkName returns, as text, the mistake in a name of a class, storm, policy and the like; "" if it is valid.
func checkName(name string) string {
	const most = 64
	switch {
	case name == "":
		return "it is empty"
	case len(name) > most:
		return fmt.Sprintf("it is longer than %d letters", most)
	}
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			continue
		}
		return "want only a-z, 0-9 and -"
	}
	return ""
}

// checkErrorKind returns, as text, the mistake in an error kind for failing attempts, "" if it is valid. Canceled
// attempts and those with an expired lease have not failed: the engine sets these kinds.
func checkErrorKind(name string) string {
	for _, kind := range []engine.ErrorKind{engine.Canceled, engine.LeaseExpired} {
		if name == kind.Name() {
			return "it is the engine's own word, for what it does itself"
		}
	}
	return checkName(name)
}
