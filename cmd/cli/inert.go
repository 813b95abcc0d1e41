package cli

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// inert is a writer to a terminal that shows what names and files contain and does not let
// the terminal carry it out: of all control characters the ends of lines, tabs and what
// sets colours pass, the others become �. So do those that turn the direction of text.
type inert struct {
	mutex sync.Mutex
	to    io.Writer
	held  []byte // the begin of what may be a sequence, to be told by what is written next
}

const longestSequence = 32

// Write implements io.Writer.
func (w *inert) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.held) == 0 && !bytes.ContainsFunc(text, active) && utf8.Valid(text) {
		return w.to.Write(text)
	}
	in := append(w.held, text...)
	w.held = nil
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if in[0] == '\x1b' {
			size, whole := colour(in)
			if !whole {
				w.held = bytes.Clone(in)
				break
			}
			if size > 0 {
				out, in = append(out, in[:size]...), in[size:]
				continue
			}
		}
		if !utf8.FullRune(in) || in[0] == '\r' && len(in) == 1 {
			w.held = bytes.Clone(in)
			break
		}
		r, size := utf8.DecodeRune(in)
		endsLine := r == '\r' && in[1] == '\n'
		if active(r) && !endsLine {
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// active reports whether a terminal does something at r but show it.
func active(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069': // directions
		return true
	}
	return r < ' ' || r >= 0x7f && r < 0xa0
}

// colour is the length of the sequence that in begins with and that sets colours, ESC [
// numbers m; 0 if it is another one. It is not whole if more must be known to tell.
func colour(in []byte) (size int, whole bool) {
	for i := 1; i < min(len(in), longestSequence); i++ {
		switch c := in[i]; {
		case i == 1 && c == '[', i > 1 && (c >= '0' && c <= '9' || c == ';'):
		case i > 1 && c == 'm':
			return i + 1, true
		default:
			return 0, true
		}
	}
	return 0, len(in) >= longestSequence
}
