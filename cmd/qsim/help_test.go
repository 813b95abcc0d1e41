package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every example of the help texts is a command line that its command understands, and
// every flag has a line that says what it is for, under one of the command's headings.
func TestHelpIsTrue(t *testing.T) {
	examples := 0
	for _, documented := range newRoot().Commands() {
		for line := range strings.Lines(documented.Example) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), "   ") // what follows explains it
			command, _, _ = strings.Cut(command, "|")
			command, _, _ = strings.Cut(command, ">")
			words := strings.Fields(command)
			if len(words) < 2 || words[0] != "qsim" {
				t.Errorf("example of %s is no command line: %q", documented.Name(), line)
				continue
			}
			examples++
			root := newRoot()
			found, rest, err := root.Find(words[1:])
			if err != nil || found.Name() != documented.Name() {
				t.Errorf("example of %s runs %s (%v): %q", documented.Name(), found.Name(), err, line)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("example of %s: %v: %q", documented.Name(), err, line)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("example of %s: %v: %q", documented.Name(), err, line)
			}
		}
		checkFlags(t, documented)
	}
	if examples < 10 {
		t.Errorf("found %d examples", examples)
	}
}

func checkFlags(t *testing.T, c *cobra.Command) {
	t.Helper()
	if c.Annotations[flagGroup] == "" {
		return
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		heading := strings.Join(f.Annotations[flagGroup], "")
		if f.Usage == "" || heading == "" || !strings.Contains(c.Annotations[flagGroup], heading+"\n") {
			t.Errorf("%s --%s: usage %q under heading %q", c.Name(), f.Name, f.Usage, heading)
		}
	})
}
