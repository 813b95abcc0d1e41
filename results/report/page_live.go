package report

import (
	"cmp"
	"encoding/json"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/text"
)

// toggle is a button that shows or hides a policy in the charts over time.
type toggle struct {
	Index int
	Name  string
	Style swatch
	On    bool
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
	Hue      int      `json:"hue"`
	On       bool     `json:"on"`
	P99      []series `json:"p99"` // p99 waits of all fresh jobs, or by class
	Fresh    series   `json:"fresh"`
	Retry    series   `json:"retry"`
	Attempts series   `json:"attempts"`
	Busy     series   `json:"busy"`
	Again    series   `json:"again"` // share of the claims that are retries
}

// series is an array of numbers, written as JSON with three digits, null for NaN.
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

// goLive adds to a page the script of the interactive charts and their data, and the table that write writes, to copy.
func (p *page) goLive(d *drawing, write func(w io.Writer, o text.TableOptions) error) error {
	data := d.live()
	var markdown, csv strings.Builder
	if err := cmp.Or(write(&markdown, text.TableOptions{Format: text.Markdown}),
		write(&csv, text.TableOptions{Format: text.CSV})); err != nil {
		return err
	}
	data.Markdown, data.CSV = markdown.String(), csv.String()
	encoded, err := json.Marshal(data) // with < > & escaped, so that no name ends the script
	if err != nil {
		return err
	}
	p.Live, p.Data, p.Script = true, template.JS(encoded), template.JS(asset("page/report.js")+asset("page/replay.js"))
	for i, own := range data.Policies {
		round := i / len(hues)
		if d.pairs {
			round = i % 2
		}
		p.Toggles = append(p.Toggles, toggle{i, own.Name, swatchOf(d.policies[i].color + round*len(hues)), own.On})
	}
	return nil
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
		Workers: d.settings.Nodes * d.settings.Workers, Storms: []liveStorm{}, Classes: []string{}}
	for _, s := range d.settings.Storms {
		data.Storms = append(data.Storms, liveStorm{clean(s.Name), s.From.Seconds(), s.To.Seconds()})
	}
	rows, front := d.waitRows(), d.inFront()
	for _, row := range rows {
		data.Classes = append(data.Classes, row.class)
	}
	for i := range d.policies {
		p := &d.policies[i]
		own := livePolicy{Name: p.name, Hue: p.color, On: front[i], Fresh: p.fresh[:n], Retry: p.retry[:n],
			Attempts: p.attempts[:n], Busy: p.busy[:n], Again: p.again[:n]}
		for _, row := range rows {
			median, _, _ := row.of(p)
			own.P99 = append(own.P99, median[:n])
		}
		data.Policies = append(data.Policies, own)
	}
	return data
}

// inFront reports, for each policy, whether the page shows its curves at first.
func (d *drawing) inFront() []bool { return inFront(d.summary, d.table) }

// finding returns the finding of the results table as a sentence.
func (d *drawing) finding() string {
	words := strings.TrimSuffix(clean0(results.FindingOf(d.summary, d.table).String()), ".")
	if words == "" {
		return "There is nothing to compare"
	}
	return words
}
