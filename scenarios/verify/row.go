package verify

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results/plain"
)

// Row (verify row) is a case by which the simulator is checked: a queueing model with parameters and known values.
type Row struct {
	ID       string          `json:"id"`   // family.number: rows of a family differ in Params
	Name     string          `json:"name"` // name of the model in words
	Kind     string          `json:"kind"` // exact, sim or model: see the package's rule
	Params   json.RawMessage `json:"params"`
	Expected json.RawMessage `json:"expected"` // an object; objects and arrays in it are compared item by item
	How      string          `json:"how"`      // source of the expected values
	Citation string          `json:"citation"`
	Note     string          `json:"note"`
	Quick    bool            `json:"quick,omitempty"` // the row takes at most a few seconds
}

// Family returns the part of the row's ID that names the queueing model, such as mmc.
func (r *Row) Family() string {
	parts := strings.SplitN(r.ID, ".", 3)
	if parts[0] == "trace" && len(parts) > 1 {
		return "trace." + parts[1]
	}
	return parts[0]
}

//go:embed rows.json
var shipped []byte

// Rows returns the verify rows embedded in the program. The caller may change them.
func Rows() []Row { return plain.Must(ReadRows(bytes.NewReader(shipped))) }

// ReadRows reads verify rows from JSON: an object with a list of them under the key rows. Other keys are ignored.
func ReadRows(r io.Reader) ([]Row, error) {
	var file struct{ Rows []Row }
	text, err := io.ReadAll(r)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&file)
	}
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", atLine(text, err))
	}
	if len(file.Rows) == 0 {
		return nil, errors.New("read rows: there are none")
	}
	seen := map[string]bool{}
	for i, row := range file.Rows {
		switch {
		case row.ID == "":
			return nil, fmt.Errorf("read rows: rows[%d] has no id", i)
		case seen[row.ID]:
			return nil, fmt.Errorf("read rows: two are called %s", row.ID)
		case row.Kind != "exact" && row.Kind != "sim" && row.Kind != "model":
			return nil, fmt.Errorf("read rows: %s is of kind %q: want exact, sim or model", row.ID, row.Kind)
		}
		seen[row.ID] = true
	}
	return file.Rows, nil
}

// atLine returns an error of the JSON decoder with its line in text, and without the names of Go types.
func atLine(text []byte, err error) error {
	offset := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset, err = e.Offset, fmt.Errorf("a JSON %s does not belong there", e.Value)
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}

// item is one expected value of a verify row, with its path in the row's JSON.
type item struct {
	path  string // "wait_mean", "at.100.n", "wait[0]"
	value any    // float64, bool, string or nil
}

// items returns all values in the next JSON value that a decoder reads, in order; path is the path of that value.
func items(decoder *json.Decoder, path string) (all []item, err error) {
	token, err := decoder.Token()
	delimiter, nested := token.(json.Delim)
	if err != nil || !nested {
		return []item{{path, token}}, err
	}
	for i := 0; decoder.More(); i++ {
		inner := path + "[" + strconv.Itoa(i) + "]"
		if delimiter == '{' {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			inner = plain.Joined(".", path, fmt.Sprint(key))
		}
		below, err := items(decoder, inner)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	_, err = decoder.Token()
	return all, err
}

// params reads the parameters of a verify row. A missing or wrong one is added to problems, and read as 0 or 1.
type params struct {
	values   map[string]any
	read     []string // names that were looked for
	problems []error
	expected []item // expected values of the row
}

// expects returns the row's expected value at a path, if that is a number; else NaN.
func (p *params) expects(path string) float64 {
	for _, it := range p.expected {
		if v, ok := it.value.(float64); ok && it.path == path {
			return v
		}
	}
	return math.NaN()
}

func (p *params) wrong(format string, arguments ...any) {
	p.problems = append(p.problems, fmt.Errorf(format, arguments...))
}

// has reports whether the row has a parameter of that name that is not null.
func (p *params) has(name string) bool {
	p.read = append(p.read, name)
	return p.values[name] != nil
}

// misspelt adds to problems each parameter of the row that no family has read and that is spelt almost like one that is
// missing. Other unread parameters are remarks, also those that are the first word of a missing one.
func (p *params) misspelt() {
	missing := slices.DeleteFunc(slices.Clone(p.read), func(name string) bool {
		_, found := p.values[name]
		return found
	})
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		near := plain.Nearest(name, missing)
		unread := len(name) > 1 && !slices.Contains(p.read, name)
		if near != "" && unread && !strings.HasPrefix(near, name+"_") {
			p.wrong("there is no parameter %s; did you mean %s?", name, near)
		}
	}
}

// number returns the parameter of that name, a finite number of at least 0.
func (p *params) number(name string) float64 {
	if !p.has(name) {
		p.wrong("params.%s: it is missing", name)
		return 0
	}
	v, ok := p.values[name].(float64)
	if !ok || v < 0 || math.IsInf(v, 0) {
		p.wrong("params.%s: %v is not a number of at least 0", name, p.values[name])
		return 0
	}
	return v
}

// positive returns the parameter of that name; if it is no finite number above 0, it notes a problem and returns 1.
func (p *params) positive(name string) float64 {
	known := len(p.problems)
	v := p.number(name)
	if v > 0 {
		return v
	}
	if len(p.problems) == known {
		p.wrong("params.%s: want more than 0", name)
	}
	return 1
}

// share returns the parameter of that name, a number in [0, 1].
func (p *params) share(name string) float64 {
	v := p.number(name)
	if v > 1 {
		p.wrong("params.%s: %v is not a share", name, v)
		return 0
	}
	return v
}

// count returns the parameter of that name, a whole number of at least 1.
func (p *params) count(name string) int {
	v := p.positive(name)
	if v != math.Trunc(v) || v > 1e9 {
		p.wrong("params.%s: %v is not a whole number", name, v)
		return 1
	}
	return int(v)
}

// limit returns the parameter of that name, a whole number of at least 1, or null for no limit, which is returned as 0.
func (p *params) limit(name string) int {
	if !p.has(name) {
		return 0
	}
	return p.count(name)
}

func (p *params) text(name string) string {
	p.read = append(p.read, name)
	v, ok := p.values[name].(string)
	if !ok {
		p.wrong("params.%s: %v is not a word", name, p.values[name])
	}
	return v
}

// numbers returns the parameter of that name, a list, not empty, of numbers of at least 0, or a
// list of one for a number.
func (p *params) numbers(name string) []float64 {
	p.read = append(p.read, name)
	list, ok := p.values[name].([]any)
	switch {
	case !ok:
		return []float64{p.number(name)}
	case len(list) == 0:
		p.wrong("params.%s: want a list", name)
		return []float64{0}
	}
	var all []float64
	for i, v := range list {
		element := fmt.Sprintf("%s[%d]", name, i)
		p.values[element] = v
		all = append(all, p.number(element))
	}
	return all
}

func (p *params) objects(name string) []*params {
	p.read = append(p.read, name)
	list, _ := p.values[name].([]any)
	var all []*params
	for _, v := range list {
		values, ok := v.(map[string]any)
		if !ok {
			p.wrong("params.%s: %v is not an object", name, v)
		}
		all = append(all, &params{values: values})
	}
	if len(all) == 0 {
		p.wrong("params.%s: want a list", name)
	}
	return all
}
