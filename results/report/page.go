package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/plain"
	"qsim/results/text"
)

//go:embed page
var assets embed.FS

// Page returns a report as one HTML document that needs no network, allows none, and can be read without scripts,
// printed and used by keyboard. figures come from Charts for this summary, which needs Settings and Data; version is
// that of the program that ran the scenario, whose resolved YAML is scenario, nil if unknown. Equal input gives equal
// bytes.
func Page(sum *results.Summary, figures []Figure, version string, scenario []byte) ([]byte, error) {
	version = plain.Shorten(clean(version), 40)
	d, err := newDrawing(sum, version)
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	p := newPage(sum, d.table)
	p.Version, p.Scenario = version, plain.Printable(string(scenario))
	if strings.TrimSpace(sum.Settings.Description) != "" {
		p.Description = clean(sum.Settings.Description)
	}
	p.Scene, p.Facts = p.scene(), p.facts()
	p.Numbers, p.NumbersKey = allNumbers(sum, d.table), numbersKey(sum)
	p.arrange(p.sections(figures, d.table), d.table)
	p.goLive(d, func(o text.TableOptions) string { return text.Summary(sum, o) })
	p.Command, p.Fingerprints = command(sum), fingerprints(sum)
	return execute("report.html.tmpl", p)
}

// newPage returns a page with the finding of a summary, its results table and its warnings.
func newPage(sum *results.Summary, t *results.Table) *page {
	p := &page{Name: clean(sum.Scenario), Alike: alike(t), summary: sum}
	if front := inFront(sum, t); len(front) > 0 {
		var m markup
		m.headTable(sum, t, front)
		p.Table = template.HTML(m.String())
		p.More = plain.Count(front, func(shown bool) bool { return !shown })
	}
	p.Headline, p.Subhead = p.headline(results.FindingOf(sum, t))
	p.Warnings = plain.Map(sum.Warnings, clean)
	return p
}

// Style returns the style sheet (CSS) of reports.
func Style() string { return style }

// Fragment returns the beginning of a report as HTML for a page that has Style: the finding and its price (the largest
// cost of the policy that improves most), the table, and the charts of the backlog and of the waits over time. The
// finding is about the first metric of Settings.Asked, if there is one. sum must have Settings and Data.
func Fragment(sum *results.Summary, version string) ([]byte, error) {
	d, err := newDrawing(sum, version)
	if err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	if len(sum.Settings.Asked) > 0 {
		d.table.Watched = sum.Settings.Asked[0]
	}
	p := newPage(sum, d.table)
	for _, s := range p.sections(d.figures("backlog", "waits"), d.table) {
		if s.Drawing != nil {
			s.Replay = false
			p.Sections = append(p.Sections, s)
		}
	}
	var m markup
	m.fragment(p)
	return []byte(m.String()), nil
}

// page holds the data for the template of a report page.
type page struct {
	Name, Version, Description string
	Scene, Facts               []string
	Headline, Subhead          []phrase // Subhead: price of the finding or, of a comparison, what differs in the scenario
	Warnings                   []string
	Table                      template.HTML
	Alike                      string           // a line with the metrics that are the same under all policies
	More                       int              // number of rows of Table that are hidden at first
	Numbers                    []results.Column // columns of the table of all numbers
	NumbersKey                 string           // explanation below that table
	Sections, Quiet            []section        // in order; those in Quiet are folded, with little or nothing to see
	Command                    string
	Fingerprints               plainTable
	Scenario                   string

	Toggles []livePolicy // policies with a button that shows or hides them in the charts over time
	Data    template.JS
	Script  template.JS // for interactive charts over time; empty: the page has none

	summary *results.Summary
}

// phrase is a part of a sentence; a phrase that names a policy is printed in the policy's colour.
type phrase struct {
	Text string
	Hue  string // CSS class t0, t1...; "": not a policy's name
}

// PolicyName returns the first cell of a policy's row in the table of all numbers.
func (p *page) PolicyName(policy int) template.HTML {
	return written(func(m *markup, i int) { m.policyName(p.summary, i) })(policy)
}

// headline returns a finding as the headline of a page, and the largest cost of its best policy as the sentence below.
func (p *page) headline(f results.Finding) (headline, price []phrase) {
	if f.Worst == "" {
		return []phrase{{Text: p.Name}}, nil
	}
	words := clean(f.Worst) + "." + plain.When(f.Cure != "", " "+clean(f.Cure)+".")
	if f.Price != "" {
		price = p.colored("The price: " + clean(f.Price) + ".")
	}
	return p.colored(words), price
}

// colored splits a sentence at the names of policies, the longest name first, to colour them.
func (p *page) colored(words string) []phrase {
	var list []phrase
	from := 0
	for at := 0; at < len(words); {
		policy, longest := -1, 0
		for i := range p.summary.Policies {
			if label := clean(p.summary.Policies[i].Label); len(label) > longest && strings.HasPrefix(words[at:], label) {
				policy, longest = i, len(label)
			}
		}
		if policy < 0 || at > 0 && isLetter(words[at-1]) || at+longest < len(words) && isLetter(words[at+longest]) {
			at++
			continue
		}
		if from < at {
			list = append(list, phrase{Text: words[from:at]})
		}
		list = append(list, phrase{words[at : at+longest], fmt.Sprintf("t%d", policy%len(hues))})
		at += longest
		from = at
	}
	if from < len(words) {
		list = append(list, phrase{Text: words[from:]})
	}
	return list
}

func isLetter(b byte) bool {
	return b >= 0x80 || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}

// plainTable is a table of text in a page, with an explanation (Key) below; the first cell of a row is its header.
type plainTable struct {
	Caption, Key string
	Header       []string
	Rows         [][]string // those of one first cell in a row have it once, for all of them
	Labels       int        // number of columns, from the left, of text that names the row; 0: one
}

var style = asset("page/report.css") + chartRules()

func asset(path string) string { return string(plain.Must(assets.ReadFile(path))) }

// contentPolicy returns the content security policy of a page that allows its style and its script, if any, by their
// hashes, and nothing else.
func contentPolicy(script template.JS) string {
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + source(style) +
		plain.When(script != "", "; script-src "+source(string(script)))
}

func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// execute returns a page made from one of the HTML templates of the reports.
func execute(name string, content any) ([]byte, error) {
	pages := template.Must(template.New("").Funcs(template.FuncMap{"phrases": written((*markup).phrases),
		"swatch": written((*markup).swatch), "plainTable": written((*markup).plainTable),
		"evidence": written((*markup).evidence), "clean": clean0, "name": clean, "shorten": plain.Shorten, "better": better,
		"policy": policyName, "seeds": seedRanges, "contentPolicy": contentPolicy,
		"style": func() template.CSS { return template.CSS(style) },
	}).ParseFS(assets, "page/*.tmpl"))
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, content); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return out.Bytes(), nil
}

// liveData is the data of the interactive charts, as the script of a page reads it (JSON).
type liveData struct {
	Name     string       `json:"name"` // name of the scenario, for the names of saved files
	X        []float64    `json:"x"`    // times in seconds
	Warmup   float64      `json:"warmup"`
	Workers  int          `json:"workers"`
	Storms   []liveStorm  `json:"storms"`
	Classes  []string     `json:"classes"`
	Policies []livePolicy `json:"policies"`
	Markdown string       `json:"markdown"`
	CSV      string       `json:"csv"`
}

type liveStorm struct {
	Name string  `json:"name"`
	From float64 `json:"from"` // start in seconds
	To   float64 `json:"to"`
}

type livePolicy struct {
	Name     string   `json:"name"`
	Style    hue      `json:"-"`
	Hue      int      `json:"hue"`
	On       bool     `json:"on"`  // it is shown at first
	P99      []series `json:"p99"` // p99 waits of all fresh jobs, or by class
	Fresh    series   `json:"fresh"`
	Retry    series   `json:"retry"`
	Attempts series   `json:"attempts"`
	Busy     series   `json:"busy"`
	Again    series   `json:"again"` // share of the claims that are retries
}

// series is an array of numbers, written as JSON with three significant digits, null for NaN.
type series []float64

// MarshalJSON returns the array as JSON.
func (s series) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range s {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', 3, 64)
	}
	return append(out, ']'), nil
}

// goLive makes the charts of a page interactive: it adds a script, the data, a button for each policy, and a table, as
// Markdown and as CSV for the reader to copy.
func (p *page) goLive(d *drawing, table func(o text.TableOptions) string) {
	data := d.live()
	data.Markdown, data.CSV = table(text.TableOptions{Format: text.Markdown}), table(text.TableOptions{Format: text.CSV})
	encoded := plain.Must(json.Marshal(data)) // with < > & escaped, so that no name ends the script
	p.Toggles, p.Data = data.Policies, template.JS(encoded)
	p.Script = template.JS(asset("page/report.js") + asset("page/replay.js"))
}

// live returns the data of the interactive charts over time, up to the last bucket with any backlog, claim or wait.
func (d *drawing) live() liveData {
	until := d.end(func(p *policy, bucket int) bool {
		return !math.IsNaN(p.median[bucket]) || p.due[bucket] > 0 || at(p.attempts, bucket) > 0 || at(p.busy, bucket) > 0
	})
	n := len(d.xs)
	for n > 0 && d.xs[n-1] > until {
		n--
	}
	data := liveData{Name: d.settings.Scenario, X: d.xs[:n], Warmup: d.settings.Warmup.Seconds(),
		Workers: d.settings.Nodes * d.settings.Workers, Storms: []liveStorm{}, Classes: d.rows}
	for _, s := range d.settings.AllStorms() {
		data.Storms = append(data.Storms, liveStorm{clean(s.Name), s.From.Seconds(), s.To.Seconds()})
	}
	front := inFront(d.summary, d.table)
	for i, p := range d.policies {
		own := livePolicy{Name: p.name, Style: p.hue, Hue: p.hue.number, On: front[i], Fresh: p.fresh[:n],
			Retry: p.retry[:n], Attempts: p.attempts[:n], Busy: p.busy[:n], Again: p.again[:n]}
		for row := range d.rows {
			own.P99 = append(own.P99, p.waits[row].median[:n])
		}
		data.Policies = append(data.Policies, own)
	}
	return data
}

// finding returns the main result of a run, the Finding of its results table, as a sentence.
func (d *drawing) finding() string {
	words := strings.TrimSuffix(clean0(results.FindingOf(d.summary, d.table).String()), ".")
	return cmp.Or(words, "There is nothing to compare")
}
