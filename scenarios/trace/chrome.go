package trace

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"qsim/engine"
	"qsim/results/plain"
)

// stormsProcess and the constants below are the process and thread numbers of the tracks in a Chrome trace, nodes last.
const (
	stormsProcess = 1
	storeProcess  = 2
	jobProcess    = 3
	firstNode     = 10 // node n is process firstNode+n

	nodeThread = 0 // track of the node itself, up or down; its workers' tracks follow
)

// storeThreads lists the kinds of the store's events that get a track (thread) of their own in a Chrome trace.
var storeThreads = []struct {
	kind engine.EventKind
	name string
}{{engine.LeaseTaken, "expired leases taken"}, {engine.Fenced, "commits fenced"}, {engine.Buried, "jobs buried"}}

// chromeEvent is one line of a trace in the JSON of Chrome's trace viewer, with the keys of its Trace Event Format.
type chromeEvent struct {
	Phase    string   `json:"ph"`
	Process  int      `json:"pid"`
	Thread   int      `json:"tid"`
	At       float64  `json:"ts"`
	Name     string   `json:"name"`
	Length   *float64 `json:"dur,omitempty"`
	Scope    string   `json:"s,omitempty"`
	Args     any      `json:"args,omitempty"`
	Category string   `json:"cat,omitempty"`
	ID       int      `json:"id,omitempty"`
	Binds    string   `json:"bp,omitempty"`
}

// microseconds returns a duration in the unit of a Chrome trace.
func microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

// Chrome writes a window of time as a trace in the JSON of Chrome's trace viewer, which Perfetto opens too: a track for
// each worker of each node with its executions, one for each storm, and some for lost leases, fenced commits and dead
// jobs. With o.Job, it has a track for the states of that job, and executions of that job only. Arrows lead from one
// attempt of a job to the next. stopped is the time at which the limit, a number of lines, was reached, below 0 if it
// was not; the trace is complete up to there.
func (s *Simulation) Chrome(ctx context.Context, o WindowOptions, w io.Writer) (stopped Span, err error) {
	stopped = none
	c := &chrome{s: s, o: o, out: bufio.NewWriter(w), runs: map[place]*slice{}, lanes: map[int32][]bool{},
		latest: map[engine.JobID]*slice{}, off: map[int32]*slice{}}
	c.head()
	end, last := min(o.To, s.End()), time.Duration(0)
	err = s.watch(ctx, o.To, func(e *engine.Event) bool {
		if o.Limit > 0 && c.lines >= o.Limit {
			stopped, end = Span(e.At), time.Duration(e.At)
			return false
		}
		c.see(e)
		last = time.Duration(e.At)
		return c.err == nil
	})
	if err != nil {
		end = min(end, last) // later events are unknown
	}
	c.close(end)
	if c.err = cmp.Or(c.err, c.out.Flush()); c.err != nil {
		return stopped, fmt.Errorf("write trace: %w", c.err)
	}
	return stopped, err
}

// place identifies a slot (worker) of a node's engine.
type place struct {
	node int32
	slot engine.Slot
}

// slice is a bar on a track of a Chrome trace, from a start to an end, which may be unknown so far.
type slice struct {
	process, thread int
	name            string
	from            time.Duration
	job             engine.JobID
	attempt         int32
	arrow           time.Duration // begin of an arrow to the next attempt, within the slice
	before          *slice        // previous attempt; nil: none is drawn
}

type chrome struct {
	s      *Simulation
	o      WindowOptions
	out    *bufio.Writer
	err    error
	lines  int
	arrows int

	runs   map[place]*slice        // executions under way
	lanes  map[int32][]bool        // by node, whether each worker track is in use
	latest map[engine.JobID]*slice // latest attempt of each job that has not ended
	off    map[int32]*slice        // nodes that are down or frozen
	nodes  int32                   // number of nodes with a track
	state  *slice                  // present state of the job
}

// head writes the beginning of a Chrome trace, the names of the tracks above those of the nodes, and the storms.
func (c *chrome) head() {
	about, _ := json.Marshal(map[string]string{"scenario": c.s.sc.Name, "policy": c.s.Policy(),
		"seed": fmt.Sprint(c.s.Seed())})
	c.write(fmt.Sprintf(`{"displayTimeUnit":"ms","otherData":%s,"traceEvents":[`, about))
	c.lines++
	c.process(stormsProcess, "storms")
	c.process(storeProcess, "store")
	for i, t := range storeThreads {
		c.thread(storeProcess, i+1, t.name)
	}
	if c.o.Job != 0 {
		c.process(jobProcess, "job "+c.s.seen.JobName(c.o.Job))
		c.thread(jobProcess, 1, "state")
	}
	threads := map[string]int{}
	for _, w := range c.s.windows {
		if w.To < c.o.From || w.From > c.o.To {
			continue
		}
		if threads[w.Name] == 0 {
			threads[w.Name] = len(threads) + 1
			c.thread(stormsProcess, threads[w.Name], w.Name)
		}
		c.span(&slice{process: stormsProcess, thread: threads[w.Name], name: w.Name, from: w.From}, min(w.To, c.s.End()), nil)
	}
}

func (c *chrome) see(e *engine.Event) {
	at := time.Duration(e.At)
	switch e.Kind {
	case engine.NodeUp, engine.NodeWake:
		for ; c.nodes <= e.Node; c.nodes++ {
			c.process(firstNode+int(c.nodes), "node "+strconv.Itoa(int(c.nodes)))
			c.thread(firstNode+int(c.nodes), nodeThread, "process")
		}
		c.nodeState(e.Node, "", at)
	case engine.NodeDown:
		c.nodeState(e.Node, "down", at)
	case engine.NodePause:
		c.nodeState(e.Node, "frozen", at)
	case engine.Started:
		c.start(e, at)
	case engine.Finished, engine.Aborted:
		c.end(e, at)
	}
	if e.Job == 0 || c.o.Job != 0 && e.Job != c.o.Job {
		return
	}
	if c.o.Job != 0 {
		c.follow(e, at)
	}
	for i, t := range storeThreads {
		if e.Kind == t.kind && at >= c.o.From {
			c.event(chromeEvent{Phase: "i", Process: storeProcess, Thread: i + 1, At: microseconds(at), Scope: "t",
				Name: c.s.seen.JobName(e.Job), Args: map[string]string{"what": c.s.words(e), "attempt": fmt.Sprint(deliveries(e))}})
		}
	}
	if e.Kind == engine.Acked || e.Kind == engine.Buried {
		delete(c.latest, e.Job)
	}
}

// start begins the bar of an execution, on the first free worker track of its node, and links it to the attempt before.
func (c *chrome) start(e *engine.Event, at time.Duration) {
	lanes := c.lanes[e.Node]
	lane := slices.Index(lanes, false)
	if lane < 0 {
		lane = len(lanes)
		lanes = append(lanes, false)
		c.thread(firstNode+int(e.Node), lane+1, "worker "+strconv.Itoa(lane+1))
	}
	lanes[lane] = true
	c.lanes[e.Node] = lanes
	run := &slice{process: firstNode + int(e.Node), thread: lane + 1, from: at, job: e.Job, attempt: e.Delivery, arrow: at}
	c.runs[place{e.Node, e.Slot}] = run
	if c.o.Job == 0 || c.o.Job == e.Job {
		if before := c.latest[e.Job]; before != nil && before.arrow >= c.o.From {
			before.before = nil // a chain of them would be kept for ever
			run.before = before
		}
		c.latest[e.Job] = run
	}
}

func (c *chrome) end(e *engine.Event, at time.Duration) {
	where := place{e.Node, e.Slot}
	run := c.runs[where]
	if run == nil {
		return
	}
	delete(c.runs, where)
	c.lanes[e.Node][run.thread-1] = false
	how := "succeeded"
	switch {
	case e.Kind == engine.Aborted:
		how = "died with its process"
	case e.Error != engine.NoError:
		how = c.s.errorName(e.Error)
	}
	c.execution(run, at, how)
}

// execution writes the span of an ended execution, with how it ended, and the arrow to it from the attempt before.
func (c *chrome) execution(run *slice, at time.Duration, how string) {
	if at < c.o.From || c.o.Job != 0 && c.o.Job != run.job {
		return
	}
	job, attempt := c.s.seen.JobName(run.job), strconv.Itoa(int(run.attempt))
	if run.name = job; run.attempt > 1 {
		run.name += " #" + attempt
	}
	c.span(run, at, map[string]string{"job": job, "attempt": attempt, "ended": how})
	if before := run.before; before != nil {
		c.arrows++
		for _, arrow := range []chromeEvent{
			{Phase: "s", Process: before.process, Thread: before.thread, At: microseconds(before.arrow)},
			{Phase: "f", Process: run.process, Thread: run.thread, At: microseconds(run.from), Binds: "e"},
		} {
			arrow.Name, arrow.Category, arrow.ID = "next attempt", "attempts", c.arrows
			c.event(arrow)
		}
		run.before = nil
	}
	run.arrow = run.from + (at-run.from)/2
}

// nodeState writes the span in which a node was down or frozen, if it was, and begins its new state; "" stands for up.
func (c *chrome) nodeState(node int32, state string, at time.Duration) {
	if was := c.off[node]; was != nil && at >= c.o.From {
		c.span(was, at, nil)
	}
	delete(c.off, node)
	if state != "" {
		c.off[node] = &slice{process: firstNode + int(node), thread: nodeThread, name: state, from: at}
	}
}

func (c *chrome) follow(e *engine.Event, at time.Duration) {
	state := stateAfter(e)
	switch {
	case e.Kind == engine.Enqueued && e.Delay <= 0:
		state = "ready, fresh"
	case e.Kind == engine.Leased:
		state = fmt.Sprintf("leased to node %d, attempt %d", e.Node, e.Delivery)
	case e.Kind == engine.LeaseTaken:
		state = fmt.Sprintf("taken by the reaper of node %d", e.Node)
	case e.Kind == engine.Acked, e.Kind == engine.Buried:
		state = ""
	case state == "":
		return
	}
	if c.state != nil && at >= c.o.From {
		c.span(c.state, at, nil)
	}
	if c.state = nil; state != "" {
		c.state = &slice{process: jobProcess, thread: 1, name: state, from: at}
	}
}

// close writes the spans under way at the end of the window, in the order of the tracks, and the end of the trace.
func (c *chrome) close(end time.Duration) {
	open := slices.AppendSeq(slices.Collect(maps.Values(c.runs)), maps.Values(c.off))
	slices.SortFunc(open, func(a, b *slice) int { return (a.process-b.process)*1_000_000 + a.thread - b.thread })
	for _, o := range open {
		if o.job == 0 {
			c.span(o, end, nil)
		} else {
			c.execution(o, end, "runs still")
		}
	}
	if c.state != nil {
		c.span(c.state, end, nil)
	}
	c.write("\n]}\n")
}

func (c *chrome) process(id int, name string) { c.track("process", id, 0, name, id) }

func (c *chrome) thread(process, thread int, name string) {
	c.track("thread", process, thread, name, thread)
}

// track writes the name of a track, process or thread by kind, and the number by which it is sorted among others.
func (c *chrome) track(kind string, process, thread int, name string, index int) {
	e := chromeEvent{Phase: "M", Process: process, Thread: thread}
	e.Name, e.Args = kind+"_name", map[string]string{"name": name}
	c.event(e)
	e.Name, e.Args = kind+"_sort_index", map[string]int{"sort_index": index}
	c.event(e)
}

func (c *chrome) span(s *slice, to time.Duration, arguments any) {
	length := microseconds(max(0, to-s.from))
	c.event(chromeEvent{Phase: "X", Process: s.process, Thread: s.thread, At: microseconds(s.from), Name: s.name,
		Length: &length, Args: arguments})
}

func (c *chrome) event(e chromeEvent) {
	text, err := json.Marshal(e)
	c.err = cmp.Or(c.err, err)
	separator := plain.When(c.lines >= 2, ",") // none behind the head of the document
	c.lines++
	c.write(separator + "\n" + string(text))
}

func (c *chrome) write(text string) {
	if c.err == nil {
		_, c.err = c.out.WriteString(text)
	}
}
