package bench

import (
	"encoding"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// textual is a flag with a value in the syntax of scenario files.
type textual[T any, P interface {
	*T
	encoding.TextUnmarshaler
}] struct {
	value T
	text  string // text of the command line, or the default
	kind  string // name of the value in the help text
}

// String returns the value as it was typed.
func (t *textual[T, P]) String() string { return t.text }

// Set parses a value in the syntax of scenario files.
func (t *textual[T, P]) Set(text string) error {
	if err := P(&t.value).UnmarshalText([]byte(text)); err != nil {
		return err
	}
	t.text = text
	return nil
}

// Type returns the name that the help text uses for the flag's value.
func (t *textual[T, P]) Type() string { return t.kind }

type (
	durationFlag = textual[scenarios.Duration, *scenarios.Duration]
	countFlag    = textual[scenarios.Count, *scenarios.Count]
	rateFlag     = textual[scenarios.Rate, *scenarios.Rate]
	shareFlag    = textual[scenarios.Share, *scenarios.Share]
)

// duration, count, rate and share return flags with a default in scenario syntax; "" is none.
func duration(text string) durationFlag { return preset(durationFlag{kind: "DURATION"}, text) }
func count(text string) countFlag       { return preset(countFlag{kind: "COUNT"}, text) }
func perSecond(text string) rateFlag    { return preset(rateFlag{kind: "RATE"}, text) }
func share(text string) shareFlag       { return preset(shareFlag{kind: "SHARE"}, text) }

func preset[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](t textual[T, P], text string) textual[T, P] {
	if text != "" {
		if err := t.Set(text); err != nil {
			panic("qbench: default of a flag: " + err.Error())
		}
	}
	return t
}

// speedFlag is the flag for a scenario's speed: seconds of the scenario per second.
type speedFlag struct{ world.Speed }

// Set parses a speed such as 20x.
func (s *speedFlag) Set(text string) (err error) {
	s.Speed, err = world.ParseSpeed(text)
	return err
}

// Type returns the name that the help text uses for the flag's value.
func (*speedFlag) Type() string { return "SPEED" }

// storeKinds is the flag for the kinds of stores to measure.
type storeKinds []string

// String returns the kinds of stores, separated by commas.
func (s *storeKinds) String() string { return strings.Join(*s, ",") }

// Set adds one kind of store, or several with commas between them.
func (s *storeKinds) Set(text string) error {
	for kind := range strings.SplitSeq(text, ",") {
		kind = strings.TrimSpace(kind)
		var chosen string
		if err := ui.Choose(&chosen, kind, memory, postgres); err != nil {
			return err
		}
		if slices.Contains(*s, kind) {
			return errors.New(kind + " is given twice")
		}
		*s = append(*s, kind)
	}
	return nil
}

// Type returns the name that the help text uses for the flag's value.
func (*storeKinds) Type() string { return "STORE" }

// changed returns the named flags of c that were set on the command line, each with --.
func changed(c *cobra.Command, names ...string) (given []string) {
	for _, name := range names {
		if c.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// seconds returns s seconds as text: 1.234ms, 12.3s.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < 10*time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
