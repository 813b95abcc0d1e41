package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
)

// toggle is a button that shows or hides a policy in the charts over time.
type toggle struct {
	Index int
	Name  string
	Style swatch
	On    bool
}

// liveData is what the script of a page draws from.
type liveData struct {
	X        []float64    `json:"x"` // s
	Seeds    int          `json:"seeds"`
	Together int          `json:"together"` // more policies than this are in grey at first
	Warmup   float64      `json:"warmup"`
	Storms   []liveStorm  `json:"storms"`
	Limits   []liveLimit  `json:"limits"`
	Wait     liveRange    `json:"wait"`
	Policies []livePolicy `json:"policies"`
}

type liveStorm struct {
	Name string  `json:"name"`
	From float64 `json:"from"` // s
	To   float64 `json:"to"`
}

type liveLimit struct {
	At   float64 `json:"at"` // s
	Text string  `json:"text"`
}

// liveRange is that of a logarithmic axis. Floor: smaller values are drawn at its lower end.
type liveRange struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Floor float64 `json:"floor"`
}

type livePolicy struct {
	Name     string `json:"name"`
	Hue      int    `json:"hue"`
	On       bool   `json:"on"`
	P99      series `json:"p99"`
	Low      series `json:"low"`
	High     series `json:"high"`
	Fresh    series `json:"fresh"`
	Retry    series `json:"retry"`
	Attempts series `json:"attempts"`
	Busy     series `json:"busy"`
}

// series is an array of numbers with four digits, null for none.
type series []float64

// MarshalJSON implements json.Marshaler.
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
		out = strconv.AppendFloat(out, v, 'g', 4, 64)
	}
	return append(out, ']'), nil
}

// goLive adds the charts that a script draws.
func (p *page) goLive() error {
	d, err := newDrawing(p.summary.Settings, p.summary, p.Version)
	if err != nil {
		return err
	}
	data := d.live()
	text, err := json.Marshal(data) // with < > & escaped, so that no name ends the script
	if err != nil {
		return err
	}
	p.Live, p.Many, p.Data = true, len(d.policies) > together, template.JS(text)
	p.UPlot, p.Script = template.JS(asset("uplot/uPlot.iife.min.js")), template.JS(asset("page/report.js"))
	for i, own := range data.Policies {
		p.Toggles = append(p.Toggles, toggle{i, own.Name, swatchOf(i), own.On})
	}
	for i := range p.Figures {
		for _, place := range placed {
			if place.id != p.Figures[i].ID || place.live == nil {
				continue
			}
			marks := d.meanMarks()
			if place.id == "waits" {
				marks = d.bandMarks()
			}
			p.Figures[i].Live, p.Figures[i].LiveWhat = place.live, fmt.Sprintf(place.what, duration(p.summary.Settings.Bucket), marks)
		}
	}
	return nil
}

// live is the data of the charts over time, to the last bucket in which there is something to see.
func (d *drawing) live() liveData {
	until := d.end(func(p *policy, bucket int) bool {
		return !math.IsNaN(p.median[bucket]) || p.due[bucket] > 0 || at(p.attempts, bucket) > 0 || at(p.busy, bucket) > 0
	})
	n := len(d.xs)
	for n > 0 && d.xs[n-1] > until {
		n--
	}
	low, high := d.waitExtent()
	from, to, floor := waitRange(low, high)
	data := liveData{X: d.xs[:n], Seeds: d.seeds, Together: together, Warmup: d.settings.Warmup.Seconds(), Storms: []liveStorm{}, Limits: []liveLimit{},
		Wait: liveRange{from, to, floor}}
	for _, s := range d.settings.Storms {
		data.Storms = append(data.Storms, liveStorm{clean(s.Name), s.From.Seconds(), s.To.Seconds()})
	}
	for _, l := range d.limits() {
		data.Limits = append(data.Limits, liveLimit{l.seconds, d.limitLabel(l)})
	}
	shown := d.shownFirst()
	for i := range d.policies {
		p := &d.policies[i]
		own := livePolicy{Name: p.name, Hue: p.index % len(hues), On: slices.Contains(shown, i), P99: p.median[:n], Low: series{}, High: series{},
			Fresh: p.fresh[:n], Retry: p.retry[:n], Attempts: p.attempts[:n], Busy: p.busy[:n]}
		if d.seeds > 1 {
			own.Low, own.High = p.low[:n], p.high[:n]
		}
		data.Policies = append(data.Policies, own)
	}
	return data
}

// shownFirst are the policies that a page shows at first: all or, if they are many, the baseline and
// those whose fresh jobs wait longest and shortest.
func (d *drawing) shownFirst() []int {
	var list []int
	peaks := make([]float64, len(d.policies))
	for i := range d.policies {
		peaks[i] = d.peak(d.policies[i].median)
		if len(d.policies) <= together {
			list = append(list, i)
		}
	}
	if len(d.policies) <= together {
		return list
	}
	best, worst := extremes(peaks)
	for _, i := range []int{d.baseline(), worst, best} {
		if i >= 0 && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}
