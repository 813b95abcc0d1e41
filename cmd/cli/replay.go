package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/results/plain"
	"qsim/scenarios/trace"
	"qsim/scenarios/world"
)

// replay returns the command line that repeats only the simulation with a broken invariant; more are keys and values in
// the syntax of --set.
func (s *session) replay(l loaded, b *world.Broken, more []string) string {
	words := append(s.naming("run", l, b, more), "-n", "1", "-j", "1")
	if s.flags.check {
		words = append(words, "--check")
	}
	return plain.ShellLine(words...)
}

// leading returns the command line that prints the trace of the last second before an invariant broke.
func (s *session) leading(l loaded, b *world.Broken, more []string) string {
	last := max(0, b.At-time.Second).Truncate(time.Millisecond)
	return plain.ShellLine(append(s.naming("trace", l, b, more), "--from", trace.Clock(last), "--limit", "100000")...)
}

// naming returns the arguments of a command that repeats the simulation with a broken invariant.
func (s *session) naming(command string, l loaded, b *world.Broken, more []string) []string {
	return oneSimulation(command, l.Name, append(slices.Clip(s.flags.set), more...), b.Policy, b.Seed)
}

// oneSimulation returns the arguments of a command for a scenario under one policy and one seed.
func oneSimulation(command, scenario string, sets []string, policy string, seed uint64) []string {
	words := []string{"qsim", command, openable(scenario)}
	for _, set := range sets {
		words = append(words, "--set", set)
	}
	return append(words, "--policy", policy, "--seed", fmt.Sprint(seed))
}

// openable returns the name by which Open finds a scenario, given its display name: a built-in one is displayed as a
// file.
func openable(name string) string {
	if short := strings.TrimSuffix(name, ".yaml"); !isScenario(name) && isScenario(short) {
		return short
	}
	return name
}
