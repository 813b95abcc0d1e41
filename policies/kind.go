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

// Kind describes a kind of fetch policy, such as fifo, to scenarios, help and tests: name, parameters and constructor.
type Kind struct {
	rank   int // place among the built-in kinds: lower ones come first
	Name   string
	Doc    string  // description in one paragraph
	Cost   string  // what it measures to share out or bound work: a Cost constant, for documentation
	State  string  // place where the policy keeps its memory: a State constant, for documentation
	Params []Param // parameters, in the order in which help lists them
	// New makes a policy for one engine, from a value of every parameter. Its error begins with the name of the
	// parameter at fault and a colon. For the policy's guarantees see Guarantor.
	New   func(Arguments) (engine.Policy, error)
	Drawn Drawn
	Needs Need // feature of a scenario without which the policy acts like fifo
}

// CostNothing and the constants below are the values of Kind.Cost: what a kind of policy measures to share out work.
const (
	CostNothing = "nothing"      // measures nothing: the policy only orders
	CostJobs    = "jobs"         // claims or executions, whatever their length
	CostTime    = "service time" // time that jobs occupy a worker
)

// StateNone and the constants below are the values of Kind.State: where a kind of policy keeps what it remembers.
const (
	StateNone  = "none"
	StateNode  = "each node" // one state per node, unknown to the others
	StateStore = "the store" // shared by all nodes
)

// Drawn is how package chaos, which tests with random scenarios, draws a kind of policy: how often, and its parameters.
type Drawn struct {
	Weight  int      // relative frequency of being drawn; 0: never
	Workers int      // fewest workers of a node that the policy works with; 0: one
	Params  []string // parameter settings, one of which is drawn, equally likely: "target: 2s"; none: defaults
	Never   string   // reason why Weight is 0: a drawn policy must leave no retry waiting for ever once nothing fails
}

// Class is the part of a scenario's job class that policies may use: its name, its dependency and its mean run time.
type Class struct {
	Name  string
	Calls string // dependency called by its handlers; empty: none
	// Cost is the declared mean run time of the class; 0: unknown, which counts as a second, as stores count it.
	Cost time.Duration
}

func (c Class) cost() time.Duration { return cmp.Or(c.Cost, time.Second) }

// Arguments are the inputs of the constructor of a policy: parameter values, and the workers and job classes.
type Arguments struct {
	Workers int     // number of workers of the engine that the policy is for
	Classes []Class // job classes of the scenario, indexed by job kind: at least one
	values  map[string]Value
}

// Value returns the value of the parameter with that name, in the Go type listed at the Type constants (TypeShare...).
func (a Arguments) Value(name string) any { return a.values[name].of }

// always returns a constructor (Kind.New) of the one policy p, for a kind of policy without parameters and state.
func always(p engine.Policy) func(Arguments) (engine.Policy, error) {
	return func(Arguments) (engine.Policy, error) { return p, nil }
}

// mostClasses is the highest number of job classes that a term (part of a claim) can tell apart: see engine.Kinds.
const mostClasses = 64

// Kinds returns copies of all kinds of policies that New makes: built-in ones in the order of lists, then those of Add.
func Kinds() []Kind {
	all := slices.Clone(kinds)
	for i := range all {
		all[i].Params = slices.Clone(all[i].Params)
		for k := range all[i].Params {
			all[i].Params[k].Choices = slices.Clone(all[i].Params[k].Choices)
		}
	}
	return all
}

// Add registers further kinds of policies after the built-in ones, for the whole process. Programs with policies of
// their own call it before anything else uses this package: it is not safe for concurrent use. If one of the kinds is
// invalid it adds none and returns the error.
func Add(more ...Kind) error {
	var all problems
	added := slices.Clone(kinds)
	for i := range more {
		name := more[i].Name
		for _, err := range more[i].check() {
			all.add(true, "policy %q: %w", name, err)
		}
		there := slices.ContainsFunc(added, func(k Kind) bool { return k.Name == name })
		all.add(there, "policy %q: there is one already", name)
		added = append(added, more[i])
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	kinds = added
	return nil
}

// AddedKinds returns the kinds of policies that programs have registered by Add, in the order of their registration.
func AddedKinds() []Kind { return Kinds()[shipped:] }

// check returns an error for every missing or wrong field of a kind of policy that Add is to register.
func (k *Kind) check() (all problems) {
	need := func(ok bool, format string, arguments ...any) { all.add(!ok, format, arguments...) }
	need(isName(k.Name), "want a name of a-z, 0-9 and -")
	need(strings.HasSuffix(k.Doc, "."), "want Doc, a paragraph that ends with a period")
	need(k.Cost != "" && k.State != "", "want Cost and State")
	need(k.New != nil, "want New")
	need((k.Drawn.Weight > 0) != (k.Drawn.Never != ""), "want Drawn: either a Weight or why it is Never drawn")
	for i, p := range k.Params {
		taken := slices.Contains([]string{"kind", "label", "with"}, p.Name)
		need(isName(p.Name) && !taken, "parameter %q: want another name, of a-z, 0-9 and -", p.Name)
		need(p.Doc != "", "parameter %s: want Doc, a phrase", p.Name)
		twice := slices.ContainsFunc(k.Params[:i], func(q Param) bool { return q.Name == p.Name })
		need(!twice, "parameter %s: it is there twice", p.Name)
		if _, err := ParseValue(p.Type, p.Default); err != nil {
			all.add(true, "parameter %s: default: %w", p.Name, err)
		}
	}
	return all
}

// problems collects the errors found in a value that is being checked, to be joined.
type problems []error

// add adds an error with a formatted text to the problems found if the condition when is true.
func (p *problems) add(when bool, format string, arguments ...any) {
	if when {
		*p = append(*p, fmt.Errorf(format, arguments...))
	}
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && s[0] != '-'
}

// New makes a policy of the kind with that name for one engine with that number of workers. values holds parameters by
// name, and others have their defaults; classes are the scenario's, by job kind, or none if they are unknown: all jobs
// then count as one class that calls one dependency. Policies keep state: every engine needs its own. An error names
// every parameter that is unknown, of the wrong type or out of range.
func New(kind string, values map[string]Value, workers int, classes []Class) (engine.Policy, error) {
	k, err := Find(kind)
	if err != nil {
		return nil, err
	}
	a, err := k.arguments(values, workers)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	if a.Classes = classes; len(classes) == 0 {
		a.Classes = []Class{{Name: "all", Calls: "all"}}
	}
	policy, err := k.New(a)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", kind, err)
	}
	return policy, nil
}

// Find returns the kind of policy with the given name (Kind.Name); the error for an unknown name lists all names.
func Find(name string) (*Kind, error) {
	var names []string
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i], nil
		}
		names = append(names, kinds[i].Name)
	}
	return nil, fmt.Errorf("unknown policy %q: want one of %s", name, strings.Join(names, ", "))
}

// arguments returns the given parameter values, completed with the kind's defaults, or an error for each invalid one.
func (k *Kind) arguments(values map[string]Value, workers int) (Arguments, error) {
	a := Arguments{values: make(map[string]Value, len(k.Params)), Workers: workers}
	var all problems
	all.add(workers < 1, "%d workers: want at least 1", workers)
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
		all.add(v.typ != p.Type, "%s: want a %s, got %s", p.Name, p.Type, cmp.Or(v.typ, "nothing"))
		zero := strings.TrimRight(v.String(), "s%") == "0" // 0, 0s or 0%
		all.add(p.Positive && zero, "%s: %v is not positive", p.Name, v)
		if p.Type == TypeChoice && v.typ == TypeChoice {
			all.add(!slices.Contains(p.Choices, v.of.(string)),
				"%s: %q is none of %s", p.Name, v.of, strings.Join(p.Choices, ", "))
		}
		a.values[p.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		takes := cmp.Or(strings.Join(names, ", "), "none")
		all.add(!slices.Contains(names, name), "unknown parameter %q: it takes %s", name, takes)
	}
	return a, errors.Join(all...)
}

// Need is a feature of scenarios without which a kind of policy claims the jobs that fifo would: users are then warned.
type Need uint8

// NeedsNothing and the constants below are the values of Kind.Needs.
const (
	NeedsNothing    Need = iota
	NeedsRetries         // jobs that are claimed more than once
	NeedsDependency      // a job class whose handlers call a dependency
	NeedsTenants         // two tenants
	NeedsPriorities      // job classes of two priorities
	NeedsPlaces          // job classes of two priorities, or ready jobs placed by another time than their due time
	NeedsClasses         // two job classes
)

// Lacks returns a phrase, for warnings, about a scenario without the feature: "no job class calls a dependency".
func (n Need) Lacks() string {
	return [...]string{"nothing is missing", "nothing here can fail and have another attempt, so no job is ever retried",
		"no job class calls a dependency", "all jobs belong to one tenant", "all job classes have one priority",
		"all job classes have one priority, and jobs stand in the order of their due times", "there is one job class"}[n]
}

// kinds lists the kinds of policies: built-in ones by rank, then those of Add. shipped is the number of built-in ones.
var (
	kinds   []Kind
	shipped int
)

// builtIn inserts a kind of policy into the list of built-in kinds by its rank, whatever the order of the files. It
// returns their number only so that a variable in each kind's file can be initialized by the call.
func builtIn(k Kind) int {
	at, _ := slices.BinarySearchFunc(kinds, k, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.Name, b.Name))
	})
	kinds = slices.Insert(kinds, at, k)
	shipped++
	return shipped
}
