package plain

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text with � in place of characters that could harm a terminal: control characters except line ends
// and tabs, and those that change the direction of text. No name written by this program has any.
func Printable(text string) string { return strings.Map(printable, text) }

func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return utf8.RuneError
	}
	return r
}

var escapes = regexp.MustCompile(`\\(?:u[0-9A-Fa-f]{4}|.)`)

// PrintableJSON returns a JSON text with all its strings, also where escaped, made Printable; line breaks stay.
func PrintableJSON(text []byte) []byte {
	text = escapes.ReplaceAllFunc(text, func(escape []byte) []byte {
		switch escape[1] {
		case 'b', 'f', 'r':
			return []byte(`\ufffd`)
		case 'u':
			code, err := strconv.ParseUint(string(escape[2:]), 16, 32)
			if err == nil && printable(rune(code)) != rune(code) {
				return []byte(`\ufffd`)
			}
		}
		return escape
	})
	return bytes.Map(func(r rune) rune {
		if r == '\r' { // a space of JSON: in strings it is escaped
			return r
		}
		return printable(r)
	}, text)
}
