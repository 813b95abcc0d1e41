package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/scenarios/trace"
	"qsim/scenarios/world"
)

// replay is the command line that repeats the simulation that broke, and nothing else; more
// are keys and values as of --set.
func (s *session) replay(l loaded, b *world.Broken, more []string) string {
	words := append(s.naming("run", l, b, more), "-n", "1", "-j", "1")
	if s.flags.check {
		words = append(words, "--check")
	}
	return shellLine(words)
}

// leading is the command line that prints the trace that led to the break: all events of its last
// second.
func (s *session) leading(l loaded, b *world.Broken, more []string) string {
	last := max(0, b.At-time.Second).Truncate(time.Millisecond)
	return shellLine(append(s.naming("trace", l, b, more), "--from", trace.Clock(last), "--limit", "100000"))
}

// naming are the words that a command needs to simulate the same.
func (s *session) naming(command string, l loaded, b *world.Broken, more []string) []string {
	words := []string{"qsim", command, openable(l.Name)}
	for _, set := range append(slices.Clip(s.flags.set), more...) {
		words = append(words, "--set", set)
	}
	return append(words, "--policy", b.Policy, "--seed", fmt.Sprint(b.Seed))
}

// openable is what Open takes for a scenario that is shown as name: a built-in one is shown
// as a file.
func openable(name string) string {
	if short := strings.TrimSuffix(name, ".yaml"); !isScenario(name) && isScenario(short) {
		return short
	}
	return name
}

// shellLine writes words as a shell reads them.
func shellLine(words []string) string {
	line := make([]string, len(words))
	for i, word := range words {
		line[i] = word
		if word == "" || strings.Trim(word,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,%+@") != "" {
			line[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(line, " ")
}
