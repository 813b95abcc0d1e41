package imports

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"qsim/results"
)

// Recording is what was found in records of jobs. Close removes what it has on disk.
type Recording struct {
	From       string
	Rows, Jobs int64
	Start      time.Time     // of the first arrival; zero: times count from a start of their own
	Length     time.Duration // from the first arrival to the last one
	Tail       time.Duration // from there to the last time of any attempt, at least 0
	Classes    []Class       // the one with the most jobs first
	Retry      Retry         // of most jobs
	Workers    Workers
	Repairs    []Repair
	Notes      []string

	options  Options
	arrivals sorter[arrival]
	folder   *temporary
	origin   moment
	index    []int // by class of an arrival: that of Classes; -1: no job of it is left
	tenants  []string
}

// Workers is how many there seem to have been.
type Workers struct {
	Nodes   int // processes; 1 if nothing says
	Each    int // workers of each; 0: no run is recorded with both its ends
	Most    int // attempts under way at once
	AllBusy float64
	Named   bool // the nodes are
}

// Class is what was found of the jobs of one class.
type Class struct {
	Name             string   // as a scenario has it
	Labels           []string // as the records have it
	Jobs             int64
	Done, Dead, Open int64 // Open: neither at the end of the records
	Attempts         int64 // that ended
	Failed           int64
	Rate             float64 // share of attempts that fail, beside poison
	Poison           float64 // share of jobs whose every attempt fails
	Kinds            []Kind  // the most frequent first
	Service          Times
	Takes            Times // run times of failures; without Values: too few
	Wait             *results.Histogram
	RetryWait        *results.Histogram
	Sojourn          *results.Histogram
	Tenants          []string
	Retry            *Retry // nil: that of the Recording
	Ranked           bool   // Priority is on record
	Priority         int    // of most jobs; smaller is more urgent; 0 unless Ranked

	named []string // tenants as the scenario names them
}

// Kind is how attempts fail.
type Kind struct {
	Name  string
	Count int64
}

// Times are recorded run times and what may stand for them.
type Times struct {
	Seen   int64     // run times
	Values []float64 // s, sorted: all of them, or a sample
	Fits   []Fit
	Chosen int // of Fits; -1: none is good enough, the values themselves stand for it
}

// arrival is a line of a trace.
type arrival struct {
	class  uint16 // see Recording.index
	at     moment
	tenant uint32
	hash   uint64
}

// Close removes temporary files.
func (r *Recording) Close() error { return r.folder.remove() }

// gather makes jobs of records and takes in what they say.
func (r *reader) gather(ctx context.Context, held int) (*Recording, error) {
	found := &Recording{From: r.options.From, Rows: r.rows, options: r.options, tenants: r.tenants.all}
	g := &gathering{reader: r, found: found, names: r.classNames(), first: unknown, last: unknown, lastRun: unknown, firstDone: unknown, failures: newTimeline()}
	for range g.names.names {
		g.classes = append(g.classes, newCollected())
	}
	found.arrivals = sorter[arrival]{size: 22, most: held, folder: &r.folder, encode: encodeArrival, decode: decodeArrival, compare: func(a, b *arrival) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.at, b.at), cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.hash, b.hash))
	}}
	g.changes = sorter[change]{size: 9, most: held, folder: &r.folder, compare: func(a, b *change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) },
		encode: func(b []byte, c *change) { binary.LittleEndian.PutUint64(b, uint64(c.at)); b[8] = byte(c.step) },
		decode: func(b []byte) change { return change{moment(binary.LittleEndian.Uint64(b)), int8(b[8])} }}
	if err := g.jobs(ctx); err != nil {
		return nil, err
	}
	if g.found.Jobs == 0 {
		return nil, fmt.Errorf("%s: no job is left to import", r.files[0].Name)
	}
	if err := r.tellRepairs(found); err != nil {
		return nil, err
	}
	if err := g.finish(); err != nil {
		return nil, err
	}
	found.folder = &r.folder
	return found, nil
}

func encodeArrival(b []byte, a *arrival) {
	binary.LittleEndian.PutUint16(b, a.class)
	binary.LittleEndian.PutUint64(b[2:], uint64(a.at))
	binary.LittleEndian.PutUint32(b[10:], a.tenant)
	binary.LittleEndian.PutUint64(b[14:], a.hash)
}

func decodeArrival(b []byte) arrival {
	o := binary.LittleEndian
	return arrival{o.Uint16(b), moment(o.Uint64(b[2:])), o.Uint32(b[10:]), o.Uint64(b[14:])}
}

// gathering is on the way from records to a Recording.
type gathering struct {
	*reader
	found     *Recording
	names     classNames
	classes   []*collected
	changes   sorter[change]
	levels    levels
	failures  *timeline
	index     []int
	seenNodes map[uint32]bool
	first     moment // arrivals
	last      moment
	lastRun   moment // last time of any attempt
	firstDone moment // arrival of a job that is done
	strangers int64  // jobs with no time at all
}

// jobs goes through all of them.
func (g *gathering) jobs(ctx context.Context) error {
	var one job
	var list []record
	g.seenNodes = map[uint32]bool{}
	n := 0
	finish := func() error {
		if len(list) == 0 {
			return nil
		}
		if n++; n%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := g.assemble(list, &one); err != nil {
			return err
		}
		list = list[:0]
		return g.job(&one)
	}
	err := g.records.each(func(rec *record) error {
		if len(list) > 0 && list[0].key != rec.key {
			if err := finish(); err != nil {
				return err
			}
		}
		if list = append(list, *rec); len(list) > mostRows {
			return &LineError{g.files[rec.at.file].Name, int64(rec.at.line), fmt.Errorf("more than %d rows are about the same job: is another column the id? --columns id=COLUMN", mostRows)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return finish()
}

// job takes in one.
func (g *gathering) job(j *job) error {
	if !j.enqueued.known() {
		g.repairs.add(noTime, j.at)
		g.strangers++
		return nil
	}
	at := j.enqueued
	if j.ready.known() {
		at = j.ready // a scheduled job arrives when it is due
	} else if len(j.tries) == 0 || j.enqueued == j.tries[0].when() {
		g.repairs.add(noEnqueued, j.at)
	}
	if g.since.known() && at < g.since || g.until.known() && at >= g.until {
		g.repairs.add(outsideWindow, j.at)
		return nil
	}
	class := g.names.of(j.class)
	g.found.Jobs++
	g.classes[class].add(j)
	if !g.first.known() || at < g.first {
		g.first = at
	}
	g.last = max(g.last, at)
	if j.done && (!g.firstDone.known() || at < g.firstDone) {
		g.firstDone = at
	}
	for i := range j.tries {
		t := &j.tries[i]
		if t.node > 0 {
			g.seenNodes[t.node] = true
		}
		g.lastRun = max(g.lastRun, t.started, t.finished)
		if t.ended && t.when().known() {
			g.failures.add(t.when(), t.failure != 0)
		}
		if !t.started.known() || !t.finished.known() || t.finished <= t.started {
			continue // of no length, it was beside no other: its end would be counted before its start
		}
		if err := errors.Join(g.changes.add(change{t.started, 1}), g.changes.add(change{t.finished, -1})); err != nil {
			return err
		}
	}
	tenant := j.tenant
	if g.tenants.full {
		tenant = 0
	}
	return g.found.arrivals.add(arrival{uint16(class), at, tenant, j.key.hash(0)})
}

// tellRepairs turns what was repaired into words, or into an error where it is too much.
func (r *reader) tellRepairs(found *Recording) error {
	for what := range repairCount {
		n := r.repairs.count[what]
		if n == 0 {
			continue
		}
		first := r.repairs.first[what]
		one := Repair{repairs[what].what, n, r.files[first.file].Name, int64(first.line)}
		switch {
		case r.options.Strict && what != outsideWindow:
			return &LineError{one.File, one.Line, fmt.Errorf("%d rows from here on %s; without --strict that is done", n, one.What)}
		case repairs[what].loses && float64(n) > mostRepaired*float64(r.rows):
			return &LineError{one.File, one.Line, fmt.Errorf("%d of %d rows, from here on, %s. So many are no exception: are columns and time zones right? --columns and --timezone say otherwise", n, r.rows, one.What)}
		}
		found.Repairs = append(found.Repairs, one)
	}
	return nil
}
