package scenarios

import (
	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
)

func (c *checker) checkBurst(i int, b *BurstStorm) {
	if c.required("storms", i, "burst", "class") && c.sound("storms", i, "burst", "class") {
		c.known("job class", c.near("storms", i, "burst", "class"), b.Class, c.classes())
	}
	switch {
	case b.Count == nil && b.Factor == nil && c.sound("storms", i, "burst"):
		c.errorf(c.near("storms", i, "burst"), "the burst needs a count or a factor").Help = "count: 10k comes all at once; factor: 3 triples the rate during the storm"
	case b.Count != nil && b.Factor != nil:
		c.errorf(c.key("storms", i, "burst", "factor"), "a burst has a count or a factor, not both")
	}
}

// checkHits checks the classes and dependencies that a storm hits; none means all.
func (c *checker) checkHits(hits []string, path ...any) {
	node := c.node(path...)
	if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) != len(hits) {
		return
	}
	for k, name := range hits {
		c.known("job class or dependency", node.Content[k], name, append(c.classes(), c.dependencies()...))
	}
}

// checkNodes checks which processes a storm hits; it must say.
func (c *checker) checkNodes(n Nodes, path ...any) {
	if c.required(path...) {
		c.checkWhichNodes(n, path...)
	}
}

// checkWhichNodes checks nodes that a storm names.
func (c *checker) checkWhichNodes(n Nodes, path ...any) {
	if !c.sound(path...) || !c.sound("engine", "nodes") {
		return
	}
	nodes := int(c.sc.Engine.Nodes)
	for k, index := range n.List {
		if int(index) >= nodes {
			item := c.near(append(append([]any{}, path...), k)...)
			c.errorf(item, "there is no node %d: the nodes are 0 to %d", index, nodes-1)
		}
	}
	switch {
	case n.List == nil && !n.IsShare && int(n.Count) > nodes:
		c.errorf(c.near(path...), "%d nodes are more than there are (%d)", n.Count, nodes)
	case n.List != nil && len(n.List) == 0, n.List == nil && n.Of(nodes) == 0:
		c.warnf(c.near(path...), "the storm hits no node")
	}
}

// checkLoss checks a share that a storm must say; at 0% it does nothing.
func (c *checker) checkLoss(share Share, nothing string, path ...any) {
	if c.required(path...) && share.Num == 0 && c.sound(path...) {
		c.warnf(c.near(path...), "%s", nothing)
	}
}

func (c *checker) checkErrorKind(name string, path ...any) {
	if bad := checkErrorKind(name); bad != "" && c.sound(path...) {
		c.errorf(c.near(path...), "bad error kind %s: %s", quantity.Quote(name), bad)
	}
}

// checkDependencyHit checks the dependency that a storm at path names, and returns it; nil
// if there is none.
func (c *checker) checkDependencyHit(name string, path ...any) *Dependency {
	path = append(path, "dependency")
	if !c.required(path...) || !c.sound(path...) || !c.known("dependency", c.near(path...), name, c.dependencies()) {
		return nil
	}
	for i := range c.sc.Dependencies {
		if c.sc.Dependencies[i].Name == name {
			return &c.sc.Dependencies[i]
		}
	}
	return nil
}

func (c *checker) checkLimit(i int, l *LimitStorm) {
	c.required("storms", i, "limit", "factor")
	if d := c.checkDependencyHit(l.Dependency, "storms", i, "limit"); d != nil && d.Limit == nil && c.sound("dependencies") {
		c.errorf(c.near("storms", i, "limit", "dependency"), "dependency %s has no limit to change", quantity.Quote(d.Name)).Help = "write limit: {concurrency: 50} at the dependency"
	}
}

func (c *checker) checkRolling(i int, s *Storm) {
	r := s.Rolling
	c.required("storms", i, "rolling", "restart-after")
	if !c.required("storms", i, "rolling", "every") || !c.sound("engine", "nodes") || !c.sound("storms", i) {
		return
	}
	c.positive(r.Every, "storms", i, "rolling", "every")
	times := 1.0
	if s.Repeat != nil {
		times = float64(s.Repeat.Times)
	}
	every := c.near("storms", i, "rolling", "every")
	switch nodes := float64(c.sc.Engine.Nodes); {
	case r.Every == 0:
	case float64(s.For)/float64(r.Every)*times > mostRestarts:
		c.errorf(every, "one run would kill %.1g processes: at most %d", float64(s.For)/float64(r.Every)*times, mostRestarts)
	case float64(r.RestartAfter) >= float64(r.Every)*nodes && s.For > r.RestartAfter:
		c.warnf(c.given([]any{"storms", i, "rolling", "restart-after"}), "it is a process's turn again before it is back: %v is not below %d × %v", r.RestartAfter, c.sc.Engine.Nodes, r.Every)
	}
}

func (c *checker) checkClock(i int, s *ClockStorm) {
	c.checkNodes(s.Nodes, "storms", i, "clock", "nodes")
	switch {
	case !c.sound("storms", i, "clock"):
		return
	case s.Skew == nil && s.Jump == nil:
		c.errorf(c.near("storms", i, "clock"), "the clocks are not set off").Help = "skew: 30s lasts for the window; jump: -30s stays"
		return
	case s.Skew != nil && s.Jump != nil:
		c.errorf(c.key("storms", i, "clock", "jump"), "a clock is off by a skew or a jump, not both").Help = "make them two storms with windows of their own"
		return
	}
	if c.sc.Engine.Lease.Check == "store" && c.sound("engine", "lease", "check") {
		c.warnf(c.key("storms", i, "clock"), "no node notices: leases are checked by the store alone").Help = "engine.lease.check: local lets the holder compare its own clock"
	}
}

// checkStoreTrouble checks a storm between the nodes and the store, or at its tables.
func (c *checker) checkStoreTrouble(i int, s *Storm) {
	lease, promoter := &c.sc.Engine.Lease, &c.sc.Engine.Promoter
	switch {
	case s.Heartbeats != nil:
		c.checkLoss(s.Heartbeats.Lose, "the storm loses nothing", "storms", i, "heartbeats", "lose")
		c.checkSomeNodes(s.Heartbeats.Nodes, "storms", i, "heartbeats", "nodes")
		if lease.Heartbeat == 0 && c.sound("engine", "lease", "heartbeat") {
			c.warnf(c.key("storms", i, "heartbeats"), "there are no heartbeats to lose: engine.lease.heartbeat is 0s")
		}
	case s.Calls != nil:
		c.checkCalls(i, s.Calls)
	case s.Store != nil:
		c.checkStoreStorm(i, s.Store)
	case s.Reaper != nil:
		c.checkStall(s.Reaper, "storms", i, "reaper")
	case s.Promoter != nil:
		c.checkStall(s.Promoter, "storms", i, "promoter")
		if c.sound("engine", "promoter") && !promoter.On() {
			c.warnf(c.key("storms", i, "promoter"), "there is no promoter to stall: engine.promoter.every is 0s")
		}
	case s.Leases != nil:
		c.checkLoss(s.Leases.Lose, "the storm loses nothing", "storms", i, "leases", "lose")
	}
}

// checkSomeNodes checks which nodes a storm hits, if it says so.
func (c *checker) checkSomeNodes(n *Nodes, path ...any) {
	if n != nil {
		c.checkWhichNodes(*n, path...)
	}
}

// calls are the calls between nodes and store that a storm can disturb.
var calls = []string{"claim", "commit", "extend", "recover", "promote", "lead", "stats"}

func (c *checker) checkCalls(i int, s *CallStorm) {
	if node := c.node("storms", i, "calls", "ops"); node != nil && len(node.Content) == len(s.Ops) {
		for k, op := range s.Ops {
			if contains(calls, op) {
				continue
			}
			e := unknownName("call", op, calls)
			if e.Message = "unknown call " + quantity.Quote(op); e.Help == "" {
				e.Help = "want " + quantity.OrList(calls)
			}
			c.add(node.Content[k], Error, e)
		}
	}
	c.checkSomeNodes(s.Nodes, "storms", i, "calls", "nodes")
	if !c.sound("storms", i, "calls") {
		return
	}
	if s.LoseRequest.Num+s.LoseReply.Num+s.Duplicate.Num+s.Error.Num == 0 && (s.Delay == nil || s.Delay.IsNone()) {
		c.errorf(c.near("storms", i, "calls"), "the calls are not disturbed").Help = "write lose-request, lose-reply, duplicate or error with a share, or delay with a time"
	}
}

func (c *checker) checkStoreStorm(i int, s *StoreStorm) {
	node := c.node("storms", i, "store")
	switch {
	case !c.sound("storms", i, "store"):
	case len(node.Content) == 0:
		c.errorf(node, "the store is not disturbed").Help = "write {stall: true}, {slow: 10}, {error: 5%} or {partial: 25%}"
	case len(node.Content) > 2:
		c.errorf(c.given([]any{"storms", i, "store"}), "the storm disturbs the store in two ways").Help = "make them two storms with windows of their own"
	case s.Error != nil:
		c.checkRefused(*s.Error, "storms", i, "store", "error")
	case s.Partial != nil:
		c.checkRefused(*s.Partial, "storms", i, "store", "partial")
	case s.Slow == nil && !s.Stall:
		c.errorf(c.near("storms", i, "store", "stall"), "the storm stalls nothing").Help = "write stall: true"
	}
}

func (c *checker) checkRefused(share Share, path ...any) {
	if share.Num == 0 {
		c.warnf(c.near(path...), "the storm refuses nothing")
	}
}

func (c *checker) checkStall(s *StallStorm, path ...any) {
	if !s.Stall && c.sound(path...) {
		c.errorf(c.near(append(path, "stall")...), "the storm stalls nothing").Help = "write {stall: true}"
	}
}
