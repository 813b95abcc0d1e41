package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Trouble is the fault of one kind of storm: its keys, with a rule for each as in checkKeys, and its effect. Each has a
// file of its own, storm_KIND.go, and a field of Storm.
type Trouble interface {
	// effect returns the faults of a storm whose window has that length, without those whose keys are wrong.
	effect(lasts Duration) Effect
}

// checkedTrouble is a Trouble some of whose keys must agree.
type checkedTrouble interface {
	// check reports errors in the keys of the fault, which lie at a path, beside those that checkKeys finds.
	check(c *stormChecker, at keyPath)
}

// stormChecker checks the keys of one storm against the scenario around it.
type stormChecker struct {
	*checks.Checker
	engine   *Engine
	services []Dependency
	storm    *Storm
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

// keyPath is a path to a key of a scenario: names of keys and indexes of lists.
type keyPath []any

// key returns the path of a key below the path p.
func (p keyPath) key(name string) keyPath { return append(p[:len(p):len(p)], name) }

// checkKeys checks each key of a fault at a path by its type and its tag `rule`. The tag makes it required: positive is
// a time above 0s; class or dependency, the name of one; a verb, such as fails, a share above 0%. A stall must be true.
func (c *stormChecker) checkKeys(t Trouble, at keyPath) {
	for i, v := 0, reflect.ValueOf(t).Elem(); i < v.NumField(); i++ {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		key, rule := at.key(name), v.Type().Field(i).Tag.Get("rule")
		if rule != "" && rule != "stall" && !c.Required(key...) {
			continue
		}
		sound := c.Sound(key...)
		switch value := v.Field(i).Interface().(type) {
		case Nodes:
			c.checkNodes(value, key...)
		case *Nodes:
			if value != nil {
				c.checkNodes(*value, key...)
			}
		case []string:
			node := c.Node(key...)
			if name != "hits" || node == nil || len(node.Content) != len(value) { // else an element is wrong by itself
				continue
			}
			for k, hit := range value {
				c.Known("job class or dependency", tree.LookupAt(node, k), hit, slices.Concat(c.Classes, c.Dependencies))
			}
		case Share:
			if rule != "" && value.Num == 0 && sound {
				c.Warnf(c.Near(key...), "the storm %s nothing", rule)
			}
		case Duration:
			if rule == "positive" {
				c.Positive(value, key...)
			}
		case bool:
			if rule == "stall" && !value && c.Sound(at...) {
				c.Errorf(c.Near(key...), "the storm stalls nothing").Help = "write {stall: true}"
			}
		case string:
			if bad := checks.BadErrorKind(value); name == "error" && bad != "" && sound {
				c.Errorf(c.Near(key...), "bad error kind %s: %s", quantity.Quote(value), bad)
			}
			if names := map[string][]checks.NameAt{"class": c.Classes, "dependency": c.Dependencies}[rule]; rule != "" && sound {
				c.Known(map[string]string{"class": "job class", "dependency": "dependency"}[rule], c.Near(key...), value, names)
			}
		}
	}
}

// checkNodes checks that the processes that a storm hits exist.
func (c *stormChecker) checkNodes(n Nodes, path ...any) {
	if !c.Sound(path...) || !c.Sound("engine", "nodes") {
		return
	}
	if n.That {
		if c.storm.On == "" {
			c.Errorf(c.Near(path...), "no node is that one: the storm begins with no event").Help = "write on: leased, or another event"
		}
		return
	}
	nodes := int(c.engine.Nodes)
	for k, index := range n.List {
		if int(index) >= nodes {
			item := c.Near(append(append([]any{}, path...), k)...)
			c.Errorf(item, "there is no node %d: the nodes are 0 to %d", index, nodes-1)
		}
	}
	switch {
	case n.List == nil && !n.IsShare && int(n.Count) > nodes:
		c.Errorf(c.Near(path...), "%d nodes are more than there are (%d)", n.Count, nodes)
	case n.List != nil && len(n.List) == 0, n.List == nil && n.Of(nodes) == 0:
		c.Warnf(c.Near(path...), "the storm hits no node")
	}
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

// CheckCall reports an unknown name of a call.
func CheckCall(c *checks.Checker, at *yaml.Node, op string) {
	if !slices.Contains(Calls, op) {
		c.Add(at, diagnostics.Error, reference.UnknownWord("call", op, Calls, "want "+quantity.OrList(Calls)))
	}
}
