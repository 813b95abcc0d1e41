package spec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// Override gives one key of a scenario another value, as `--set KEY=VALUE` does.
type Override struct {
	Path  string // path of the key, such as engine.workers or jobs.mail.retry.jitter: elements of lists go by their name
	Value string // value as YAML: 80, 30s, {kind: fixed, delay: 60s}
	Flag  string // text of the command line, if it was not --set
	// NoFile refuses a value that names a file, for overrides from other sources than the user of this machine.
	NoFile bool
}

// String returns the override as a user writes it on the command line, such as --set engine.workers=80.
func (o Override) String() string { return cmp.Or(o.Flag, "--set "+o.Path+"="+o.Value) }

// ComparePaths compares the paths of two overrides, for sorting, by which is applied first: a map before its keys, and
// in a map first a key such as kind, which replaces the map.
func ComparePaths(a, b string) int {
	replaces := func(word string) int { return min(slices.Index(tree.Replacing, word), 0) } // 0: it does; -1: it does not
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		return cmp.Or(replaces(b)-replaces(a), strings.Compare(a, b))
	})
}

// Set returns an Override that sets the key at a path, such as jobs.mail, to a Go value of one of this package's types.
func Set(path string, value any) Override {
	node := tree.Dumped(value)
	return Override{Path: path, Value: tree.OneLine(&node)}
}

// Overrides returns the policy's `with:` as overrides for the whole scenario, in the order in which they are applied.
func (p *Policy) Overrides() []Override {
	paths := slices.SortedFunc(maps.Keys(p.With), ComparePaths)
	return plain.Map(paths, func(path string) Override { return Set(path, p.With[path]) })
}
