package report

import (
	"fmt"
	"html/template"
	"strings"
)

// markup writes the parts of a page that reports and the page of `qsim play` share. It does so without templates, which
// keep all methods of a program in it: the page in a browser would be larger by a fifth.
type markup struct{ strings.Builder }

// escaped replaces characters as html/template does in the content of an element or in a quoted attribute.
var escaped = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;",
	">", "&gt;")

// put writes HTML with values, whose strings it escapes. A value of type template.HTML stays as it is.
func (m *markup) put(format string, values ...any) {
	for i, v := range values {
		if text, ok := v.(string); ok {
			values[i] = escaped.Replace(text)
		}
	}
	fmt.Fprintf(m, format, values...)
}

// some writes HTML with a text, unless that is empty.
func (m *markup) some(format, text string) {
	if text != "" {
		m.put(format, text)
	}
}

// written returns the HTML that a function writes, for templates.
func written[T any](write func(m *markup, v T)) func(T) template.HTML {
	return func(v T) template.HTML {
		var m markup
		write(&m, v)
		return template.HTML(m.String())
	}
}

func (m *markup) phrases(all []phrase) {
	for _, p := range all {
		if p.Hue != "" {
			m.put(`<span class="%s">%s</span>`, p.Hue, p.Text)
		} else {
			m.put("%s", p.Text)
		}
	}
}

func (m *markup) swatch(s swatch) {
	width := 8
	if s.Dashes != "" {
		width = 4
	}
	m.put(`<svg class="swatch" viewBox="0 0 16 10" aria-hidden="true">`)
	m.put(`<line x1="0" y1="5" x2="16" y2="5" class="hue%d" stroke-width="%d"`, s.Hue, width)
	m.some(` stroke-dasharray="%s"`, s.Dashes)
	m.put("/></svg>")
}

// name writes the header of a policy's row.
func (m *markup) name(s swatch, name string, baseline bool) {
	m.put(`<th scope="row"><span class="name">`)
	m.swatch(s)
	m.put("<span>%s", name)
	if baseline {
		m.put(" <small>baseline</small>")
	}
	m.put("</span></span></th>")
}

func (m *markup) headTable(t headTable) {
	m.put(`<div class="scroll" tabindex="0" role="region" aria-label="What each policy gives and costs">
<table class="numbers head" id="head"><caption>`)
	m.put(`<span class="hide">What each policy gives and what it costs</span></caption>
<thead><tr><td></td>`)
	for _, p := range t.Parts {
		m.put(`<th scope="colgroup" colspan="%d" class="part %s">%s</th>`, len(p.Columns), p.Class, p.Title)
	}
	m.put("</tr>\n<tr>" + `<th scope="col">policy</th>`)
	for _, p := range t.Parts {
		for _, c := range p.Columns {
			m.put(`<th scope="col" title="%s">%s`, c.Query, c.Label)
			m.some("<small>%s</small>", c.Goal)
			m.put("</th>")
		}
	}
	m.put("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		m.put("<tr")
		if row.More {
			m.put(` class="more"`)
		}
		m.put(">")
		m.name(row.Style, row.Name, row.Baseline)
		for _, c := range row.Cells {
			m.cell(c)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>")
}

func (m *markup) cell(c headCell) {
	m.put("<td")
	m.some(` data-value="%s"`, c.Sort)
	m.put(">")
	switch {
	case c.Kind != "":
		m.put(`<span class="mark %s" title="%s"><span aria-hidden="true">%s</span><span class="hide">%s:</span> %s</span>`,
			c.Kind, c.Outcome, c.Sign, c.Outcome, c.Value)
	case c.Best:
		m.put(`<strong>%s</strong><span class="hide"> (best)</span>`, c.Value)
	default:
		m.put("%s", c.Value)
	}
	if c.Change != "" || c.Mark != "" {
		m.put(" <small>%s", c.Change)
		m.some(" %s", c.Mark)
		m.put("</small>")
	}
	m.some(` <small class="why">%s</small>`, c.Note)
	m.put("</td>")
}

func (m *markup) plainTable(t plainTable) {
	m.put(`<div class="scroll" tabindex="0" role="region" aria-label="%s">`, t.Caption)
	m.put(`<table class="numbers"><caption><span>%s</span></caption>
<thead><tr>`, t.Caption)
	for _, header := range t.Header {
		m.put(`<th scope="col">%s</th>`, header)
	}
	m.put("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		m.put("<tr>")
		for i, cell := range row {
			m.put([...]string{`<th scope="row">%s</th>`, "<td>%s</td>"}[min(i, 1)], cell)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>")
	m.some(`<p class="key">%s</p>`, t.Key)
}

// evidence writes the drawing and the tables of a section.
func (m *markup) evidence(s section) {
	if d := s.Drawing; d != nil {
		timed := template.HTML("")
		if d.Timed {
			timed = " timed"
		}
		m.put(`<figure data-chart="%s"><figcaption class="what">%s</figcaption>
%s<div class="drawing scroll%s" tabindex="0" role="region" aria-label="%s, drawing">%s</div>
<p class="key">%s</p></figure>
`, d.Chart, d.What, d.Legend, timed, s.Heading, d.SVG, d.Key)
	}
	if s.Replay {
		m.put(`<div id="replay" hidden><h3>The queue, replayed in half a minute</h3>
<p><button type="button" id="play">Play</button> `)
		m.put(`<input type="range" id="when" min="0" max="1000" value="0" aria-label="Time of the replay"></p>
<canvas id="film" role="img" aria-label="Replay of the queue of each policy"></canvas>
<p class="key"><span id="scale"></span></p></div>
`)
	}
	for _, t := range s.Tables {
		m.plainTable(t)
	}
}

// fragment writes the beginning of a report.
func (m *markup) fragment(p *page) {
	m.put(`<h2 class="headline">`)
	m.phrases(p.Headline)
	m.put("</h2>\n")
	if len(p.Price) > 0 {
		m.put(`<p class="price">`)
		m.phrases(p.Price)
		m.put("</p>")
	}
	m.put("\n")
	if len(p.Table.Rows) > 0 {
		m.headTable(p.Table)
	}
	m.put("\n")
	m.some(`<p class="key">%s</p>`, p.Table.Alike)
	m.put("\n")
	if len(p.Warnings) > 0 {
		m.put(`<ul class="note" aria-label="Warnings">`)
		for _, w := range p.Warnings {
			m.put("<li>%s</li>", w)
		}
		m.put("</ul>")
	}
	m.put("\n")
	for _, s := range p.Sections {
		m.put("<section><h3>%s</h3>\n", s.Heading)
		m.some(`<p class="finding">%s</p>`+"\n", s.Finding)
		m.evidence(s)
		m.put("</section>\n")
	}
}
