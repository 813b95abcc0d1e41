package study

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"qsim/scenarios"
)

// Objectives is the override that gives a scenario these objectives, each as text, instead of its own.
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
