// Package imports turns records of executed jobs into a scenario: enqueue times become a trace of arrivals, run times a
// fitted distribution for each class, failures and retries the keys of `fails` and `retry`. The scenario is then
// simulated, and its waits are compared with those on record.
//
//	found, err := imports.Read(ctx, []imports.File{{Name: "jobs.csv", Reader: file}}, imports.Options{From: "csv"})
//	...
//	written, err := found.Write(imports.Target{Scenario: "jobs.yaml"})
//
// A pause is the time between two attempts of a job; without its jitter, it is the base delay of the retry policy. A
// repair corrects a mistake in the input that has only one sensible meaning.
//
// Records are read once, in any order, and sorted in memory, at most MostRecords of them; samples of them are chosen by
// a hash of the job's identity. So what is found does not depend on the order of rows.
package imports

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Recording holds the arrivals, run times, failures and retries found in records of jobs.
type Recording struct {
	From       string
	Rows, Jobs int64
	Start      time.Time     // time of the first arrival; zero: times count from an unknown start
	Length     time.Duration // time from the first arrival to the last one
	Tail       time.Duration // time from the last arrival to the last event of any attempt, at least 0
	Classes    []Class       // the one with the most jobs first
	Retry      Retry         // retry settings of most jobs
	Workers    Workers
	Repairs    []Repair
	Notes      []string

	options Options
	all     Class // counts and waits of the jobs of all classes
	origin  timestamp
	tenants []string
}

// Workers is an estimate of the number of nodes and workers behind the records.
type Workers struct {
	Nodes   int     // number of processes; 1 if unknown
	Each    int     // workers of each; 0: no run is recorded with both its ends
	Most    int     // attempts under way at once
	AllBusy float64 // share of the time with any attempt under way in which at least Most were
}

// Class holds the counts and times of the recorded jobs of one class.
type Class struct {
	Name       string   // name in the scenario
	Labels     []string // labels in the records
	Jobs       int64
	Done, Dead int64   // the others were open at the end of the records
	Attempts   int64   // attempts that ended
	Failed     int64   // attempts that failed
	Rate       float64 // share of attempts that fail, apart from poisoned jobs
	Poison     float64 // share of jobs whose every attempt fails
	Kinds      []Kind  // the most frequent first
	Service    Times
	Takes      Times // run times of failures; without Values: too few
	Wait       *measure.Histogram
	RetryWait  *measure.Histogram
	Sojourn    *measure.Histogram
	Tenants    []string
	Nobody     bool   // some jobs have no tenant
	Retry      *Retry // retry settings; nil: those of the Recording
	Ranked     bool   // Priority is on record
	Priority   int    // priority of most jobs; smaller is more urgent; 0 unless Ranked

	arrivals []arrival // one for each job, in order of time
}

// Kind is an error kind with its number of failed attempts.
type Kind struct {
	Name  string
	Count int64
}

// Times holds recorded run times and the distributions fitted to them.
type Times struct {
	Seen   int64     // run times
	Values []float64 // s, sorted: all of them, or a sample
	Fits   []Fit
	Chosen int // index of the chosen fit in Fits; -1: none fits, and the values themselves are used

	file string // ending of the name of the file that has the values if no fit is chosen
}

// arrival is one job of a trace: a line with its time and tenant.
type arrival struct {
	at     timestamp
	tenant uint32
}

// change is the start or the end of an attempt, for counting attempts under way.
type change struct {
	at   timestamp
	step int8 // 1 or -1
}

// gathering is the state of computing a Recording from records.
type gathering struct {
	*reader
	found     *Recording
	all       *collected // counts over all classes
	classes   jobClasses
	changes   []change
	attempts  *timeline
	seenNodes map[uint32]bool
	first     timestamp // arrivals
	last      timestamp
	lastRun   timestamp // last time of any attempt
	firstDone timestamp // arrival of a job that is done
	putBack   int       // jobs that had all their attempts and wait for another
}

func (r *reader) gather(ctx context.Context) (*Recording, error) {
	found := &Recording{From: r.options.From, Rows: r.rows, options: r.options, tenants: r.tenants.all}
	g := &gathering{reader: r, found: found, all: newCollected(Class{}), classes: r.jobClasses(),
		seenNodes: map[uint32]bool{}, first: unknown, last: unknown, lastRun: unknown, firstDone: unknown,
		attempts: &timeline{first: unknown, last: unknown, width: 1e9, bins: map[int64]bin{}}}
	slices.SortFunc(r.records, compareRecords)
	var one job
	for n, rest := 0, r.records; len(rest) > 0; n++ {
		rows := 1
		for rows < len(rest) && rest[rows].key == rest[0].key {
			rows++
		}
		if rows > mostRows {
			return nil, r.badJob(&rest[mostRows], fmt.Errorf("more than %d rows are about the same job: is another column "+
				"the id? --columns id=COLUMN", mostRows))
		}
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := g.assemble(rest[:rows], &one); err != nil {
			return nil, err
		}
		g.job(&one)
		rest = rest[rows:]
	}
	r.records = nil
	if found.Jobs == 0 {
		return nil, fmt.Errorf("%s: no job is left to import", r.files[0].Name)
	}
	var err error
	if found.Repairs, err = r.repairs.list(r.files, r.rows, r.options.Strict); err != nil {
		return nil, err
	}
	if err := g.finish(); err != nil {
		return nil, err
	}
	return found, nil
}

func (g *gathering) job(j *job) {
	if !j.enqueued.known() {
		g.repairs.add(noTime, j.at)
		return
	}
	at := j.enqueued
	if j.ready.known() {
		at = j.ready // a scheduled job arrives when it is due
	} else if len(j.tries) == 0 || j.enqueued == j.tries[0].when() {
		g.repairs.add(noEnqueued, j.at)
	}
	if g.since.known() && at < g.since || g.until.known() && at >= g.until {
		g.repairs.add(outsideWindow, j.at)
		return
	}
	class := g.classes.all[g.classes.index[j.class]]
	g.found.Jobs++
	g.all.add(j)
	class.add(j)
	g.first, g.last = earlier(g.first, at), max(g.last, at)
	if j.done {
		g.firstDone = earlier(g.firstDone, at)
	}
	if j.putBack {
		g.putBack++
	}
	for i := range j.tries {
		t := &j.tries[i]
		if t.node > 0 {
			g.seenNodes[t.node] = true
		}
		g.lastRun = max(g.lastRun, t.started, t.finished)
		if t.ended && t.when().known() {
			g.attempts.add(t.when(), t.failure != 0)
		}
		// One of no length was beside no other: its end would be counted before its start.
		if t.started.known() && t.finished > t.started {
			g.changes = append(g.changes, change{t.started, 1}, change{t.finished, -1})
		}
	}
	class.class.arrivals = append(class.class.arrivals, arrival{at, plain.Either(g.tenants.full, 0, j.tenant)})
}

const mostKindsTold = 12 // error kinds of a class; the rarest are one

// finish computes the properties of the whole recording: its length, workers, classes, retries and notes.
func (g *gathering) finish() error {
	f := g.found
	f.all, f.origin, f.Length = g.all.class, g.first, g.last.since(g.first)
	f.Tail = max(g.lastRun, g.last).since(g.last)
	if !g.timestamps.relative {
		f.Start = time.Unix(0, int64(g.first)).UTC()
	}
	g.workers()
	g.classes.all = slices.DeleteFunc(g.classes.all, func(c *collected) bool { return c.class.Jobs == 0 })
	for _, c := range g.classes.all {
		one := c.class
		slices.SortFunc(one.arrivals, func(a, b arrival) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tenant, b.tenant))
		})
		one.Kinds, one.Service, one.Takes = g.kindsOf(c), timesOf(&c.service, "-service.txt"), timesOf(&c.takes, "-takes.txt")
		one.Rate, one.Poison = c.rates()
		if one.Service.Seen == 0 && f.options.Service == "" {
			return fmt.Errorf("class %s: no run time of a job that succeeded is recorded, as started and finished; "+
				"map columns, as --columns started=COLUMN, or say what it is, "+
				"as --service '{dist: lognormal, p50: 1s, p99: 5s}'", one.Name)
		}
		one.Nobody = c.tenants[0]
		delete(c.tenants, 0)
		if !g.tenants.full {
			name := func(number uint32) string { return g.tenants.all[number] }
			one.Tenants = plain.Map(slices.Sorted(maps.Keys(c.tenants)), name)
			slices.Sort(one.Tenants)
		}
		f.Classes = append(f.Classes, one)
	}
	g.retries()
	g.notes()
	return nil
}

// workers estimates the number of workers: the most attempts that ran at once, for at least the mean run time in all.
// Shorter overlaps do not count: between machines with different clocks, a job may seem to begin before the last ended.
func (g *gathering) workers() {
	w := &g.found.Workers
	w.Nodes = max(1, len(g.seenNodes))
	if len(g.changes) == 0 {
		return
	}
	slices.SortFunc(g.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	spent := []time.Duration{0} // by how many attempts were under way
	var busy, runs, above time.Duration
	now, since := 0, g.changes[0].at
	for _, c := range g.changes {
		span := c.at.since(since)
		spent[now] += span
		busy, runs = busy+span, runs+time.Duration(now)*span
		if now, since = now+int(c.step), c.at; now == len(spent) {
			spent = append(spent, 0)
		}
	}
	mean := runs / time.Duration(len(g.changes)/2)
	for level := len(spent) - 1; level > 0; level-- {
		if above += spent[level]; above >= mean || level == 1 {
			w.Most, w.AllBusy = level, float64(above)/float64(max(busy, 1))
			break
		}
	}
	w.Each = (w.Most + w.Nodes - 1) / w.Nodes
}

// kindsOf returns the error kinds of a class with their counts, the most frequent first.
func (g *gathering) kindsOf(c *collected) (kinds []Kind) {
	kinds = plain.Map(slices.Sorted(maps.Keys(c.kinds)), func(number uint16) Kind {
		return Kind{g.kinds.all[number], c.kinds[number].count}
	})
	slices.SortFunc(kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	if len(kinds) > mostKindsTold {
		rest := plain.Sum(kinds[mostKindsTold-1:], func(k Kind) int64 { return k.Count })
		kinds = append(kinds[:mostKindsTold-1], Kind{"other-kinds", rest})
	}
	return kinds
}

func timesOf(s *sample, file string) Times {
	t := Times{Seen: s.seen, Values: s.values(), file: file}
	t.Fits = fitDistributions(t.Values)
	t.Chosen = slices.IndexFunc(t.Fits, func(f Fit) bool { return f.Acceptable(t.Values) })
	return t
}

func (g *gathering) notes() {
	f := g.found
	note := func(when bool, format string, arguments ...any) {
		if when {
			f.Notes = append(f.Notes, fmt.Sprintf(format, arguments...))
		}
	}
	since := func(at timestamp) string { return f.When(at.since(g.first)) }
	note(g.timestamps.bare && g.timestamps.zone == nil,
		"times without a zone are taken for UTC; --timezone says otherwise")
	note(g.coarse && !g.timestamps.relative,
		"all times are whole seconds: what is shorter than some seconds cannot be told from 0")
	queues := len(g.queues.all) - 1
	note(queues > 1 && len(f.options.Queues) == 0,
		"%d queues share the workers in the simulation: if theirs are apart, import one at a time with --queue", queues)
	g.priorityNotes(note)
	note(g.firstDone.known() && g.firstDone.since(g.first) > g.last.since(g.first)/20,
		"before %s there is no job that was done, as where those are deleted sooner than others: "+
			"--since leaves the others out", since(g.firstDone))
	note(g.putBack > 0, "%d jobs wait for another attempt although they had all of theirs, as if put back by hand: they "+
		"count as open", g.putBack)
	for _, class := range f.Classes {
		note(len(class.Labels) > 1, "%d classes with few jobs are one, %s", len(class.Labels), class.Name)
	}
	from, to, share := g.attempts.incident()
	note(share > 0, "from %s to %s %.0f%% of attempts failed: an incident, which a storm says better than a rate; "+
		"--since and --until leave it out", since(from), since(to), 100*share)
	w := f.Workers
	note(w.Each == 0, "no run of any length is recorded with both its ends, so that nothing tells how many workers there "+
		"were: say --workers")
	note(w.Each > 0 && w.AllBusy < 0.01, "all %d workers were busy for %.1f%% of the time in which any was: there may be "+
		"more of them; --workers says how many", w.Most, 100*w.AllBusy)
}

// When returns, as text, the time at an offset from the first arrival.
func (r *Recording) When(after time.Duration) string {
	if r.Start.IsZero() {
		return plain.Duration((time.Duration(r.origin) + after).Seconds())
	}
	return r.Start.Add(after).Format("2006-01-02 15:04:05Z")
}
