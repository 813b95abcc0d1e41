package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Trouble is the fault or burst of a storm: a pointer to a struct with the keys of its kind, such as CrashStorm, with
// rules in tags (see checkKeys). Each kind has a file of its own, storm_KIND.go, that registers it by builtInStorm. Its
// struct may have a method Fill that sets defaults, and a method check for rules across keys. The example of a kind in
// its documentation has the keys with a tag example, or is a storm of testdata/good/everything.yaml.
type Trouble any

// stormKind is a kind of storm, such as crash.
type stormKind struct {
	rank int // place among the kinds: lower ones come first
	key  string
	of   reflect.Type // type of its Trouble
	// effect returns the faults of a storm whose window has that length, without those whose keys are wrong.
	effect func(t Trouble, lasts Duration) Effect
}

// stormKinds lists the kinds of storm, such as crash, by rank; the first entry is for a storm without a Trouble.
var stormKinds = []stormKind{{effect: func(Trouble, Duration) Effect { return Effect{} }}}

// builtInStorm adds a kind of storm to stormKinds, by its rank, and returns the length of that list, so that a variable
// in each kind's file can be initialized by the call.
func builtInStorm[T any](rank int, key string, effect func(t *T, lasts Duration) Effect) int {
	at, taken := slices.BinarySearchFunc(stormKinds, rank, func(k stormKind, rank int) int { return k.rank - rank })
	if at == 0 || taken {
		panic(fmt.Sprintf("spec: storms of kind %s need a rank above 0 that no other kind has, not %d", key, rank))
	}
	stormKinds = slices.Insert(stormKinds, at, stormKind{rank, key, reflect.TypeFor[*T](),
		func(t Trouble, lasts Duration) Effect { return effect(t.(*T), lasts) }})
	return len(stormKinds)
}

// Troubles returns the keys that name the kinds of storm, such as crash and burst.
func Troubles() []string { return plain.Map(stormKinds[1:], func(k stormKind) string { return k.key }) }

// NewTrouble returns an empty Trouble (the keys of a storm's fault) of the kind that key names, one of Troubles.
func NewTrouble(key string) Trouble {
	return reflect.New(stormKinds[1+slices.Index(Troubles(), key)].of.Elem()).Interface()
}

// kind returns the kind of a storm, by the type of its Trouble.
func (s *Storm) kind() *stormKind {
	if k := plain.Find(stormKinds, func(k *stormKind) bool { return k.of == reflect.TypeOf(s.Trouble) }); k != nil {
		return k
	}
	panic(fmt.Sprintf("spec: no kind of storm has keys of type %T", s.Trouble))
}

// Kind returns the key that names the kind of a storm, such as crash; "" if the storm has no Trouble.
func (s *Storm) Kind() string { return s.kind().key }

// stormChecker checks the keys of one storm, its Section of the YAML, against the scenario that contains the storm.
type stormChecker struct {
	checks.Section
	around checks.Section // of the storm with its window
	sc     *Scenario
	storm  *Storm
	either int // number of the fault's keys given among those with the rule either
}

// Effect holds the faults of a storm, of processes, calls, attempts, dependencies and arrivals, as plain values:
// simulations inject them, and bounds and warnings are computed from them. The zero value of a field is no fault.
type Effect struct {
	Instant   bool          // the fault happens at the start of the window, whatever its length
	Follows   bool          // the fault may be triggered by an event
	Lasts     time.Duration // time from the start until the fault is over; 0: the length of the window
	Simulated string        // reason why a run on the wall clock cannot have the fault; empty: it can

	Control *fault.Control // fault of processes or the store, without its time and node
	Fault   *fault.Fault   // fault of calls, without its time and nodes
	Nodes   *Nodes         // nodes that Control and Fault hit; nil: all of them, or the store
	Store   float64        // factor on the store's cost of calls

	Hits                []string      // classes hit, and dependencies whose callers are hit; none: all classes
	Fails, Hangs, Kills float64       // shares of the attempts hit that fail, take longer, or crash their process
	Slower              float64       // factor on run times
	Extra               time.Duration // time added to the run times of attempts that hang
	Error               string        // error kind of attempts that fail
	Takes               *Distribution // run times of attempts that fail; nil: the service time

	Dependency string  // dependency that fails, or whose limit changes
	Limit      float64 // factor on the dependency's limit

	Class string  // class with additional jobs
	Jobs  *Count  // number of additional jobs at once
	Rate  *Factor // or factor on the class's rate
}

// ofProcess and the constants below are reasons, for users, why an injected fault (a kind of storm) exists in
// simulations only, such as a frozen process.
const (
	ofProcess = "a process of a run on the wall clock cannot be killed, frozen or set back from within"
	ofNetwork = "the network is real: its faults cannot be had at will"
	ofStore   = "the store is real: what it does cannot be had at will"
)

// checkKeys checks each key of a fault by its type and its tag `rule`. A key with a tag is required: positive wants a
// time above 0s; class or dependency, the name of one; stall, the value true; a verb such as fails, a share above 0%.
// Of those with the tag either just one is required, which the check method of the fault reports: see stormChecker.
func (c *stormChecker) checkKeys(t Trouble) {
	for i, v := 0, reflect.ValueOf(t).Elem(); i < v.NumField(); i++ {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		rule := v.Type().Field(i).Tag.Get("rule")
		if rule == "either" {
			c.either += plain.Either(c.Has(key), 1, 0)
		} else if rule != "" && rule != "stall" && !c.Required(key) {
			continue
		}
		switch value := v.Field(i).Interface().(type) {
		case Nodes:
			c.checkNodes(value, key)
		case *Nodes:
			if value != nil {
				c.checkNodes(*value, key)
			}
		case []string:
			node := c.Node(key)
			if key != "hits" || node == nil || len(node.Content) != len(value) { // else an element is wrong by itself
				continue
			}
			for k, hit := range value {
				names := slices.Concat(c.Classes, c.Dependencies)
				c.Known("job class or dependency", tree.LookupAt(node, k), hit, names)
			}
		case Share:
			c.Warn(rule != "" && value.Num == 0 && c.Sound(key), key, "the storm %s nothing", rule)
		case Duration:
			if rule == "positive" {
				c.Positive(value, key)
			}
		case bool:
			c.Fault(rule == "stall" && !value && c.Sound(), key, "the storm stalls nothing").Help = "write {stall: true}"
		case string:
			c.checkWord(key, rule, value)
		}
	}
}

// checkWord checks a key that is an error kind or, by its rule, the name of a class or of a dependency.
func (c *stormChecker) checkWord(key, rule, value string) {
	bad := checks.BadErrorKind(value)
	switch {
	case !c.Sound(key):
	case key == "error":
		c.Fault(bad != "", key, "bad error kind %s: %s", quantity.Quote(value), bad)
	case rule == "class":
		c.Known("job class", c.Place(key), value, c.Classes)
	case rule == "dependency":
		c.Known("dependency", c.Place(key), value, c.Dependencies)
	}
}

// checkNodes checks that the processes that a storm hits exist.
func (c *stormChecker) checkNodes(n Nodes, key string) {
	if !c.Sound(key) || !c.Whole().Sound("engine.nodes") {
		return
	}
	if n.That {
		c.Fault(c.storm.On == "", key, "no node is that one: the storm begins with no event").Help =
			"write on: leased, or another event"
		return
	}
	nodes := int(c.sc.Engine.Nodes)
	for k, index := range n.List {
		c.In(key, k).Fault(int(index) >= nodes, "", "there is no node %d: the nodes are 0 to %d", index, nodes-1)
	}
	listed, tooMany := n.List != nil, !n.IsShare && int(n.Count) > nodes
	c.Fault(!listed && tooMany, key, "%d nodes are more than there are (%d)", n.Count, nodes)
	none := listed && len(n.List) == 0 || !listed && !tooMany && n.Of(nodes) == 0
	c.Warn(none, key, "the storm hits no node")
}

// Calls lists the names of the calls between nodes and store that a storm can disturb or be triggered by.
var Calls = []string{"claim", "commit", "extend", "recover", "promote", "lead", "stats"}

// callsNamed returns the set of the calls with these names; all calls if names is empty.
func callsNamed(names []string) (set [engine.NumOps]bool) {
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		set[op] = len(names) == 0 || slices.Contains(names, op.String())
	}
	return set
}

// CheckCall adds an error to a checker if a word is not the name of a call between nodes and store.
func CheckCall(c *checks.Checker, at *yaml.Node, op string) {
	if !slices.Contains(Calls, op) {
		c.Add(at, reference.UnknownWord("call", op, Calls, "want "+quantity.OrList(Calls)))
	}
}
