package policies

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"qsim/engine"
)

// Param is a parameter of a kind of policy.
type Param struct {
	Name    string   // as scenarios spell it
	Type    string   // one of the Type constants
	Default string   // as ParseValue reads it
	Doc     string   // a phrase
	Choices []string // of a TypeChoice
}

// Kind is a kind of policy that scenarios may name.
type Kind struct {
	Name           string
	Doc            string  // one paragraph
	WorkConserving bool    // with the default parameters
	Cost           string  // what it shares out or bounds: see the Cost constants
	State          string  // where what it remembers is: see the State constants
	Params         []Param // in the order in which they are listed
}

// What a kind of policy counts.
const (
	CostNothing = "nothing"      // it orders, and measures nothing
	CostJobs    = "jobs"         // claims or executions, whatever they take
	CostTime    = "service time" // what jobs take of a worker's time
)

// Where a kind of policy keeps what it remembers.
const (
	StateNone  = "none"
	StateNode  = "each node" // what one node learns the others do not
	StateStore = "the store" // shared by all nodes
)

// Class is what a policy may know of a job class.
type Class struct {
	Name  string
	Calls string // the dependency that its handlers call; empty: none
	// Cost is the mean run time that the class declares; 0: unknown, which counts as a
	// second, as in a store that is not told.
	Cost time.Duration
}

func (c Class) cost() time.Duration { return cmp.Or(c.Cost, time.Second) }

// kind is a Kind with what it takes to make one. Both functions get a value for every
// parameter.
type kind struct {
	Kind
	build    func(values arguments) (engine.Policy, error)
	entitled func(values arguments) float64 // nil: 0
}

// arguments are the values of all parameters of a kind, and the workers of the engine.
type arguments struct {
	of      map[string]Value
	workers int
	classes []Class // by job kind: at least one
}

func (a arguments) count(name string) int { return a.of[name].of(a.workers) }

// always makes a policy without parameters.
func always(p engine.Policy) func(arguments) (engine.Policy, error) {
	return func(arguments) (engine.Policy, error) { return p, nil }
}

// Kinds returns the kinds that New makes, in the order in which they are listed.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].Kind
		all[i].Params = slices.Clone(all[i].Params)
		for k := range all[i].Params {
			all[i].Params[k].Choices = slices.Clone(all[i].Params[k].Choices)
		}
	}
	return all
}

// New is NewFor where nothing is known of the job classes: all jobs are of one class,
// which calls one dependency.
func New(kind string, values map[string]Value, workers int) (engine.Policy, error) {
	return NewFor(kind, values, workers, nil)
}

// NewFor makes a policy for one engine with that many workers, in a system with classes,
// by job kind. Parameters that values lacks have their defaults. Policies keep state, so
// every engine needs one of its own. An error names every parameter that is unknown, of
// the wrong type or out of range.
func NewFor(kind string, values map[string]Value, workers int, classes []Class) (engine.Policy, error) {
	k, err := find(kind)
	if err != nil {
		return nil, err
	}
	a, err := k.arguments(values, workers)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	if a.classes = classes; len(classes) == 0 {
		a.classes = []Class{{Name: "all", Calls: "all"}}
	}
	policy, err := k.build(a)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	return policy, nil
}

// Entitled returns the share of claims, in [0, 1], that a policy promises to fresh jobs
// while both classes are ready; 0 for one that promises none and for one that New
// refuses to make.
func Entitled(kind string, values map[string]Value) float64 {
	k, err := find(kind)
	if err != nil || k.entitled == nil {
		return 0
	}
	a, err := k.arguments(values, 1)
	if err != nil {
		return 0
	}
	return k.entitled(a)
}

func find(name string) (*kind, error) {
	var names []string
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i], nil
		}
		names = append(names, kinds[i].Name)
	}
	return nil, fmt.Errorf("unknown policy %q: want one of %s", name, strings.Join(names, ", "))
}

// arguments completes values with the defaults of k.
func (k *kind) arguments(values map[string]Value, workers int) (arguments, error) {
	a := arguments{of: make(map[string]Value, len(k.Params)), workers: workers}
	var problems []error
	if workers < 1 {
		problems = append(problems, fmt.Errorf("%d workers: want at least 1", workers))
	}
	names := make([]string, len(k.Params))
	for i, p := range k.Params {
		names[i] = p.Name
		v, given := values[p.Name]
		if !given {
			var err error
			if v, err = ParseValue(p.Type, p.Default); err != nil {
				panic("policies: default of " + k.Name + " " + p.Name + ": " + err.Error())
			}
		}
		if v.typ != p.Type {
			problems = append(problems, fmt.Errorf("%s: want a %s, got %s", p.Name, p.Type, cmp.Or(v.typ, "nothing")))
		}
		if v.typ == TypeChoice && p.Type == TypeChoice && !slices.Contains(p.Choices, v.text) {
			problems = append(problems, fmt.Errorf("%s: %q is none of %s", p.Name, v.text, strings.Join(p.Choices, ", ")))
		}
		a.of[p.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(names, name) {
			continue
		}
		takes := "none"
		if len(names) > 0 {
			takes = strings.Join(names, ", ")
		}
		problems = append(problems, fmt.Errorf("unknown parameter %q: it takes %s", name, takes))
	}
	return a, errors.Join(problems...)
}
