package results

import (
	"bytes"
	"encoding/json"
	"math"
	"qsim/results/measure"
	"strconv"
)

// summaryVersion is that of summary.json.
const summaryVersion = 1

// MarshalJSON returns summary.json: keys in a fixed order, a metric to a line, numbers
// as short as they can be. Equal summaries give equal bytes.
func (s *Summary) MarshalJSON() ([]byte, error) {
	var w jsonWriter
	w.open("", '{')
	w.number("version", summaryVersion)
	w.text("scenario", s.Scenario)
	w.text("config", s.ConfigHash)
	w.key("seeds")
	w.seeds(s.Seeds)
	w.number("duration_s", s.Duration)
	w.bool("partial", s.Partial)
	w.open("policies", '[')
	for i := range s.Policies {
		s.Policies[i].appendTo(&w)
	}
	w.close(']')
	w.open("objectives", '[')
	for i := range s.Objectives {
		s.Objectives[i].appendTo(&w)
	}
	w.close(']')
	w.open("warnings", '[')
	for _, text := range s.Warnings {
		w.item()
		w.quote(text)
	}
	w.close(']')
	w.number("exit", float64(s.Exit))
	w.close('}')
	return append(w.buf, '\n'), nil
}

func (p *PolicySummary) appendTo(w *jsonWriter) {
	w.open("", '{')
	w.text("name", p.Kind)
	w.text("label", p.Label)
	w.bool("baseline", p.Baseline)
	w.text("fingerprint", p.Fingerprint)
	w.open("metrics", '{')
	for i := range p.Metrics {
		e := &p.Metrics[i]
		w.line(e.Metric)
		e.appendNumbers(w)
		w.lineEnd()
	}
	w.close('}')
	w.open("filtered", '[')
	for i := range p.Filtered {
		e := &p.Filtered[i]
		w.line("")
		w.text("metric", e.Metric)
		appendFilter(w, &e.Query)
		e.appendNumbers(w)
		if d := p.Against(e.Query); d != nil {
			w.line("versus_baseline")
			d.appendNumbers(w)
			w.lineEnd()
		}
		w.lineEnd()
	}
	w.close(']')
	w.open("versus_baseline", '{')
	for i := range p.Metrics {
		if d := p.Against(p.Metrics[i].Query); d != nil {
			w.line(d.Metric)
			d.appendNumbers(w)
			w.lineEnd()
		}
	}
	w.close('}')
	w.close('}')
}

func appendFilter(w *jsonWriter, q *measure.Query) {
	w.text("during", q.During)
	w.text("after", q.After)
	w.text("class", q.Class)
	w.text("tenant", q.Tenant)
	w.number("limit", q.Limit.Seconds())
}

func (e *Estimate) appendNumbers(w *jsonWriter) {
	w.text("unit", e.Unit)
	w.number("mean", e.Mean)
	w.number("low", e.Low)
	w.number("high", e.High)
	w.number("n", float64(e.N))
	w.text("bound", e.Bound)
	w.key("values")
	w.raw('[')
	for i, v := range e.Values {
		w.comma(i)
		w.float(v)
	}
	w.raw(']')
	if e.Reason != "" {
		w.text("reason", e.Reason)
	}
}

func (d *Difference) appendNumbers(w *jsonWriter) {
	w.number("difference", d.Difference)
	w.number("low", d.Low)
	w.number("high", d.High)
	w.number("p", d.P)
	w.bool("shown", d.Shown)
}

func (v *Verdict) appendTo(w *jsonWriter) {
	w.line("")
	w.text("metric", v.Metric)
	w.line("filter")
	appendFilter(w, &v.Query)
	w.lineEnd()
	w.text("policy", v.Policy)
	w.text("limit", v.Text)
	w.number("value", v.Value)
	w.number("low", v.Low)
	w.number("high", v.High)
	w.text("bound", v.Bound)
	w.text("verdict", string(v.Outcome))
	expect := Met
	if v.Expect {
		expect = Missed
	}
	w.text("expect", string(expect))
	if v.Seeds > 0 {
		w.number("seeds", float64(v.Seeds))
	}
	if v.Reason != "" {
		w.text("reason", v.Reason)
	}
	w.lineEnd()
}

// jsonWriter appends JSON. An object or array is either spread over lines, one element
// to each, or written on one line.
type jsonWriter struct {
	buf   []byte
	depth int // of what is spread
	flat  int // of what is on one line
}

// item separates an element from the one before.
func (w *jsonWriter) item() {
	if last := len(w.buf) - 1; last >= 0 && w.buf[last] != '{' && w.buf[last] != '[' {
		w.buf = append(w.buf, ',')
		if w.flat > 0 {
			w.buf = append(w.buf, ' ')
		}
	}
	if w.flat == 0 && w.depth > 0 {
		w.newline()
	}
}

func (w *jsonWriter) newline() {
	w.buf = append(w.buf, '\n')
	w.buf = append(w.buf, bytes.Repeat([]byte(" "), w.depth)...)
}

// key begins an element; "" begins one of an array.
func (w *jsonWriter) key(name string) {
	w.item()
	if name != "" {
		w.quote(name)
		w.buf = append(w.buf, ':', ' ')
	}
}

func (w *jsonWriter) open(name string, bracket byte) {
	w.key(name)
	w.raw(bracket)
	w.depth++
}

func (w *jsonWriter) close(bracket byte) {
	w.depth--
	if last := w.buf[len(w.buf)-1]; last != '{' && last != '[' {
		w.newline()
	}
	w.raw(bracket)
}

func (w *jsonWriter) line(name string) {
	w.key(name)
	w.raw('{')
	w.flat++
}

func (w *jsonWriter) lineEnd() {
	w.raw('}')
	w.flat--
}

func (w *jsonWriter) raw(c byte) { w.buf = append(w.buf, c) }

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.buf = append(w.buf, ',', ' ')
	}
}

func (w *jsonWriter) seeds(seeds []uint64) {
	w.raw('[')
	for i, seed := range seeds {
		w.comma(i)
		w.buf = strconv.AppendUint(w.buf, seed, 10)
	}
	w.raw(']')
}

func (w *jsonWriter) text(name, value string) {
	w.key(name)
	w.quote(value)
}

func (w *jsonWriter) bool(name string, value bool) {
	w.key(name)
	w.buf = strconv.AppendBool(w.buf, value)
}

func (w *jsonWriter) number(name string, value float64) {
	w.key(name)
	w.float(value)
}

// float writes what is not a number, or not finite, as null.
func (w *jsonWriter) float(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.buf = append(w.buf, "null"...)
		return
	}
	format := byte('f')
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, v, format, -1, 64)
}

func (w *jsonWriter) quote(s string) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes, and a buffer always takes it
	w.buf = append(w.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
