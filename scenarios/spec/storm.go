package spec

import (
	"cmp"
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

// Storm is a named fault or burst with a window of time, which may repeat, or with an event that triggers it.
type Storm struct {
	Name string   `yaml:"name"` // name for objectives and paths: a-z, 0-9, - and _
	At   Duration `yaml:"at"`   // start of the storm; with on: delay after that event
	For  Duration `yaml:"for"`  // length of the window; 0s: an instant
	// event that the storm begins with, such as leased; left out: it begins at a known time
	On string `yaml:"on,omitempty"`
	Op string `yaml:"op,omitempty"` // for on: called, the name of the call; left out: any call
	// number of that event, counted on each named node or over all; left out: 1
	Nth Count `yaml:"nth,omitempty"`
	// an event at this time or later has no effect; 0s: no limit
	Before  Duration `yaml:"before,omitempty"`
	Trouble Trouble  `yaml:"-"`                // kind of storm, with its keys; the YAML has them at the key of the kind
	Repeat  *Repeat  `yaml:"repeat,omitempty"` // repetition of the window; see Starts. Left out: none
}

// MarshalYAML returns, for YAML, a struct with the storm's keys, in which Trouble is at the key of its kind.
func (s Storm) MarshalYAML() (any, error) {
	fields := reflect.VisibleFields(reflect.TypeFor[Storm]())
	trouble := plain.Find(fields, func(f *reflect.StructField) bool { return f.Name == "Trouble" })
	trouble.Tag = reflect.StructTag(`yaml:"` + cmp.Or(s.Kind(), "-") + `"`)
	return reflect.ValueOf(s).Convert(reflect.StructOf(fields)).Interface(), nil
}

// Repeat is the repetition of a storm's window.
type Repeat struct {
	Every Duration `yaml:"every"` // time from one start to the next; longer than the window
	Times Count    `yaml:"times"` // number of windows, the first included; at least 1
}

// Starts returns the virtual times at which the storm's windows start, in order: one, or more if it repeats.
func (s *Storm) Starts() []time.Duration {
	starts := []time.Duration{s.At.Std()}
	for len(starts) < int(s.Windows()) {
		starts = append(starts, starts[len(starts)-1]+s.Repeat.Every.Std())
	}
	return starts
}

// End returns the virtual time at which the storm's last fault is over; it has no meaning if an event triggers it.
func (s *Storm) End() time.Duration {
	starts := s.Starts()
	return starts[len(starts)-1] + cmp.Or(s.Effect().Lasts, s.For.Std())
}

// Effect returns the faults that the storm injects, without those whose keys have errors.
func (s *Storm) Effect() Effect { return s.kind().effect(s.Trouble, s.For) }

// Events lists the names, such as leased, that a storm's key `on` may have: the engine's events that happen on a node.
var Events = func() (names []string) {
	for k := engine.EventKind(1); k < engine.NumEventKinds; k++ {
		switch k {
		case engine.Enqueued, engine.Promoted, engine.Redriven, engine.LeaseForgotten:
		default:
			names = append(names, k.String())
		}
	}
	return names
}()

// CheckTrouble adds the errors and warnings in the keys of the storm's fault to the checker of in, the storm's Section:
// those of each key, and those against the engine, classes and dependencies of sc.
func (s *Storm) CheckTrouble(in checks.Section, sc *Scenario) {
	own := &stormChecker{in.In(s.Kind()), in, sc, s, 0}
	own.checkKeys(s.Trouble)
	if t, ok := s.Trouble.(interface{ check(c *stormChecker) }); ok {
		t.check(own)
	}
}

// Windows returns the number of the storm's windows of time: 1, or more if it repeats. It is a float64 for products.
func (s *Storm) Windows() float64 {
	if s.Repeat == nil {
		return 1
	}
	return float64(s.Repeat.Times)
}

// Trouble is the fault or burst of a storm: a pointer to a struct with the keys of one kind, such as CrashStorm. Each
// kind has a file, storm_KIND.go, which registers it by builtInStorm. Tags of the fields hold rules (see checkKeys); a
// method Fill sets defaults, a method check has rules across keys. The documentation shows as an example of a kind the
// keys with a tag `example`, or a storm of testdata/good/everything.yaml.
type Trouble any

// stormKind is a kind of storm, such as crash: its key in scenario files, the type of its settings, and its effect.
type stormKind struct {
	rank int // place among the kinds: lower ones come first
	key  string
	of   reflect.Type // type of its Trouble
	// effect returns the faults of a storm whose window has that length, without those whose keys are wrong.
	effect func(t Trouble, lasts Duration) Effect
}

// stormKinds lists the kinds of storm, such as crash, by rank. The first entry is for storms without any.
var stormKinds = []stormKind{{effect: func(Trouble, Duration) Effect { return Effect{} }}}

// builtInStorm adds a kind of storm to stormKinds, in the order of ranks; T is the struct of its settings. The result,
// a number without a meaning, lets each kind's file call it in the initialization of a variable.
func builtInStorm[T any](rank int, key string, effect func(t *T, lasts Duration) Effect) int {
	at, taken := slices.BinarySearchFunc(stormKinds, rank, func(k stormKind, rank int) int { return k.rank - rank })
	if at == 0 || taken {
		panic(fmt.Sprintf("spec: storms of kind %s need a rank above 0 that no other kind has, not %d", key, rank))
	}
	stormKinds = slices.Insert(stormKinds, at, stormKind{rank, key, reflect.TypeFor[*T](),
		func(t Trouble, lasts Duration) Effect { return effect(t.(*T), lasts) }})
	return len(stormKinds)
}

// Troubles returns the kinds of storm (fault or burst), such as crash: a storm has its settings at the key of its kind.
func Troubles() []string { return plain.Map(stormKinds[1:], func(k stormKind) string { return k.key }) }

// NewTrouble returns a pointer to the empty settings struct of a kind of storm; key is one of those from Troubles.
func NewTrouble(key string) Trouble {
	return reflect.New(stormKinds[1+slices.Index(Troubles(), key)].of.Elem()).Interface()
}

// kind returns the entry of stormKinds for the type of the storm's Trouble.
func (s *Storm) kind() *stormKind {
	if k := plain.Find(stormKinds, func(k *stormKind) bool { return k.of == reflect.TypeOf(s.Trouble) }); k != nil {
		return k
	}
	panic(fmt.Sprintf("spec: no kind of storm has keys of type %T", s.Trouble))
}

// Kind returns the kind of the storm, such as crash, which is its key in scenario files; "" if it is missing there.
func (s *Storm) Kind() string { return s.kind().key }

// stormChecker checks the keys of one storm, its Section of the YAML, against the scenario that contains the storm.
type stormChecker struct {
	checks.Section
	around checks.Section // of the storm with its window
	sc     *Scenario
	storm  *Storm
	either int // number of the fault's keys given among those with the rule either
}

// Effect holds all faults that a storm of any kind can have, as plain values: simulations inject them, and bounds and
// warnings are computed from them. Zero means no fault of that sort.
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

// ofProcess and the constants below are texts for users: why a kind of storm is possible in simulations only.
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
				names := slices.Concat(c.Names["jobs"], c.Names["dependencies"])
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

// checkWord checks the text at a key of a storm's fault: an error kind or, by the tag `rule`, a class or a dependency.
func (c *stormChecker) checkWord(key, rule, value string) {
	bad := checks.BadErrorKind(value)
	switch {
	case !c.Sound(key):
	case key == "error":
		c.Fault(bad != "", key, "bad error kind %s: %s", quantity.Quote(value), bad)
	case rule == "class":
		c.Known("job class", c.Place(key), value, c.Names["jobs"])
	case rule == "dependency":
		c.Known("dependency", c.Place(key), value, c.Names["dependencies"])
	}
}

// checkNodes checks that the nodes that a storm's key selects exist, and warns if it selects none.
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

// Calls lists the names of the calls from nodes to the store that a storm can disturb, or be triggered by.
var Calls = []string{"claim", "commit", "extend", "recover", "promote", "lead", "stats"}

// callsNamed returns which calls between nodes and store are in names, by engine.Op; all are if names is empty.
func callsNamed(names []string) (set [engine.NumOps]bool) {
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		set[op] = len(names) == 0 || slices.Contains(names, op.String())
	}
	return set
}

// CheckCall adds an error at the YAML node at if op is not the name of a call between nodes and store (see Calls).
func CheckCall(c *checks.Checker, at *yaml.Node, op string) {
	if !slices.Contains(Calls, op) {
		c.Add(at, reference.UnknownWord("call", op, Calls, "want "+quantity.OrList(Calls)))
	}
}
