//go:build !js

package play

import (
	"bytes"
	"embed"
	"html/template"

	"qsim/results/report"
)

// document holds the data of the page's HTML template.
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
	if err := pages.ExecuteTemplate(&text, "play.html", d); err != nil {
		panic("play: " + err.Error()) // it is this package's own
	}
	return text.Bytes()
}

// asset returns an embedded file that the page refers to, such as its script.
func asset(name string) []byte {
	text, err := assets.ReadFile("page/" + name)
	if err != nil {
		panic("play: " + err.Error()) // it is this package's own
	}
	if name == "play.css" {
		text = append([]byte(report.Style()), text...)
	}
	return text
}
