package imports

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table reads comma-separated values with a line of names.
type table struct {
	reader *csv.Reader
	window *watched
	name   string
	number int
	column [roleCount]int // -1: there is none
}

func newTable(text *bufio.Reader, w *watched, name string, number int, columns layout, start []byte) (*table, error) {
	t := &table{reader: csv.NewReader(text), window: w, name: name, number: number}
	t.reader.Comma = separator(start)
	t.reader.ReuseRecord = true
	header, err := t.reader.Read()
	if err != nil {
		return nil, t.explain(err)
	}
	header = slices.Clone(header)
	plain := make([]string, len(header))
	for i := range header {
		plain[i] = plainName(header[i])
		if k := slices.Index(plain[:i], plain[i]); k >= 0 && plain[i] != "" {
			return nil, &LineError{name, 1, fmt.Errorf("columns %d and %d are both called %s", k+1, i+1, shorten(header[i]))}
		}
	}
	taken := map[int]role{}
	for r := range roleCount {
		t.column[r] = -1
		for _, want := range columns[r] {
			at := slices.Index(plain, plainName(want))
			if _, used := taken[at]; at >= 0 && !used {
				t.column[r], taken[at] = at, r
				break
			}
			if len(columns[r]) == 1 && at < 0 && asked(columns[r], r) {
				return nil, &LineError{name, 1, fmt.Errorf("--columns %s=%s: there is no such column; there are %s", r, want, strings.Join(header, ", "))}
			}
		}
	}
	if t.column[enqueued] < 0 && t.column[started] < 0 && t.column[finished] < 0 {
		return nil, &LineError{name, 1, fmt.Errorf("no column says when: there are %s; map them, as --columns enqueued=COLUMN,started=COLUMN,finished=COLUMN", strings.Join(header, ", "))}
	}
	return t, nil
}

// asked reports whether a column was named by the user: those of layouts have other names.
func asked(columns []string, r role) bool {
	for _, from := range Formats() {
		if slices.Equal(layouts[from][r], columns) {
			return false
		}
	}
	return true
}

// separator is whichever stands most often in the first line, outside of quotes.
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
	for _, c := range []byte{';', '\t', '|'} {
		if count[c] > count[best] {
			best = c
		}
	}
	return rune(best)
}

func (t *table) next(r *row) error {
	t.window.reset()
	cells, err := t.reader.Read()
	if err != nil {
		return t.explain(err)
	}
	line, _ := t.reader.FieldPos(0)
	*r = row{at: placeOf(t.number, int64(line))}
	for i, column := range t.column {
		if column >= 0 {
			r.text[i] = cells[column]
		}
	}
	return nil
}

// explain says where the table is broken.
func (t *table) explain(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &parse) && errors.Is(parse.Err, csv.ErrFieldCount):
		return &LineError{t.name, int64(parse.StartLine), fmt.Errorf("the row has more or fewer than %d cells", t.reader.FieldsPerRecord)}
	case errors.As(err, &parse):
		what := parse.Err.Error()
		if errors.Is(parse.Err, csv.ErrQuote) {
			what = `a quote " in the wrong place, or one that is not closed`
		} else if errors.Is(parse.Err, csv.ErrBareQuote) {
			what = `a quote " inside a cell without quotes`
		}
		return &LineError{t.name, int64(parse.StartLine), errors.New(what)}
	case errors.Is(err, errLongRow):
		line, _ := t.reader.FieldPos(0)
		return &LineError{t.name, int64(line), err}
	}
	return err
}

// trimmed is text without space around it, as UTF-8.
func trimmed(text string) string {
	return string(clean(bytes.TrimSpace([]byte(text))))
}
