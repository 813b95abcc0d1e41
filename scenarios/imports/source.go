package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// row is what one record of the input says, by role.
type row struct {
	at   place
	text [roleCount]string // empty: nothing
	log  *logLine          // of a log; nil: an ordinary row
}

// source yields the rows of one file.
type source interface {
	// next fills r, whose text is valid until the next call, and returns io.EOF after the last
	// row.
	next(r *row) error
}

const (
	// mostRowBytes is how long one row may be: a quote that is never closed would else make
	// one row of the whole file.
	mostRowBytes = 16 << 20
	peeked       = 64 << 10
)

// File is a file to read.
type File struct {
	Name   string
	Reader io.Reader
}

// watched passes bytes on until ctx is done or one row becomes too long.
type watched struct {
	ctx  context.Context
	from io.Reader
	left int // bytes of the present row
}

var errLongRow = fmt.Errorf("a row is longer than %d MiB: is a quote not closed?", mostRowBytes>>20)

func (w *watched) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.left <= 0 {
		return 0, errLongRow
	}
	n, err := w.from.Read(b)
	w.left -= n
	return n, err
}

// reset begins another row.
func (w *watched) reset() { w.left = mostRowBytes }

// open finds out what sort of text a file is.
func open(ctx context.Context, file File, number int, from string, columns layout) (source, error) {
	w := &watched{ctx: ctx, from: file.Reader}
	w.reset()
	text := bufio.NewReaderSize(w, peeked)
	start, err := text.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		text.Discard(3) // it has been peeked at
		start = start[3:]
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return nil, &LineError{file.Name, 1, errors.New("the file is UTF-16: convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does")}
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return nil, &LineError{file.Name, 1, errors.New("the file is compressed: pass what gunzip -c prints, with - for the file")}
	}
	if at := bytes.IndexByte(start, 0); at >= 0 {
		return nil, &LineError{file.Name, int64(1 + bytes.Count(start[:at], []byte("\n"))), errors.New("there is a zero byte: this is no text")}
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return nil, &LineError{file.Name, 1, errors.New("the file is empty")}
	}
	first := bytes.TrimLeft(start, " \t\r\n")[0]
	switch {
	case from == "sidekiq":
		return newLines(text, w, file.Name, number, columns), nil
	case first == '{' || first == '[':
		return newObjects(text, w, file.Name, number, columns), nil
	}
	return newTable(text, w, file.Name, number, columns, start)
}

// clean makes text valid UTF-8.
func clean(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}
