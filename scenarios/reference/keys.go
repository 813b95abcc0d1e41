// Package reference documents the keys of scenario files: their defaults and rules, the kinds of distributions,
// backoffs and arrival processes, what other job systems call them (all in YAML files of this package), and their
// descriptions, which it reads from the JSON schema.
package reference

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/results/plain"
	"qsim/scenarios/tree"
)

//go:embed language.yaml
var languageText []byte

// Tables returns the content of language.yaml: the defaults and rules of keys, and the kinds of maps. Read-only.
var Tables = tree.Builtin[*tables]("language.yaml", languageText)

// tables is the content of language.yaml: defaults, rules of keys, kinds of maps, types of values, and lists.
type tables struct {
	Defaults yaml.Node // map from "scenario", or the key of a list, to default values
	Keys     []Entry   // keys that have a rule, or a meaning if left out

	// kinds of distributions of a duration, of delays between the attempts of a job, and of arrival processes of a class
	Distributions, Backoffs, Processes KindTable

	Types map[string]struct{ Notation, Want string } // descriptions for users of values, by Go type
	Lists map[string]struct {                        // lists of a scenario, by key
		Names                     []string // keys that name an element: the first that it has does
		Noun, Plural, Placeholder string   // for an element
		Most                      int      // highest number of elements; 0: no limit
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
	Least, Most        int    // Most 0: the value is no count
	Why                string // reason for the limit most
	Named              string // noun for the name that the value is: a-z, 0-9, - and _; empty: it is none
}

// MostOf returns the highest count that the rule for a key allows as its value; in the path * is any element of a list.
func MostOf(path string) int {
	return plain.Find(Tables().Keys, func(e *Entry) bool { return e.Path == path }).Most
}

// DefaultError is the error kind of failing attempts for which a scenario gives no other.
const DefaultError = "error"

// Defaults returns the YAML map, without file positions, of the default values of a whole scenario (of is "scenario")
// or of each element of a list (of is its key, such as jobs); nil if there are none.
func Defaults(of string) *yaml.Node { return tree.Lookup(defaults(), of) }

var defaults = sync.OnceValue(func() *yaml.Node {
	values := Tables().Defaults
	tree.Place(&values, &yaml.Node{})
	return &values
})

// MostJobs and the constants below are the highest numbers of things that one run may have: more is an error. The first
// two are in the table of keys too.
const (
	MostJobs      = 1_000_000_000 // jobs of one run
	MostResubmits = 255           // copies of one job
	MostTicks     = 1_000_000_000 // ticks of any one timer in one run
	MostPhases    = 10_000_000    // pairs of on and off phases
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

// Matches reports whether a path such as jobs.mail.service matches a pattern, in which * is any one word between dots.
func Matches(pattern, path string) bool {
	matches := func(want, have string) bool { return want == "*" || want == have }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(path, "."), matches)
}

// WithName joins the first few words of a path that was split at its dots, if together they spell one of names, the
// longest if several: names may contain dots.
func WithName(path, names []string) []string {
	for n := len(path); n > 1; n-- {
		if name := strings.Join(path[:n], "."); slices.Contains(names, name) {
			return slices.Concat([]string{name}, path[n:])
		}
	}
	return path
}
