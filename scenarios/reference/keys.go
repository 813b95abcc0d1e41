// Package reference documents the keys of scenario files: the table of their defaults and rules, the tables of the
// kinds of distributions, backoffs and arrival processes, the words of other job systems for them, and their
// descriptions, which come from the JSON schema.
package reference

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios/tree"
)

//go:embed language.yaml
var languageText []byte

// Tables returns the tables about scenario keys and kinds that language.yaml contains; the file is read once.
var Tables = tree.Builtin[*tables]("language.yaml", languageText)

// tables is the content of language.yaml: defaults, rules of keys, kinds of maps, types of values, and lists.
type tables struct {
	Defaults yaml.Node // map from "scenario", or the key of a list, to default values
	Keys     []Entry   // keys that have a rule, or a meaning if left out

	// kinds of distributions of a duration, of delays between the attempts of a job, and of arrival processes of a class
	Distributions, Backoffs, Processes KindTable

	Types map[string]struct{ Notation, Want string } // descriptions for users of values, by Go type
	Lists map[string]struct {                        // lists of a scenario, by key
		Names             []string // keys that name an element
		Noun, Placeholder string   // for an element
	}
}

// Entry describes one key of scenario files: the rule for its value, and the behaviour without it.
type Entry struct {
	Path   string `yaml:"key"` // path of the key, in which * stands for each element of a list
	Unsaid string // meaning of a key left out, if not its default: "none", "as" another key, or a formula; empty: none
	Rule   `yaml:",inline"`
}

// Rule is a condition on one key of a scenario: that the key is there, or that its value is a count in [Least, Most], a
// duration above 0, or a name.
type Rule struct {
	Required, Positive bool
	Least              int
	Most               Limit
	Why                string // reason for the limit most
	Named              string // noun for the name that the value is: a-z, 0-9, - and _; empty: it is none
}

// Limit is the highest count that a Rule allows as the value of a key.
type Limit int

// UnmarshalText parses a limit: a number, or the name of a constant of this package, such as workers for MostWorkers.
func (l *Limit) UnmarshalText(text []byte) error {
	shared := map[string]Limit{"nodes": MostNodes, "workers": MostWorkers, "batch": MostBatch, "jobs": MostJobs,
		"resubmits": MostResubmits}
	if n, is := shared[string(text)]; is {
		*l = n
		return nil
	}
	n, err := strconv.Atoi(string(text))
	*l = Limit(n)
	return err
}

// DefaultError is the error kind of attempts that fail for no stated reason.
const DefaultError = "error"

// Defaults returns the default values, as YAML without file positions, of a "scenario" or of the elements of the list
// with that key; nil if they have none.
func Defaults(of string) *yaml.Node { return tree.Lookup(defaults(), of) }

var defaults = sync.OnceValue(func() *yaml.Node {
	values := Tables().Defaults
	tree.Place(&values, &yaml.Node{})
	return &values
})

// MostNodes and the constants below limit the size of one run.
const (
	MostNodes    = 100_000
	MostWorkers  = 1_000_000 // workers of all nodes
	MostClasses  = 64        // a plan names classes by the bits of a word
	MostStorms   = 1000
	MostPolicies = 64            // policies of one scenario
	MostJobs     = 1_000_000_000 // jobs of one run
	MostTicks    = 1_000_000_000 // ticks of any one timer in one run
	MostBatch    = 100_000

	MostResubmits    = 255 // copies of one job
	MostDependencies = 64
	MostPhases       = 10_000_000 // pairs of on and off phases
)

// starred returns a path with * in place of each placeholder in capitals: jobs.*.service for jobs.CLASS.service.
func starred(path string) string {
	words := strings.Split(path, ".")
	for i, w := range words {
		if w == strings.ToUpper(w) {
			words[i] = "*"
		}
	}
	return strings.Join(words, ".")
}

// Matches reports whether path matches a pattern, in which * stands for any single key, name or index.
func Matches(pattern, path string) bool {
	matches := func(want, have string) bool { return want == "*" || want == have }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(path, "."), matches)
}

// WithName returns the parts of a path (split at dots) with the first few joined into one if they spell one of names,
// which may contain dots; it chooses the longest such name.
func WithName(path, names []string) []string {
	for n := len(path); n > 1; n-- {
		if name := strings.Join(path[:n], "."); slices.Contains(names, name) {
			return slices.Concat([]string{name}, path[n:])
		}
	}
	return path
}
