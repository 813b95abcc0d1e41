package cli

import (
	"fmt"
	"io"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/checked"
)

// listMarkdown prints entries as Markdown for a manual: keys as a table for each part of a scenario; kinds and presets
// under separate headings; other topics as one table.
func listMarkdown(w io.Writer, entries []entry) error {
	var out strings.Builder
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
			if !below && k.Value != "map" && k.Value != "list of maps" {
				of = "top level"
			}
			if of != part {
				writeHeading(&out, i, of, "")
				writeHead(&out, "key", "value", "default", "meaning")
			}
			part = of
			writeKeyRow(&out, k.Path, &k)
		default:
			headers, cells := []string{"name", "meaning"}, []string{"`" + e.name + "`", e.doc}
			for _, c := range e.columns {
				headers, cells = append(headers, c.name), append(cells, c.text)
			}
			if i == 0 {
				writeHead(&out, headers...)
			}
			writeRow(&out, cells...)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// column is an extra cell of an entry in a Markdown table, with the title of its column.
type column struct{ name, text string }

func writeHeading(out *strings.Builder, index int, title, doc string) {
	if index > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "### %s\n\n", title)
	if doc = strings.ReplaceAll(strings.TrimSpace(doc), "\n", " "); doc != "" {
		fmt.Fprintf(out, "%s\n\n", markdown(doc))
	}
}

func writeKind(out *strings.Builder, kind *scenarios.Kind) {
	if len(kind.Keys) > 0 {
		writeHead(out, "key", "value", "default", "meaning")
		for _, k := range kind.Keys {
			writeKeyRow(out, k.Path, &k)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "```yaml\n%s\n```\n", kind.Example)
}

// writePreset prints a preset as Markdown: its values, their source and its known deviations.
func writePreset(out *strings.Builder, p *scenarios.Preset) {
	if len(p.Aliases) > 0 {
		fmt.Fprintf(out, "Also called `%s`.\n\n", strings.Join(p.Aliases, "`, `"))
	}
	writeHead(out, "key", "value")
	for _, s := range p.Settings() {
		writeRow(out, "`"+s.Path+"`", "`"+s.Value+"`")
	}
	fmt.Fprintf(out, "\nSource: %s.\n", markdown(strings.TrimSuffix(p.Source, ".")))
	fmt.Fprintf(out, "\n%s.\n", markdown(plain.Capital(checked.Of(p).Sentence(p))))
	for i, a := range checked.Measured(p) {
		if i == 0 {
			fmt.Fprint(out, "\nWhat differs from it:\n\n")
		}
		fmt.Fprintf(out, "- %s\n", markdown(a))
	}
}

func writeKeyRow(out *strings.Builder, name string, k *scenarios.Key) {
	unset := defaultOf(k)
	if unset != "-" && unset != "required" {
		unset = "`" + unset + "`"
	}
	writeRow(out, "`"+name+"`", k.Value, unset, k.Doc)
}

func writeHead(out *strings.Builder, titles ...string) {
	writeRow(out, titles...)
	out.WriteString(strings.Repeat("| --- ", len(titles)) + "|\n")
}

func writeRow(out *strings.Builder, cells ...string) {
	for _, cell := range cells {
		fmt.Fprintf(out, "| %s ", markdown(cell))
	}
	out.WriteString("|\n")
}

// markdown escapes characters that would end a table cell in Markdown, or count as emphasis or a tag.
func markdown(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(text), "|", "\\|"), "\n", " ")
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 { // text between backquotes is not escaped
		parts[i] = strings.NewReplacer("*", "\\*", "<", "&lt;").Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
