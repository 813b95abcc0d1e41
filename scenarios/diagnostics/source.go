package diagnostics

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// Source is the text of one scenario with the positions of its values, to find what an error at a position is about.
type Source struct {
	text   []byte
	lines  []sourceLine
	width  map[yaml.Mark]*yaml.Node  // scalars of the text, by position
	around map[*yaml.Node]*yaml.Node // maps of the text, by their keys
	paths  map[yaml.Mark]string      // paths of the text's values, by position
}

// sourceLine is one line of a scenario's text, with the first character in it that looks like another: see strange.
type sourceLine struct {
	text   string
	runes  []rune
	bad    *quantity.Error
	column int
}

// NewSource returns the Source of a scenario's text, as yet without the positions of values: Index adds these.
func NewSource(text []byte) *Source {
	s := &Source{text: text, width: map[yaml.Mark]*yaml.Node{}, around: map[*yaml.Node]*yaml.Node{},
		paths: map[yaml.Mark]string{}}
	for _, line := range splitLines(text) {
		bad, column := strange(line)
		s.lines = append(s.lines, sourceLine{line, []rune(line), bad, column})
	}
	return s
}

// Index records the positions and the paths, such as jobs.mail.service, of all values in a YAML node; path is its own.
func (s *Source) Index(node *yaml.Node, path string) {
	mark := yaml.Mark{Line: node.Line, Column: node.Column}
	if node.Kind == yaml.ScalarNode {
		s.width[mark] = node
	}
	if s.paths[mark] == "" || node.Kind == yaml.ScalarNode {
		s.paths[mark] = path
	}
	for i, c := range node.Content {
		at := path
		switch {
		case node.Kind == yaml.SequenceNode:
			name := cmp.Or(tree.Word(c, "class"), tree.Word(c, "name"), tree.Word(c, "label"), tree.Word(c, "kind"))
			at = tree.Join(path, cmp.Or(name, strconv.Itoa(i+1)))
		case i%2 == 0:
			s.around[c] = node
		default:
			at = tree.Join(path, node.Content[i-1].Value)
		}
		s.Index(c, at)
	}
}

// At returns the scalar that starts at a position of the file and, if it is a key, the map around it; nil if none is.
func (s *Source) At(mark yaml.Mark) (node, around *yaml.Node) {
	node = s.width[mark]
	return node, s.around[node]
}

// CharacterAt returns the character at a position of the file; 0 if there is none.
func (s *Source) CharacterAt(at yaml.Mark) rune {
	if at.Line < 1 || at.Line > len(s.lines) || at.Column < 1 || at.Column > len(s.lines[at.Line-1].runes) {
		return 0
	}
	return s.lines[at.Line-1].runes[at.Column-1]
}

// WidthOf returns the number of characters, at least 1, to underline for a scalar: its first line, with its quotes.
func WidthOf(node *yaml.Node) int {
	first, _, _ := strings.Cut(node.Value, "\n")
	width := utf8.RuneCountInString(first)
	if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		width += 2
	}
	return max(1, width)
}
