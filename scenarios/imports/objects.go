package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"qsim/results/plain"
)

// objects reads a JSON file of records: objects one after the other, or arrays of objects, also in an object under
// "tasks", as Asynqmon answers.
type objects struct {
	*input
	decoder *json.Decoder
	lines   *lineCounter
	queued  []any // remaining elements of an array
	inArray bool  // in the array at the start of the file
}

// newObjects returns the source of a file's objects; inArray reports whether the file begins with an array.
func newObjects(in *input, inArray bool) *objects {
	o := &objects{input: in, lines: &lineCounter{from: in.text}, inArray: inArray}
	o.decoder = json.NewDecoder(o.lines)
	o.decoder.UseNumber()
	if inArray {
		o.decoder.Token() // its [, which has been peeked at
	}
	return o
}

// lineCounter maps offsets in the input to line numbers; the JSON decoder reads through it.
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

// line returns the line number of an offset in the input; offsets must not fall from call to call.
func (l *lineCounter) line(offset int64) int64 {
	n, _ := slices.BinarySearch(l.ends, offset)
	l.passed += int64(n)
	l.ends = l.ends[n:]
	return 1 + l.passed
}

func (o *objects) next(r *row) error {
	o.begin()
	for len(o.queued) == 0 {
		if err := o.more(); err != nil {
			return o.explain(err)
		}
	}
	object, ok := o.queued[0].(map[string]any)
	if !ok {
		return o.explain(fmt.Errorf("want an object for each job, not %v", o.queued[0]))
	}
	o.queued = o.queued[1:]
	*r = row{at: posOf(o.number, o.lines.line(o.decoder.InputOffset()))}
	fillRow(r, object, o.columns)
	return nil
}

// more decodes the next object of the input. Elements of an array at the start of the file are decoded one by one, so
// that the file is never in memory as a whole.
func (o *objects) more() error {
	if o.inArray && !o.decoder.More() {
		o.inArray = false
		_, err := o.decoder.Token()
		return err
	}
	var value any
	if err := o.decoder.Decode(&value); err != nil {
		return err
	}
	if object, ok := value.(map[string]any); ok {
		if inner, ok := object["tasks"].([]any); ok {
			value = inner
		}
	}
	list, ok := value.([]any)
	o.queued = plain.Either(ok, list, []any{value})
	return nil
}

func (o *objects) explain(err error) error {
	if errors.Is(err, io.EOF) && !o.inArray {
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
	return o.bad(o.lines.line(offset), err)
}

// fillRow copies the columns of a row from a JSON object: keys are compared as headings are, with points for nested
// ones: payload.enqueued_at.
func fillRow(r *row, object map[string]any, columns layout) {
	plain := plainKeys(object)
	for i := range columns {
		for _, name := range columns[i].headings {
			if text := valueOf(object, plain, name); !empty(text) {
				r.text[i] = text
				break
			}
		}
	}
}

// plainKeys maps each key of a JSON object, normalized by plainName, to the key; of equal ones the last counts.
func plainKeys(object map[string]any) map[string]string {
	plain := make(map[string]string, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		plain[plainName(key)] = key
	}
	return plain
}

func valueOf(object map[string]any, plain map[string]string, name string) string {
	if key, ok := plain[plainName(name)]; ok {
		return spelled(object[key])
	}
	first, rest, deep := strings.Cut(name, ".")
	if !deep {
		return ""
	}
	value := object[plain[plainName(first)]]
	inner, ok := value.(map[string]any)
	if text, isText := value.(string); isText {
		ok = json.Unmarshal([]byte(text), &inner) == nil // a payload is often JSON in a string
	}
	if !ok {
		return ""
	}
	return spelled(inner[plainKeys(inner)[plainName(rest)]])
}

// spelled returns a JSON value as the text of a table cell.
func spelled(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return fmt.Sprintf("%.9f", v)
	}
	text, _ := json.Marshal(value) // of what was JSON
	return string(text)
}
