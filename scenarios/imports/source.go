package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// row holds the texts of one row of the input, by column.
type row struct {
	at   sourcePos
	text [columnCount]string // texts of the columns; empty: missing
	log  *logLine            // line of a log; nil: an ordinary row
}

// source yields the rows of one file.
type source interface {
	// next fills r, whose texts are valid until the next call, and returns io.EOF after the last row.
	next(r *row) error
}

// File is an input file with its name.
type File struct {
	Name   string
	Reader io.Reader
}

// input is the text of one file behind a source.
type input struct {
	ctx     context.Context
	file    File
	number  int // number of the file
	columns layout
	text    *bufio.Reader // reads from input itself
	left    int           // bytes that the present row may still have
}

const (
	// mostRowBytes is the longest row: a quote that is never closed would else make one row of the whole file.
	mostRowBytes = 16 << 20
	peeked       = 64 << 10
)

var errLongRow = fmt.Errorf("a row is longer than %d MiB: is a quote not closed?", mostRowBytes>>20)

// Read returns bytes of the file, or an error once ctx is done or one row is too long.
func (in *input) Read(b []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	if in.left <= 0 {
		return 0, errLongRow
	}
	n, err := in.file.Reader.Read(b)
	in.left -= n
	return n, err
}

func (in *input) begin() { in.left = mostRowBytes }

func (in *input) bad(line int64, err error) error { return &LineError{in.file.Name, line, err} }

// open detects the format of a file's text and returns a source of its rows.
func open(ctx context.Context, file File, number int, from string, columns layout) (source, error) {
	in := &input{ctx: ctx, file: file, number: number, columns: columns}
	in.begin()
	in.text = bufio.NewReaderSize(in, peeked)
	start, err := in.text.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		in.text.Discard(3) // it has been peeked at
		start = start[3:]
	}
	for _, sign := range []struct{ prefix, what string }{
		{"\xff\xfe", "the file is UTF-16: convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does"},
		{"\xfe\xff", "the file is UTF-16: convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does"},
		{"\x1f\x8b", "the file is compressed: pass what gunzip -c prints, with - for the file"},
	} {
		if bytes.HasPrefix(start, []byte(sign.prefix)) {
			return nil, in.bad(1, errors.New(sign.what))
		}
	}
	if at := bytes.IndexByte(start, 0); at >= 0 {
		line := 1 + bytes.Count(start[:at], []byte("\n"))
		return nil, in.bad(int64(line), errors.New("there is a zero byte: this is no text"))
	}
	text := bytes.TrimSpace(start)
	switch {
	case len(text) == 0:
		return nil, in.bad(1, errors.New("the file is empty"))
	case from == "sidekiq":
		return &lines{input: in, failed: map[string]string{}}, nil
	case text[0] == '{' || text[0] == '[':
		return newObjects(in), nil
	}
	return newTable(in, start)
}

// trimmed returns text without space around it, as valid UTF-8 with � for invalid bytes.
func trimmed(text string) string { return strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD") }
