package study

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// patient is the scenario that a doctor examines, under one policy and with its load scaled down, without any incident.
type patient struct {
	source Source
	sc     *scenarios.Scenario // the scenario as loaded from source
	policy scenarios.Policy
	label  string             // label of the policy, in the scenario
	scale  float64            // simulated share of the scenario's workers, rates and limits, in (0, 1]
	traces map[string]float64 // mean arrivals per second, by trace file
	seeds  int
}

// mostLoad is the highest rate, in jobs per second, that the doctor simulates; a heavier scenario is scaled down to it.
const mostLoad = 150.0

// mostNodes is the highest number of nodes of a scaled-down scenario: each node polls, whatever the load.
const mostNodes = 8

// admit returns the scenario of source under its baseline policy, or its only one, with a heavy load scaled down, as
// the doctor examines it.
func admit(source Source, seeds int) (*patient, error) {
	sc, err := source.setting(nil)
	if err != nil {
		return nil, err
	}
	p := &patient{source: source, policy: sc.Policies[sc.PoliciesNamed(sc.Baseline)[0]], scale: 1, seeds: seeds,
		traces: map[string]float64{}}
	p.source.Policies = nil
	p.source.Sets = slices.Concat(source.Sets, p.policy.Overrides())
	p.label, p.policy.With = p.policy.Label, nil
	p.source.Sets = append(p.source.Sets, p.policies(""), scenarios.Override{Path: "objectives", Value: "[]"},
		scenarios.Override{Path: "storms", Value: "[]"}, scenarios.Override{Path: "baseline", Value: "Yours"})
	if p.sc, err = p.source.setting(nil); err != nil {
		return nil, err
	}
	var load float64
	for i := range p.sc.Jobs {
		a := &p.sc.Jobs[i].Arrivals
		if a.File != "" {
			if p.traces[a.File], err = traceRate(p.sc, a.File); err != nil {
				return nil, err
			}
		}
		load += p.rate(a)
	}
	if load <= mostLoad {
		return p, nil
	}
	p.source.Sets = append(p.source.Sets, p.scaled(mostLoad/load)...)
	if p.sc, err = p.source.setting(nil); err == nil {
		p.policy = p.sc.Policies[0]
	}
	return p, err
}

func traceRate(sc *scenarios.Scenario, name string) (float64, error) {
	file, err := sc.OpenFile(name)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last, _, _ := spec.TraceLine(lines[len(lines)-1]) // a run refuses the line if it is invalid
	return float64(len(lines)) / max(1, last), errors.Join(err, file.Close())
}

// rate returns the mean arrivals per second of a job class, of the scenario under test or of an incident.
func (p *patient) rate(a *spec.Arrivals) float64 {
	if a.Share != nil {
		return p.traces[a.File] * a.Share.Float()
	}
	return max(a.MeanRate(), p.traces[a.File])
}

// load returns the mean number of workers that a class keeps busy.
func (p *patient) load(j *scenarios.JobClass) float64 { return p.rate(&j.Arrivals) * meanRun(j) }

// policies returns the override that compares the policy under test, called Yours, with Cured: the same policy with the
// keys in cure, or another that cure names. Without a cure, there is only Yours.
func (p *patient) policies(cure string) scenarios.Override {
	yours := p.policy
	yours.Label = "Yours"
	list := []string{scenarios.Set("", yours).Value}
	if keys, isPolicy := strings.CutPrefix(cure, "kind:"); isPolicy {
		list = append(list, "{label: Cured, kind:"+keys+"}")
	} else if cure != "" {
		yours.Label = "Cured"
		own := strings.TrimSuffix(scenarios.Set("", yours).Value, "}")
		list = append(list, own+", with: {"+cure+"}}")
	}
	return scenarios.Override{Path: "policies", Value: "[" + strings.Join(list, ", ") + "]"}
}

// scaled returns the overrides that reduce a scenario to a share of its workers, rates and limits.
func (p *patient) scaled(share float64) []scenarios.Override {
	e := &p.sc.Engine
	all := scaledCount(e.Nodes*e.Workers, share)
	most := max(1, all/min(2, e.Workers)) // some policies divide the workers of a node
	nodes := min(max(mostNodes, scaledCount(e.Nodes, share)), e.Nodes, most)
	workers := min(e.Workers, max(2, all/nodes))
	p.scale = float64(nodes*workers) / float64(e.Nodes*e.Workers)
	sets := []scenarios.Override{scenarios.Set("engine.nodes", nodes), scenarios.Set("engine.workers", workers),
		scenarios.Set("engine.max-in-flight", scaledCount(e.MaxInFlight, p.scale)),
		scenarios.Set("engine.store.parallel", scaledCount(e.Store.Parallel, p.scale))}
	for i := range p.sc.Jobs {
		j := &p.sc.Jobs[i]
		sets = append(sets, p.thinner(j, p.scale),
			scenarios.Set("jobs."+j.Class+".max-running", scaledCount(j.MaxRunning, p.scale)))
	}
	for _, d := range p.sc.Dependencies {
		if d.Limit == nil {
			continue
		}
		limit := *d.Limit
		if limit.Rate != nil {
			limit.Rate = new(rate(limit.Rate.PerSecond() * p.scale))
		} else {
			limit.Concurrency = new(scaledCount(*limit.Concurrency, p.scale))
		}
		sets = append(sets, scenarios.Set("dependencies."+d.Name+".limit", limit))
	}
	return append(sets, p.limits(workers)...)
}

// limits returns the overrides that scale the policy's counts, rates and amounts to nodes with the given number of
// workers. They apply to one node, or to all if the store keeps the policy's state.
func (p *patient) limits(workers scenarios.Count) (sets []scenarios.Override) {
	kind, _ := policies.Find(p.policy.Kind)
	share := float64(workers) / float64(p.sc.Engine.Workers)
	price := scenarios.Count(1) // the most of a bucket that one job takes
	amount := plain.Either(kind.State == policies.StateStore, p.scale, share)
	for _, amounts := range []bool{false, true} {
		for _, param := range kind.Params {
			text := []byte(param.Default)
			if given, is := p.policy.Params[param.Name]; is {
				text = []byte(given.Value)
			}
			count, each := scenarios.Count(0), scenarios.Rate{}
			path := "policies.Yours." + param.Name
			switch {
			case amounts != param.Amount:
			case param.Type == policies.TypeCountOrShare && count.UnmarshalText(text) == nil:
				own := count * workers / p.sc.Engine.Workers // less than all stays less
				sets = append(sets, scenarios.Set(path, max(min(1, count), own)))
			case param.Type == policies.TypeRate && each.UnmarshalText(text) == nil && each.Num > 0:
				sets = append(sets, scenarios.Set(path, rate(each.PerSecond()*share)))
			case param.Type == policies.TypeNumber && count.UnmarshalText(text) == nil && amounts:
				sets = append(sets, scenarios.Set(path, min(count, max(price, scaledCount(count, amount)))))
			case param.Type == policies.TypeNumber:
				price = max(price, count)
			}
		}
	}
	return sets
}

// thinner returns the override that reduces the arrivals of a job class to a share, in (0, 1], of what they are.
func (p *patient) thinner(j *scenarios.JobClass, share float64) scenarios.Override {
	a := j.Arrivals
	if a.Rate.Num > 0 {
		a.Rate = rate(a.Rate.PerSecond() * share)
	}
	for _, r := range []**scenarios.Rate{&a.From, &a.To, &a.Mean} {
		if *r != nil {
			*r = new(rate((*r).PerSecond() * share))
		}
	}
	if a.Size != nil {
		a.Size = new(scaledCount(*a.Size, share))
	}
	if a.File != "" {
		share *= cmp.Or(a.Share, new(quantity.Percent(100))).Float()
		a.Share = new(quantity.Fraction(int64(math.Round(share*1e6)), 1e6))
	}
	return scenarios.Set("jobs."+j.Class+".arrivals", a)
}

// scaledCount returns a share of a count, at least 1; 0 stays 0.
func scaledCount(n scenarios.Count, share float64) scenarios.Count {
	return max(min(n, 1), scenarios.Count(math.Round(float64(n)*share)))
}

// rate converts a number of events per second to a rate of scenario files, which is at least a millionth per second.
func rate(perSecond float64) scenarios.Rate {
	return scenarios.Rate{Num: max(1, int64(math.Round(perSecond*1e6))), Den: 1e6, Per: time.Second}
}

// cure returns the settings that cure the incident, with numbers of the scenario under test in place of words: TTL/3 is
// a third of its lease, MOST three quarters of its idle workers, MORE one worker more on each node.
func (r *row) cure() string {
	e, text := &r.sc.Engine, r.of.cure
	idle := float64(e.Nodes * e.Workers)
	for i := range r.sc.Jobs {
		if j := &r.sc.Jobs[i]; j.Arrivals.Process != "batch" {
			idle -= r.load(j)
		}
	}
	for _, name := range r.of.adds {
		text = strings.ReplaceAll(text, "jobs."+name+".", "jobs."+cmp.Or(r.as[name], name)+".")
	}
	return strings.NewReplacer("TTL/3", (e.Lease.TTL / 3).Std().Truncate(time.Millisecond).String(),
		"MORE", strconv.Itoa(int(e.Workers)+1), "MOST", strconv.Itoa(max(1, int(0.75*idle)))).Replace(text)
}
