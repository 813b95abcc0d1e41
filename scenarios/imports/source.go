package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// row holds the texts of one row of the input, by column.
type row struct {
	at   sourcePos
	text [columnCount]string // texts of the columns; empty: missing
	sort recordSort          // what a line of a log is about; 0: what rows of the format are about
}

// source yields the rows of one file.
type source interface {
	// next fills r, whose texts are valid until the next call, and returns io.EOF after the last row.
	next(r *row) error
}

// File is an input file with its name.
type File struct {
	Name   string
	Reader io.Reader
}

// input is the reader of one input file; it limits the length of a row, and stops when its context is done.
type input struct {
	ctx     context.Context
	file    File
	number  int // number of the file
	columns layout
	text    *bufio.Reader // reads from input itself
	left    int           // bytes that the present row may still have
}

const (
	// mostRowBytes is the longest row: a quote that is never closed would else make one row of the whole file.
	mostRowBytes = 16 << 20
	peeked       = 64 << 10
)

var errLongRow = fmt.Errorf("a row is longer than %d MiB: is a quote not closed?", mostRowBytes>>20)

// Read returns bytes of the file, or an error once ctx is done or one row is too long.
func (in *input) Read(b []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	if in.left <= 0 {
		return 0, errLongRow
	}
	n, err := in.file.Reader.Read(b)
	in.left -= n
	return n, err
}

func (in *input) begin() { in.left = mostRowBytes }

func (in *input) bad(line int64, err error) error { return &LineError{in.file.Name, line, err} }

// open detects the format of a file's text and returns a source of its rows.
func open(ctx context.Context, file File, number int, from string, columns layout) (source, error) {
	in := &input{ctx: ctx, file: file, number: number, columns: columns}
	in.begin()
	in.text = bufio.NewReaderSize(in, peeked)
	start, err := in.text.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		in.text.Discard(3) // it has been peeked at
		start = start[3:]
	}
	switch string(start[:min(2, len(start))]) {
	case "\xff\xfe", "\xfe\xff":
		return nil, in.bad(1, errors.New("the file is UTF-16: convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does"))
	case "\x1f\x8b":
		return nil, in.bad(1, errors.New("the file is compressed: pass what gunzip -c prints, with - for the file"))
	}
	if at := bytes.IndexByte(start, 0); at >= 0 {
		line := 1 + bytes.Count(start[:at], []byte("\n"))
		return nil, in.bad(int64(line), errors.New("there is a zero byte: this is no text"))
	}
	text := bytes.TrimSpace(start)
	switch {
	case len(text) == 0:
		return nil, in.bad(1, errors.New("the file is empty"))
	case from == "sidekiq":
		return &lines{input: in, failed: map[string]string{}}, nil
	case text[0] == '{' || text[0] == '[':
		return newObjects(in, text[0] == '['), nil
	}
	return newTable(in, start)
}

// trimmed returns text without space around it, as valid UTF-8 with � for invalid bytes.
func trimmed(text string) string { return strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD") }

// sourcePos is the position of a row: the number of an input file in the highest byte, and a line of it from 1.
type sourcePos uint64

func posOf(file int, line int64) sourcePos { return sourcePos(file)<<56 | sourcePos(line) }

func (p sourcePos) file() int   { return int(p >> 56) }
func (p sourcePos) line() int64 { return int64(p << 8 >> 8) }

// LineError is an error in a line of the input.
type LineError struct {
	File string
	Line int64
	Err  error
}

// Error returns the text of the error, with the name of the file and the line before it.
func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the error without the file and line.
func (e *LineError) Unwrap() error { return e.Err }

// Repair counts the rows with one kind of mistake that reading puts right, with the position of the first.
type Repair struct {
	What  string // the mistake and what was done about it: "end before they start: their run time is left out"
	Count int64  // number of rows, or of jobs if What is about jobs
	File  string // file of the first one
	Line  int64

	first sourcePos
}

// repair is a kind of mistake in the input that reading puts right, since only one meaning is sensible.
type repair struct {
	what  string
	loses bool // data: many of these are an error
}

func keeps(what string) *repair { return reported(&repair{what, false}) }
func loses(what string) *repair { return reported(&repair{what, true}) }

// repairs lists all kinds of repairs in the order in which they are reported.
var repairs []*repair

func reported(r *repair) *repair {
	repairs = append(repairs, r)
	return r
}

// The kinds of repairs, in the order in which they are reported.
var (
	twice              = keeps("stand there twice, word for word: taken once")
	endsBeforeStart    = loses("end before they start: their run time is left out")
	startsBitBeforeDue = keeps("start up to a second before they are enqueued, as when two clocks differ: " +
		"their wait is 0")
	startsBeforeDue = loses("start more than a second before they are enqueued: their wait is left out")
	noEnqueued      = keeps("do not say when they were enqueued: the first time that they do say stands in, " +
		"and their wait is not known")
	noTime             = loses("say no time at all: left out")
	laterAttemptsFirst = loses("start before the attempt before them ended: the pause between the two is left out")
	noStart            = keeps("ended and do not say when they began: their run time and wait are left out")
	noFinish           = keeps("began and do not say when they ended: their run time is left out, and with no other " +
		"word of it they count as still running")
	dueForEnqueued = keeps("do not say when they were enqueued: when they were due stands in")
	repeatedHour   = keeps("have a time without a zone in the hour that a clock change repeats: of the two that " +
		"which follows the times before it is taken")
	zeroIsUnknown  = keeps("have a time of 0: taken for unknown")
	unknownState   = keeps("have a state other than done, failed, dead, waiting, running and the like: it is ignored")
	outsideWindow  = keeps("are outside the window asked for: left out")
	tenantsLeftOut = keeps("have a tenant beyond the limit: tenants are left out altogether")
	noPriority     = keeps("have a priority that is no whole number from -32768 to 32767: left out")
)

// mostRepaired is the largest share of rows in which one kind of repair may drop data; above it, the import fails.
const mostRepaired = 0.1

// repairLog holds, by kind, how many mistakes in the input were put right.
type repairLog map[*repair]*Repair

func (r repairLog) add(what *repair, at sourcePos) {
	if r[what] == nil {
		r[what] = &Repair{What: what.what, first: at}
	}
	r[what].Count++
	r[what].first = min(r[what].first, at)
}

// list returns the repairs made, or an error if some drop data of too many rows or, with strict, if there are any.
func (r repairLog) list(files []File, rows int64, strict bool) (all []Repair, err error) {
	for _, kind := range repairs {
		one := r[kind]
		if one == nil {
			continue
		}
		one.File, one.Line = files[one.first.file()].Name, one.first.line()
		switch {
		case strict && kind != outsideWindow:
			err = fmt.Errorf("%d rows from here on %s; without --strict that is done", one.Count, one.What)
		case kind.loses && float64(one.Count) > mostRepaired*float64(rows):
			err = fmt.Errorf("%d of %d rows, from here on, %s. So many are no exception: are columns and time zones right? "+
				"--columns and --timezone say otherwise", one.Count, rows, one.What)
		}
		if err != nil {
			return nil, &LineError{one.File, one.Line, err}
		}
		all = append(all, *one)
	}
	return all, nil
}
