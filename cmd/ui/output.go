package ui

import (
	"bytes"
	"encoding/json"
	"io"

	layout "qsim/results/text"
)

// Output is the result of a command, with a writer function for each format.
type Output map[string]func(w io.Writer) error

// Print writes a result in a format, all at once, so that nothing is printed if it fails. It prints nothing for a
// format that the result lacks, such as one whose lines were printed as soon as they were computed.
func (o Output) Print(to io.Writer, format string) error {
	if o[format] == nil {
		return nil
	}
	text, err := o.Bytes(format)
	if err == nil {
		_, err = to.Write(text)
	}
	return IOError("write result", err)
}

// Bytes returns the result of a command in the given format, which it must have.
func (o Output) Bytes(format string) ([]byte, error) {
	var text bytes.Buffer
	err := o[format](&text)
	return text.Bytes(), err
}

// Output returns an Output with the format json, and table, markdown and csv, which table writes; a table fits the
// terminal.
func (t *Terminal) Output(json func(w io.Writer) error, table func(w io.Writer, o layout.TableOptions) error) Output {
	in := func(o layout.TableOptions) func(w io.Writer) error {
		return func(w io.Writer) error { return table(w, o) }
	}
	return Output{"json": json, "table": in(layout.TableOptions{Width: Width(), Color: t.Coloured()}),
		"markdown": in(layout.TableOptions{Format: layout.Markdown}), "csv": in(layout.TableOptions{Format: layout.CSV})}
}

// JSON returns a function that writes a value as JSON with an indent for each level.
func JSON(value any, indent string) func(w io.Writer) error {
	return func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", indent)
		return encoder.Encode(value)
	}
}

// Bytes returns a writer function for one format of an Output: it writes the bytes that the given function returns.
func Bytes(of func() ([]byte, error)) func(w io.Writer) error {
	return func(w io.Writer) error {
		text, err := of()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
}
