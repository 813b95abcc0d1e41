package ui

import (
	"encoding/json"
	"io"

	layout "qsim/results/text"
)

// Output maps formats (json, table, markdown, csv) to functions that return the result of a command in that format.
type Output map[string]func() ([]byte, error)

// Print writes the result in a format, all at once, so that nothing is printed if it fails. For a format that is not in
// o it prints nothing: its lines were printed as soon as they were computed.
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

// Print writes a text to the standard output of a command, to; an error has the exit code ExitIO.
func Print(to io.Writer, text string) error {
	_, err := io.WriteString(to, text)
	return IOError("write result", err)
}

// Output returns an Output with the format json, and with table, markdown and csv, for which table is called with
// options: the format table fits the terminal.
func (t *Terminal) Output(json func() ([]byte, error), table func(o layout.TableOptions) string) Output {
	in := func(o layout.TableOptions) func() ([]byte, error) {
		return Text(func() string { return table(o) })
	}
	return Output{"json": json, "table": in(layout.TableOptions{Width: Width(), Color: t.Coloured()}),
		"markdown": in(layout.TableOptions{Format: layout.Markdown}), "csv": in(layout.TableOptions{Format: layout.CSV})}
}

// JSON returns a function for the format json of an Output, which encodes a value; indent is for each level.
func JSON(value any, indent string) func() ([]byte, error) {
	return func() ([]byte, error) {
		text, err := json.MarshalIndent(value, "", indent)
		return append(text, '\n'), err
	}
}

// Text returns a function for a format of an Output, made from one that returns the text and cannot fail.
func Text(of func() string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(of()), nil }
}
