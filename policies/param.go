package policies

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"qsim/engine/quantity"
)

// Param describes a parameter of a kind of policy, as scenarios set it and help lists it.
type Param struct {
	Name     string   // name in scenario files
	Type     string   // one of the Type constants
	Default  string   // default value, as text for ParseValue
	Doc      string   // description, a phrase
	Choices  []string // allowed values of a TypeChoice
	Positive bool     // a value of 0 is an error
	Amount   bool     // a TypeNumber to be chosen in proportion to the load, such as the tokens of a bucket
}

// TypeShare and the constants below are the types of parameters. Comments show, for each, an example of its text and
// the Go type of its parsed value in Arguments.
const (
	TypeShare        = "share"          // a share, "80%": quantity.Share
	TypeCountOrShare = "count-or-share" // a number or share of the engine's workers, "20" or "20%": quantity.CountOrShare
	TypeDuration     = "duration"       // a duration, "1.5s": quantity.Duration
	TypeBool         = "bool"           // "true" or "false": bool
	TypeNumber       = "number"         // a whole number, "500" or "10k": quantity.Count
	TypeRate         = "rate"           // a rate, "10/s": quantity.Rate
	TypeChoice       = "choice"         // one of Param.Choices: string
	TypeQuantum      = "quantum"        // service time or jobs, "100ms" or "1", or a job's mean cost, "mean": Quantum
	TypeWeights      = "weights"        // weights in [1, 10^6] by job class, {mail: 10}: ByClass of quantity.Count
	TypeBudget       = "budget"         // a duration, "30s", or ByClass of it, {mail: 1m}: quantity.Duration
)

// Value is a parsed value of a policy parameter, with its type. The zero Value stands for no value.
type Value struct {
	typ string
	of  any
}

// String returns the value of a parameter as scenarios write it; "" for the zero Value.
func (v Value) String() string {
	if v.of == nil {
		return ""
	}
	return fmt.Sprint(v.of)
}

// Quantum is the credit that a tenant gets at each turn of deficit round robin: a number of jobs, or an amount of
// service time; if both are 0, the mean cost (run time) of a job.
type Quantum struct {
	Jobs int64
	Time time.Duration
}

// meanQuantum is the word for the zero Quantum in scenarios: the mean cost of a job.
const meanQuantum = "mean"

// String returns the quantum, a tenant's credit at each turn of deficit round robin, in the syntax of scenarios.
func (q Quantum) String() string {
	switch {
	case q.Jobs > 0:
		return fmt.Sprint(q.Jobs)
	case q.Time > 0:
		return quantity.Duration(q.Time).String()
	}
	return meanQuantum
}

// ByClass is a parameter's value that differs by job class: a value for each of several, in the scenario's order.
type ByClass []ClassValue

// ClassValue is a parameter's value for one job class, an entry of a ByClass.
type ClassValue struct {
	Class string
	Value any
}

// String returns the values in the syntax of scenarios: {high: 10, low: 5}.
func (b ByClass) String() string {
	entries := make([]string, len(b))
	for i, e := range b {
		entries[i] = fmt.Sprintf("%s: %v", e.Class, e.Value)
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// each calls visit with each value and the index of its class. Its error names unknown classes, after the word what.
func (b ByClass) each(what string, classes []Class, visit func(class int, value any)) error {
	var unknown []error
	for _, e := range b {
		if i := slices.IndexFunc(classes, func(c Class) bool { return c.Name == e.Class }); i >= 0 {
			visit(i, e.Value)
		} else {
			unknown = append(unknown, fmt.Errorf("%s: there is no job class %s", what, e.Class))
		}
	}
	return errors.Join(unknown...)
}

// TakesMapping reports whether parameters of type typ (a Type constant) may be mappings by job class, {mail: 10}.
func TakesMapping(typ string) bool { return entries[typ] != nil }

// Entry is one unparsed entry of a mapping from job classes to parameter values: {mail: 10} has Class mail, Text 10.
type Entry struct{ Class, Text string }

// parsers holds, by parameter type, the parser of a scalar value; entries that of one class's value in a mapping.
var (
	parsers = map[string]func(text string) (any, error){
		TypeShare: readText[quantity.Share], TypeCountOrShare: readText[quantity.CountOrShare],
		TypeDuration: readText[quantity.Duration], TypeNumber: readText[quantity.Count],
		TypeRate: readText[quantity.Rate], TypeBudget: readText[quantity.Duration],
		TypeBool: parseBool, TypeQuantum: parseQuantum, TypeWeights: parseNoMapping,
		TypeChoice: func(text string) (any, error) { return text, nil },
	}
	entries = map[string]func(text string) (any, error){TypeWeights: parseWeight, TypeBudget: readText[quantity.Duration]}
)

// ParseValue parses text as a value of type typ, one of the Type constants. Its errors do not name the parameter.
func ParseValue(typ, text string) (Value, error) {
	read := parsers[typ]
	if read == nil {
		return Value{}, fmt.Errorf("unknown parameter type %q", typ)
	}
	of, err := read(text)
	if err != nil {
		return Value{}, err
	}
	return Value{typ, of}, nil
}

// ParseMapping parses a value of a type that TakesMapping allows, from a mapping by job class, with no class twice.
func ParseMapping(typ string, given []Entry) (Value, error) {
	b := make(ByClass, len(given))
	for i, e := range given {
		value, err := entries[typ](e.Text)
		if err != nil {
			return Value{}, within("class "+e.Class, err)
		}
		b[i] = ClassValue{e.Class, value}
	}
	if typ == TypeBudget && len(b) == 0 {
		return Value{}, errors.New("no class has a budget")
	}
	return Value{typ, b}, nil
}

func readText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](text string) (any, error) {
	var value T
	err := P(&value).UnmarshalText([]byte(text))
	return value, err
}

func parseBool(text string) (any, error) {
	i, err := quantity.Choose(text, []string{"true", "false"})
	return i == 0, err
}

func parseQuantum(text string) (any, error) {
	if text == meanQuantum {
		return Quantum{}, nil
	}
	var jobs quantity.Count
	if jobs.UnmarshalText([]byte(text)) == nil {
		if jobs == 0 {
			return nil, errors.New("0 is not positive")
		}
		return Quantum{Jobs: int64(jobs)}, nil
	}
	d, err := quantity.ParseDuration(text)
	if err == nil && d == 0 {
		err = fmt.Errorf("%s is not positive", text)
	}
	return Quantum{Time: d}, err
}

// heaviest is the greatest weight of a job class in a parameter: it keeps sums and products of weights exact.
const heaviest = 1_000_000

func parseWeight(text string) (any, error) {
	var weight quantity.Count
	err := weight.UnmarshalText([]byte(text))
	if err == nil && (weight < 1 || weight > heaviest) {
		err = fmt.Errorf("a weight of %d is not in [1, %d]", weight, heaviest)
	}
	return weight, err
}

// parseNoMapping parses the text of a value that must be a mapping by job class: only {}, the empty mapping, is valid.
func parseNoMapping(text string) (any, error) {
	if text == "{}" {
		return ByClass(nil), nil
	}
	return nil, &quantity.Error{Message: "want a mapping of job classes, not " + quantity.Quote(text),
		Help: "write {high: 10, low: 5}"}
}

// within returns err with a prefix before its message; the help text of a quantity.Error is kept.
func within(prefix string, err error) error {
	if own := (*quantity.Error)(nil); errors.As(err, &own) {
		with := *own
		with.Message = prefix + ": " + own.Message
		return &with
	}
	return fmt.Errorf("%s: %w", prefix, err)
}

// Duration returns the value of the parameter with that name, of type TypeDuration.
func (a Arguments) Duration(name string) time.Duration {
	return a.Value(name).(quantity.Duration).Std()
}

// Number returns the value of the parameter with that name, of type TypeNumber.
func (a Arguments) Number(name string) int64 { return int64(a.Value(name).(quantity.Count)) }

// OfWorkers returns the value of the named parameter of type TypeCountOrShare as a number of the engine's workers: a
// share is rounded to the nearest whole, but to at least one unless it is 0 %.
func (a Arguments) OfWorkers(name string) int {
	v := a.Value(name).(quantity.CountOrShare)
	switch {
	case !v.IsShare:
		return int(v.Count)
	case v.Share.Num == 0:
		return 0
	}
	return max(1, v.Share.Of(a.Workers))
}
