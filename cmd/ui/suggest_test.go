package ui

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// example returns a program with the commands run, which calls ran, and report. It suggests run for a word that begins
// with a capital.
func example(ran func(c *cobra.Command) error) *cobra.Command {
	root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil },
		Args: UnknownCommand(func(word string) string {
			if strings.ToUpper(word[:1]) == word[:1] {
				return "tool run " + word
			}
			return ""
		})}
	run := &cobra.Command{Use: "run", Short: "run it", RunE: func(c *cobra.Command, _ []string) error { return ran(c) }}
	run.Flags().Int("seeds", 1, "so many")
	run.Flags().StringArray("set", nil, "a key")
	run.Flags().Bool("strict", false, "do not forgive")
	Group(run, "What to run", "seeds", "set")
	Group(run, "How", "strict")
	report := &cobra.Command{Use: "report", Short: "tell of it", RunE: func(*cobra.Command, []string) error { return nil }}
	root.AddCommand(run, report)
	Add(root, "About", newVersion())
	setHelp(root)
	return root
}

func TestUnknown(t *testing.T) {
	for _, tt := range []struct {
		name      string
		arguments []string
		want      string
	}{
		{"no command", nil, ""},
		{"a command", []string{"report"}, ""},
		{"a misspelled command", []string{"reprot"}, "unknown command reprot; did you mean report?"},
		{"what a command is for", []string{"Storm"}, "unknown command Storm; did you mean tool run Storm?"},
		{"no such command", []string{"frobnicate"}, "unknown command frobnicate; tool --help lists them"},
		{"a flag of a misspelled command", []string{"--seeds=3", "reprot"}, "unknown command reprot; did you mean report?"},
		{"a flag of no command", []string{"--seeds=3"}, "unknown flag --seeds; tool --help lists them"},
		{"a misspelled flag", []string{"run", "--sedes", "3"}, "unknown flag --sedes; did you mean --seeds?"},
		{"no such flag", []string{"run", "--frobnicate"}, "unknown flag --frobnicate; tool run --help lists them"},
		{"a capital letter", []string{"run", "-H"}, "unknown flag -H; did you mean -h (--help)?"},
		{"no such letter", []string{"run", "-x"}, "unknown flag -x; tool run --help lists them"},
		{"no value", []string{"run", "--seeds"}, "--seeds needs a value; tool run --help explains it"},
		{"no number", []string{"run", "--seeds", "x"}, "--seeds x: want a whole number"},
		{"a large number", []string{"run", "--seeds", "99999999999999999999"}, "--seeds 99999999999999999999: is out of range"},
		{"neither true nor false", []string{"run", "--strict=perhaps"}, "--strict perhaps: want true or false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := example(func(*cobra.Command) error { return nil })
			root.SetArgs(tt.arguments)
			root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return explainFlag(c, tt.arguments, err) })
			got := ""
			if err := root.ExecuteContext(context.Background()); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct{ text, chosen, want string }{
		{"csv", "csv", ""},
		{"cvs", "table", "did you mean csv? (want table, csv or json)"},
		{"picture", "table", "want table, csv or json"},
		{"", "table", "want table, csv or json"},
	} {
		chosen, got := "table", ""
		if err := Choose(&chosen, tt.text, "table", "csv", "json"); err != nil {
			got = err.Error()
		}
		if chosen != tt.chosen || got != tt.want {
			t.Errorf("%q: chose %q and said %q, want %q and %q", tt.text, chosen, got, tt.chosen, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name      string
		variables []string
		arguments []string
		seeds     string
		set       []string
		want      string
	}{
		{"none", nil, nil, "1", []string{}, ""},
		{"a number", []string{"TOOL_SEEDS=4"}, nil, "4", []string{}, ""},
		{"the command line wins", []string{"TOOL_SEEDS=4"}, []string{"--seeds", "5"}, "5", []string{}, ""},
		{"two values", []string{"TOOL_SET=a=1;b=2"}, nil, "1", []string{"a=1", "b=2"}, ""},
		{"two mistakes", []string{"TOOL_SEEDS=many", "TOOL_STRICT=perhaps"}, nil, "0", []string{}, "TOOL_SEEDS=many: want a whole number\nTOOL_STRICT=perhaps: want true or false"},
		{"an empty one", []string{"TOOL_SEEDS="}, nil, "1", []string{}, ""},
		{"of another program", []string{"QTOOL_SEEDS=4"}, nil, "1", []string{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, setting := range tt.variables {
				name, value, _ := strings.Cut(setting, "=")
				t.Setenv(name, value)
			}
			var run *cobra.Command
			root := example(func(c *cobra.Command) error {
				run = c
				return ReadEnvironment(c)
			})
			root.SetArgs(append([]string{"run"}, tt.arguments...))
			got := ""
			if err := root.ExecuteContext(context.Background()); err != nil {
				got = err.Error()
			}
			set, err := run.Flags().GetStringArray("set")
			if err != nil {
				t.Fatal(err)
			}
			if seeds := run.Flags().Lookup("seeds").Value.String(); got != tt.want || seeds != tt.seeds || !slices.Equal(set, tt.set) {
				t.Errorf("got %q with seeds %s and set %q, want %q, %s and %q", got, seeds, set, tt.want, tt.seeds, tt.set)
			}
		})
	}
}

func TestWarnOfVariables(t *testing.T) {
	t.Setenv("TOOL_SEEDS", "4")
	t.Setenv("TOOL_SEDES", "4")
	t.Setenv("TOOL_FROBNICATE", "4")
	root := example(func(*cobra.Command) error { return nil })
	var got bytes.Buffer
	warnOfVariables(root, &got)
	for _, want := range []string{"tool: warning: no flag has the variable TOOL_SEDES; did you mean TOOL_SEEDS?\n", "tool: warning: no flag has the variable TOOL_FROBNICATE\n"} {
		if strings.Count(got.String(), want) != 1 {
			t.Errorf("got %q, want it to have %q", got.String(), want)
		}
	}
	if n := strings.Count(got.String(), "\n"); n != 2 {
		t.Errorf("%d lines:\n%s", n, got.String())
	}
}
