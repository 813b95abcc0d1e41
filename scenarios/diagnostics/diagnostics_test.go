package diagnostics

import (
	"strings"
	"testing"
)

// TestRender checks that the caret is drawn under the mistake, whatever characters are on the line.
func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name, src   string
		line, col   int
		width       int
		text, caret string
	}{
		{"plain", "abc: def", 1, 6, 3, "abc: def", "     ^^^"},
		{"tab", "a\tb: def", 1, 6, 3, "a b: def", "     ^^^"},
		{"wide", "負荷: def", 1, 5, 3, "負荷: def", "      ^^^"},
		{"under wide", "a: 負荷", 1, 4, 2, "a: 負荷", "   ^^^^"},
		{"combining", "e\u0301a: def", 1, 6, 3, "e\u0301a: def", "    ^^^"},
		{"control", "a\x1bb: def", 1, 6, 3, `a\u001bb: def`, `          ^^^`},
		{"bidi", "a\u202eb: def", 1, 6, 3, `a\u202eb: def`, `          ^^^`},
		{"past the end", "abc", 1, 9, 3, "abc", "   ^"},
		{"over the end", "abc", 1, 2, 30, "abc", " ^^"},
		{"carriage return", "x: 1\rabc: def\r", 2, 6, 3, "abc: def", "     ^^^"},
		{"line separator", "x: 1\u2028abc: def", 2, 6, 3, "abc: def", "     ^^^"},
		{"crlf", "x: 1\r\nabc: def\r\n", 2, 6, 3, "abc: def", "     ^^^"},
		{"bom", "\ufeffabc: def", 1, 6, 3, "abc: def", "     ^^^"},
		{"cut right", "abc: " + strings.Repeat("x", 200), 1, 1, 3, "abc: " + strings.Repeat("x", 95) + "…", "^^^"},
		{"cut left", strings.Repeat("x", 200) + ": def", 1, 203, 3, "…" + strings.Repeat("x", 23) + ": def", strings.Repeat(" ", 26) + "^^^"},
		{"wide mark cut", strings.Repeat("x", 300), 1, 1, 300, strings.Repeat("x", 100) + "…", strings.Repeat("^", 100)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ds := List{{Line: tt.line, Col: tt.col, Width: tt.width, Severity: Error, Message: "bad"}}
			lines := strings.Split(string(render(t, "f", []byte(tt.src), ds)), "\n")
			for lines[0] != "" && !strings.Contains(lines[1], "^") {
				lines = lines[1:] // the heading and the line before
			}
			text, caret := strings.TrimPrefix(lines[0][5:], " | "), strings.TrimPrefix(lines[1], "      | ")
			if text != tt.text || caret != tt.caret {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", text, caret, tt.text, tt.caret)
			}
		})
	}
}

// TestRenderHostile checks that neither file names nor messages bring control characters to a terminal.
func TestRenderHostile(t *testing.T) {
	ds := List{{Severity: Error, Message: "a\x1b[31m\nb", Help: "c\x07", Note: "d\r"}, {Severity: Warning, Set: "--set a=\x1b", Message: "e"}}
	out := string(render(t, "f\x1b[0m", nil, ds))
	if strings.ContainsAny(out, "\x1b\x07\r") {
		t.Errorf("control characters in %q", out)
	}
	if !strings.Contains(out, "error: a") || !strings.Contains(out, "= help: c") || !strings.Contains(out, "= note: d") || !strings.Contains(out, "warning: e") {
		t.Errorf("got %q", out)
	}
}

func TestSorted(t *testing.T) {
	ds := List{
		{Line: 3, Col: 2, Severity: Warning, Message: "w"}, {Line: 3, Col: 2, Severity: Error, Message: "e"}, {Set: "--set a=b", Severity: Error, Message: "s"},
		{Line: 3, Col: 2, Severity: Error, Message: "e"}, {Line: 1, Col: 9, Severity: Error, Message: "first"}, {Line: 3, Col: 1, Severity: Error, Message: "e"},
	}.Sorted()
	var order []string
	for _, d := range ds {
		order = append(order, d.Message)
	}
	if got := strings.Join(order, " "); got != "first e e w s" {
		t.Errorf("order %q", got)
	}
	if len(ds.Errors()) != 4 || len(ds) != 5 || ds[3].Severity != Warning {
		t.Errorf("%d errors of %v", len(ds.Errors()), ds)
	}
}

func TestMany(t *testing.T) {
	var ds List
	for i := range 250 {
		ds = append(ds, Diagnostic{Line: i + 1, Col: 1, Width: 1, Severity: Error, Message: "bad"})
	}
	out := string(render(t, "f", nil, ds))
	if !strings.HasSuffix(out, "f: and 150 more\n") {
		t.Errorf("ends in %q", out[max(0, len(out)-40):])
	}
}

func render(t *testing.T, name string, src []byte, ds List) []byte {
	t.Helper()
	return []byte(ds.Text(name, src))
}
