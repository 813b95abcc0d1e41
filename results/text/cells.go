package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteCells writes a table of plain cells. Text has no lines but one below the header, and
// columns from the number right on aligned to the right, but for the last one.
func WriteCells(w io.Writer, header []string, rows [][]string, right int, f Format) error {
	t := cells{header: header, rows: rows}.writer()
	var out string
	switch f {
	case Markdown:
		out = t.RenderMarkdown()
	case CSV:
		out = cells{header: header, rows: rows}.csv()
	default:
		style := table.StyleLight
		style.Options = table.Options{SeparateHeader: true}
		style.Format.Header = text.FormatDefault
		style.Box.PaddingLeft = ""
		style.Box.PaddingRight = "  "
		t.SetStyle(style)
		var columns []table.ColumnConfig
		for i := right; i < len(header)-1; i++ {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		t.SetColumnConfigs(columns)
		lines := strings.Split(t.Render(), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		out = strings.Join(lines, "\n")
	}
	if _, err := io.WriteString(w, out+"\n"); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
