package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"qsim/cmd/cli"
	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/phasemap"
	"qsim/scenarios/ranges"
	"qsim/scenarios/world"
)

// mapper is one invocation of map.
type mapper struct {
	flags    *mapFlags
	name     string
	scenario *scenarios.Scenario // with no value of an axis
	plan     phasemap.Plan
	labels   []string // of the policies
	maps     []*phasemap.Map
}

func runMap(c *cobra.Command, names []string, f *mapFlags) error {
	messages := cli.NewConsole(c, false)
	cli.WarnOfVariables(c, messages)
	if f.parallel < 0 {
		return cli.UsageError("--parallel %d: want at least 1", f.parallel)
	}
	if !c.Flags().Changed("seeds") {
		f.seeds = seedsOfMap
		if err := c.Flags().Set("seeds", strconv.Itoa(seedsOfMap)); err != nil {
			return err
		}
	}
	all, err := loadAll(c, names, &f.scenarioFlags, c.ErrOrStderr(), messages)
	if err != nil {
		return err
	}
	m := &mapper{flags: f, name: all[0].name, scenario: all[0].scenario}
	if err := m.prepare(c); err != nil {
		return err
	}
	for _, short := range slices.Concat(m.plan.X.Values.Short, m.plan.Y.Values.Short) {
		messages.Note("%s: one step more goes beyond", short)
	}
	ctx, stop := messages.Interruptible(c.Context(), "interrupted: a map that is not done is not kept; once more to quit at once")
	defer stop()
	if err := m.measure(ctx, messages); err != nil {
		return err
	}
	folder, err := m.store()
	if err != nil {
		return err
	}
	return m.print(c.OutOrStdout(), messages, folder)
}

// prepare reads the axes, the metric and the edge.
func (m *mapper) prepare(c *cobra.Command) error {
	f := m.flags
	m.plan = phasemap.Plan{Depth: f.refine, Parallel: f.parallel}
	for _, a := range []struct {
		flag, text string
		to         *phasemap.Axis
	}{{"x", f.x, &m.plan.X}, {"y", f.y, &m.plan.Y}} {
		if a.text == "" {
			return cli.UsageError("--%s is missing: want KEY=RANGE, as engine.workers=80..140/20", a.flag)
		}
		key, text, found := strings.Cut(a.text, "=")
		if key = strings.TrimSpace(key); !found || key == "" {
			return cli.UsageError("--%s %s: want KEY=RANGE, as engine.workers=80..140/20", a.flag, a.text)
		}
		r, err := ranges.Parse(text)
		if err != nil {
			return cli.UsageError("--%s %s: %w", a.flag, key, err)
		}
		*a.to = phasemap.Axis{Key: key, Values: r}
	}
	if m.plan.X.Key == m.plan.Y.Key {
		return cli.UsageError("--x and --y are one key, %s", m.plan.X.Key)
	}
	if _, err := phasemap.NewLattice(m.plan.X, m.plan.Y, f.refine); err != nil {
		return cli.UsageError("map: %w", err)
	}
	if err := m.readMetric(); err != nil {
		return err
	}
	for _, p := range m.scenario.Policies {
		m.labels = append(m.labels, p.Label)
	}
	return m.readLoad(c)
}

// readMetric says what is measured, and where the edge is.
func (m *mapper) readMetric() error {
	f := m.flags
	info, ok := results.Lookup(f.metric)
	if !ok {
		var names []string
		for _, i := range results.Metrics() {
			names = append(names, i.Name)
		}
		return unknown("metric", f.metric, names)
	}
	if info.Filters.Has(results.NeedsLimit) {
		return cli.UsageError("--metric %s: it needs a limit, which a map cannot give it", f.metric)
	}
	q := results.Query{Metric: f.metric, During: f.during, After: f.after, Class: f.class}
	if storms := world.Windows(m.scenario); q.After == "" && (f.metric == "recovery.time" || f.metric == "drain.time") {
		if len(storms) == 0 {
			return cli.UsageError("--metric %s: the scenario has no storm; choose another metric", f.metric)
		}
		q.After = storms[0].Name
	}
	m.plan.Query, m.plan.Edge = q, math.NaN()
	if f.edge == "" {
		return nil
	}
	var err error
	m.plan.Edge, err = readValue(f.edge, info)
	if err != nil {
		return cli.UsageError("--edge %s: %w", f.edge, err)
	}
	return nil
}

// readValue reads a value in the unit of a metric.
func readValue(text string, info results.MetricInfo) (float64, error) {
	switch {
	case info.Unit == "s":
		var d scenarios.Duration
		err := d.UnmarshalText([]byte(text))
		return d.Std().Seconds(), err
	case info.Share:
		var s scenarios.Share
		err := s.UnmarshalText([]byte(text))
		return s.Float(), err
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("want a number")
	}
	return v, nil
}

// objective makes a run compute the metric: narrowed ones are computed for objectives only.
func (m *mapper) objective() string {
	q := m.plan.Query
	info, _ := results.Lookup(q.Metric)
	bound := "0"
	switch {
	case info.Unit == "s":
		bound = "0s"
	case info.Share:
		bound = "0%"
	case info.Unit == "1/s":
		bound = "0/s"
	}
	text := "{metric: " + q.Metric
	for _, filter := range [][2]string{{"during", q.During}, {"after", q.After}, {"class", q.Class}} {
		if filter[1] != "" {
			text += ", " + filter[0] + ": " + strconv.Quote(filter[1])
		}
	}
	return "[" + text + ", above: " + bound + "}]"
}

// readLoad says how the scenario of a point is loaded.
func (m *mapper) readLoad(c *cobra.Command) error {
	f := m.flags
	overrides, err := f.overrides(c)
	if err != nil {
		return err
	}
	overrides = append(overrides, scenarios.Override{Path: "objectives", Value: m.objective()})
	shown, src, err := scenarios.Open(openable(m.name))
	if err != nil {
		return openError(err)
	}
	var mutex sync.Mutex // a scenario's files are opened one at a time
	m.plan.Load = func(x, y string) (*scenarios.Scenario, error) {
		mutex.Lock()
		defer mutex.Unlock()
		at := append(overrides[:len(overrides):len(overrides)], scenarios.Override{Path: m.plan.X.Key, Value: x}, scenarios.Override{Path: m.plan.Y.Key, Value: y})
		scenario, diagnostics := scenarios.Load(shown, src, at)
		wrong := diagnostics.Errors()
		if len(wrong) == 0 {
			return scenario, nil
		}
		var text strings.Builder
		if err := wrong[:1].Render(&text, shown, src); err != nil {
			return nil, err
		}
		return nil, &badPoint{strings.TrimSpace(text.String())}
	}
	return nil
}

// badPoint is a point of the map that is no scenario.
type badPoint struct{ text string }

// Error implements error.
func (b *badPoint) Error() string { return "\n" + b.text }

func (m *mapper) measure(ctx context.Context, messages *cli.Console) error {
	f := m.flags
	var current *progress
	closeBars := func() {
		if current != nil {
			if current.container != nil {
				messages.Draw(nil)
			}
			current.close()
			current = nil
		}
	}
	m.plan.Progress = func(policy string, round, points int) func() {
		closeBars()
		label := policy + ": grid"
		if round > 0 {
			label = fmt.Sprintf("%s: edge, round %d", policy, round)
		}
		current = newProgressOf("points", []string{label}, points, f.bars.bars(os.Stderr), nil)
		if current.container != nil {
			messages.Draw(current.container)
		}
		count := 0
		return func() {
			count++
			current.finished(0, count, points)
		}
	}
	var err error
	m.maps, err = phasemap.Run(ctx, &m.plan, m.labels)
	closeBars()
	var broken *world.Broken
	var bad *badPoint
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken):
		return cli.Fail(cli.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s", m.name, err, broken.Stack))
	case errors.Is(err, context.Canceled):
		return cli.Fail(cli.ExitInterrupted, nil)
	case errors.As(err, &bad):
		return cli.UsageError("map: %w", err)
	}
	return cli.UsageError("%s: %w", m.name, err)
}
