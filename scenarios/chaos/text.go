package chaos

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
)

// field is one value of a line: its name, and how it is read and written. An empty text
// stands for what is usual, and is not written.
type field struct {
	name string
	text func() string
	set  func(string) error
}

// number is a field of whole numbers.
func number[N int | int32 | uint64 | engine.JobID | engine.TenantID](name string, at *N) field {
	return field{name, func() string { return unless(*at == 0, fmt.Sprint(*at)) }, func(s string) error {
		n, err := strconv.ParseUint(s, 10, 63)
		if err == nil && uint64(N(n)) != n || strings.HasPrefix(s, "+") {
			err = strconv.ErrRange
		}
		*at = N(n)
		return because(err, "%q is no whole number", s)
	}}
}

func duration(name string, at *time.Duration) field {
	return field{name, func() string { return unless(*at == 0, at.String()) }, func(s string) (err error) {
		*at, err = time.ParseDuration(s)
		return because(err, "%q is no duration", s)
	}}
}

func share(name string, at *float64) field {
	return field{name, func() string { return unless(*at == 0, strconv.FormatFloat(*at, 'g', -1, 64)) }, func(s string) (err error) {
		*at, err = strconv.ParseFloat(s, 64)
		if *at != *at || *at < 0 || *at == 0 && strings.HasPrefix(s, "-") {
			err = strconv.ErrRange
		}
		return because(err, "%q is no number of at least 0", s)
	}}
}

func truth(name string, at *bool) field {
	return field{name, func() string { return unless(!*at, "true") }, func(s string) (err error) {
		if *at = s == "true"; !*at && s != "false" {
			err = strconv.ErrSyntax
		}
		return because(err, "%q is not true or false", s)
	}}
}

// word is one of some words, the first of which stands for first; usual, and what is below first, is not written.
func word[E ~uint8 | ~uint16](name string, at *E, usual, first E, words ...string) field {
	return field{name, func() string {
		if *at == usual || *at < first {
			return ""
		}
		return words[*at-first]
	}, func(s string) error {
		i := slices.Index(words, s)
		if i < 0 || s == "" {
			return fmt.Errorf("%q is none of %s", s, strings.TrimPrefix(strings.Join(words, ", "), ", "))
		}
		*at = first + E(i)
		return nil
	}}
}

// list is some values separated by commas.
func list[E any](name string, at *[]E, text func(E) string, parse func(string) (E, error)) field {
	return field{name, func() string {
		words := make([]string, len(*at))
		for i, e := range *at {
			words[i] = text(e)
		}
		return strings.Join(words, ",")
	}, func(s string) error {
		for part := range strings.SplitSeq(s, ",") {
			e, err := parse(part)
			if err != nil {
				return err
			}
			*at = append(*at, e)
		}
		return nil
	}}
}

func unless(usual bool, text string) string {
	if usual {
		return ""
	}
	return text
}

// because is a plain sentence instead of an error of package strconv or time.
func because(err error, format string, arguments ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

func words[E fmt.Stringer](from, to int, of func(int) E) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, of(i).String())
	}
	return all
}

// write adds a line with the fields that are not as usual.
func write(text *strings.Builder, start string, fields []field) {
	line := start
	for i := range fields {
		if value := fields[i].text(); value != "" {
			line += " " + fields[i].name + "=" + value
		}
	}
	if line != start || strings.Contains(start, " ") {
		text.WriteString(line + "\n")
	}
}

// read sets the fields that words name.
func read(fields []field, words []string) error {
	var errs []error
	seen := make(map[string]bool)
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case !ok || i < 0:
			var names []string
			for _, f := range fields {
				names = append(names, f.name)
			}
			errs = append(errs, fmt.Errorf("%q sets nothing: there are %s", w, strings.Join(names, ", ")))
		case seen[name]:
			errs = append(errs, fmt.Errorf("%s is set twice", name))
		default:
			seen[name] = true
			if err := fields[i].set(value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// String returns the text of w, which Parse reads.
func (w *World) String() string {
	var text strings.Builder
	for _, s := range w.sections() {
		write(&text, s.name, s.fields)
	}
	if w.Policy.Kind != "" {
		text.WriteString("policy " + w.Policy.Kind)
		for _, p := range w.Policy.Params {
			text.WriteString(" " + p.Name + "=" + p.Value)
		}
		text.WriteString("\n")
	}
	for i := range w.Faults {
		text.WriteString(w.Faults[i].String() + "\n")
	}
	return text.String()
}

// String returns the line of f, which ParseFault reads.
func (f *Fault) String() string {
	var line strings.Builder
	write(&line, "fault "+f.Kind.String(), f.fields())
	return strings.TrimSuffix(line.String(), "\n")
}

// ParseFault reads the line of a fault.
func ParseFault(line string) (Fault, error) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "fault" {
		return Fault{}, fmt.Errorf("%q is no fault: want fault, its kind, and what it sets as NAME=VALUE", line)
	}
	kind := slices.Index(faultNames[:], words[1])
	if kind <= 0 {
		return Fault{}, fmt.Errorf("no fault is called %q: there are %s", words[1], strings.Join(faultNames[1:], ", "))
	}
	f := Fault{Kind: FaultKind(kind)}
	if err := read(f.fields(), words[2:]); err != nil {
		return Fault{}, fmt.Errorf("fault %v: %w", f.Kind, err)
	}
	return f, nil
}

// mostText bounds the length of the text of a world.
const mostText = 1 << 20

// Parse reads the text of a world. Lines that are empty or begin with # say nothing. An
// error names the line.
func Parse(text string) (*World, error) {
	if len(text) > mostText {
		return nil, fmt.Errorf("parse world: %d bytes are more than %d", len(text), mostText)
	}
	w := &World{Store: engine.StoreOptions{LapseAfter: -1}.Complete()}
	seen := make(map[string]bool)
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if words[0] != "fault" && seen[words[0]] {
			return nil, fmt.Errorf("line %d: there are two lines of %s", number, words[0])
		}
		seen[words[0]] = true
		if err := w.line(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *World) line(words []string) error {
	switch words[0] {
	case "fault":
		f, err := ParseFault(strings.Join(words, " "))
		w.Faults = append(w.Faults, f)
		return err
	case "policy":
		return w.policyLine(words)
	}
	names := []string{"policy", "fault"}
	for _, s := range w.sections() {
		if s.name == words[0] {
			return read(s.fields, words[1:])
		}
		names = append(names, s.name)
	}
	return fmt.Errorf("no line begins with %q: there are %s", words[0], strings.Join(names, ", "))
}

func (w *World) policyLine(words []string) error {
	if len(words) < 2 {
		return errors.New("policy: its kind is missing")
	}
	w.Policy.Kind = words[1]
	for _, word := range words[2:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("policy: %q sets nothing", word)
		}
		w.Policy.Params = append(w.Policy.Params, Param{name, value})
	}
	return nil
}
