package imports

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// column is a field of a row of records, such as the enqueue time, independent of its heading.
type column uint8

const (
	id          column = iota // which job; rows with one id are attempts at one job
	class                     // what sort of job; without it the queue
	queue                     // where it was put
	enqueued                  // when it was put there
	due                       // when this attempt was to begin
	started                   // when a worker began
	finished                  // when it ended
	took                      // how long it ran, in seconds or with a unit
	attempt                   // which attempt this is
	retries                   // how many attempts there were before
	maxAttempts               // how many attempts there may be
	maxRetries                // how many there may be after the first
	failure                   // what it failed with; empty: it did not
	state                     // done, dead, retry, running, ready, ...
	tenant                    // whom it belongs to
	node                      // which process ran it
	priority                  // how urgent it is: a whole number, smaller is more urgent
	failures                  // a JSON array of River's attempt errors
	columnCount
)

// formats lists the record formats for Options.From, in the order of the headings in columns.
var formats = []string{"river", "asynq", "sidekiq", "csv"}

// Formats returns the record formats for Options.From.
func Formats() []string { return slices.Clone(formats) }

// columns lists every column that an import knows: its name in --columns, and by format its possible headings, of which
// the first one found counts. Headings are separated by commas, and compared without case, spaces and signs.
//
// River's are those of the table river_job: github.com/riverqueue/river, rivermigrate and rivertype/job_row.go. Asynq's
// are the fields of tasks in Go (asynq.TaskInfo) or in Asynqmon's API (github.com/hibiken/asynqmon, ui/src/api.ts);
// neither has the enqueue time or, after a task has ended, its start. Sidekiq's are the keys of job payloads
// (github.com/sidekiq/sidekiq/wiki/Job-Format), beside what its log adds. Those of csv are common names.
var columns = [columnCount]struct {
	name     string
	headings [4]string
}{
	id: {"id", [4]string{"id", "id", "jid", "id,job id,jid,task id,uuid"}},
	class: {"class", [4]string{"kind", "type", "wrapped,class",
		"class,kind,type,job type,job class,job kind,task type,worker class,task,job,job name,name"}},
	queue: {"queue", [4]string{"queue", "queue", "queue", "queue,queue name,list"}},
	enqueued: {"enqueued", [4]string{"created_at", "enqueued_at", "created_at,enqueued_at",
		"enqueued,enqueued at,created,created at,inserted,inserted at,submitted,submitted at,queued at,enqueue time"}},
	due: {"due", [4]string{"scheduled_at", "next_process_at", "at",
		"due,due at,scheduled at,run at,available at,ready at,visible at,next attempt at"}},
	started: {"started", [4]string{"attempted_at", "start_time", "",
		"started,started at,start,start time,attempted at,claimed,claimed at,performed at,dequeued at,locked at"}},
	finished: {"finished", [4]string{"finalized_at", "completed_at,last_failed_at", "retried_at,failed_at",
		"finished,finished at,ended,ended at,end,end time,completed,completed at,finalized at,processed at"}},
	took:        {"took", [4]string{3: "took,duration,elapsed,run time,service"}},
	attempt:     {"attempt", [4]string{"attempt", "", "", "attempt,attempts,attempt number,try,tries,delivery"}},
	retries:     {"retries", [4]string{"", "retried", "retry_count", "retries,retry count,retried"}},
	maxAttempts: {"max-attempts", [4]string{"max_attempts", "", "", "max attempts,max tries"}},
	maxRetries:  {"max-retries", [4]string{"", "max_retry", "retry", "max retries,max retry"}},
	failure: {"error", [4]string{"", "error_message,LastErr", "error_class",
		"error,error class,error kind,error type,exception,exception class,failure,error message,last error"}},
	state:    {"state", [4]string{"state", "state", "", "state,status,outcome,result"}},
	tenant:   {"tenant", [4]string{3: "tenant,tenant id,customer,account"}},
	node:     {"node", [4]string{"attempted_by", "", "", "node,host,hostname,server,attempted by,worker id,process"}},
	priority: {"priority", [4]string{"priority", "", "", "priority,prio"}},
	failures: {"errors", [4]string{"errors"}},
}

// String returns the column's name in --columns.
func (c column) String() string { return columns[c].name }

// Roles returns the names, such as enqueued, by which ROLE=COLUMN in Options.Columns assigns a file's columns.
func Roles() (names []string) {
	for c := range columnCount {
		names = append(names, c.String())
	}
	return names
}

// layout holds the heading of each column in one file, and whether the user chose it.
type layout [columnCount]struct {
	headings []string
	asked    bool
}

// layoutOf returns the layout of a format, changed by the user's ROLE=COLUMN settings, which commas separate.
func layoutOf(format string, asked []string) (l layout, err error) {
	at := slices.Index(formats, format)
	if at < 0 {
		return l, fmt.Errorf("unknown format %s; want %s", format, strings.Join(formats, ", "))
	}
	for i, c := range columns {
		if c.headings[at] != "" {
			l[i].headings = strings.Split(c.headings[at], ",")
		}
	}
	for _, pair := range strings.Split(strings.Join(asked, ","), ",") {
		if len(asked) == 0 {
			break
		}
		name, heading, ok := strings.Cut(pair, "=")
		name, heading = strings.TrimSpace(name), strings.TrimSpace(heading)
		if !ok || name == "" || heading == "" {
			return l, fmt.Errorf("%q: want ROLE=COLUMN, such as enqueued=inserted_on", pair)
		}
		i := slices.Index(Roles(), name)
		if i < 0 {
			return l, fmt.Errorf("%q: there is no role %s; want one of %s", pair, name, strings.Join(Roles(), ", "))
		}
		l[i].headings, l[i].asked = []string{heading}, true
	}
	return l, nil
}

// plainName returns a heading in the form in which headings are compared: lower case, without spaces and signs.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// table reads rows from comma-separated values with a line of headings.
type table struct {
	*input
	reader *csv.Reader
	column [columnCount]int // by column, its index in the file's rows; -1: missing
}

func newTable(in *input, start []byte) (*table, error) {
	t := &table{input: in, reader: csv.NewReader(in.text)}
	t.reader.Comma = separator(start)
	t.reader.ReuseRecord = true
	header, err := t.reader.Read()
	if err != nil {
		return nil, t.explain(err)
	}
	header = slices.Clone(header)
	all, plain := strings.Join(header, ", "), make([]string, len(header))
	for i := range header {
		plain[i] = plainName(header[i])
		if k := slices.Index(plain[:i], plain[i]); k >= 0 && plain[i] != "" {
			return nil, in.bad(1, fmt.Errorf("columns %d and %d are both called %s", k+1, i+1, quoted(header[i])))
		}
	}
	for c := range columnCount {
		t.column[c] = -1
		for _, want := range in.columns[c].headings {
			at := slices.Index(plain, plainName(want))
			if at >= 0 && !slices.Contains(t.column[:c], at) {
				t.column[c] = at
				break
			}
			if at < 0 && in.columns[c].asked {
				return nil, in.bad(1, fmt.Errorf("--columns %s=%s: there is no such column; there are %s", c, want, all))
			}
		}
	}
	if t.column[enqueued] < 0 && t.column[started] < 0 && t.column[finished] < 0 {
		return nil, in.bad(1, fmt.Errorf("no column says when: there are %s; map them, "+
			"as --columns enqueued=COLUMN,started=COLUMN,finished=COLUMN", all))
	}
	return t, nil
}

// separator returns that of the usual separators (comma, semicolon, tab, |) by which the first row has the most cells.
func separator(start []byte) (best rune) {
	most := 0
	for _, comma := range ",;\t|" {
		reader := csv.NewReader(bytes.NewReader(start))
		reader.Comma = comma
		if cells, _ := reader.Read(); len(cells) > most { // those before a quote whose end is beyond start
			best, most = comma, len(cells)
		}
	}
	return cmp.Or(best, ',')
}

func (t *table) next(r *row) error {
	t.begin()
	cells, err := t.reader.Read()
	if err != nil {
		return t.explain(err)
	}
	line, _ := t.reader.FieldPos(0)
	*r = row{at: posOf(t.number, int64(line))}
	for i, column := range t.column {
		if column >= 0 {
			r.text[i] = cells[column]
		}
	}
	return nil
}

// explain returns an error of the CSV reader in plain words, with its line; io.EOF as it is.
func (t *table) explain(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &parse):
		what := parse.Err
		switch {
		case errors.Is(what, csv.ErrFieldCount):
			what = fmt.Errorf("the row has more or fewer than %d cells", t.reader.FieldsPerRecord)
		case errors.Is(what, csv.ErrQuote):
			what = errors.New(`a quote " in the wrong place, or one that is not closed`)
		case errors.Is(what, csv.ErrBareQuote):
			what = errors.New(`a quote " inside a cell without quotes`)
		}
		return t.bad(int64(parse.StartLine), what)
	case errors.Is(err, errLongRow):
		line, _ := t.reader.FieldPos(0)
		return t.bad(int64(line), err)
	}
	return err
}
