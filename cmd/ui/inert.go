package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"qsim/results/plain"
)

// palette lists the escape sequences (colours) that the commands print themselves and inert lets through.
var palette = []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"}

// inert is a writer to a terminal that neutralises control characters, which names and files may contain: line ends,
// tabs and the sequences in palette pass, others become �. So do characters that change the direction of text, and
// bytes that are not UTF-8, which some terminals take for control characters.
type inert struct {
	mutex sync.Mutex
	to    io.Writer
	held  []byte // begin of a possible sequence, to be completed by the next write
}

// inertOn returns a writer to file: an inert one if file is a terminal, else file itself.
func inertOn(file *os.File) io.Writer {
	if !term.IsTerminal(int(file.Fd())) {
		return file
	}
	return &inert{to: file}
}

// Write writes text, neutralised. Its end is held back, until the next write or flush, if it may begin a sequence.
func (w *inert) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.held) == 0 && utf8.Valid(text) && plain.Printable(string(text)) == string(text) {
		return w.to.Write(text)
	}
	out, held := shown(append(w.held, text...), false)
	w.held = bytes.Clone(held)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// WriteLink writes a line with words as a hyperlink (OSC 8) to an address, or plainly if that is "", past any inert.
func WriteLink(w io.Writer, words, address string) error {
	if address == "" {
		_, err := fmt.Fprintln(w, words)
		return err
	}
	if terminal, ok := w.(*inert); ok {
		if err := terminal.flush(); err != nil {
			return err
		}
		safe, _ := shown([]byte(words), true)
		w, words = terminal.to, string(safe)
	}
	_, err := fmt.Fprintf(w, "\x1b]8;;%s\x1b\\%s\x1b]8;;\x1b\\\n", address, words)
	return err
}

// flush writes what Write has held back.
func (w *inert) flush() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.held) == 0 {
		return nil
	}
	out, _ := shown(w.held, true)
	w.held = nil
	_, err := w.to.Write(out)
	return err
}

// shown returns in with its control characters neutralised. Unless last is set, held is an unfinished escape sequence
// or character at the end, which the next bytes may complete.
func shown(in []byte, last bool) (out, held []byte) {
	out = make([]byte, 0, len(in))
	for len(in) > 0 {
		size, more := colour(in)
		if !last && (more || !utf8.FullRune(in) || in[0] == '\r' && len(in) == 1) {
			return out, in
		}
		if size > 0 {
			out, in = append(out, in[:size]...), in[size:]
			continue
		}
		r, size := utf8.DecodeRune(in)
		letter := string(r)
		if endsLine := r == '\r' && len(in) > 1 && in[1] == '\n'; !endsLine {
			letter = plain.Printable(letter)
		}
		out, in = append(out, letter...), in[size:]
	}
	return out, nil
}

// colour returns the length of the palette sequence at the start of in, or 0. more: further bytes may complete one.
func colour(in []byte) (size int, more bool) {
	if in[0] != '\x1b' {
		return 0, false
	}
	for _, sequence := range palette {
		if bytes.HasPrefix(in, []byte(sequence)) {
			return len(sequence), false
		}
		more = more || strings.HasPrefix(sequence, string(in[:min(len(in), len(sequence))]))
	}
	return 0, more
}
