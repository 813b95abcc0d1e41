package imports

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// objects reads JSON: objects one after the other, or arrays of such, also in an object
// under "tasks", as Asynqmon answers.
type objects struct {
	decoder *json.Decoder
	lines   *lineCounter
	window  *watched
	name    string
	number  int
	columns layout
	queued  []map[string]any // of an array in an object
	inArray bool
	seen    bool
}

func newObjects(text *bufio.Reader, w *watched, name string, number int, columns layout) *objects {
	o := &objects{lines: &lineCounter{from: text}, window: w, name: name, number: number, columns: columns}
	o.decoder = json.NewDecoder(o.lines)
	o.decoder.UseNumber()
	return o
}

// lineCounter remembers where lines end, from what the decoder has not yet passed.
type lineCounter struct {
	from   io.Reader
	read   int64
	ends   []int64
	passed int64 // lines that ended before
}

func (l *lineCounter) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// line is that of an offset, which never falls.
func (l *lineCounter) line(offset int64) int64 {
	n := 0
	for n < len(l.ends) && l.ends[n] < offset {
		n++
	}
	l.passed += int64(n)
	l.ends = l.ends[n:]
	return 1 + l.passed
}

func (o *objects) next(r *row) error {
	o.window.reset()
	for len(o.queued) == 0 {
		if err := o.more(); err != nil {
			return err
		}
	}
	object := o.queued[0]
	o.queued = o.queued[1:]
	*r = row{at: placeOf(o.number, o.lines.line(o.decoder.InputOffset()))}
	fillRow(r, object, o.columns)
	return nil
}

// more decodes what comes next.
func (o *objects) more() error {
	if o.inArray && !o.decoder.More() {
		o.inArray = false
		if _, err := o.decoder.Token(); err != nil {
			return o.explain(err)
		}
		return nil
	}
	if !o.inArray && !o.seen {
		o.seen = true
		if first, err := peekArray(o.decoder); err != nil {
			return o.explain(err)
		} else if first {
			o.inArray = true
			return nil
		}
	}
	var value any
	if err := o.decoder.Decode(&value); err != nil {
		return o.explain(err)
	}
	switch v := value.(type) {
	case map[string]any:
		if inner, ok := v["tasks"].([]any); ok {
			return o.add(inner)
		}
		o.queued = append(o.queued, v)
	case []any:
		return o.add(v)
	default:
		return o.explain(fmt.Errorf("want an object for each job, not %v", v))
	}
	return nil
}

// peekArray takes the bracket of an array at the start of the file, so that it is not
// decoded as a whole; everything else it leaves.
func peekArray(d *json.Decoder) (bool, error) {
	if !d.More() { // fills the buffer, and skips white space
		return false, nil
	}
	start := make([]byte, 1)
	if _, err := io.ReadFull(d.Buffered(), start); err != nil {
		return false, nil
	}
	for start[0] == ' ' || start[0] == '\n' || start[0] == '\r' || start[0] == '\t' {
		return false, nil
	}
	if start[0] != '[' {
		return false, nil
	}
	_, err := d.Token()
	return true, err
}

func (o *objects) add(list []any) error {
	for _, v := range list {
		object, ok := v.(map[string]any)
		if !ok {
			return o.explain(fmt.Errorf("want an object for each job, not %v", v))
		}
		o.queued = append(o.queued, object)
	}
	return nil
}

func (o *objects) explain(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !o.inArray {
		return io.EOF
	}
	var syntax *json.SyntaxError
	offset := o.decoder.InputOffset()
	if errors.As(err, &syntax) {
		offset = max(offset, syntax.Offset-1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON ends in the middle")
	}
	return &LineError{o.name, o.lines.line(offset), err}
}

// fillRow takes out of an object what the columns name: keys compared as names of columns are,
// with points for what is deeper: payload.enqueued_at.
func fillRow(r *row, object map[string]any, columns layout) {
	plain := make(map[string]string, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		plain[plainName(key)] = key
	}
	for i := range columns {
		for _, name := range columns[i] {
			if text := valueOf(object, plain, name); !empty(text) {
				r.text[i] = text
				break
			}
		}
	}
}

func valueOf(object map[string]any, plain map[string]string, name string) string {
	if key, ok := plain[plainName(name)]; ok {
		return spelled(object[key])
	}
	first, rest, deep := strings.Cut(name, ".")
	if !deep {
		return ""
	}
	inner, ok := object[plain[plainName(first)]].(map[string]any)
	if text, isText := object[plain[plainName(first)]].(string); isText && json.Unmarshal([]byte(text), &inner) == nil {
		ok = true // a payload is often JSON in a string
	}
	if !ok {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		if plainName(key) == plainName(rest) {
			return spelled(inner[key])
		}
	}
	return ""
}

// spelled is a JSON value as a cell of a table would hold it.
func spelled(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case float64:
		return fmt.Sprintf("%.9f", v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
