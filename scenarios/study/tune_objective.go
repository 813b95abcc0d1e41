package study

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"qsim/scenarios"
)

// Objectives returns the override that replaces a scenario's objectives by the given ones, as text.
func Objectives(texts []string) (scenarios.Override, error) {
	var list []string
	var problems []error
	for _, text := range texts {
		if _, _, _, err := scenarios.ParseObjective(text); err != nil {
			problems = append(problems, fmt.Errorf("--objective %s: %w", text, err))
		}
		list = append(list, strconv.Quote(text))
	}
	return scenarios.Override{Path: "objectives", Value: "[" + strings.Join(list, ", ") + "]",
		Flag: "--objective " + strings.Join(texts, " --objective ")}, errors.Join(problems...)
}
