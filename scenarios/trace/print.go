package trace

import (
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
	jobColumns   = 18
	eventColumns = 15
)

// WriteHistory writes the history of a job in words: a summary, the table of its attempts and all its events, in width
// columns; 0 stands for no limit.
func (s *Simulation) WriteHistory(w io.Writer, h *JobHistory, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.Join(text.Wrapped(s.sentence(h), width), "\n"))
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

// writeAttempts writes the attempts of a job as a table with a row for each.
func (s *Simulation) writeAttempts(w io.Writer, h *JobHistory, width int) error {
	if len(h.Attempts) == 0 {
		_, err := io.WriteString(w, "never claimed\n")
		return err
	}
	var rows [][]string
	for i := range h.Attempts {
		a := &h.Attempts[i]
		notes := a.Notes
		if len(a.Storms) > 0 {
			notes = append([]string{"in " + strings.Join(a.Storms, ", ")}, notes...)
		}
		rows = append(rows, append(attemptCells(a), strings.Join(notes, "; ")))
	}
	header := []string{"#", "status", "claimed", "wait", "ran", "error", "node", "note"}
	return text.WriteCells(w, header, rows, 2, text.TableOptions{Width: width})
}

func attemptCells(a *Attempt) []string {
	ran, failed := plain.Missing, a.Error
	if a.Ended() {
		ran = Length(a.Ran)
	}
	if failed == "" {
		failed = plain.Missing
	}
	return []string{fmt.Sprint(a.Number), a.Status, Clock(a.Leased), Length(a.Waited), ran, failed, fmt.Sprint(a.Node)}
}

// writeFact writes an event of a window on one line, or more if it does not fit in width: as a sentence, or, with
// table, in the columns of factHeader.
func writeFact(w io.Writer, f *Fact, table bool, width int) error {
	if table {
		attempt, node := "", ""
		if f.Attempt > 0 {
			attempt = fmt.Sprint(f.Attempt)
		}
		if f.Node >= 0 {
			node = fmt.Sprint(f.Node)
		}
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

// factHeader returns the headings of the columns in writeFact's table.
func factHeader() string { return factCells("time", "job", "#", "node", "event", "error") }

func factCells(at, job, attempt, node, event, failure string) string {
	line := pad(at, clockColumns) + pad(job, jobColumns) + pad(attempt, 4) + pad(node, 6) + pad(event, eventColumns)
	return strings.TrimRight(line+failure, " ")
}

// pad fills text up with spaces to that many columns, and adds two spaces to longer text.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-utf8.RuneCountInString(text), 2))
}

// writeLine writes lead, which is columns wide, and words after it, wrapped with further lines below the words.
func writeLine(b *strings.Builder, lead string, columns int, words string, width int) {
	room := 0
	if width > 0 {
		room = max(width-columns, 24)
	}
	for _, line := range text.Wrapped(words, room) {
		b.WriteString(lead + strings.Repeat(" ", max(columns-utf8.RuneCountInString(lead), 0)) + line + "\n")
		lead = ""
	}
}
