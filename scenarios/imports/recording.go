// Package imports turns records of executed jobs into a scenario: enqueue times become a trace of arrivals, run times a
// fitted distribution for each class, failures and retries the keys of `fails` and `retry`. The scenario is then
// simulated, and its waits are compared with those on record.
//
//	found, err := imports.Read(ctx, []imports.File{{Name: "jobs.csv", Reader: file}}, imports.Options{From: "csv"})
//	...
//	written, err := found.Write(imports.Target{Scenario: "jobs.yaml"})
//
// Records are read once, in any order, and sorted in memory, at most MostRecords of them; samples of them are chosen by
// a hash of the job's identity. So what is found does not depend on the order of rows.
package imports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"qsim/results/measure"
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

	options  Options
	arrivals []arrival // arrivals by class, in order
	origin   timestamp
	index    []int // index in Classes of an arrival's class; -1: none of its jobs is left
	tenants  []string
}

// Workers is an estimate of the number of nodes and workers behind the records.
type Workers struct {
	Nodes   int // number of processes; 1 if unknown
	Each    int // workers of each; 0: no run is recorded with both its ends
	Most    int // attempts under way at once
	AllBusy float64
	Named   bool // the nodes are
}

// Class holds the counts and times of the recorded jobs of one class.
type Class struct {
	Name             string   // name in the scenario
	Labels           []string // labels in the records
	Jobs             int64
	Done, Dead, Open int64 // Open: neither at the end of the records
	Attempts         int64 // attempts that ended
	Failed           int64
	Rate             float64 // share of attempts that fail, apart from poisoned jobs
	Poison           float64 // share of jobs whose every attempt fails
	Kinds            []Kind  // the most frequent first
	Service          Times
	Takes            Times // run times of failures; without Values: too few
	Wait             *measure.Histogram
	RetryWait        *measure.Histogram
	Sojourn          *measure.Histogram
	Tenants          []string
	Retry            *Retry // retry settings; nil: those of the Recording
	Ranked           bool   // Priority is on record
	Priority         int    // priority of most jobs; smaller is more urgent; 0 unless Ranked

	named []string // tenants as the scenario names them
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
}

// arrival is one job of a trace: a line with its time and tenant.
type arrival struct {
	class  uint16 // index of the class, see Recording.index
	at     timestamp
	tenant uint32
	hash   uint64
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
	names     classNames
	all       *collected   // counts over all classes
	classes   []*collected // counts by class of an arrival
	changes   []change
	attempts  *timeline
	seenNodes map[uint32]bool
	first     timestamp // arrivals
	last      timestamp
	lastRun   timestamp // last time of any attempt
	firstDone timestamp // arrival of a job that is done
}

func (r *reader) gather(ctx context.Context) (*Recording, error) {
	found := &Recording{From: r.options.From, Rows: r.rows, options: r.options, tenants: r.tenants.all}
	g := &gathering{reader: r, found: found, names: r.classNames(), all: newCollected(), seenNodes: map[uint32]bool{},
		attempts: &timeline{time.Second, map[int64]bin{}}, first: unknown, last: unknown, lastRun: unknown,
		firstDone: unknown}
	for range g.names.names {
		g.classes = append(g.classes, newCollected())
	}
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
	slices.SortFunc(found.arrivals, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.at, b.at), cmp.Compare(a.tenant, b.tenant),
			cmp.Compare(a.hash, b.hash))
	})
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
	class := g.names.index[j.class]
	g.found.Jobs++
	g.all.add(j)
	g.classes[class].add(j)
	g.first, g.last = earlier(g.first, at), max(g.last, at)
	if j.done {
		g.firstDone = earlier(g.firstDone, at)
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
	tenant := j.tenant
	if g.tenants.full {
		tenant = 0
	}
	g.found.arrivals = append(g.found.arrivals, arrival{uint16(class), at, tenant, j.key.hash(0)})
}
