package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results/plain"
)

// Options are the options of Read: the format of the input, what of it to import, and what stands in for what it lacks.
type Options struct {
	From    string         // a name of Formats
	Columns []string       // ROLE=COLUMN, separated by commas or each by itself
	Zone    *time.Location // time zone of times without one; nil: UTC, and no time may have one
	Since   string         // enqueue time of the first jobs to import; empty: all
	Until   string         // enqueue time from which jobs are left out; empty: none
	Queues  []string       // queues to import; none: all
	Service string         // the `service` of classes whose run times are not recorded; empty: that is an error
	Strict  bool           // the first repair is an error
	// Progress is called with the number of rows read so far, every quarter of a million; nil: not at all.
	Progress func(rows int64)

	mostRecords int // most records in memory; 0: MostRecords
}

// MostRecords is the highest number of attempts in one import; they take about 2.5 GB of memory.
const MostRecords = 10_000_000

const (
	mostLabels   = 10_000  // most classes before the most frequent are chosen
	mostTenants  = 100_000 // most tenants of a scenario
	mostNodes    = 100_000
	mostKinds    = 1000
	mostAttempts = 1_000_000
)

// reader turns the rows of files into records of attempts.
type reader struct {
	options    Options
	files      []File
	timestamps timestamps
	records    []record
	repairs    repairLog

	labels, queues, tenants, nodes, kinds *names

	rows         int64
	zeroBased    bool                                       // attempts are counted from 0
	coarse       bool                                       // no time has a fraction of a second
	told         struct{ enqueued, started, finished bool } // times that some row has
	latest       timestamp                                  // latest of all times
	longest      timestamp                                  // run time
	since, until timestamp
}

// Read reads records of jobs, at most MostRecords. An error in a row, or a file with too many repairs, gives a
// *LineError. Reading ends with ctx.Err() when ctx is done.
func Read(ctx context.Context, files []File, options Options) (found *Recording, err error) {
	columns, err := layoutOf(options.From, options.Columns)
	if err != nil {
		return nil, err
	}
	if len(files) > 255 {
		return nil, fmt.Errorf("%d files: at most 255 are read together", len(files))
	}
	options.mostRecords = cmp.Or(options.mostRecords, MostRecords)
	r := &reader{options: options, files: files, repairs: repairLog{}, coarse: true, latest: unknown,
		labels: newNames(mostLabels), queues: newNames(mostLabels), tenants: newNames(mostTenants),
		nodes: newNames(mostNodes), kinds: newNames(mostKinds), timestamps: timestamps{zone: options.Zone, last: unknown}}
	for _, limit := range []struct {
		name, text string
		to         *timestamp
	}{{"--since", options.Since, &r.since}, {"--until", options.Until, &r.until}} {
		own, text := timestamps{zone: options.Zone}, limit.text
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			text += " 00:00:00"
		}
		if *limit.to, _, err = own.read(text); err != nil {
			return nil, fmt.Errorf("%s: %w", limit.name, err)
		}
	}
	r.kinds.of("error") // number 1, for what has no room or no name
	for number, file := range files {
		if err := r.readFile(ctx, file, number, columns); err != nil {
			return nil, err
		}
	}
	if len(r.records) == 0 {
		why := plain.When(r.options.From == "sidekiq" && r.rows == 0,
			": no line is a payload in JSON, nor of a job in Sidekiq's log")
		return nil, fmt.Errorf("%s: there is no job in it%s", files[0].Name, why)
	}
	return r.gather(ctx)
}

func (r *reader) readFile(ctx context.Context, file File, number int, columns layout) error {
	from, err := open(ctx, file, number, r.options.From, columns)
	if err != nil {
		return err
	}
	var one row
	for {
		if err := from.next(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if r.rows++; r.rows%(1<<18) == 0 && r.options.Progress != nil {
			r.options.Progress(r.rows)
		}
		if err := r.add(&one); err != nil {
			return &LineError{file.Name, one.at.line(), err}
		}
	}
}

func (r *reader) add(one *row) error {
	rec, err := r.plain(one)
	if err != nil {
		return err
	}
	switch r.options.From {
	case "river":
		return r.addRiver(rec, one.text[failures])
	case "asynq":
		// retried counts failures, but not the one that archives a task.
		if rec.sort = ofJob; rec.state != stateDead {
			rec.number--
		}
	case "sidekiq":
		rec.sort = cmp.Or(one.sort, ofJob) // retry_count is 0 after the first failure, and not there before
	}
	return r.keep(rec)
}

// plain returns the record of a row, from the columns common to all formats.
func (r *reader) plain(one *row) (record, error) {
	rec := record{try: try{at: one.at}, sort: ofAttempt}
	if err := cmp.Or(r.times(one, &rec), r.counts(one, &rec)); err != nil {
		return rec, err
	}
	word := plainName(one.text[state])
	if len(word) != 1 || r.options.From == "asynq" { // numbers are those of asynq
		rec.state = states[word]
	}
	if rec.state == stateUnknown && !empty(trimmed(one.text[state])) {
		r.repairs.add(unknownState, one.at)
	}
	if text := trimmed(one.text[failure]); !empty(text) {
		rec.failure = r.kindOf(text)
	}
	rec.queue = uint16(r.queues.of(trimmed(one.text[queue])))
	label := cmp.Or(trimmed(one.text[class]), trimmed(one.text[queue]))
	rec.class = uint16(r.labels.of(r.ranked(one, label)))
	if r.labels.full {
		return rec, r.tooManyLabels(label, strings.TrimSpace(one.text[priority]))
	}
	if rec.tenant = r.tenants.of(trimmed(one.text[tenant])); r.tenants.full {
		r.repairs.add(tenantsLeftOut, one.at)
	}
	rec.node = r.nodes.of(lastOf(trimmed(one.text[node])))
	job := trimmed(one.text[id])
	if job == "" { // a row without an id is a job by itself
		job = string(binary.LittleEndian.AppendUint64(nil, uint64(one.at)))
	}
	sum := sha256.Sum256([]byte(job))
	rec.key = key(sum[:len(rec.key)])
	rec.check = crc32.ChecksumIEEE([]byte(strings.Join(one.text[:], "\x00")))
	return rec, nil
}

// kindOf returns the number, among the reader's kinds, of the error kind for the error text of an attempt.
func (r *reader) kindOf(text string) uint16 { return uint16(max(1, r.kinds.of(kindOfError(text)))) }

// times reads a job's timestamps from a row, and the run time of its attempt.
func (r *reader) times(one *row, rec *record) error {
	for _, t := range []struct {
		column column
		to     *timestamp
	}{{enqueued, &rec.enqueued}, {due, &rec.due}, {started, &rec.started}, {finished, &rec.finished}} {
		at, zero, err := r.timestamps.read(one.text[t.column])
		if err != nil {
			return fmt.Errorf("%s: %w", t.column, err)
		}
		if zero {
			r.repairs.add(zeroIsUnknown, one.at)
		}
		*t.to = at
		r.sharpen(at)
	}
	if r.timestamps.repeated {
		r.repairs.add(repeatedHour, one.at)
		r.timestamps.repeated = false
	}
	if text := strings.TrimSpace(one.text[took]); !empty(text) {
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			text = strconv.FormatFloat(seconds, 'f', -1, 64) + "s" // a duration has no exponent
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s: %s is no duration: want seconds or, with its unit, 250ms", took, quoted(text))
		}
		switch { // of a run time and one of its ends follows the other one
		case rec.started.known() && !rec.finished.known():
			rec.finished = rec.started + timestamp(d)
		case rec.finished.known() && !rec.started.known():
			rec.started = rec.finished - timestamp(d)
		}
	}
	// A time missing in a row counts as a gap if its column has a value in any other.
	r.told.enqueued = r.told.enqueued || rec.enqueued.known()
	r.told.started = r.told.started || rec.started.known()
	r.told.finished = r.told.finished || rec.finished.known()
	r.latest = max(r.latest, rec.enqueued, rec.started, rec.finished)
	if rec.started.known() && rec.finished.known() {
		r.longest = max(r.longest, rec.finished-rec.started)
	}
	return nil
}

// sharpen records that times of the input are finer than a second, if the given one is; otherwise a note warns of it.
func (r *reader) sharpen(at timestamp) {
	if at.known() && at%1e9 != 0 {
		r.coarse = false
	}
}

// counts reads the number of the attempt and the limit on attempts from a row.
func (r *reader) counts(one *row, rec *record) error {
	for _, c := range []struct {
		column column
		to     *int32
		plus   int32
	}{{attempt, &rec.number, 0}, {retries, &rec.number, 1}, {maxAttempts, &rec.most, 0}, {maxRetries, &rec.most, 1}} {
		text := strings.TrimSpace(one.text[c.column])
		switch {
		case empty(text), text == "true": // Sidekiq: as many as usual
			continue
		case text == "false":
			text = "0"
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n != float64(int32(n)) || n < 0 || n > mostAttempts {
			return fmt.Errorf("%s: %s is not a whole number of at least 0", c.column, quoted(text))
		}
		if *c.to = int32(n) + c.plus; c.column == attempt && n == 0 && rec.started.known() {
			r.zeroBased = true
		}
	}
	return nil
}

// lastOf returns the last element of an array in PostgreSQL's or JSON syntax, as River's attempted_by, or other text.
func lastOf(text string) string {
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return text
	}
	text = text[1 : len(text)-1]
	return strings.Trim(text[strings.LastIndexByte(text, ',')+1:], `" `)
}

// keep stores a record unless its queue is excluded by the options; more records than the limit are an error.
func (r *reader) keep(rec record) error {
	if len(r.options.Queues) > 0 && !slices.Contains(r.options.Queues, r.queues.all[rec.queue]) {
		return nil
	}
	if len(r.records) == r.options.mostRecords {
		return fmt.Errorf("more than %s attempts are on record, which is how many are imported at once: "+
			"import one queue of them with --queue, or split the files", plain.Grouped(fmt.Sprint(len(r.records))))
	}
	r.records = append(r.records, rec)
	return nil
}
