package play

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/trace"
	"qsim/scenarios/world"
)

// narrow is the half-width of confidence intervals, relative to the mean, at which the page adds no more seeds: ± 5 %.
const narrow = .05

// first is an early line of an answer: one policy's value of one metric under the first seed, shown before any table.
type first struct {
	Policy int    `json:"first"` // index of the policy among those shown
	Value  string `json:"value"`
	Metric string `json:"metric"`
}

// result is a line of an answer: the table and charts made from the simulations so far.
type result struct {
	Seeds    int    `json:"seeds"`
	HTML     string `json:"html"`
	Markdown string `json:"markdown"`
	Sure     string `json:"sure"` // confidence of the result, in words
	Done     bool   `json:"done"`
	Prints   string `json:"fingerprints"` // fingerprint of each policy under these seeds, as printed by qsim run
	// Halves holds the half-width of the interval of the metric to watch under each policy, as text; empty: none is shown.
	Halves []string `json:"halves"`
}

// run answers a request of the kind "run": it simulates the scenario under the request's settings, and sends each
// policy's first metric as soon as its first seed has ended, then the table and charts, under that seed and then under
// more and more, until the intervals are narrow.
func (s *stage) run(ctx context.Context, a *ask, out *stream) {
	sc, seen := s.load(a)
	if out.send(seen); sc == nil {
		return
	}
	settings := world.Settings(sc)
	relabel(sc, &settings, a.Sets)
	judge(&settings)
	query, most := results.TableQueries(&settings)[0], min(int(sc.Seeds), mostSimulations/len(sc.Policies))
	info, _ := measure.Lookup(query.Metric)
	watch := results.NewWatch(&settings, narrow)
	updates := make(chan update, len(sc.Policies)+most+1) // room for all: no simulation waits for the page
	var err error                                         // of the simulations, once there are no more updates
	go func() {
		defer close(updates)
		seeds := 0
		_, err = world.Run(ctx, sc, world.Options{Parallel: s.o.Parallel, Gate: s.gate,
			Ended: func(run *measure.Run) {
				if run.Seed == sc.Seed {
					updates <- update{first: run}
				}
			},
			Enough: func(seed []measure.Run) bool {
				updates <- update{seed: seed}
				seeds++
				return watch.Add(seed) || seeds >= most
			},
		})
	}()
	var runs []measure.Run // runs of all policies, seed by seed
	draw := func(done bool) error {
		r, err := resultOf(&settings, runs, done, int(sc.Seeds), s.o.Version)
		if err == nil {
			out.send(r)
		}
		return err
	}
	var next time.Time // time of the next drawing of the results
	for u := range updates {
		if u.first != nil {
			out.send(first{u.first.Policy, valueOf(u.first, query, info), query.Label()})
			continue
		}
		runs = append(runs, u.seed...)
		one := len(runs) == len(sc.Policies) // the first charts are of one seed, however fast others follow
		if ctx.Err() != nil || !one && (len(updates) > 0 || time.Now().Before(next)) {
			continue
		}
		start := time.Now()
		_ = draw(false) // what fails now, fails at the end
		if !one {
			next = time.Now().Add(max(5*time.Since(start), 250*time.Millisecond))
		}
	}
	if len(runs) > 0 && ctx.Err() == nil {
		if failed := draw(err == nil); failed != nil {
			err = failed
		}
	}
	out.failed(ctx, err)
}

// update is a message of finished simulations: the run of one policy under the first seed, or those of all under one.
type update struct {
	first *measure.Run
	seed  []measure.Run
}

// relabel appends changed parameters of a policy to its label, which may tell old ones: "Weighted 80/20, fresh 60%".
func relabel(sc *scenarios.Scenario, settings *measure.Settings, sets []set) {
	for i := range settings.Policies {
		p := &settings.Policies[i]
		label := p.Label
		for _, changed := range sets {
			words := sc.Words(changed.Path)
			if len(words) > 2 && words[0] == "policies" && words[1] == label && len(p.Label) < mostLabel {
				p.Label += ", " + strings.TrimPrefix(strings.Join(words[2:], "."), "with.") + " " + changed.Value
			}
		}
		for k := range settings.Objectives {
			if o := &settings.Objectives[k]; o.Policy == label {
				o.Policy = p.Label
			}
		}
	}
}

// judge copies an objective on all job classes to each class for which the user has added a column of its metric.
func judge(settings *measure.Settings) {
	for _, q := range settings.Asked {
		for _, o := range settings.Objectives {
			if o.Class == "" && q.Class != "" {
				if o.Class = q.Class; o.Query == q {
					settings.Objectives = append(settings.Objectives, o)
				}
			}
		}
	}
}

// mostLabel is the length in bytes from which on relabel adds no more changed settings to a policy's label.
const mostLabel = 60

func valueOf(run *measure.Run, query measure.Query, info measure.MetricInfo) string {
	v := run.Find(query)
	if v.Null {
		v.Value = math.NaN()
	}
	return results.FormatEstimate(&results.Estimate{Mean: v.Value, Bound: v.Bound}, info)
}

// resultOf returns finished runs as a line of an answer; done: no more will come. most: seeds that the scenario wants.
func resultOf(settings *measure.Settings, runs []measure.Run, done bool, most int, version string) (*result, error) {
	sum, err := results.Summarize(settings, runs, results.Options{})
	if err != nil {
		return nil, err
	}
	html, err := report.Fragment(sum, version)
	if err != nil {
		return nil, err
	}
	r := &result{Seeds: len(sum.Seeds), HTML: string(html), Sure: sureness(sum, done, most), Done: done,
		Markdown: text.Summary(sum, text.TableOptions{Format: text.Markdown})}
	watched := slices.Concat(settings.Asked, results.TableQueries(settings))[0]
	for i := range sum.Policies {
		r.Halves = append(r.Halves, results.CellOf(sum, i, watched).Half)
		r.Prints += " " + sum.Policies[i].Fingerprint
	}
	return r, nil
}

// sureness returns a sentence on how narrow the confidence intervals of a summary are, after how many seeds.
func sureness(sum *results.Summary, done bool, most int) string {
	seeds := plain.Plural(len(sum.Seeds), "seed")
	widest := plain.Either(len(sum.Seeds) == 1, "one seed has no interval", sum.Widest(narrow))
	switch {
	case widest == "":
		return fmt.Sprintf("Sure: after %s every interval of what is judged is within ± %s%%.", seeds,
			plain.Digits(100*narrow, 2))
	case done && len(sum.Seeds) >= most:
		return fmt.Sprintf("%s, all that the scenario asks for. Least sure: %s.", seeds, widest)
	case done:
		return fmt.Sprintf("%s, all that the page runs. Least sure: %s.", seeds, widest)
	}
	return fmt.Sprintf("%s so far. Least sure: %s.", seeds, widest)
}

// life is the answer to a request of the kind "trace": the history of a job, and which jobs are worth a look.
type life struct {
	Seed     uint64          `json:"seed"`
	Findings []trace.Finding `json:"findings"`
	Words    string          `json:"life"`
}

// widthOfLife is the number of characters in a line of a job's history, as the page shows it.
const widthOfLife = 92

// trace answers a request of the kind "trace" with the history of one job under one policy and the first seed.
func (s *stage) trace(ctx context.Context, a *ask, out *stream) {
	sc, seen := s.load(a)
	if out.send(seen); sc == nil {
		return
	}
	l, err := s.lifeOf(ctx, a, sc)
	if err == nil {
		out.send(l)
	}
	out.failed(ctx, err)
}

func (s *stage) lifeOf(ctx context.Context, a *ask, sc *scenarios.Scenario) (*life, error) {
	if err := s.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	one, err := sc.Select([]string{a.Policy})
	if err != nil {
		return nil, err
	}
	sim := trace.New(one, 0) // of several of one kind, the first
	found, err := sim.Find(ctx)
	if err != nil {
		return nil, err
	}
	l, words := &life{Seed: sim.Seed(), Findings: found}, strings.Builder{}
	for _, f := range found {
		if string(f.Interest) != a.Find || f.Job == 0 {
			continue
		}
		history, err := sim.Job(ctx, f.Job)
		if err != nil {
			return nil, err
		}
		if err := sim.PrintHistory(&words, history, "text", widthOfLife); err != nil {
			return nil, err
		}
	}
	l.Words = words.String()
	return l, nil
}
