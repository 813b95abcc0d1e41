package reference

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// nearest returns the help text "did you mean WORD?" with the known word most similar to word; "" if none is similar.
func nearest(word string, known []string) string {
	near := plain.Nearest(word, known)
	return plain.When(near != "", fmt.Sprintf("did you mean %q?", near))
}

// UnknownName returns the error "no WHAT is named NAME"; its help: the most similar of names, or all if they are few.
func UnknownName(what, name string, names []string) *quantity.Error {
	e := quantity.Errorf("no %s is named %s", what, quantity.Quote(name))
	switch e.Help = nearest(name, names); {
	case e.Help != "":
	case len(names) > 0 && len(names) <= 12:
		e.Help = "there is " + strings.Join(plain.Map(names, quantity.Quote), ", ")
	case len(names) == 0:
		e.Note = "the scenario has no " + what
	}
	return e
}

// UnknownWord returns the error "unknown WHAT WORD"; its help: the most similar of words, which are valid, or help.
func UnknownWord(what, word string, words []string, help string) *quantity.Error {
	e := UnknownName(what, word, words)
	e.Message, e.Help = "unknown "+what+" "+quantity.Quote(word), cmp.Or(e.Help, help)
	return e
}

// UnknownKey returns the error "unknown key KEY"; its help: the most similar of the known keys, or all of them.
func UnknownKey(key string, known []string) *quantity.Error {
	e := quantity.Errorf("unknown key %s", quantity.Quote(key))
	e.Help = cmp.Or(nearest(key, known), plain.When(len(known) > 0, "known keys here: "+strings.Join(known, ", ")))
	return e
}

// synonym is a word of another job system for a setting, with the key of scenario files to write instead.
type synonym struct {
	In    string `yaml:"-"`     // type of the map that the word occurs in
	At    string `yaml:"-"`     // path of that map, as in Keys
	Words string `yaml:"words"` // words in lower case, without - and _, separated by spaces
	Key   string `yaml:"key"`   // path of the key, relative to that map; empty: the hint alone is enough
	Hint  string `yaml:"hint"`
}

//go:embed synonyms.yaml
var synonymText []byte

// Synonyms returns the words by which other job systems call settings, from synonyms.yaml, with the keys for them.
var Synonyms = sync.OnceValue(func() (all []synonym) {
	for _, m := range synonyms() {
		for _, s := range m.Words {
			s.In, s.At = m.In, m.At
			all = append(all, s)
		}
	}
	return all
})

var synonyms = tree.Builtin[[]struct {
	In, At string
	Words  []synonym
}]("synonyms.yaml", synonymText)

// help returns the text "write KEY: MEANING" for the author who wrote another system's word in the map with Go type in.
func (s *synonym) help(l *Language, in string) string {
	if s.Key == "" {
		return s.Hint
	}
	path, write := tree.Join(s.At, s.Key), s.Key
	if in != s.In {
		write = path
	}
	if s.Hint != "" {
		return fmt.Sprintf("write %s: %s", write, s.Hint)
	}
	k, _ := l.KeyOf(path) // a test checks that every path in the table exists
	return fmt.Sprintf("write %s: %s", write, k.Doc)
}

// synonymOf returns the synonym for an unknown key in the map that is decoded to the Go type called in; nil if none.
func synonymOf(in, word string) *synonym {
	word = plainWord(word)
	var elsewhere *synonym
	all := Synonyms()
	for i := range all {
		s := &all[i]
		switch {
		case !slices.Contains(strings.Fields(s.Words), word):
		case s.In == in:
			return s
		case elsewhere == nil && s.Key != "" && s.At == strings.ToLower(s.At) && s.At != "":
			elsewhere = s
		}
	}
	return elsewhere
}

// UnknownKey returns the error for an unknown key in around (or nil), the map that is decoded to the Go type called in.
// Its help is what to write instead: a key spelled alike, one of another map, or that for another system's word.
func (l *Language) UnknownKey(in, key string, around *yaml.Node) *quantity.Error {
	known := l.KeysIn(in)
	e := UnknownKey(key, known)
	s, near, rows := synonymOf(in, key), plain.Nearest(key, known), rowsAround(in, around)
	switch {
	case key == "kind" && (s == nil || s.In != in): // "kind" is a key of many maps
	case s != nil && s.In == in && near != strings.ToLower(key):
		e.Help = s.help(l, in)
	case near != "":
	case l.elsewhere(key) != "":
		e.Help = "write " + l.elsewhere(key)
	case s != nil:
		e.Help = s.help(l, in)
	case len(rows) > 0:
		e.Help = spell(rows)
	}
	return e
}

// elsewhere returns "PATH: MEANING" of the only key of that name in the language; "" if there is none, or several.
func (l *Language) elsewhere(key string) string {
	found := ""
	for _, k := range l.Keys {
		if k.Path == strings.ToLower(k.Path) && strings.HasSuffix(k.Path, "."+key) {
			if found != "" {
				return ""
			}
			found = k.Path + ": " + k.Doc
		}
	}
	return found
}

// rowsAround returns the combinations of keys of the kind of a map; nil if maps of the Go type called in have none.
func rowsAround(in string, around *yaml.Node) []kindRow {
	all := Tables()
	table := map[string]*KindTable{"Backoff": &all.Backoffs, "Arrivals": &all.Processes,
		"plainDistribution": &all.Distributions}[in]
	if table == nil || around == nil {
		return nil
	}
	kind := tree.Word(around, table.Key)
	if near := plain.Nearest(kind, table.Kinds()); kind != "" && near != "" {
		kind = near
	}
	return table.RowsOf(kind)
}

// MeansElsewhere reports whether word is what another job system calls key, a key of scenario files, or a key below it.
func MeansElsewhere(word string, key any) bool {
	word = plainWord(word)
	return slices.ContainsFunc(Synonyms(), func(s synonym) bool {
		leads := s.Key == key || strings.HasPrefix(s.Key, fmt.Sprint(key)+".")
		return leads && slices.Contains(strings.Fields(s.Words), word)
	})
}

// plainWord returns a word in the spelling of synonyms.yaml: in lower case, without - and _.
func plainWord(word string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
}
