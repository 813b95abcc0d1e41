package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"qsim/engine"
	"qsim/results"
)

// Columns of a Fact on a line, in a table of a window.
const (
	clockColumns = 14 // 9h59m59.999s and a gap
	jobColumns   = 18
	eventColumns = 15
)

// WriteLife writes a life in words: a sentence that sums it up, the table of its attempts and
// all that happened, in width columns, 0 for as wide as it gets.
func (s *Simulation) WriteLife(w io.Writer, l *Life, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.Join(wrap(s.sentence(l), width), "\n"))
	if err := s.WriteAttempts(&b, l, width); err != nil {
		return err
	}
	b.WriteString("\n")
	beats := 0
	for i := range l.Facts {
		f := &l.Facts[i]
		if f.Event == engine.Extended.String() { // told together
			beats++
			if i+1 < len(l.Facts) && l.Facts[i+1].Event == f.Event && l.Facts[i+1].Node == f.Node {
				continue
			}
			if beats > 1 {
				told := *f
				told.Words = fmt.Sprintf("the last of %d heartbeats of node %d that prolong the lease", beats, f.Node)
				f = &told
			}
			beats = 0
		}
		writeLine(&b, Clock(f.At), clockColumns, f.Words, width)
	}
	if l.LeftOut > 0 {
		fmt.Fprintf(&b, "and %d events more\n", l.LeftOut)
	}
	if len(l.Copies) > 0 {
		fmt.Fprintf(&b, "\nof the same caller: %s\n", strings.Join(l.Copies, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence sums a life up.
func (s *Simulation) sentence(l *Life) string {
	tenant := ""
	if l.Tenant != "" {
		tenant = " of tenant " + l.Tenant
	}
	end := "is " + l.State + " when the run ends at " + Clock(s.End())
	if l.Ended > 0 && (l.State == "done" || l.State == "dead") {
		end = fmt.Sprintf("is %s at %s, %s later", l.State, Clock(l.Ended), Length(l.Ended-l.Enqueued))
	}
	text := fmt.Sprintf("%s%s under %s with seed %d: enqueued at %s, %s, after %s", l.Job, tenant, s.Policy(), s.Seed(), Clock(l.Enqueued), end, attempts(int32(len(l.Attempts))))
	if l.Successes > 1 {
		text += "; it succeeded " + times(l.Successes)
	}
	if l.Lapsed > 0 {
		text += "; " + plural(l.Lapsed, "lease") + " expired"
	}
	if l.Fenced > 0 {
		text += "; " + plural(l.Fenced, "commit") + " fenced"
	}
	return text + "."
}

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// WriteAttempts writes a table with a row for each attempt.
func (s *Simulation) WriteAttempts(w io.Writer, l *Life, width int) error {
	header := []string{"#", "status", "claimed", "wait", "ran", "error", "node", "note"}
	var rows [][]string
	room := 40
	if width > 0 {
		room = max(width-s.beforeNotes(l), 16)
	}
	for i := range l.Attempts {
		a := &l.Attempts[i]
		notes := a.Notes
		if len(a.Storms) > 0 {
			notes = append([]string{"in " + strings.Join(a.Storms, ", ")}, notes...)
		}
		lines := wrap(strings.Join(notes, "; "), room)
		row := append(attemptCells(a), lines[0])
		rows = append(rows, row)
		for _, more := range lines[1:] {
			rows = append(rows, []string{"", "", "", "", "", "", "", more})
		}
	}
	if len(rows) == 0 {
		_, err := io.WriteString(w, "never claimed\n")
		return err
	}
	return results.WriteCells(w, header, rows, 2, results.Text)
}

func attemptCells(a *Attempt) []string {
	ran := results.Missing
	if a.Ended {
		ran = Length(a.Ran)
	}
	failed := a.Error
	if failed == "" {
		failed = results.Missing
	}
	return []string{strconv.Itoa(int(a.Number)), a.Status, Clock(a.Leased), Length(a.Waited), ran, failed, strconv.Itoa(int(a.Node))}
}

// beforeNotes is how many columns the table takes before its last.
func (s *Simulation) beforeNotes(l *Life) int {
	widest := []int{1, len("status"), len("claimed"), len("wait"), len("ran"), len("error"), len("node")}
	for i := range l.Attempts {
		for k, cell := range attemptCells(&l.Attempts[i]) {
			widest[k] = max(widest[k], utf8.RuneCountInString(cell))
		}
	}
	sum := 0
	for _, n := range widest {
		sum += n + 2
	}
	return sum + 2 // the gap behind the last column
}

// WriteFact writes a fact of a window on one line, or more if it does not fit in width: as
// a sentence, or under the columns of FactHeader.
func WriteFact(w io.Writer, f *Fact, table bool, width int) error {
	var b strings.Builder
	lead := pad(Clock(f.At), clockColumns) + pad(f.Job, jobColumns)
	if table {
		attempt, node := "", ""
		if f.Attempt > 0 {
			attempt = strconv.Itoa(int(f.Attempt))
		}
		if f.Node >= 0 {
			node = strconv.Itoa(int(f.Node))
		}
		lead += pad(attempt, 4) + pad(node, 6) + pad(f.Event, eventColumns)
		fmt.Fprintf(&b, "%s%s", lead, f.Error)
		_, err := io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n")
		return err
	}
	if f.Job == "" {
		lead = pad(Clock(f.At), clockColumns)
	}
	writeLine(&b, lead, utf8.RuneCountInString(lead), f.Words, width)
	_, err := io.WriteString(w, b.String())
	return err
}

// FactHeader names the columns of WriteFact's table.
func FactHeader() string {
	return strings.TrimRight(pad("time", clockColumns)+pad("job", jobColumns)+pad("#", 4)+pad("node", 6)+pad("event", eventColumns)+"error", " ")
}

// pad fills text up to so many columns, and puts a gap behind what is longer.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-utf8.RuneCountInString(text), 2))
}

// writeLine writes text behind a lead of so many columns, its further lines below it.
func writeLine(b *strings.Builder, lead string, columns int, text string, width int) {
	room := 0
	if width > 0 {
		room = max(width-columns, 24)
	}
	for i, line := range wrap(text, room) {
		if i > 0 {
			lead = ""
		}
		b.WriteString(lead + strings.Repeat(" ", max(columns-utf8.RuneCountInString(lead), 0)) + line + "\n")
	}
}

// wrap breaks text at spaces into lines of at most so many columns, 0 for one line. A word
// that is longer has a line of its own.
func wrap(text string, columns int) []string {
	if columns <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// MarshalJSON writes a fact for programs: times in seconds.
func (f Fact) MarshalJSON() ([]byte, error) {
	fact := struct {
		At      float64 `json:"at_s"`
		Event   string  `json:"event"`
		Job     string  `json:"job,omitempty"`
		Attempt int32   `json:"attempt,omitempty"`
		Node    *int32  `json:"node,omitempty"`
		Error   string  `json:"error,omitempty"`
		Words   string  `json:"words"`
	}{f.At.Seconds(), f.Event, f.Job, f.Attempt, nil, f.Error, f.Words}
	if f.Node >= 0 {
		fact.Node = &f.Node
	}
	return json.Marshal(fact)
}

// MarshalJSON writes an attempt for programs: times in seconds, null for what was not.
func (a Attempt) MarshalJSON() ([]byte, error) {
	when := func(ok bool, d time.Duration) *float64 {
		if !ok {
			return nil
		}
		seconds := d.Seconds()
		return &seconds
	}
	return json.Marshal(struct {
		Number  int32    `json:"attempt"`
		Status  string   `json:"status"`
		Node    int32    `json:"node"`
		Token   uint64   `json:"token"`
		Fresh   bool     `json:"fresh"`
		Claimed float64  `json:"claimed_s"`
		Waited  float64  `json:"waited_s"`
		Started *float64 `json:"started_s"`
		Ran     *float64 `json:"ran_s"`
		Error   string   `json:"error,omitempty"`
		Storms  []string `json:"storms,omitempty"`
		Notes   []string `json:"notes,omitempty"`
	}{a.Number, a.Status, a.Node, uint64(a.Token), a.Fresh, a.Leased.Seconds(), a.Waited.Seconds(), when(a.Began, a.Started), when(a.Ended, a.Ran), a.Error, a.Storms, a.Notes})
}

// MarshalJSON writes a life for programs: times in seconds.
func (l Life) MarshalJSON() ([]byte, error) {
	var ended *float64
	if l.Ended > 0 {
		seconds := l.Ended.Seconds()
		ended = &seconds
	}
	return json.Marshal(struct {
		Job       string    `json:"job"`
		ID        uint64    `json:"id"`
		Class     string    `json:"class"`
		Tenant    string    `json:"tenant,omitempty"`
		State     string    `json:"state"`
		Enqueued  float64   `json:"enqueued_s"`
		Ended     *float64  `json:"ended_s"`
		Successes int       `json:"successes"`
		Lapsed    int       `json:"leases_expired"`
		Fenced    int       `json:"commits_fenced"`
		Attempts  []Attempt `json:"attempts"`
		Copies    []string  `json:"copies,omitempty"`
		Facts     []Fact    `json:"events"`
		LeftOut   int       `json:"events_left_out,omitempty"`
	}{l.Job, uint64(l.ID), l.Class, l.Tenant, l.State, l.Enqueued.Seconds(), ended, l.Successes, l.Lapsed, l.Fenced, append([]Attempt{}, l.Attempts...), l.Copies, l.Facts, l.LeftOut})
}
