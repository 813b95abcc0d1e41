package text

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteCells writes a table of plain cells. Text format has a single rule, below the header; columns from index right
// on are aligned to the right, except the last one, whose texts may be wrapped.
func WriteCells(w io.Writer, header []string, rows [][]string, right int, o TableOptions) error {
	t := Table{Rule: true}
	for i, title := range header {
		last := i == len(header)-1
		t.Columns = append(t.Columns, Column{Title: title, Key: i == 0, Right: i >= right && !last, Wrap: last})
	}
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Write(w, o)
}

// Write writes the table in the format of o: text for a terminal, Markdown or CSV.
func (t *Table) Write(w io.Writer, o TableOptions) error {
	switch o.Format {
	case Markdown:
		return write(w, "table", t.markdown()+"\n")
	case CSV:
		return write(w, "table", t.records(func(c *Column) string { return c.Title }).csv())
	default:
		return write(w, "table", strings.Join(t.Lines(o.Width, o.Color), "\n")+"\n")
	}
}

// records returns the texts of a table without its layout, under the headings that title returns.
func (t *Table) records(title func(c *Column) string) records {
	all := make(records, 1+len(t.Rows))
	for i := range t.Columns {
		all[0] = append(all[0], title(&t.Columns[i]))
	}
	for i, row := range t.Rows {
		for _, cell := range row {
			all[i+1] = append(all[i+1], cell.joined())
		}
	}
	return all
}

func (t *Table) markdown() string {
	w := table.NewWriter()
	for i, record := range t.records(func(c *Column) string { return strings.TrimSpace(c.Title + " " + c.Under) }) {
		row := make(table.Row, len(record))
		for k, words := range record {
			row[k] = words
		}
		if i == 0 {
			w.AppendHeader(row)
		} else {
			w.AppendRow(row)
		}
	}
	var configs []table.ColumnConfig
	for i := range t.Columns {
		if t.Columns[i].Right {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	return w.RenderMarkdown()
}
