package study

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// row is an incident applied to the scenario under test, a row of qsim doctor: its overrides and what they rest on.
type row struct {
	*patient
	of      *incident
	library *scenarios.Scenario // scenario of the incident
	as      map[string]string   // class of the incident: the patient's that stands for it, or its new name
	has     []string            // classes of the incident's trouble that the patient already has
	on      map[string]string   // for each dependency of the incident, the patient's dependency that stands for it
	dose    float64             // workers of the patient ÷ those of the incident, or limits of their dependencies
	start   time.Duration       // start of the incident's trouble in its own scenario
	lead    time.Duration       // time before the trouble in the simulation
	longest time.Duration       // length of the longest window in the simulation
	length  time.Duration       // duration of arrivals in the simulation

	fails      []scenarios.Override // overrides for classes that never fail, where the incident is about failures
	sets, calm []scenarios.Override // overrides with the incident, and without its trouble
	objective  measure.Objective
}

// lay applies an incident to the scenario under test. why is the reason why it does not apply; "" if it does.
func (p *patient) lay(of *incident) (r *row, why string) {
	for _, need := range of.needs {
		if !need.met(p.sc) {
			return nil, need.missing
		}
	}
	r = &row{patient: p, of: of, library: libraryScenario(of.name), as: map[string]string{}, on: map[string]string{}}
	if why := r.cast(); why != "" {
		return nil, why
	}
	r.judgeBy()
	r.clock()
	r.arrive()
	r.storm()
	if of.store { // the incident's costs of claims, unless the scenario has costs already
		theirs, own, none := &r.library.Engine.Store, &r.sc.Engine.Store, spec.RowCosts{}
		if own.Scan.Claim == none {
			r.sets = append(r.sets, scenarios.Set("engine.store.scan.claim", theirs.Scan.Claim))
		}
		if own.Parallel == 0 {
			r.sets = append(r.sets, scenarios.Set("engine.store.parallel", theirs.Parallel))
		}
		r.calm = append(r.calm, scenarios.Set("engine.store.scan.claim", none))
	}
	if of.always || len(r.library.Storms)+len(of.adds) == 0 && !of.store {
		r.calm = nil
	}
	r.sets = append(r.sets, p.policies(r.cure()))
	return r, ""
}

func libraryScenario(name string) *scenarios.Scenario {
	shown, text, _ := scenarios.OpenBuiltin("incidents/" + name) // even beside a file of that name
	sc, found := scenarios.Load(shown, text, nil)
	if sc == nil {
		panic("study: " + found[0].Message)
	}
	return sc
}

// cast matches the dependencies and classes of the incident with those of the scenario under test; why is the reason if
// there is no match.
func (r *row) cast() (why string) {
	r.dose = float64(r.sc.Engine.Nodes*r.sc.Engine.Workers) / float64(r.library.Engine.Nodes*r.library.Engine.Workers)
	for i := range r.library.Dependencies {
		own := &r.library.Dependencies[i]
		at := slices.IndexFunc(r.sc.Dependencies, func(d scenarios.Dependency) bool { return kindOf(&d) == kindOf(own) })
		if at < 0 {
			return "no dependency " + kindOf(own)
		}
		r.on[own.Name] = r.sc.Dependencies[at].Name
		r.dose = limitOf(&r.sc.Dependencies[at]) / limitOf(own)
	}
	for _, name := range r.of.adds {
		j, at := &r.library.Jobs[r.library.ClassIndex(name)], r.sc.ClassIndex(name)
		if at >= 0 && r.sc.Jobs[at].Arrivals.Process == j.Arrivals.Process &&
			scenarios.Set("", r.sc.Jobs[at].Service) == scenarios.Set("", j.Service) {
			r.has = append(r.has, name)
			continue
		}
		for free := name; r.sc.ClassIndex(free) >= 0; r.as[name] = free {
			free = "other-" + free
		}
	}
	for i := range r.library.Jobs {
		j := &r.library.Jobs[i]
		if slices.Contains(r.of.adds, j.Class) {
			continue
		}
		part, given := r.of.role[j.Class]
		if !given {
			part = busiest
		}
		if j.Calls != "" {
			part = role{func(p *patient, c *scenarios.JobClass) float64 {
				return plain.Either(c.Calls == r.on[j.Calls], busiest.score(p, c), 0)
			}, "no class calls the dependency " + kindOf(&r.library.Dependencies[0])}
		}
		class := part.cast(r.patient, r.has)
		if class == nil {
			return part.missing
		}
		if class.Fails.Rate.Num == 0 && j.Fails.Rate.Num > 0 {
			r.fails = append(r.fails, scenarios.Set("jobs."+class.Class+".fails", j.Fails))
		}
		r.as[j.Class] = class.Class
	}
	return ""
}

// clock sets the durations of the simulation: the incident's, shortened to what the scenario's jobs and leases need.
func (r *row) clock() {
	var run, first, end time.Duration // bound of nearly all run times; last start of a class; end of the trouble
	for i := range r.sc.Jobs {
		j := &r.sc.Jobs[i]
		run = max(run, time.Duration(1e9*min(j.Service.Dist().Sample(0.99), 1e6)))
		if !slices.Contains(r.has, j.Class) {
			first = max(first, j.Arrivals.Start.Std())
		}
	}
	r.start, r.longest = math.MaxInt64, max(10*time.Minute, 3*run)
	for i := range r.library.Storms {
		r.start, end = min(r.start, r.library.Storms[i].At.Std()), max(end, r.library.Storms[i].End())
	}
	var delay time.Duration
	for i := range r.library.Jobs {
		j := &r.library.Jobs[i]
		if j.Arrivals.Process == "batch" {
			r.start, end = min(r.start, j.Arrivals.Start.Std()), max(end, j.Arrivals.Start.Std())
		}
		delay = max(delay, j.Delay.Std())
	}
	whole := r.library.Duration.Std()
	r.length = min(whole, max(r.longest, first+3*run))
	if r.start < whole {
		r.lead = min(r.start, max(20*time.Second, 2*run, first))
		r.length = r.lead + min(end-r.start, r.longest) + min(max(0, whole-end), max(5*time.Minute, 3*run))
	} else {
		r.start = 0
	}
	drain := max(10*time.Minute+2*r.sc.Engine.Lease.TTL.Std(), 3*run)
	if info, _ := measure.Lookup(r.of.metric); info.Unit == "s" { // an endless wait must exceed the limit
		drain = max(drain, time.Duration(1.25e9*r.objective.Bound))
	}
	drain = min(r.library.Drain.Std(), drain+delay)
	warmup := min(r.library.Warmup.Std(), r.lead/2)
	r.sets = append(r.sets, scenarios.Set("duration", scenarios.Duration(r.length)),
		scenarios.Set("drain", scenarios.Duration(drain)), scenarios.Set("warmup", scenarios.Duration(warmup)),
		scenarios.Override{Path: "seeds", Value: strconv.Itoa(r.seeds)})
	r.sets = append(r.sets, r.fails...)
	r.calm = slices.Clone(r.sets)
}

// here converts a time of the incident's own scenario to one of the simulation, in which the trouble may begin earlier.
func (r *row) here(at scenarios.Duration) scenarios.Duration {
	return max(0, at-scenarios.Duration(r.start-r.lead))
}

// arrive adds the job classes that cause the incident. Of a class that the scenario has already, it only replaces the
// arrivals, and only by batches. Steady arrivals make up as large a share of the load as in the incident.
func (r *row) arrive() {
	var trouble, all float64 // load in busy workers
	for i := range r.library.Jobs {
		j := &r.library.Jobs[i]
		if j.Arrivals.Process == "batch" {
			continue
		}
		load := r.load(j)
		if all += load; slices.Contains(r.of.adds, j.Class) && !slices.Contains(r.has, j.Class) {
			trouble += load
		}
	}
	each := r.dose // factor from the incident's rates to the patient's
	if trouble > 0 && trouble < all {
		each = plain.Sum(r.sc.Jobs, func(j scenarios.JobClass) float64 { return r.load(&j) }) / all
		for i := range r.sc.Jobs {
			r.sets = append(r.sets, r.thinner(&r.sc.Jobs[i], 1-trouble/all))
		}
	}
	var added []scenarios.JobClass
	for _, name := range r.of.adds {
		j := r.library.Jobs[r.library.ClassIndex(name)]
		has := slices.Contains(r.has, name)
		if has {
			r.calm = append(r.calm, scenarios.Override{Path: "jobs." + name + ".arrivals",
				Value: "{process: constant, rate: 1/h, start: " + r.length.String() + "}"})
		}
		j.Arrivals.Start = r.here(j.Arrivals.Start)
		if j.Arrivals.Stop != nil {
			j.Arrivals.Stop = new(r.here(*j.Arrivals.Stop))
		}
		if j.Arrivals.Size != nil && !r.of.whole && *j.Arrivals.Size > 1 {
			j.Arrivals.Size = new(scaledCount(*j.Arrivals.Size, r.dose))
		}
		if j.Arrivals.Rate.Num > 0 { // at least some, if they leave most workers to others
			few := min(8/r.length.Seconds(), 0.3*float64(r.sc.Engine.Nodes*r.sc.Engine.Workers)/max(meanRun(&j), 1e-9))
			j.Arrivals.Rate = rate(max(few, j.Arrivals.Rate.PerSecond()*each))
		}
		j.Priority, j.Class = r.rank(j.Priority), cmp.Or(r.as[name], name)
		switch {
		case !has:
			added = append(added, j)
		case j.Arrivals.Process == "batch":
			r.sets = append(r.sets, scenarios.Set("jobs."+name+".arrivals", j.Arrivals))
		}
	}
	if len(added) > 0 { // first, so that of jobs at one instant the trouble's are the first
		r.sets = append([]scenarios.Override{scenarios.Set("jobs", append(added, r.sc.Jobs...))}, r.sets...)
	}
}

// rank returns the priority of a class that the incident adds: as far above or below the scenario's own classes as it
// is from the incident's classes that those stand for.
func (r *row) rank(priority int16) int16 {
	above, standing := int16(0), false
	for _, j := range r.library.Jobs {
		if r.sc.ClassIndex(r.as[j.Class]) >= 0 {
			above, standing = priority-j.Priority, true
		}
	}
	byPriority := func(a, b scenarios.JobClass) int { return int(a.Priority) - int(b.Priority) }
	switch {
	case !standing:
		return priority
	case above < 0:
		return slices.MinFunc(r.sc.Jobs, byPriority).Priority + above
	}
	return slices.MaxFunc(r.sc.Jobs, byPriority).Priority + above
}

// storm adds the incident's storms (timed faults), and to the run without trouble storms of those names without effect.
func (r *row) storm() {
	var storms, calm []scenarios.Storm
	for _, s := range r.library.Storms {
		s.At, s.For = r.here(s.At), min(s.For, scenarios.Duration(r.longest))
		if s.Repeat != nil {
			s.Repeat = new(*s.Repeat)
			s.Repeat.Times = min(s.Repeat.Times, scenarios.Count(1+r.longest/s.Repeat.Every.Std()))
		}
		switch t := s.Trouble.(type) {
		case *spec.BurstStorm:
			s.Trouble = r.burst(*t)
		case *spec.FailStorm:
			own := *t
			own.Hits, s.Trouble = r.hits(own.Hits), &own
		case *spec.SlowStorm:
			own := *t
			own.Hits, s.Trouble = r.hits(own.Hits), &own
		}
		storms = append(storms, s)
		length := scenarios.Duration(max(s.End()-s.At.Std(), time.Second))
		calm = append(calm, scenarios.Storm{Name: s.Name, At: s.At, For: length, Trouble: &spec.SlowStorm{Factor: 1}})
	}
	for _, j := range r.library.Jobs { // a batch of the class that stands for the patient's own jobs
		class := r.as[j.Class]
		at := r.sc.ClassIndex(class)
		if j.Arrivals.Process != "batch" || at < 0 || r.sc.Jobs[at].Arrivals.Process == "batch" {
			continue
		}
		size := scaledCount(*j.Arrivals.Size, r.dose)
		storms = append(storms, scenarios.Storm{Name: "batch", At: r.here(j.Arrivals.Start),
			Trouble: &spec.BurstStorm{Class: class, Count: &size}})
	}
	if len(storms) > 0 {
		r.sets = append(r.sets, scenarios.Set("storms", storms))
		r.calm = append(r.calm, scenarios.Set("storms", calm))
	}
}

// hits returns the classes and dependencies of the scenario under test that stand for the given ones of the incident.
func (r *row) hits(names []string) []string {
	return plain.Distinct(plain.Map(names, func(name string) string { return cmp.Or(r.on[name], r.as[name], name) }))
}

// burst returns a burst of the incident, scaled to the workers or the dependency of the scenario under test.
func (r *row) burst(b spec.BurstStorm) *spec.BurstStorm {
	own := &r.library.Jobs[r.library.ClassIndex(b.Class)]
	b.Class = cmp.Or(r.as[b.Class], b.Class)
	at := r.sc.ClassIndex(b.Class)
	if at < 0 || slices.Contains(r.has, b.Class) {
		if b.Count != nil && !r.of.whole {
			b.Count = new(scaledCount(*b.Count, r.dose))
		}
		return &b
	}
	j := &r.sc.Jobs[at]
	size := r.dose
	if len(r.on) == 0 {
		size *= meanRun(own) / max(meanRun(j), 1e-9)
	}
	if b.Count != nil {
		b.Count = new(scaledCount(*b.Count, size))
		return &b
	}
	// Exceed the capacity by the same factor as in the incident.
	load := func(sc *scenarios.Scenario, factor float64, class string) (all float64) {
		for i := range sc.Jobs {
			one := r.load(&sc.Jobs[i])
			if sc.Jobs[i].Class == class {
				one *= factor
			}
			all += one
		}
		return all / float64(sc.Engine.Nodes*sc.Engine.Workers)
	}
	more := load(r.library, float64(*b.Factor), own.Class) - load(r.sc, 1, b.Class)
	one := r.load(j) / float64(r.sc.Engine.Nodes*r.sc.Engine.Workers)
	b.Factor = new(max(*b.Factor, scenarios.Factor(math.Ceil(100*(1+more/max(one, 1e-9)))/100)))
	return &b
}
