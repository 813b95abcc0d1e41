package imports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/results"
)

const (
	mostKindsTold = 12  // error kinds of a class; the rarest are one
	leastPoison   = 30  // second attempts, below which poison cannot be told from bad luck
	poisonSign    = 4.0 // standard errors by which second attempts must fail more often
)

// finish computes what all jobs together say.
func (g *gathering) finish() error {
	f := g.found
	f.origin, f.Length = g.first, g.last.since(g.first)
	if g.lastRun > g.last {
		f.Tail = g.lastRun.since(g.last)
	}
	if g.moments.relative != yes {
		f.Start = time.Unix(0, int64(g.first)).UTC()
	}
	if err := g.workers(); err != nil {
		return err
	}
	g.index = make([]int, len(g.classes))
	for i, c := range g.classes {
		g.index[i] = -1
		if c.jobs == 0 {
			continue
		}
		g.index[i] = len(f.Classes)
		one := Class{Name: g.names.names[i], Labels: g.names.labels[i], Priority: g.names.priorities[i].value, Ranked: g.names.priorities[i].known, Jobs: c.jobs, Done: c.done, Dead: c.dead, Open: c.open,
			Attempts: c.ended, Failed: c.failed, Wait: c.wait, RetryWait: c.retryWait, Sojourn: c.sojourn}
		one.Rate, one.Poison = c.rates()
		one.Kinds = g.kindsOf(c)
		one.Service, one.Takes = timesOf(c.service), timesOf(c.takes)
		if one.Service.Seen == 0 && f.options.Service == "" {
			return fmt.Errorf("class %s: no run time of a job that succeeded is recorded, as started and finished; map columns, as --columns started=COLUMN, or say what it is, as --service '{dist: lognormal, p50: 1s, p99: 5s}'", one.Name)
		}
		if !g.tenants.full {
			for _, number := range slices.Sorted(maps.Keys(c.tenants)) {
				one.Tenants = append(one.Tenants, g.tenants.all[number])
			}
			slices.Sort(one.Tenants)
		}
		f.Classes = append(f.Classes, one)
	}
	f.index = g.index
	g.retries()
	g.notes()
	return nil
}

// workers finds out how many there were: as many as were busy at once for as long as a job
// takes, since clocks of several machines let the next job seem to begin before the last one ended.
func (g *gathering) workers() error {
	if err := g.changes.each(func(c *change) error { g.levels.add(c); return nil }); err != nil {
		return err
	}
	w := &g.found.Workers
	w.Nodes, w.Named = max(1, len(g.seenNodes)), len(g.seenNodes) > 0
	var busy, runs time.Duration
	for level, spent := range g.levels.spent {
		busy += spent
		runs += time.Duration(level) * spent
	}
	if g.levels.events == 0 {
		return nil
	}
	mean := runs / time.Duration(g.levels.events/2)
	above := time.Duration(0)
	for level := len(g.levels.spent) - 1; level > 0; level-- {
		if above += g.levels.spent[level]; above >= mean || level == 1 {
			w.Most = level
			w.AllBusy = float64(above) / float64(max(busy, 1))
			break
		}
	}
	w.Each = (w.Most + w.Nodes - 1) / w.Nodes
	return nil
}

// rates are the share of attempts that fail, and that of jobs whose every attempt does. With a
// share p of poison and a rate f for the others, first attempts fail with a = p + (1-p)f, and
// the first two with b = p + (1-p)f²; so (a-b) ÷ (1-a) = f and (a-f) ÷ (1-f) = p.
func (c *collected) rates() (rate, poison float64) {
	if c.ended == 0 {
		return 0, 0
	}
	rate = float64(c.failed) / float64(c.ended)
	if c.second < leastPoison || c.first == 0 {
		return rate, 0
	}
	a, again := float64(c.firstFailed)/float64(c.first), float64(c.secondFailed)/float64(c.second)
	deviation := math.Sqrt(a * (1 - a) * (1/float64(c.second) + 1/float64(c.first)))
	if again-a < poisonSign*deviation || a >= 1 {
		return rate, 0
	}
	b := a * again
	f := (a - b) / (1 - a)
	return f, max(0, (a-f)/(1-f))
}

// kindsOf lists how attempts of a class fail.
func (g *gathering) kindsOf(c *collected) []Kind {
	var kinds []Kind
	for _, number := range slices.Sorted(maps.Keys(c.kinds)) {
		kinds = append(kinds, Kind{g.kinds.all[number], c.kinds[number].count})
	}
	slices.SortStableFunc(kinds, func(a, b Kind) int { return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name)) })
	if len(kinds) > mostKindsTold {
		rest := Kind{Name: "other-kinds"}
		for _, k := range kinds[mostKindsTold-1:] {
			rest.Count += k.Count
		}
		kinds = append(kinds[:mostKindsTold-1], rest)
	}
	return kinds
}

// timesOf fits distributions to a sample.
func timesOf(s *sample) Times {
	t := Times{Seen: s.seen, Values: s.values(), Chosen: -1}
	t.Fits = FitDistributions(t.Values)
	for i := range t.Fits {
		if t.Fits[i].Acceptable(t.Values) {
			t.Chosen = i
			break
		}
	}
	return t
}

// notes says what a reader should know.
func (g *gathering) notes() {
	f := g.found
	note := func(format string, arguments ...any) { f.Notes = append(f.Notes, fmt.Sprintf(format, arguments...)) }
	if g.moments.bare > 0 && g.moments.zone == nil {
		note("times without a zone are taken for UTC; --timezone says otherwise")
	}
	if g.coarse && g.moments.relative != yes {
		note("all times are whole seconds: what is shorter than some seconds cannot be told from 0")
	}
	if queues := len(g.queues.all) - 1; queues > 1 && len(f.options.Queues) == 0 {
		note("%d queues share the workers in the simulation: if theirs are apart, import one at a time with --queue", queues)
	}
	g.priorityNotes(note)
	if hidden := g.firstDone; g.firstDone.known() && hidden.since(g.first) > g.last.since(g.first)/20 {
		note("before %s there is no job that was done, as where those are deleted sooner than others: --since leaves the others out", f.When(hidden.since(g.first)))
	}
	for _, label := range f.Classes {
		if len(label.Labels) > 1 {
			note("%d classes with few jobs are one, %s", len(label.Labels), label.Name)
		}
	}
	if from, to, share := g.failures.trouble(); share > 0 {
		note("from %s to %s %.0f%% of attempts failed: an incident, which a storm says better than a rate; --since and --until leave it out", f.When(from.since(g.first)), f.When(to.since(g.first)), 100*share)
	}
	w := f.Workers
	switch {
	case w.Each == 0:
		note("no run of any length is recorded with both its ends, so that nothing tells how many workers there were: say --workers")
	case w.AllBusy < 0.01:
		note("all %d workers were busy for %.1f%% of the time in which any was: there may be more of them; --workers says how many", w.Most, 100*w.AllBusy)
	}
}

// When is a time of the records, for people: so long after the first arrival.
func (r *Recording) When(after time.Duration) string {
	if r.Start.IsZero() {
		return results.FormatDuration((time.Duration(r.origin) + after).Seconds())
	}
	return r.Start.Add(after).Format("2006-01-02 15:04:05Z")
}

// What makes a stretch of time an incident.
const (
	leastInBin  = 20   // attempts
	timesUsual  = 5    // its share of failures ÷ that of all time
	leastShare  = 0.25 // of failures in it
	binsOfSpan  = 200
	leastTrying = 400 // attempts in all
)

// trouble finds the worst stretch in which attempts fail far more often than otherwise; share
// is 0 if there is none.
func (t *timeline) trouble() (from, to moment, share float64) {
	order := t.order()
	if len(order) == 0 {
		return 0, 0, 0
	}
	for span := order[len(order)-1] - order[0]; span > binsOfSpan; span /= 2 {
		t.widen()
	}
	order = t.order()
	all := bin{}
	for _, i := range order {
		all.attempts, all.failed = all.attempts+t.bins[i].attempts, all.failed+t.bins[i].failed
	}
	if all.attempts < leastTrying {
		return 0, 0, 0
	}
	var worst, stretch bin
	var begun int64
	for n, i := range order {
		b := t.bins[i]
		outside := float64(all.failed-b.failed) / float64(max(1, all.attempts-b.attempts))
		bad := b.attempts >= leastInBin && float64(b.failed) >= leastShare*float64(b.attempts) && float64(b.failed) >= timesUsual/2*outside*float64(b.attempts)
		if !bad || n > 0 && order[n-1] != i-1 {
			stretch = bin{}
		}
		if !bad {
			continue
		}
		if stretch.attempts == 0 {
			begun = i
		}
		stretch.attempts, stretch.failed = stretch.attempts+b.attempts, stretch.failed+b.failed
		usual := float64(all.failed-stretch.failed) / float64(max(1, all.attempts-stretch.attempts))
		if stretch.failed > worst.failed && float64(stretch.failed) >= timesUsual*usual*float64(stretch.attempts) {
			worst, from, to = stretch, moment(begun*int64(t.width)), moment((i+1)*int64(t.width))
		}
	}
	if worst.attempts == 0 {
		return 0, 0, 0
	}
	return from, to, float64(worst.failed) / float64(worst.attempts)
}
