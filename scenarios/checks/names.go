package checks

import (
	"fmt"
	"strings"
	"unicode"

	"qsim/engine"
)

// BadName returns, as text, the mistake in a name of a class, storm, policy and the like; "" if it is valid.
func BadName(name string) string {
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

// BadErrorKind returns, as text, the mistake in an error kind for failing attempts, "" if it is valid. Canceled
// attempts and those with an expired lease have not failed: the engine sets these kinds.
func BadErrorKind(name string) string {
	for _, kind := range []engine.ErrorKind{engine.Canceled, engine.LeaseExpired} {
		if name == kind.Name() {
			return "it is the engine's own word, for what it does itself"
		}
	}
	return BadName(name)
}

// BadLabel returns an error text for a policy's label that tables and charts cannot show; "" if it is valid.
func BadLabel(label string) string {
	if label == "" || strings.TrimSpace(label) != label {
		return "it is empty, or starts or ends with a space"
	}
	if len([]rune(label)) > 40 {
		return "it is longer than 40 characters"
	}
	for _, r := range label {
		if !unicode.IsPrint(r) {
			return "want only printable characters"
		}
	}
	return ""
}
