package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/plain"
)

// markup writes the parts of a page that reports and the page of `qsim play` share. It does without templates, since
// with them the linker keeps all methods of a program: the WebAssembly of a static page would be larger by a fifth.
type markup struct{ strings.Builder }

// escaped replaces characters as html/template does in the content of an element or in a quoted attribute.
var escaped = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;",
	">", "&gt;")

// put writes HTML with values formatted into it, escaping strings. A value of type template.HTML stays as it is.
func (m *markup) put(format string, values ...any) {
	for i, v := range values {
		if text, ok := v.(string); ok {
			values[i] = escaped.Replace(text)
		}
	}
	fmt.Fprintf(m, format, values...)
}

// some writes HTML with a text put into it, or nothing if the text is empty.
func (m *markup) some(format, text string) {
	if text != "" {
		m.put(format, text)
	}
}

// written turns a function that writes HTML into one that returns it, for use in templates.
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

// swatch writes the mark of a policy as HTML: a box in its colour or, if another has this, a line with its dashes.
func (m *markup) swatch(h hue) {
	m.put(`<svg class="swatch" viewBox="0 0 16 10" aria-hidden="true">`)
	m.put(`<line x1="0" y1="5" x2="16" y2="5" class="hue%d" stroke-width="%d"`, h.number, plain.Either(h.again, 4, 8))
	if h.again { // a solid line as one dash
		m.put(` stroke-dasharray="%s"`, cmp.Or(strings.Join(plain.Map(h.dashes, dashLength), " "), "16"))
	}
	m.put("/></svg>")
}

// policyName writes the first cell of a policy's row in an HTML table: the mark of its colour, and its name.
func (m *markup) policyName(sum *results.Summary, policy int) {
	p := &sum.Policies[policy]
	m.put(`<th scope="row"><span class="name">`)
	m.swatch(hueOf(policy))
	m.put("<span>%s", clean(p.Label))
	if p.Baseline && len(sum.Policies) > 1 {
		m.put(" <small>baseline</small>")
	}
	m.put("</span></span></th>")
}

// headTable writes the main table of a report: a row for each policy, a column for each benefit and cost. Rows of
// policies for which front is false are hidden at first.
func (m *markup) headTable(sum *results.Summary, t *results.Table, front []bool) {
	m.put(`<div class="scroll" tabindex="0" role="region" aria-label="What each policy gives and costs">
<table class="numbers head" id="head"><caption>`)
	m.put(`<span class="hide">What each policy gives and what it costs</span></caption>
<thead><tr><td></td>`)
	for k, c := range t.Columns {
		if k == 0 || c.Part != t.Columns[k-1].Part {
			m.put(`<th scope="colgroup" colspan="%d" class="part %s">%s</th>`, len(t.In(c.Part)),
				[...]string{"gets", "asked", "pays"}[c.Part], c.Part.String())
		}
	}
	m.put("</tr>\n<tr>" + `<th scope="col">policy</th>`)
	for _, c := range t.Columns {
		m.put(`<th scope="col" title="%s">%s`, clean(c.Query.String()), clean(c.Label))
		if len(c.Goals) > 0 {
			m.put("<small>goal %s</small>", clean(c.GoalText()))
		}
		m.put("</th>")
	}
	m.put("</tr></thead>\n<tbody>")
	for i := range sum.Policies {
		m.put("<tr")
		if !front[i] {
			m.put(` class="more"`)
		}
		m.put(">")
		m.policyName(sum, i)
		for k := range t.Columns {
			m.cell(&t.Columns[k].Cells[i], len(sum.Seeds) > 1)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>")
}

// cell writes a cell of the main table as HTML: its value, with the worst of its verdicts as a mark, and why that is
// unclear if why is set: with one seed all are, as the page says above.
func (m *markup) cell(c *results.TableCell, why bool) {
	m.put("<td")
	if !math.IsNaN(c.Mean) {
		m.put(` data-value="%s"`, strconv.FormatFloat(c.Mean, 'g', 6, 64))
	}
	m.put(">")
	note, shown := clean0(c.Reason), results.Worst(c.Verdicts)
	if why && shown != nil && shown.Outcome == results.Unclear {
		note = clean(shown.Note())
	}
	switch {
	case shown != nil:
		outcome := string(shown.Outcome) + plain.When(shown.Expected(), ", as the scenario expects") +
			plain.When(shown.Expect && shown.Outcome == results.Met, ", though the scenario expects a miss")
		m.put(`<span class="mark %s" title="%s"><span aria-hidden="true">%s</span><span class="hide">%s:</span> %s</span>`,
			string(shown.Outcome), outcome, shown.Outcome.Sign(), outcome, c.Value)
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
	m.some(` <small class="why">%s</small>`, note)
	m.put("</td>")
}

func (m *markup) plainTable(t plainTable) {
	m.put(`<div class="scroll" tabindex="0" role="region" aria-label="%s">`, t.Caption)
	m.put(`<table class="numbers"><caption><span>%s</span></caption>
<thead><tr>`, t.Caption)
	for i, header := range t.Header {
		m.put(`<th scope="col"%s>%s</th>`, template.HTML(plain.When(i > 0 && i < t.Labels, ` class="label"`)), header)
	}
	m.put("</tr></thead>\n<tbody>")
	for r, row := range t.Rows {
		m.put("<tr>")
		same := sameFirst(t.Rows[r:])
		for i, cell := range row {
			switch {
			case i == 0 && r > 0 && t.Rows[r-1][0] == cell: // it spans this row, too
			case i == 0 && same > 1:
				m.put(`<th scope="rowgroup" rowspan="%d">%s</th>`, same, cell)
			case i < max(t.Labels, 1):
				m.put(`<th scope="row">%s</th>`, cell)
			default:
				m.put("<td>%s</td>", cell)
			}
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>")
	m.some(`<p class="key">%s</p>`, t.Key)
}

// sameFirst returns how many rows, from the first on, have its first cell.
func sameFirst(rows [][]string) int {
	n := slices.IndexFunc(rows, func(row []string) bool { return row[0] != rows[0][0] })
	return plain.Either(n < 0, len(rows), n)
}

// evidence writes, as HTML, the chart and the tables of a section of a report page.
func (m *markup) evidence(s section) {
	if d := s.Drawing; d != nil {
		drawing := string(d.inline())
		timed := plain.When(strings.Contains(drawing, `class="time"`), " timed") // the x axis is virtual time
		m.put(`<figure data-chart="%s"><figcaption class="what">%s</figcaption>
%s<div class="drawing scroll%s" tabindex="0" role="region" aria-label="%s, drawing">%s</div>
<p class="key">%s</p></figure>
`, d.Name, d.Subtitle, template.HTML(d.legend), timed, s.Heading, template.HTML(drawing), d.Footer)
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

// fragment writes the beginning of a report as HTML: the finding, the main table, warnings and sections.
func (m *markup) fragment(p *page) {
	m.put(`<h2 class="headline">`)
	m.phrases(p.Headline)
	m.put("</h2>\n")
	if len(p.Subhead) > 0 {
		m.put(`<p class="price">`)
		m.phrases(p.Subhead)
		m.put("</p>")
	}
	m.put("\n%s\n", p.Table)
	m.some(`<p class="key">%s</p>`, p.Alike)
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
