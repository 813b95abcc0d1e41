package results

import (
	"cmp"
	"fmt"

	"qsim/results/plain"
)

// KeyValue is a key of a scenario, by its path, and its value.
type KeyValue struct{ Key, Value string }

// KeyChange is a key of the scenario with its value in each of two results; "": the result does not have the key.
type KeyChange struct {
	Key  string `json:"key"`  // path as for --set
	Base string `json:"base"` // value in the earlier result
	New  string `json:"new"`  // value in the later result
}

// String returns the change as "engine.workers: 8 → 6"; of long values what is equal in both is cut.
func (k KeyChange) String() string {
	base, new := plain.Shorten(k.Base, 40), plain.Shorten(k.New, 40)
	if base == new { // what differs lies in the middle
		before, after := []rune(k.Base), []rune(k.New)
		at := 0
		for at < min(len(before), len(after)) && before[at] == after[at] {
			at++
		}
		at -= min(at, 10)
		base, new = "…"+plain.Shorten(string(before[at:]), 39), "…"+plain.Shorten(string(after[at:]), 39)
	}
	return fmt.Sprintf("%s: %s → %s", k.Key, cmp.Or(base, plain.Missing), cmp.Or(new, plain.Missing))
}

// keyChanges returns the keys whose values differ, each group in the order of the language: those of both sides, those
// of new alone, and those of base alone, since a storm that is added has many. None if a side is unknown.
func keyChanges(base, new []KeyValue) (changes []KeyChange) {
	if base == nil || new == nil {
		return nil
	}
	before := make(map[string]string, len(base))
	for _, k := range base {
		before[k.Key] = k.Value
	}
	var alone []KeyChange
	for _, k := range new {
		if was, both := before[k.Key]; !both {
			alone = append(alone, KeyChange{k.Key, "", k.Value})
		} else if was != k.Value {
			changes = append(changes, KeyChange{k.Key, was, k.Value})
		}
		delete(before, k.Key)
	}
	for _, k := range base {
		if was, gone := before[k.Key]; gone {
			alone = append(alone, KeyChange{k.Key, was, ""})
		}
	}
	return append(changes, alone...)
}

// mostKeys is the highest number of changed keys that are named.
const mostKeys = 8

// KeyWords returns a line for each of the first changed keys, and one with the number of all others.
func (c *Comparison) KeyWords() []string {
	lines := plain.Map(c.Keys[:min(len(c.Keys), mostKeys)], KeyChange.String)
	if more := len(c.Keys) - mostKeys; more > 0 {
		lines = append(lines, "and "+plain.Plural(more, "more key"))
	}
	return lines
}
