package chaos

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/quantity"
	"qsim/engine/sim"
	"qsim/policies"
)

// World is all that one run depends on.
type World struct {
	Seed  uint64        // of every draw during the run
	Heal  time.Duration // when all troubles are over
	Nodes int
	// Engine configures the engine of every node. Engine, Policy, Recorder, Rand and Kinds
	// are filled in.
	Engine  engine.Config
	Drawn   time.Duration // of the promoter: ticks are uniform in (0, Drawn) apart; 0: Engine.Promoter.Every
	First   time.Duration // and the first one comes within it; 0: as the others
	Timeout time.Duration // of executions; 0: none
	Retry   Retry
	Store   engine.StoreOptions
	Policy  Policy

	Wake      sim.WakeMode
	Restart   time.Duration // of a process that an execution has killed
	MakesRoom bool          // tell nodes when a job that ends makes room for another
	Links     Links
	Load      Load
	Work      Work
	Faults    []Fault
}

// Retry is the retry policy of all jobs: exponential, from First by Factor up to Max.
type Retry struct {
	Attempts int // executions of a job in all; 0: no limit
	First    time.Duration
	Factor   float64
	Max      time.Duration
	Jitter   policies.JitterKind
	Free     engine.ErrorKind // costs no attempt, three times; NoError: none
	Never    engine.ErrorKind // buries at once; NoError: none
}

// Policy names a policy as scenarios do.
type Policy struct {
	Kind   string // "": fifo
	Params []Param
}

// Param is a parameter of a policy.
type Param struct{ Name, Value string }

// Links are the ways to the store. Delays are means of exponential distributions.
type Links struct {
	Delay    [engine.NumOps]time.Duration // of each way of a call
	PerJob   time.Duration                // added for each job of a call
	PerRow   time.Duration                // added for each row of any state that the call finds
	Enqueue  time.Duration                // of a third of the jobs on their way to the store; another third takes twice as long
	Parallel int                          // calls served at once; 0: no limit
}

// Load is how jobs come.
type Load struct {
	Jobs    int           // of the steady stream
	Gap     time.Duration // between two of them, on average: exponential
	Kinds   int           // classes of jobs; 0: one
	Ranked  bool          // a class has its number as priority
	Tenants int           // 0: one
	Keys    int           // serial keys; 0: jobs have none
	Delay   time.Duration // every third job is delayed by so much
	// Only, if it is not nil, are the jobs that come, ascending: all others stay away.
	Only []engine.JobID
}

// Work is how executions go.
type Work struct {
	P50, P99, Cap time.Duration // run times: lognormal by two quantiles, at most Cap
	Fails         float64       // share of attempts that fail until all is healed
	Poison        float64       // share of jobs that always fail
	Error         engine.ErrorKind
	Kills         float64 // share of attempts that kill their process, until all is healed
	IgnoresCancel bool
}

// Validate reports what is impossible in w, joined.
func (w *World) Validate() error {
	var errs []error
	need := func(ok bool, format string, arguments ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, arguments...))
		}
	}
	need(w.Nodes >= 1 && w.Nodes <= 1000, "nodes: %d is not in [1, 1000]", w.Nodes)
	need(w.Engine.Workers <= 1_000_000, "workers: %d is over a million", w.Engine.Workers)
	need(w.Heal >= 0, "heal: %v is negative", w.Heal)
	need(w.Load.Jobs >= 0 && w.Load.Jobs <= mostJobs, "load jobs: %d is not in [0, %d]", w.Load.Jobs, mostJobs)
	need(w.Load.Kinds >= 0 && w.Load.Kinds <= 64 && w.Load.Tenants >= 0 && w.Load.Keys >= 0, "load: kinds are in [0, 64], tenants and keys not negative")
	need(w.Load.Gap > 0 || w.Load.Jobs == 0, "load gap: %v is not positive", w.Load.Gap)
	need(w.Load.Delay >= 0 && w.Links.Enqueue >= 0 && w.Links.PerJob >= 0 && w.Links.PerRow >= 0 && w.Links.Parallel >= 0, "links, load: nothing may be negative")
	for _, d := range w.Links.Delay {
		need(d >= 0, "links: %v is negative", d)
	}
	need(w.Work.P50 > 0 && w.Work.P99 > w.Work.P50 && w.Work.Cap > 0, "work: want 0 < p50 %v < p99 %v, and cap %v above 0", w.Work.P50, w.Work.P99, w.Work.Cap)
	for _, share := range []float64{w.Work.Fails, w.Work.Poison, w.Work.Kills} {
		need(share >= 0 && share <= 1, "work: a share of %v is not in [0, 1]", share)
	}
	need(w.Timeout >= 0 && w.Restart >= 0 && w.Drawn >= 0 && w.First >= 0, "world: nothing may be negative")
	need(w.Store.LapseAfter < 0 || w.Engine.Reaper.Every == 0, "store: leases lapse by themselves only where the reaper has no interval")
	need(w.Store.Promoted == (w.Engine.Promoter.Every > 0), "store: promoted is for a promoter with an interval, and it alone")
	if err := w.retryPolicy().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("retry: %w", err))
	}
	for i := range w.Faults {
		if err := w.Faults[i].validate(w); err != nil {
			errs = append(errs, fmt.Errorf("fault %d: %w", i+1, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return errors.Join(w.validateEngine(), w.validatePromise())
}

// mostJobs bounds how many jobs a world or a burst has: what is drawn has hundreds.
const mostJobs = 20_000_000

func (w *World) validateEngine() error {
	node, err := w.node()
	if err != nil {
		return err
	}
	if _, err := w.newPolicy(); err != nil {
		return err
	}
	node.Policy = policies.FIFO{}
	return node.Validate()
}

func (w *World) retryPolicy() *policies.Backoff {
	r := &w.Retry
	b := &policies.Backoff{MaxAttempts: r.Attempts, Kind: policies.Exponential, First: r.First, Factor: r.Factor, Max: r.Max,
		Jitter: policies.NewJitter(r.Jitter, quantity.Share{})}
	if r.Free != engine.NoError {
		b.Free, b.FreeMax = []engine.ErrorKind{r.Free}, 3
	}
	if r.Never != engine.NoError {
		b.Never = []engine.ErrorKind{r.Never}
	}
	return b
}

// newPolicy returns the policy of one node.
func (w *World) newPolicy() (engine.Policy, error) {
	kind := w.Policy.Kind
	if kind == "" {
		kind = "fifo"
	}
	values := make(map[string]policies.Value)
	for _, k := range policies.Kinds() {
		if k.Name != kind {
			continue
		}
		for _, p := range w.Policy.Params {
			typ := policies.TypeNumber // of a parameter that is not known, which New complains of
			for i := range k.Params {
				if k.Params[i].Name == p.Name {
					typ = k.Params[i].Type
				}
			}
			v, err := policies.ParseValue(typ, p.Value)
			if err != nil {
				return nil, fmt.Errorf("policy %s: %s: %w", kind, p.Name, err)
			}
			values[p.Name] = v
		}
	}
	var classes []policies.Class
	for i := range max(1, w.Load.Kinds) {
		classes = append(classes, policies.Class{Name: fmt.Sprintf("class-%d", i), Calls: fmt.Sprintf("dependency-%d", i%2)})
	}
	return policies.NewFor(kind, values, w.Engine.Workers, classes)
}

// node is the configuration of one node's engine, without its policy.
func (w *World) node() (engine.Config, error) {
	c := w.Engine
	c.Rand = engine.Rand{Seed: w.Seed}
	every, errEvery := dist.Uniform(0, w.Drawn.Seconds())
	first, errFirst := dist.Uniform(0, w.First.Seconds())
	constant := c.Promoter.Every
	if (w.Drawn > 0 || w.First > 0) && c.Promoter.Every > 0 {
		c.Promoter.Tick = func(n uint64, u float64) time.Duration {
			switch {
			case n == 1 && w.First > 0:
				return first.Duration(u)
			case w.Drawn > 0:
				return every.Duration(u)
			}
			return constant
		}
	}
	c.Kinds = []engine.KindConfig{{Timeout: w.Timeout, Retry: w.retryPolicy()}}
	return c, errors.Join(errEvery, errFirst)
}
