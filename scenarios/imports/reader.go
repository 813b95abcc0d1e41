package imports

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"
)

// Options of Read.
type Options struct {
	From    string         // a name of Formats
	Columns []string       // ROLE=COLUMN, separated by commas or each by itself
	Zone    *time.Location // of times that do not name one; nil: UTC, and none may name one
	Since   string         // only jobs enqueued at this time or later; empty: all
	Until   string         // only jobs enqueued before
	Queues  []string       // only jobs of these queues; none: all
	Service string         // the `service` of classes whose run times are not recorded; empty: that is an error
	Strict  bool           // the first repair is an error
	// Progress is told of the rows read so far, every quarter of a million; nil: nobody is.
	Progress func(rows int64)

	mostHeld int // records in memory; 0: as many as usual
}

const (
	mostLabels   = 10_000  // classes before those that matter are chosen
	mostTenants  = 100_000 // as many as a scenario may have
	mostNodes    = 100_000
	mostKinds    = 1000
	recordsHeld  = 1 << 18
	mostAttempts = 1_000_000
)

// reader makes records of rows.
type reader struct {
	options Options
	files   []File
	moments moments
	records sorter[record]
	folder  temporary
	repairs repairLog

	labels, queues, tenants, nodes, kinds *names

	rows         int64
	labelRows    []int64
	number       int                                        // of the file
	zeroBased    bool                                       // attempts are counted from 0
	withID       bool                                       // some row has an id
	coarse       bool                                       // no time has a fraction of a second
	told         struct{ enqueued, started, finished bool } // by some row
	latest       moment                                     // of all times
	longest      moment                                     // run time
	since, until moment
}

// Read reads records of jobs. What is wrong with a row is a *LineError, as is a file in which
// too much is. Reading ends with ctx.Err() when ctx is done.
func Read(ctx context.Context, files []File, options Options) (found *Recording, err error) {
	l, known := layouts[options.From]
	if !known {
		return nil, fmt.Errorf("unknown format %s; want %s", options.From, strings.Join(Formats(), ", "))
	}
	columns, err := l.withColumns(options.Columns)
	if err != nil {
		return nil, err
	}
	if len(files) > 255 {
		return nil, fmt.Errorf("%d files: at most 255 are read together", len(files))
	}
	r := &reader{options: options, files: files, labels: newNames(mostLabels), queues: newNames(mostLabels), tenants: newNames(mostTenants),
		nodes: newNames(mostNodes), kinds: newNames(mostKinds), coarse: true, since: unknown, until: unknown, latest: unknown}
	r.moments.zone, r.moments.last = options.Zone, unknown
	r.kinds.of("error") // number 1, for what has no room or no name
	held := recordsHeld
	if options.mostHeld > 0 {
		held = options.mostHeld
	}
	r.records = sorter[record]{size: recordBytes, encode: func(b []byte, v *record) { v.encode(b) }, decode: decodeRecord, compare: compareRecords, most: held, folder: &r.folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.folder.remove())
		}
	}()
	for number, file := range files {
		r.number = number
		if err := r.readFile(ctx, file, columns); err != nil {
			return nil, err
		}
	}
	if r.records.empty() {
		return nil, fmt.Errorf("%s: there is no job in it", files[0].Name)
	}
	return r.gather(ctx, held)
}

func (s *sorter[T]) empty() bool { return len(s.held) == 0 && len(s.runs) == 0 }

func (r *reader) readFile(ctx context.Context, file File, columns layout) error {
	from, err := open(ctx, file, r.number, r.options.From, columns)
	if err != nil {
		return err
	}
	var one row
	for {
		err := from.next(&one)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if r.rows++; r.rows%(1<<18) == 0 && r.options.Progress != nil {
			r.options.Progress(r.rows)
		}
		if err := r.add(&one); err != nil {
			return &LineError{file.Name, int64(one.at.line), err}
		}
	}
}

// add makes records of a row.
func (r *reader) add(one *row) error {
	if err := r.window(); err != nil {
		return err
	}
	switch {
	case one.log != nil:
		return r.addLog(one)
	case r.options.From == "river":
		return r.addRiver(one)
	}
	rec, err := r.plain(one)
	if err != nil {
		return err
	}
	switch r.options.From {
	case "asynq":
		// retried counts failures, but not the one that archives a task.
		if rec.sort = ofJob; rec.state != stateDead {
			rec.number--
		}
	case "sidekiq":
		rec.sort = ofJob // retry_count is 0 after the first failure, and not there before
	}
	return r.keep(rec)
}

// window reads the limits once.
func (r *reader) window() (err error) {
	for _, limit := range []struct {
		name, text string
		to         *moment
	}{{"--since", r.options.Since, &r.since}, {"--until", r.options.Until, &r.until}} {
		if limit.text == "" || limit.to.known() {
			continue
		}
		own := moments{zone: r.moments.zone}
		if *limit.to, _, err = own.read(limit.text); err != nil {
			return fmt.Errorf("%s: %w", limit.name, err)
		}
	}
	return nil
}

// plain reads what all formats have in common.
func (r *reader) plain(one *row) (record, error) {
	rec := record{at: one.at, sort: ofAttempt, enqueued: unknown, due: unknown, started: unknown, finished: unknown}
	for _, t := range []struct {
		role role
		to   *moment
	}{{enqueued, &rec.enqueued}, {due, &rec.due}, {started, &rec.started}, {finished, &rec.finished}} {
		at, zero, err := r.moments.read(one.text[t.role])
		if err != nil {
			return rec, fmt.Errorf("%s: %w", t.role, err)
		}
		if zero {
			r.repairs.add(zeroIsUnknown, one.at)
		}
		if *t.to = at; at.known() && at%1e9 != 0 {
			r.coarse = false
		}
	}
	if r.moments.repeated {
		r.repairs.add(repeatedHour, one.at)
		r.moments.repeated = false
	}
	if err := r.duration(one, &rec); err != nil {
		return rec, err
	}
	r.tell(&rec)
	if err := r.counts(one, &rec); err != nil {
		return rec, err
	}
	word := plainName(one.text[state])
	if len(word) != 1 || r.options.From == "asynq" { // numbers are those of asynq
		rec.state = states[word]
	}
	if text := trimmed(one.text[failure]); !empty(text) {
		rec.failure = uint16(max(1, r.kinds.of(kindOfError(text))))
	}
	rec.queue = uint16(r.queues.of(trimmed(one.text[queue])))
	label := trimmed(one.text[class])
	if label == "" {
		label = trimmed(one.text[queue])
	}
	rec.class = uint16(r.labels.of(r.urgent(one, label)))
	if r.labels.full {
		return rec, r.tooManyLabels(label, strings.TrimSpace(one.text[priority]))
	}
	if rec.tenant = r.tenants.of(trimmed(one.text[tenant])); r.tenants.full {
		r.repairs.add(tenantsLeftOut, one.at)
	}
	rec.node = r.nodes.of(lastOf(trimmed(one.text[node])))
	if text := trimmed(one.text[id]); text != "" {
		rec.key, r.withID = keyOf(text), true
	} else {
		rec.key = keyAt(one.at)
	}
	rec.check = crc32.ChecksumIEEE([]byte(strings.Join(one.text[:], "\x00")))
	return rec, nil
}

// urgent is a label with the priority of its row, which classes of a scenario differ by.
func (r *reader) urgent(one *row, label string) string {
	text := strings.TrimSpace(one.text[priority])
	if empty(text) {
		return label
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != float64(int16(n)) {
		r.repairs.add(noPriority, one.at)
		return label
	}
	return label + prioritySign + strconv.Itoa(int(n))
}

// lastOf is the last element of an array as PostgreSQL or JSON write it, or all of any other text.
func lastOf(text string) string {
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return text
	}
	text = text[1 : len(text)-1]
	return strings.Trim(text[strings.LastIndexByte(text, ',')+1:], `" `)
}

// duration makes of a run time and one of its ends the other one.
func (r *reader) duration(one *row, rec *record) error {
	text := strings.TrimSpace(one.text[took])
	if empty(text) {
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%s: %s is no duration: want seconds or, with its unit, 250ms", took, shorten(text))
	}
	switch {
	case rec.started.known() && !rec.finished.known():
		rec.finished = rec.started + moment(d)
	case rec.finished.known() && !rec.started.known():
		rec.started = rec.finished - moment(d)
	}
	return nil
}

// counts reads which attempt it is and how many there may be.
func (r *reader) counts(one *row, rec *record) error {
	for _, c := range []struct {
		role role
		to   *int32
		plus int32
	}{{attempt, &rec.number, 0}, {retries, &rec.number, 1}, {maxAttempts, &rec.most, 0}, {maxRetries, &rec.most, 1}} {
		text := strings.TrimSpace(one.text[c.role])
		switch {
		case empty(text), text == "true": // Sidekiq: as many as usual
			continue
		case text == "false":
			text = "0"
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n != float64(int32(n)) || n < 0 || n > mostAttempts {
			return fmt.Errorf("%s: %s is not a whole number of at least 0", c.role, shorten(text))
		}
		if *c.to = int32(n) + c.plus; c.role == attempt && n == 0 && rec.started.known() {
			r.zeroBased = true
		}
	}
	return nil
}

// keep stores a record unless it is of another queue or time.
func (r *reader) keep(rec record) error {
	if len(r.options.Queues) > 0 && !contains(r.options.Queues, r.queues.all[rec.queue]) {
		return nil
	}
	for int(rec.class) >= len(r.labelRows) {
		r.labelRows = append(r.labelRows, 0)
	}
	r.labelRows[rec.class]++
	return r.records.add(rec)
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}
