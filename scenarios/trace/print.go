package trace

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"qsim/engine"
	"qsim/results/plain"
	"qsim/results/text"
)

// clockColumns and the constants below are the widths of the columns in a table of a trace's events.
const (
	clockColumns = 14 // 9h59m59.999s and a gap
	jobColumns   = 18 // name of the job
	eventColumns = 15 // kind of event
)

// PrintHistory writes the history of a job as json, as a table of its attempts or, for any other format, in words: a
// summary, that table and all its events, in width columns; 0 stands for no limit.
func (s *Simulation) PrintHistory(w io.Writer, h *JobHistory, format string, width int) error {
	switch format {
	case "json":
		return writeJSON(w, document{header: s.header(), Life: h})
	case "table":
		return s.writeAttempts(w, h, width)
	}
	var b strings.Builder
	b.WriteString(text.Paragraph(s.sentence(h), width) + "\n")
	if err := s.writeAttempts(&b, h, width); err != nil {
		return err
	}
	b.WriteString("\n")
	beats := 0
	for i, f := range h.Facts {
		if f.Event == engine.Extended.String() { // one line for all of a node
			beats++
			if i+1 < len(h.Facts) && h.Facts[i+1].Event == f.Event && h.Facts[i+1].Node == f.Node {
				continue
			}
			if beats > 1 {
				f.Words = fmt.Sprintf("the last of %d heartbeats of node %d that prolong the lease", beats, f.Node)
			}
			beats = 0
		}
		writeLine(&b, Clock(f.At), clockColumns, f.Words, width)
	}
	if h.LeftOut > 0 {
		fmt.Fprintf(&b, "and %d events more\n", h.LeftOut)
	}
	if len(h.Copies) > 0 {
		fmt.Fprintf(&b, "\nof the same caller: %s\n", strings.Join(h.Copies, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Simulation) sentence(h *JobHistory) string {
	var b strings.Builder
	b.WriteString(h.Job)
	if h.Tenant != "" {
		b.WriteString(" of tenant " + h.Tenant)
	}
	fmt.Fprintf(&b, " under %s with seed %d: enqueued at %s, is %s ", s.Policy(), s.Seed(), Clock(h.Enqueued), h.State)
	if h.Ended > 0 && (h.State == "done" || h.State == "dead") {
		fmt.Fprintf(&b, "at %s, %s later", Clock(h.Ended), Length(h.Ended-h.Enqueued))
	} else {
		b.WriteString("when the run ends at " + Clock(s.End()))
	}
	b.WriteString(", after " + plain.Plural(len(h.Attempts), "attempt"))
	if h.Successes > 1 {
		b.WriteString("; it succeeded " + times(h.Successes))
	}
	if h.Lapsed > 0 {
		b.WriteString("; " + plain.Plural(h.Lapsed, "lease") + " expired")
	}
	if h.Fenced > 0 {
		b.WriteString("; " + plain.Plural(h.Fenced, "commit") + " fenced")
	}
	return b.String() + "."
}

// times returns a count of occurrences as text: once, twice, 3 times.
func times(n int) string {
	if n == 1 || n == 2 {
		return []string{"once", "twice"}[n-1]
	}
	return strconv.Itoa(n) + " times"
}

// writeAttempts writes the attempts of a job as a text table of the given width, with a row for each.
func (s *Simulation) writeAttempts(w io.Writer, h *JobHistory, width int) error {
	if len(h.Attempts) == 0 {
		_, err := io.WriteString(w, "never claimed\n")
		return err
	}
	var rows [][]string
	for _, a := range h.Attempts {
		notes := a.Notes
		if len(a.Storms) > 0 {
			notes = append([]string{"in " + strings.Join(a.Storms, ", ")}, notes...)
		}
		ran := plain.Either(a.Ended(), Length(a.Ran), plain.Missing)
		rows = append(rows, []string{fmt.Sprint(a.Number), a.Status, Clock(a.Leased), Length(a.Waited), ran,
			cmp.Or(a.Error, plain.Missing), fmt.Sprint(a.Node), strings.Join(notes, "; ")})
	}
	header := []string{"#", "status", "claimed", "wait", "ran", "error", "node", "note"}
	_, err := io.WriteString(w, text.Cells(header, rows, 2, text.TableOptions{Width: width}))
	return err
}

// writeFact writes an event of a window on one line, or more if it does not fit in width: as a sentence, or, with
// table, in columns.
func writeFact(w io.Writer, f *Fact, table bool, width int) error {
	if table {
		attempt, node := plain.When(f.Attempt > 0, fmt.Sprint(f.Attempt)), plain.When(f.Node >= 0, fmt.Sprint(f.Node))
		_, err := io.WriteString(w, factCells(Clock(f.At), f.Job, attempt, node, f.Event, f.Error)+"\n")
		return err
	}
	lead := pad(Clock(f.At), clockColumns)
	if f.Job != "" {
		lead += pad(f.Job, jobColumns)
	}
	var b strings.Builder
	writeLine(&b, lead, utf8.RuneCountInString(lead), f.Words, width)
	_, err := io.WriteString(w, b.String())
	return err
}

func factCells(at, job, attempt, node, event, failure string) string {
	line := pad(at, clockColumns) + pad(job, jobColumns) + pad(attempt, 4) + pad(node, 6) + pad(event, eventColumns)
	return strings.TrimRight(line+failure, " ")
}

// pad fills text up with spaces to the given number of columns, and adds two spaces to longer text.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-utf8.RuneCountInString(text), 2))
}

// writeLine writes lead, padded to a number of columns, and the words after it, wrapped to lines below each other.
func writeLine(b *strings.Builder, lead string, columns int, words string, width int) {
	room := plain.Either(width > 0, max(width-columns, 24), 0)
	for _, line := range text.Wrapped(words, room) {
		b.WriteString(lead + strings.Repeat(" ", max(columns-utf8.RuneCountInString(lead), 0)) + line + "\n")
		lead = ""
	}
}

// header is the beginning of a trace in JSON: it identifies the simulation by scenario, policy and seed.
type header struct {
	Version  int    `json:"version"`  // version of this format: 1
	Scenario string `json:"scenario"` // name of the scenario
	Policy   string `json:"policy"`   // label of the policy
	Seed     uint64 `json:"seed"`     // seed of the simulation
}

// document is a trace of one simulation: the history of a job (--job, --find), the events in a window of time (--from,
// --to), or extreme jobs. Times are in seconds of virtual time.
type document struct {
	header
	Life  *JobHistory `json:"life,omitempty"`   // history of one job
	From  *Span       `json:"from_s,omitempty"` // start of the window
	To    *Span       `json:"to_s,omitempty"`   // end of the window
	Facts []Fact      `json:"events,omitempty"` // events of the window, in order
	// Where the window ended early because of --limit; null: it did not
	Stopped  *Span     `json:"stopped_s,omitempty"`
	Findings []Finding `json:"findings,omitempty"` // extreme jobs of the run
}

func (s *Simulation) header() header {
	return header{1, s.Scenario().Name, s.Policy(), s.Seed()}
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// PrintWindow writes the events in a window of time as json, as a table, or in words for any other format. stopped is
// the time at which the window ended early because of its limit, below 0 if it did not.
func (s *Simulation) PrintWindow(
	ctx context.Context, w io.Writer, o WindowOptions, format string, width int,
) (stopped Span, err error) {
	inJSON, table := format == "json", format == "table"
	emit := func(f Fact) error { return writeFact(w, &f, table, width) }
	switch {
	case inJSON:
		head, err := json.Marshal(s.header())
		if err != nil {
			return none, err
		}
		fmt.Fprintf(w, "%s,\"from_s\":%v,\"to_s\":%v,\"events\":[", head[:len(head)-1], o.From.Seconds(), o.To.Seconds())
		separator := "\n"
		emit = func(f Fact) error {
			line, err := json.Marshal(f)
			if err == nil {
				_, err = fmt.Fprintf(w, "%s%s", separator, line)
			}
			separator = ",\n"
			return err
		}
	case table:
		fmt.Fprintln(w, factCells("time", "job", "#", "node", "event", "error"))
	}
	stopped, err = s.Window(ctx, o, emit)
	if inJSON && err == nil {
		end, _ := json.Marshal(stopped) // a number or null
		_, err = fmt.Fprintf(w, "\n],\"stopped_s\":%s}\n", end)
	}
	return stopped, err
}

// PrintFindings writes the extreme jobs of a run as json or else a table, with a command line that shows one by name.
func (s *Simulation) PrintFindings(
	w io.Writer, findings []Finding, format string, width int, command func(job string) string,
) error {
	if format == "json" {
		return writeJSON(w, document{header: s.header(), Findings: findings})
	}
	fmt.Fprintf(w, "%s under %s with seed %d: jobs worth a look\n\n", s.Scenario().Name, s.Policy(), s.Seed())
	var rows [][]string
	example := ""
	for _, f := range findings {
		rows = append(rows, []string{string(f.Interest), fmt.Sprint(f.Jobs), cmp.Or(f.Name, "none"), f.Words})
		example = cmp.Or(example, f.Name)
	}
	table := text.Cells([]string{"--find", "jobs", "job", "what it is"}, rows, 4, text.TableOptions{Width: width})
	if example != "" {
		table += "\nits history: " + command(example) + "\n"
	}
	_, err := io.WriteString(w, table)
	return err
}

// Schemas holds the JSON schema (draft 2020-12) of a trace as JSON, trace.schema.json. It is made from the types that
// are written, and their comments.
//
//go:generate go test -run ^TestSchema$ . -rewrite
//go:embed trace.schema.json
var Schemas embed.FS
