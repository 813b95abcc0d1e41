package main

import (
	"fmt"
	"strings"

	"qsim/scenarios"
)

// replay is the command line that repeats the simulation that broke, and nothing else.
func (s *session) replay(l loaded, b *scenarios.Broken) string {
	words := []string{"qsim", "run", l.name}
	for _, set := range s.flags.set {
		words = append(words, "--set", set)
	}
	words = append(words, "--policy", b.Policy, "--seed", fmt.Sprint(b.Seed), "-n", "1", "-j", "1")
	for i, word := range words {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%") != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
