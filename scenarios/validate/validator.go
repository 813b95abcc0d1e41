package validate

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios/checks"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/spec"
)

// NoPolicy is the index of a policy for a scenario as it is without the overrides of any.
const NoPolicy = -1

// validator compares the values of a scenario with each other, with the run and with what the scenario names.
type validator struct {
	*checks.Checker
	sc     *spec.Scenario
	policy int // index of the policy whose overrides are in sc; NoPolicy: none
}

// conflict is a rule about several keys of one map: what is wrong with them.
type conflict struct {
	when bool // the rule is broken
	// paths of keys below the map, the first in the file has the position; with a colon: of the key itself; "": the map
	at      string
	message string
	help    string
}

const fault, warning = diagnostics.Error, diagnostics.Warning

func text(format string, arguments ...any) string { return fmt.Sprintf(format, arguments...) }

// hold reports the conflicts in the map at a path.
func (c *validator) hold(severity diagnostics.Severity, conflicts []conflict, path ...any) {
	for _, x := range conflicts {
		if x.when {
			c.Report(c.place(path, x.at), severity, "%s", x.message).Help = x.help
		}
	}
}

// place returns the YAML node for the paths at, as those of conflict.at, below path.
func (c *validator) place(path []any, at string) *yaml.Node {
	paths := [][]any{}
	for _, below := range strings.Fields(at) {
		whole := path[:len(path):len(path)]
		for _, word := range strings.Split(strings.TrimSuffix(below, ":"), ".") {
			whole = append(whole, word)
		}
		if strings.HasSuffix(below, ":") {
			return c.Key(whole...)
		}
		paths = append(paths, whole)
	}
	if len(paths) == 0 {
		return c.Near(path...)
	}
	return c.Given(paths...)
}

// tooMany reports whether a list has more elements than one run can have, and adds an error if so.
func (c *validator) tooMany(n, most int, what, list string) bool {
	if n > most {
		c.Errorf(c.Near(list, most), "%d %s are too many: at most %d", n, what, most)
	}
	return n > most
}
