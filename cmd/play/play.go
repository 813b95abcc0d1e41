// Package play is the web page of `qsim play`: sliders for the keys (parameters) of a scenario, and the results of
// simulations under the present settings, compared by policy (what workers claim next). A storm is an injected failure
// or burst with a window of time. Requests of the page go to the process that serves it or, from static files, to the
// same code as WebAssembly in a web worker. They neither write files nor name files to read.
package play

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"qsim/scenarios"
	"qsim/scenarios/origins"
	"qsim/scenarios/pool"
)

// mostBody and the constants below limit a request of the page: beyond them it is refused or stopped.
const (
	mostBody        = 64 << 10 // bytes of a request
	mostSets        = 200
	mostPolicies    = 24
	mostSimulations = 480         // most simulations of one request: policies × seeds
	mostJobs        = 20e6        // most jobs of one simulation: some ten seconds
	longest         = time.Minute // longest simulation time of a request
)

// Options are the scenario that a page begins with, and how it is simulated.
type Options struct {
	Name     string               // display name of the scenario in its diagnostics
	Source   []byte               // text of the scenario, which loads without errors
	Sets     []scenarios.Override // overrides of the source
	Policies []string             // labels or kinds of the selected policies; none: all
	Run      string               // its name, as commands take it
	Version  string               // version of the program

	// Fits refuses a setting that takes too much memory.
	Fits func(sc *scenarios.Scenario) error `json:"-"`
	// Parallel is how many simulations run at once, of all requests; 0: one for each processor.
	Parallel int `json:"-"`
}

// stage answers the requests of a page: it loads the page's scenario with each request's overrides, and simulates it.
type stage struct {
	o      Options
	usual  map[string]string        // values of the settings that the page begins with, by path
	keys   map[string]scenarios.Key // keys of these settings
	storms []offer
	gate   pool.Gate // limit on concurrent simulations
}

// newStage returns the stage for the scenario in the options, which must load without errors.
func newStage(o Options) *stage {
	s := &stage{o: o, usual: map[string]string{}, keys: map[string]scenarios.Key{}, gate: pool.NewGate(o.Parallel)}
	sc, _ := s.loaded(nil)
	for _, setting := range origins.Of(sc, o.Sets) {
		s.usual[setting.Path] = setting.Value
		s.keys[setting.Path], _ = scenarios.KeyOf(setting.Path)
	}
	s.storms = s.offers(sc)
	return s
}

// answers returns the method that answers a kind of request, "run" (simulate) or "trace" (follow a job); or else nil.
func (s *stage) answers(kind string) func(ctx context.Context, a *ask, out *stream) {
	return map[string]func(context.Context, *ask, *stream){"run": s.run, "trace": s.trace}[kind]
}

// ask is the body of a request from the page: overrides of the scenario's keys, and what results are wanted.
type ask struct {
	Sets     []set    `json:"sets"`
	Policies []string `json:"policies"` // labels of the policies; none: the initial ones
	Metrics  []string `json:"metrics"`  // additional columns besides the objectives', in the syntax of --metric
	Policy   string   `json:"policy"`   // label of the policy to trace
	Find     string   `json:"find"`     // category of the job to find
}

type set struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

func readAsk(body io.Reader) (*ask, error) {
	var a ask
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&a)
	if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = cmp.Or(more, errors.New("text after the request"))
	}
	if err == nil && max(len(a.Sets), len(a.Metrics)) > mostSets {
		err = errors.New("too many settings, or columns")
	}
	if err != nil {
		return nil, fmt.Errorf("this is no request of the page: %w", err)
	}
	return &a, nil
}

// stream writes the answer to a request of the page as lines of JSON, each with a single Write.
type stream struct{ w io.Writer }

// send writes line as one line of JSON. It ignores errors: if nobody reads the answer, its request's context ends soon.
func (o *stream) send(line any) {
	encoder := json.NewEncoder(o.w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(line)
}

// failed writes the line by which an answer ends early because of err; none if err is nil or the browser has given up.
func (o *stream) failed(ctx context.Context, err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		o.send(map[string]string{"error": "The page stops after " + longest.String() + ": figures are of the seeds done by " +
			"then. For more, shorten the duration, lower the load, or run the copied command in a terminal."})
	case err != nil && !errors.Is(err, context.Canceled):
		o.send(map[string]string{"error": err.Error()})
	}
}
