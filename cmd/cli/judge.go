package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results/text"
)

// judging lists the further formats of commands with verdicts: annotations of a GitHub workflow, and JUnit XML.
var judging = []string{"github", "junit"}

// judges makes a command print in these formats an error that kept it from any verdict, too: continuous integration
// reads a test case with an error, or an annotation, and not an empty file. The exit code is that of the error.
func judges(c *cobra.Command, format *string) *cobra.Command {
	check, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, names []string) error { return unjudged(c, *format, "", check(c, names)) }
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		rest := cobra.Command{FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}} // after the wrong one no flag was read
		rest.Flags().StringVar(format, "format", *format, "")
		_ = rest.ParseFlags(os.Args[1:])
		return unjudged(c, *format, "", c.Parent().FlagErrorFunc()(c, err))
	})
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		return unjudged(c, *format, "", ui.ReadEnvironment(c))
	}
	c.RunE = func(c *cobra.Command, names []string) error {
		out, said := &witness{to: c.OutOrStdout()}, &witness{to: c.ErrOrStderr()}
		if slices.Contains(judging, *format) {
			c.SetOut(out)
			c.SetErr(said)
		}
		err := run(c, names)
		if out.text.Len() > 0 {
			return err
		}
		return unjudged(c, *format, said.text.String(), err)
	}
	return c
}

// unjudged returns err after printing it, if it is one, in a format of judging. said is the text on standard error,
// used for an error without a text.
func unjudged(c *cobra.Command, format, said string, err error) error {
	if err == nil || !slices.Contains(judging, format) {
		return err
	}
	if failure := (*ui.Failure)(nil); !errors.As(err, &failure) || failure.Err != nil {
		said = err.Error()
	}
	failed := []text.Suite{{Name: c.CommandPath(), Error: said}}
	ui.Settle(c, ui.Output{
		"junit":  func(w io.Writer) error { return text.WriteJUnit(w, failed) },
		"github": func(w io.Writer) error { return writeGithub(w, annotationsOf(failed)) },
	}.Print(c.OutOrStdout(), format))
	return err
}

// witness is a writer that copies all writes to another writer.
type witness struct {
	mutex sync.Mutex
	to    io.Writer
	text  bytes.Buffer
}

// Write writes text to the other writer and keeps it.
func (w *witness) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.text.Write(text)
	return w.to.Write(text)
}
