package imports

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table reads rows from comma-separated values with a line of headings.
type table struct {
	*input
	reader *csv.Reader
	column [columnCount]int // index of each column; -1: missing
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
			return nil, in.bad(1, fmt.Errorf("columns %d and %d are both called %s", k+1, i+1, shorten(header[i])))
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

// separator returns the commonest of the usual separators (comma, semicolon, tab, |) in the first line, outside quotes.
func separator(start []byte) rune {
	count, quoted := map[byte]int{}, false
	for _, c := range start {
		if c == '\n' && !quoted {
			break
		}
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			count[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(";\t|") {
		if count[c] > count[best] {
			best = c
		}
	}
	return rune(best)
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

// explain returns err in plain words, with the line of the table.
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
