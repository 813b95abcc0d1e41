//go:build !js

package play

import (
	"bytes"
	"embed"
	"html/template"

	"qsim/results/plain"
	"qsim/results/report"
)

// document is the data for the HTML template of the page, served or static.
type document struct {
	Run       string   // name of the scenario that it begins with
	Own       string   // Options of a static page, as JSON; empty: the page is served
	Scenarios []string // names of the scenarios of a static page
}

//go:embed page
var assets embed.FS

var pages = template.Must(template.ParseFS(assets, "page/*.html"))

func (d document) html() []byte {
	var text bytes.Buffer
	err := pages.ExecuteTemplate(&text, "play.html", d)
	return plain.Must(text.Bytes(), err) // it is this package's own
}

// asset returns the content of an embedded file of the page, such as play.js; it panics if there is none of that name.
func asset(name string) []byte {
	text := plain.Must(assets.ReadFile("page/" + name))
	if name == "play.css" {
		text = append([]byte(report.Style()), text...)
	}
	return text
}
