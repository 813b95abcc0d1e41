package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"qsim/cmd/ui"
	"qsim/scenarios"
)

// keyEntries are the keys of the language.
func keyEntries() ([]entry, error) {
	var entries []entry
	for _, k := range scenarios.Keys() {
		doc := firstSentence(k.Doc)
		if usual := usual(&k); usual != "" && len(usual) < 40 {
			doc += " (" + usual + ")"
		}
		entries = append(entries, entry{name: k.Path, doc: doc, data: k, detail: func(w io.Writer) error {
			fmt.Fprintf(w, "%s\n\n%s\n\nvalue: %s\n", k.Path, wrap(k.Doc, 80), k.Value)
			if usual := usual(&k); usual != "" {
				fmt.Fprintln(w, strings.Replace(usual, "default ", "default: ", 1))
			}
			for i, example := range k.Examples {
				fmt.Fprintln(w, []string{"for example: ", "             "}[min(i, 1)]+example)
			}
			return nil
		}})
	}
	return entries, nil
}

// usual says what stands for a key that is left out.
func usual(k *scenarios.Key) string {
	switch {
	case k.Required:
		return "required"
	case k.Default != "":
		return "default " + k.Default
	}
	return ""
}

// keysBelow returns the keys that a path leads to, with names for the words in capitals, or whose last part it is; and
// those below them.
func keysBelow(entries []entry, path string) (found []entry, one bool, err error) {
	var below []entry
	for _, e := range entries {
		switch {
		case leads(e.name, path), strings.HasSuffix(e.name, "."+path):
			found = append(found, e)
		}
	}
	for _, e := range entries {
		for _, above := range found {
			if strings.HasPrefix(e.name, above.name+".") {
				below = append(below, e)
				break
			}
		}
	}
	if found = append(found, below...); len(found) == 0 {
		names := entryNames(entries)
		for i := range names {
			if !strings.Contains(path, ".") {
				names[i] = names[i][strings.LastIndexByte(names[i], '.')+1:]
			}
		}
		return nil, false, ui.Unknown("key", path, names)
	}
	return found, len(found) == 1, nil
}

// leads reports whether a path is that of a key, in which a word in capitals stands for any name.
func leads(key, path string) bool {
	want, have := strings.Split(key, "."), strings.Split(path, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && want[i] != strings.ToUpper(want[i]) {
			return false
		}
	}
	return true
}

// kindEntries are the kinds of something that a scenario may have.
func kindEntries(of func(*scenarios.Kinds) []scenarios.Kind) func() ([]entry, error) {
	return func() ([]entry, error) {
		var entries []entry
		for _, kind := range of(scenarios.AllKinds()) {
			entries = append(entries, kindEntry(&kind, "key"))
		}
		return entries, nil
	}
}

// kindEntry describes a map of a kind, whose keys are called what.
func kindEntry(kind *scenarios.Kind, what string) entry {
	return entry{name: kind.Name, doc: kind.Doc, data: kind, kind: kind, detail: func(w io.Writer) error {
		var paragraphs []string
		for _, line := range strings.Split(kind.Doc, "\n") {
			paragraphs = append(paragraphs, wrap(line, 80))
		}
		fmt.Fprintf(w, "%s\n\n%s\n\n", kind.Name, strings.Join(paragraphs, "\n"))
		if len(kind.Keys) == 0 {
			_, err := fmt.Fprintf(w, "It takes no %ss: %s\n", what, kind.Example)
			return err
		}
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "%s\tvalue\tdefault\tmeaning\n", what)
		for _, k := range kind.Keys {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", k.Path, k.Value, shortUsual(&k), k.Doc)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s\n", kind.Example)
		return err
	}}
}

// shortUsual is usual for the cell of a table.
func shortUsual(k *scenarios.Key) string {
	return cmp.Or(strings.TrimPrefix(usual(k), "default "), "-")
}

// presetData is a preset for programs.
func presetData(p *scenarios.Preset) any {
	values := map[string]string{}
	for _, s := range p.Settings() {
		values[s.Path] = s.Value
	}
	return map[string]any{"name": p.Name, "aliases": p.Aliases, "doc": p.Doc, "source": p.Source, "approximates": p.Approximates, "values": values}
}

// data returns entries for programs.
func data(entries []entry) []any {
	all := make([]any, len(entries))
	for i, e := range entries {
		if all[i] = e.data; e.data == nil {
			all[i] = map[string]string{"name": e.name, "doc": e.doc}
		}
	}
	return all
}
