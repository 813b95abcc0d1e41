package diagnostics

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// Cause returns the author's likely mistake behind an error of the YAML parser, such as a no-break space, a dash for a
// hyphen, or a placeholder of a template language, and sets mark to its position, which may be a line earlier than that
// of the error. It returns nil, and leaves mark, if it finds none.
func (s *Source) Cause(e *yaml.LoadError, mark *yaml.Mark) *quantity.Error {
	if e.Mark.Line < 1 || e.Mark.Line > len(s.lines) {
		return nil
	}
	syntax := e.Stage != yaml.ConstructorStage
	lines := []int{e.Mark.Line}
	if syntax && e.Mark.Line > 1 {
		lines = []int{e.Mark.Line - 1, e.Mark.Line}
	} else if strings.HasSuffix(e.Message, "has no value") && e.Mark.Line < len(s.lines) {
		lines = []int{e.Mark.Line, e.Mark.Line + 1} // the next line need not be part of it
	}
	for _, number := range lines {
		if line := &s.lines[number-1]; line.bad != nil {
			*mark = yaml.Mark{Line: number, Column: line.column}
			return line.bad
		}
	}
	from, text := 0, s.lines[e.Mark.Line-1].text
	if !syntax {
		if from = e.Mark.Column - 1; from > 0 && s.CharacterAt(yaml.Mark{Line: e.Mark.Line, Column: from}) == '{' {
			from-- // the outer of two templates
		}
		line := s.lines[e.Mark.Line-1].runes
		from = max(0, min(from, len(line)))
		text = string(line[from:min(len(line), from+64)])
	}
	found := template.FindStringIndex(text)
	switch {
	case found == nil && syntax && e.ContextMark.Line > 0 && neverClosed(e):
		*mark = e.ContextMark
		return SyntaxError(e)
	case found == nil, !syntax && len(strings.Trim(text[:found[0]], `"'{ `)) > 0:
		return nil
	}
	*mark = yaml.Mark{Line: e.Mark.Line, Column: 1 + from + len([]rune(text[:found[0]]))}
	return s.noTemplate(*mark)
}

const noTemplates = "there are no templates in scenarios"

func (s *Source) noTemplate(at yaml.Mark) *quantity.Error {
	help := fmt.Sprintf("write a value, and give another by --set %s=VALUE", s.pathAt(at))
	return &quantity.Error{Message: noTemplates, Help: help}
}

// Alike returns found, the errors in a file; if the first is about a template placeholder or an odd space, where the
// parser stops, with all others of both sorts in the text added, up to mostAlike errors.
func (s *Source) Alike(found List) List {
	if first := found[0]; first.Message != noTemplates && first.Help != plainSpace {
		return found
	}
	for i, line := range s.lines {
		text, _, _ := strings.Cut(line.text, " #")
		for _, match := range alike.FindAllStringSubmatchIndex(text, mostAlike) {
			at := yaml.Mark{Line: i + 1, Column: 1 + len([]rune(text[:max(match[2], match[4])]))}
			if match[4] >= 0 {
				found = found.withAt(at, s.noTemplate(at))
			} else if line.column == at.Column {
				found = found.withAt(at, line.bad)
			}
			if len(found) >= mostAlike {
				return found
			}
		}
	}
	return found
}

// mostAlike is the highest number of errors about template placeholders and odd spaces that a file's list is extended
// to: for each placeholder the file is parsed once more.
const mostAlike = 20

// withAt returns the list with an error appended at a position, unless the list has a diagnostic there already.
func (ds List) withAt(at yaml.Mark, bad *quantity.Error) List {
	if slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Line == at.Line && d.Col == at.Column }) {
		return ds
	}
	return append(ds, Of(bad, at))
}

// template matches placeholders for values in the notations of other tools, such as ${NAME}.
var template = regexp.MustCompile(`\$\{[^}]*\}|\$\([^)]*\)|\{\{[^}]*\}\}|<%.*%>|\$[A-Z_][A-Z0-9_]*`)

// pathAt returns the path of the key whose value, or template placeholder, is at a position of the file; else "KEY".
func (s *Source) pathAt(at yaml.Mark) string {
	masked := template.ReplaceAllFunc(s.text, func(found []byte) []byte { return bytes.Repeat([]byte("0"), len(found)) })
	plain, _ := tree.Parse(masked)
	if plain == nil {
		return "KEY"
	}
	seen := NewSource(nil)
	seen.Index(plain, "")
	if path := seen.paths[at]; path != "" {
		return path
	}
	return "KEY"
}

// strange returns an error about the first character of a line that looks like another, such as a no-break space, and
// its column from 1; nil if there is none.
func strange(line string) (*quantity.Error, int) {
	column, quote, begun := 0, rune(0), false
	for _, r := range line {
		column++
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '#':
			return nil, 0
		case spacesLookAlike[r] != "":
			return &quantity.Error{Message: fmt.Sprintf("%s (U+%04X)", spacesLookAlike[r], r), Help: plainSpace}, column
		case !begun && strings.ContainsRune("–—−", r):
			return &quantity.Error{Message: fmt.Sprintf("a dash (U+%04X) begins no item of a list", r),
				Help: "write a hyphen: -"}, column
		case strings.ContainsRune("“”„‘’", r):
			return &quantity.Error{Message: fmt.Sprintf("a typographic quote (U+%04X)", r),
				Help: `write a plain one: "`}, column
		}
		begun = begun || r != ' ' && spacesLookAlike[r] == ""
	}
	return nil, 0
}

const plainSpace = "replace it by a plain space"

// alike matches, in a line of YAML, a template placeholder as a value, or an unusual space before a key or a value.
var alike = regexp.MustCompile(`(?:^|:) *([\x{a0}\x{2007}\x{202f}\x{3000}\x{200b}\x{2009}])` +
	`|[:,\[{-] *["']?(` + template.String() + `)`)

var spacesLookAlike = map[rune]string{
	'\u00a0': "a no-break space", '\u2007': "a figure space", '\u202f': "a narrow no-break space",
	'\u3000': "an ideographic space", '\u200b': "a zero-width space", '\u2009': "a thin space",
}

// neverClosed reports whether an error of the YAML parser means a bracket or quote never closed, noticed too late.
func neverClosed(e *yaml.LoadError) bool {
	return strings.Contains(e.Message, "unexpected end of stream") ||
		strings.Contains(e.Message, "did not find expected ','")
}

// syntaxErrors lists errors of the YAML parser, by a part of their text, and what the file's author is told instead.
var syntaxErrors = []struct {
	says, message, help string
	alone               bool // the place where the value around it starts is of no help
}{
	{"exceeded max depth", fmt.Sprintf("nested too deeply (at most %d levels)", tree.MostDepth), "", true},
	{"cannot start any token", "a value cannot start with this character", "put the value in quotes", false},
	{"mapping values are not allowed", "a `:` cannot stand here", "put each key on a line of its own and a value " +
		"that holds `: ` in quotes; does the line before lack its `:`?", false},
	{"could not find expected ':'", "this line has no `:`", "write a key, a colon, a space and a value", false},
	{"did not find expected ',' or '}'", "the { is never closed",
		"close it with }, or put a comma between its keys", true},
	{"did not find expected ',' or ']'", "the [ is never closed",
		"close it with ], or put a comma between its items", true},
	{"found unexpected end of stream", "the quote is never closed", "end the text with the same quote", true},
	{"did not find expected key", wrongIndent, rightIndent, true},
	{"did not find expected '-' indicator", wrongIndent, rightIndent, true},
	{"did not find expected node content", "a value is missing here", "is a bracket or a brace left over?", true},
}

const (
	wrongIndent = "the indentation fits nothing above it"
	rightIndent = "put the keys of one map, or the hyphens of one list, in one column"
)

// SyntaxError returns an error of the YAML parser about text that is not YAML, reworded and with help for the author.
func SyntaxError(e *yaml.LoadError) *quantity.Error {
	for _, known := range syntaxErrors {
		if strings.Contains(e.Message, known.says) {
			bad := &quantity.Error{Message: known.message, Help: known.help}
			if !known.alone {
				bad.Note = context(e)
			}
			return bad
		}
	}
	return &quantity.Error{Message: strings.TrimPrefix(e.Message, "yaml: "), Note: context(e)}
}

// context returns the note "... that starts on line N" about the value around a parser's error; "" if none is needed.
func context(e *yaml.LoadError) string {
	if e.ContextMsg == "" || e.ContextMark.Line <= 0 || e.ContextMark == e.Mark {
		return ""
	}
	return fmt.Sprintf("%s that starts on line %d", e.ContextMsg, e.ContextMark.Line)
}
