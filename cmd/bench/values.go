package bench

import (
	"encoding"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
)

// addValue defines a flag whose value has the syntax of scenario files and is decoded into the variable to. standard is
// the default, or "" to leave the variable as it is; kind is the name of the value in the help text.
func addValue(c *cobra.Command, to encoding.TextUnmarshaler, name, kind, standard, usage string) {
	shown := ""
	parse := func(text string) error {
		if err := to.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		shown = text
		return nil
	}
	if standard != "" {
		if err := parse(standard); err != nil {
			panic("qbench: default of a flag: " + err.Error())
		}
	}
	c.Flags().Var(&ui.Value{Kind: kind, Show: func() string { return shown }, Parse: parse}, name, usage)
}

// addStores defines the flag --store, a list of kinds of stores to measure, separated by commas.
func addStores(c *cobra.Command, to *[]string, usage string) {
	parse := func(text string) error {
		for kind := range strings.SplitSeq(text, ",") {
			kind = strings.TrimSpace(kind)
			var chosen string
			if err := ui.Choose(&chosen, kind, memory, postgres); err != nil {
				return err
			}
			if slices.Contains(*to, kind) {
				return errors.New(kind + " is given twice")
			}
			*to = append(*to, kind)
		}
		return nil
	}
	show := func() string { return strings.Join(*to, ",") }
	c.Flags().Var(&ui.Value{Kind: "STORE", Show: show, Parse: parse}, "store", usage)
}

// changed returns those of the named flags that were set on a command's command line, each with -- before its name.
func changed(c *cobra.Command, names ...string) (given []string) {
	for _, name := range names {
		if c.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// typed returns one of a command's flags with its value, as on a command line: --rate 2k/s.
func typed(c *cobra.Command, name string) string {
	return "--" + name + " " + c.Flags().Lookup(name).Value.String()
}

// seconds returns a number of seconds as text, rounded to three digits or more: 1.23ns, 123ns, 1.234ms, 12.3s.
func seconds(s float64) string {
	d := time.Duration(math.Round(s * float64(time.Second)))
	switch {
	case s > 0 && d < time.Microsecond:
		return strconv.FormatFloat(s*float64(time.Second), 'g', 3, 64) + "ns"
	case d < 10*time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
