package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"qsim/results"
)

//go:embed page uplot
var assets embed.FS

// PageOptions is what a page says beside the summary.
type PageOptions struct {
	Version  string   // of the program that ran the scenario
	Scenario []byte   // resolved, as YAML; nil: it is not known
	Absent   []string // what could not be shown and why, in sentences
}

// Page returns a report as one HTML document that needs no network, allows none, and can be read
// without scripts, printed and used by keyboard. sum may lack Settings and Data: what they are
// needed for is left out. figures are those that Charts drew of it, if any. Equal input gives
// equal bytes.
func Page(sum *results.Summary, figures []Figure, o PageOptions) ([]byte, error) {
	p := &page{Name: clean(sum.Scenario), Version: shorten(clean(o.Version), 40), Absent: o.Absent, summary: sum, Scenario: string(o.Scenario)}
	if set := sum.Settings; set != nil && strings.TrimSpace(set.Description) != "" {
		p.Description = clean(set.Description)
	}
	p.Facts = p.facts()
	for _, w := range sum.Warnings {
		p.Warnings = append(p.Warnings, clean(w))
	}
	p.Cards = cards(sum)
	p.Table = policyTable(sum)
	p.addFigures(figures)
	p.addTenantFigure(figures)
	if sum.Settings != nil && len(sum.Data) > 0 && len(figures) > 0 {
		if err := p.goLive(); err != nil {
			return nil, fmt.Errorf("write report: %w", err)
		}
	}
	p.Duplicates = duplicates(sum)
	p.Tenants = tenants(sum)
	p.Command, p.Fingerprints = command(sum), fingerprints(sum)
	p.Sections = p.sections()
	p.Style = template.CSS(style)
	p.Policy = contentPolicy(style, string(p.UPlot), string(p.Script))
	return execute("report.html.tmpl", p)
}

// page is what the template is filled with.
type page struct {
	Name, Version, Description, Policy string
	Facts                              []string
	Sections                           []link
	Warnings, Absent                   []string
	Cards                              []card
	Table                              valueTable
	Figures                            []pageFigure
	Duplicates, Tenants                finding
	TenantFigure                       *pageFigure // nil: the table names all
	Command                            string
	Fingerprints                       plainTable
	Scenario                           string
	Style                              template.CSS

	Live    bool // there are charts over time that a script draws
	Many    bool // so many policies that not all are shown at first
	Toggles []toggle
	Data    template.JS
	UPlot   template.JS
	Script  template.JS

	summary *results.Summary
}

type link struct{ ID, Title string }

// swatch is the mark of a policy.
type swatch struct {
	Hue    int    // of hues
	Dashes string // "": a box
}

// swatchOf is the mark of the policy at an index of the scenario. Those that share a hue differ in
// their dashes.
func swatchOf(policy int) swatch {
	return swatch{policy % len(hues), []string{"", "5 2", "2 2"}[min(policy/len(hues), 2)]}
}

// finding is a section with a sentence and perhaps tables.
type finding struct {
	Finding string
	Tables  []plainTable
}

// plainTable is one of words; the first of a row is its header.
type plainTable struct {
	Caption, Key string
	Header       []string
	Rows         [][]string
}

type pageFigure struct {
	ID, Heading        string
	Finding, What, Key string
	SVG                template.HTML
	Live               []liveChart
	LiveWhat           string // instead of What and Key, where Live is shown
}

// liveChart is a chart that a script draws.
type liveChart struct{ Chart, Title string }

// placed says where the figures of a run stand on a page.
var placed = []struct {
	figure, id, heading string
	live                []liveChart
	what                string // what live charts show
}{
	{"1-fresh-p99", "waits", "Wait of fresh jobs", []liveChart{{"wait", "p99 of fresh waits"}}, "Wait of fresh jobs until their first claim, p99 per %s of virtual time, log scale; %s"},
	{"2-backlog", "backlog", "Backlog", []liveChart{{"fresh", "Fresh jobs ready"}, {"retry", "Retries ready"}}, "Jobs ready to be claimed, per %s of virtual time; %s"},
	{"5-attempts", "attempts", "Attempts and utilization", []liveChart{{"attempts", "Attempts per second"}, {"busy", "Utilization of the workers"}}, "Claims of fresh jobs and retries together, and busy workers ÷ workers, per %s of virtual time; %s"},
	{"3-ccdf", "distribution", "Distribution of fresh waits", nil, ""},
	{"4-dots", "comparison", "Comparison", nil, ""},
	{"6-starvation", "starvation", "Starvation", nil, ""},
}

func (p *page) addFigures(figures []Figure) {
	for _, place := range placed {
		for i := range figures {
			f := &figures[i]
			if f.Name != place.figure {
				continue
			}
			p.Figures = append(p.Figures, pageFigure{ID: place.id, Heading: place.heading, Finding: f.Title, What: f.Subtitle, Key: f.Footer,
				SVG: template.HTML(f.inline)})
		}
	}
}

// addTenantFigure adds the figure of the tenants, if there is one.
func (p *page) addTenantFigure(figures []Figure) {
	for i := range figures {
		if f := &figures[i]; f.Name == tenantsFigure {
			p.TenantFigure = &pageFigure{Heading: "Waits of tenants", Finding: f.Title, What: f.Subtitle, Key: f.Footer, SVG: template.HTML(f.inline)}
		}
	}
}

func (p *page) sections() []link {
	list := []link{{"objectives", "Objectives"}, {"policies", "Policies"}}
	if len(p.Warnings) > 0 {
		list = append([]link{{"warnings", "Warnings"}}, list...)
	}
	for i := range p.Figures {
		list = append(list, link{p.Figures[i].ID, p.Figures[i].Heading})
	}
	return append(list, link{"duplicates", "Duplicates"}, link{"tenants", "Tenants"}, link{"reproduce", "Reproduce"})
}

var (
	templates = template.Must(template.ParseFS(assets, "page/*.tmpl"))
	style     = asset("uplot/uPlot.min.css") + "\n" + asset("page/report.css") + chartRules()
)

func asset(path string) string {
	text, err := assets.ReadFile(path)
	if err != nil {
		panic("report: " + err.Error())
	}
	return string(text)
}

// contentPolicy allows these texts of a page as style and scripts, by their hashes, and nothing
// else.
func contentPolicy(style string, scripts ...string) string {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + source(style)
	sources := ""
	for _, s := range scripts {
		if s != "" {
			sources += " " + source(s)
		}
	}
	if sources != "" {
		policy += "; script-src" + sources
	}
	return policy
}

func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func execute(name string, content any) ([]byte, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, content); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return out.Bytes(), nil
}
