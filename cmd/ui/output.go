package ui

import (
	"encoding/json"
	"io"

	layout "qsim/results/text"
)

// Output is the result of a command, with a function for each format that returns the text in that format.
type Output map[string]func() ([]byte, error)

// Print writes a result in a format, all at once, so that nothing is printed if it fails. It prints nothing for a
// format that the result lacks, such as one whose lines were printed as soon as they were computed.
func (o Output) Print(to io.Writer, format string) error {
	if o[format] == nil {
		return nil
	}
	text, err := o[format]()
	if err == nil {
		_, err = to.Write(text)
	}
	return IOError("write result", err)
}

// Print writes a text to the standard output of a command.
func Print(to io.Writer, text string) error {
	_, err := io.WriteString(to, text)
	return IOError("write result", err)
}

// Output returns an Output with the format json, and table, markdown and csv, which table returns; a table fits the
// terminal.
func (t *Terminal) Output(json func() ([]byte, error), table func(o layout.TableOptions) string) Output {
	in := func(o layout.TableOptions) func() ([]byte, error) {
		return Text(func() string { return table(o) })
	}
	return Output{"json": json, "table": in(layout.TableOptions{Width: Width(), Color: t.Coloured()}),
		"markdown": in(layout.TableOptions{Format: layout.Markdown}), "csv": in(layout.TableOptions{Format: layout.CSV})}
}

// JSON returns the function for the format json of an Output: it encodes a value as JSON, indented by level.
func JSON(value any, indent string) func() ([]byte, error) {
	return func() ([]byte, error) {
		text, err := json.MarshalIndent(value, "", indent)
		return append(text, '\n'), err
	}
}

// Text makes a function for a format of an Output from one that returns text and cannot fail, such as that of a table.
func Text(of func() string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(of()), nil }
}
