package reference

import (
	"slices"
	"strings"
)

// starred returns a path with * in place of each placeholder in capitals.
func starred(path string) string {
	words := strings.Split(path, ".")
	for i, w := range words {
		if w == strings.ToUpper(w) {
			words[i] = "*"
		}
	}
	return strings.Join(words, ".")
}

// Matches reports whether path matches a pattern, in which * stands for any part.
func Matches(pattern, path string) bool {
	matches := func(want, have string) bool { return want == "*" || want == have }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(path, "."), matches)
}

// Join returns the path of a key below another path, which may be empty.
func Join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// NamesOf maps each list of a scenario to the keys that name its elements in paths.
var NamesOf = map[string][]string{
	"jobs": {"class"}, "storms": {"name"}, "dependencies": {"name"}, "policies": {"label", "kind"},
}

// WordFor maps each list of a scenario to the noun for its elements.
var WordFor = map[string]string{
	"jobs": "job class", "storms": "storm", "dependencies": "dependency", "policies": "policy",
}

// WithName returns the parts of a path with those that spell a name, which may contain dots, joined to its first part.
// Of several names it is the longest.
func WithName(path, names []string) []string {
	for n := len(path); n > 1; n-- {
		if name := strings.Join(path[:n], "."); slices.Contains(names, name) {
			return slices.Concat([]string{name}, path[n:])
		}
	}
	return path
}
