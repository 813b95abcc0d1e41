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

// Param is a parameter of a kind of policy.
type Param struct {
	Name    string   // name in scenario files
	Type    string   // one of the Type constants
	Default string   // default value, as text for ParseValue
	Doc     string   // description, a phrase
	Choices []string // allowed values of a TypeChoice
	Amount  bool     // the parameter is an amount, chosen in proportion to the load; of a TypeNumber
}

// TypeShare and the constants below are the types of parameters, and of their values in Arguments.
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

// Value is a parsed value of a policy parameter. The zero Value stands for no value.
type Value struct {
	typ string
	of  any
}

// String returns the value of a parameter in the syntax of scenarios.
func (v Value) String() string {
	if v.of == nil {
		return ""
	}
	return fmt.Sprint(v.of)
}

// Quantum is the credit that a tenant gets at each turn of deficit round robin: a number of jobs, or an amount of
// service time; if both are 0, the mean cost of a job.
type Quantum struct {
	Jobs int64
	Time time.Duration
}

// meanQuantum is how scenarios spell the zero Quantum, the mean cost of a job.
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

// ByClass is the value of a policy's parameter for each of several job classes, in the order of the scenario.
type ByClass []ClassValue

// ClassValue is a parameter value for one job class.
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

// each calls visit with each value of a list by job class and the class's index; its error names unknown classes.
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

// TakesMapping reports whether values of a type may be mappings from job classes, in the syntax of ParseMapping.
func TakesMapping(typ string) bool { return entries[typ] != nil }

// Entry is the text of a parameter value for one job class in a mapping.
type Entry struct{ Class, Text string }

// parsers holds, by parameter type, the parser of a value; entries holds that of one class's value in a mapping.
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

// ParseMapping parses a value of type typ that is given as a mapping from job classes, none of which occurs twice.
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

// parseNoMapping parses the scalar text of a value that must be a mapping: only {}, the empty mapping, is valid.
func parseNoMapping(text string) (any, error) {
	if text == "{}" {
		return ByClass(nil), nil
	}
	return nil, &quantity.Error{Message: "want a mapping of job classes, not " + quantity.Quote(text),
		Help: "write {high: 10, low: 5}"}
}

// within returns an error with a prefix before its message, and with its help text, if it has one.
func within(prefix string, err error) error {
	if own := (*quantity.Error)(nil); errors.As(err, &own) {
		with := *own
		with.Message = prefix + ": " + own.Message
		return &with
	}
	return fmt.Errorf("%s: %w", prefix, err)
}

// Duration returns the value of a parameter of type TypeDuration.
func (a Arguments) Duration(name string) time.Duration {
	return a.Value(name).(quantity.Duration).Std()
}

// Number returns the value of a parameter of type TypeNumber.
func (a Arguments) Number(name string) int64 { return int64(a.Value(name).(quantity.Count)) }

// OfWorkers returns the value of a parameter of type TypeCountOrShare as a number of the engine's workers: a share
// rounded to the nearest whole, but at least one unless it is 0 %.
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
