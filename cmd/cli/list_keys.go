package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"qsim/cmd/ui"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/checked"
)

func keyEntry(k scenarios.Key) entry {
	doc := firstSentence(k.Doc)
	unset := whenUnset(&k)
	doc += plain.When(unset != "" && len(unset) < 40, " ("+unset+")")
	return entry{name: k.Path, doc: doc, data: k, detail: func(w io.Writer, width int) {
		fmt.Fprintf(w, "%s\n\n%s\n\nvalue: %s\n", k.Path, wrap(k.Doc, width), k.Value)
		fmt.Fprint(w, plain.When(unset != "", strings.Replace(unset, "default ", "default: ", 1)+"\n"))
		for i, example := range k.Examples {
			fmt.Fprintln(w, []string{"for example: ", "             "}[min(i, 1)]+example)
		}
	}}
}

// whenUnset returns, as text, the effect of leaving a key out of a scenario: "required", "default 30s", or "".
func whenUnset(k *scenarios.Key) string {
	return plain.Either(k.Required, "required", plain.When(k.Default != "", "default "+k.Default))
}

// keysBelow returns those of the given scenario keys whose path is, or ends with, path, and then all keys below them; a
// word in capitals in a key's path, such as CLASS, stands for any name.
func keysBelow(entries []entry, path string) (found []entry, err error) {
	var below []entry
	for _, e := range entries {
		if leads(e.name, path) || strings.HasSuffix(e.name, "."+path) {
			found = append(found, e)
		}
	}
	for _, e := range entries {
		if slices.ContainsFunc(found, func(above entry) bool { return strings.HasPrefix(e.name, above.name+".") }) {
			below = append(below, e)
		}
	}
	if found = append(found, below...); len(found) == 0 {
		names := entryNames(entries)
		for i := range names {
			if !strings.Contains(path, ".") {
				names[i] = names[i][strings.LastIndexByte(names[i], '.')+1:]
			}
		}
		return nil, ui.Unknown("key", path, names)
	}
	return found, nil
}

// leads reports whether path matches the path of a key, where a word in capitals in key stands for any name.
func leads(key, path string) bool {
	return slices.EqualFunc(strings.Split(key, "."), strings.Split(path, "."), func(want, have string) bool {
		return want == have || want == strings.ToUpper(want)
	})
}

// kindEntries returns the entries of `qsim list` for some kinds, such as the kinds of storms.
func kindEntries(kinds []scenarios.Kind) []entry {
	return plain.Map(kinds, func(kind scenarios.Kind) entry { return kindEntry(&kind, "key") })
}

// kindEntry returns the entry of `qsim list` for a kind of storm, policy or the like, with its keys or parameters.
func kindEntry(kind *scenarios.Kind, what string) entry {
	return entry{name: kind.Name, doc: kind.Doc, data: kind, kind: kind, detail: func(w io.Writer, width int) {
		fmt.Fprintf(w, "%s\n\n%s\n\n", kind.Name, wrap(kind.Doc, width))
		if len(kind.Keys) == 0 {
			fmt.Fprintf(w, "It takes no %ss: %s\n", what, kind.Example)
			return
		}
		t := text.Table{Columns: []text.Column{{Title: what, Key: true}, {Title: "value", Wrap: true},
			{Title: "default", Wrap: true}, {Title: "meaning", Wrap: true}}}
		for _, k := range kind.Keys {
			t.Add(k.Path, k.Value, defaultOf(&k), k.Doc)
		}
		fmt.Fprintln(w, strings.Join(t.Lines(ui.Width(), false), "\n"))
		fmt.Fprintf(w, "\n%s\n", text.Indented(kind.Example, ui.Width(), 4))
	}}
}

// defaultOf returns the default of a key for a table cell: "30s", "required", or "-".
func defaultOf(k *scenarios.Key) string {
	return cmp.Or(strings.TrimPrefix(whenUnset(k), "default "), "-")
}

func presetData(p *scenarios.Preset) any {
	values := map[string]string{}
	for _, s := range p.Settings() {
		values[s.Path] = s.Value
	}
	return map[string]any{"name": p.Name, "aliases": p.Aliases, "doc": p.Doc, "source": p.Source,
		"approximates": p.Approximates, "values": values, "checked": checked.Of(p)}
}

func data(entries []entry) []any {
	all := make([]any, len(entries))
	for i, e := range entries {
		if all[i] = e.data; e.data == nil {
			all[i] = map[string]string{"name": e.name, "doc": e.doc}
		}
	}
	return all
}

// listMarkdown returns entries as Markdown for a manual: keys as a table for each part of a scenario; kinds and presets
// under separate headings; other topics as one table.
func listMarkdown(entries []entry) string {
	var out strings.Builder
	var header []string // of the table at the end, which may get more rows
	var rows [][]string
	part := ""
	for i, e := range entries {
		k, isKey := e.data.(scenarios.Key)
		switch {
		case e.kind != nil:
			writeHeading(&out, i, e.name, e.kind.Doc)
			writeKind(&out, e.kind)
		case e.preset != nil:
			writeHeading(&out, i, e.name, e.doc)
			writePreset(&out, e.preset)
		case isKey:
			of, _, below := strings.Cut(k.Path, ".")
			of = plain.Either(below || k.Value == "map" || k.Value == "list of maps", of, "top level")
			if of != part {
				out.WriteString(markdownTable(header, rows))
				writeHeading(&out, i, of, "")
				rows = nil
			}
			part, header, rows = of, keyHeader, append(rows, keyRow(&k))
		default:
			headers, cells := []string{"name", "meaning"}, []string{"`" + e.name + "`", e.doc}
			for _, c := range e.columns {
				headers, cells = append(headers, c.name), append(cells, c.text)
			}
			header, rows = headers, append(rows, cells)
		}
	}
	return out.String() + markdownTable(header, rows)
}

// column is an extra cell of an entry in a Markdown table, with the title of its column.
type column struct{ name, text string }

func writeHeading(out *strings.Builder, index int, title, doc string) {
	fmt.Fprintf(out, "%s### %s\n\n", plain.When(index > 0, "\n"), title)
	if doc = strings.ReplaceAll(strings.TrimSpace(doc), "\n", " "); doc != "" {
		fmt.Fprintf(out, "%s\n\n", markdown(doc))
	}
}

func writeKind(out *strings.Builder, kind *scenarios.Kind) {
	if len(kind.Keys) > 0 {
		out.WriteString(markdownTable(keyHeader, plain.Map(kind.Keys, func(k scenarios.Key) []string { return keyRow(&k) })))
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "```yaml\n%s\n```\n", kind.Example)
}

// writePreset prints a preset as Markdown: its values, their source and its known deviations.
func writePreset(out *strings.Builder, p *scenarios.Preset) {
	out.WriteString(plain.When(len(p.Aliases) > 0, "Also called `"+strings.Join(p.Aliases, "`, `")+"`.\n\n"))
	cells := func(s scenarios.Setting) []string { return []string{"`" + s.Path + "`", "`" + s.Value + "`"} }
	out.WriteString(markdownTable([]string{"key", "value"}, plain.Map(p.Settings(), cells)))
	fmt.Fprintf(out, "\nSource: %s.\n", markdown(strings.TrimSuffix(p.Source, ".")))
	fmt.Fprintf(out, "\n%s.\n", markdown(plain.Capital(checked.Of(p).Sentence(p))))
	for i, a := range checked.Measured(p) {
		fmt.Fprintf(out, "%s- %s\n", plain.When(i == 0, "\nWhat differs from it:\n\n"), markdown(a))
	}
}

var keyHeader = []string{"key", "value", "default", "meaning"}

func keyRow(k *scenarios.Key) []string {
	unset := defaultOf(k)
	quote := plain.When(unset != "-" && unset != "required", "`")
	return []string{"`" + k.Path + "`", k.Value, quote + unset + quote, k.Doc}
}

// markdownTable returns a table as Markdown; "" without rows.
func markdownTable(header []string, rows [][]string) string {
	escaped := plain.Map(rows, func(row []string) []string { return plain.Map(row, markdown) })
	return plain.When(len(rows) > 0, text.MarkdownTable(header, escaped, nil)+"\n")
}

// markdown returns a text as one line, with characters escaped that would count as emphasis or a tag in Markdown.
func markdown(text string) string {
	parts := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\n", " "), "`")
	for i := 0; i < len(parts); i += 2 { // text between backquotes is not escaped
		parts[i] = strings.NewReplacer("*", "\\*", "<", "&lt;").Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
