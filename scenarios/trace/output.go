package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"qsim/results/text"
)

// header is what the JSON of a trace begins with: which simulation it is.
type header struct {
	Version  int    `json:"version"`
	Scenario string `json:"scenario"`
	Policy   string `json:"policy"`
	Seed     uint64 `json:"seed"`
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

// PrintHistory writes what happened to a job as json, as a table, or in words for any other format.
func (s *Simulation) PrintHistory(w io.Writer, history *JobHistory, format string, width int) error {
	switch format {
	case "json":
		return writeJSON(w, struct {
			header
			Life *JobHistory `json:"life"`
		}{s.header(), history})
	case "table":
		return s.WriteAttempts(w, history, width)
	}
	return s.WriteHistory(w, history, width)
}

// PrintWindow writes what happened in a window of time as json, as a table, or in words for any other format. It
// reports where the window ended early because of its limit.
func (s *Simulation) PrintWindow(ctx context.Context, w io.Writer, o WindowOptions, format string, width int) (stopped time.Duration, limited bool, err error) {
	inJSON, table := format == "json", format == "table"
	emit := func(f Fact) error { return WriteFact(w, &f, table, width) }
	switch {
	case inJSON:
		head, err := json.Marshal(s.header())
		if err != nil {
			return 0, false, err
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
		fmt.Fprintln(w, FactHeader())
	}
	stopped, limited, err = s.Window(ctx, o, emit)
	if inJSON && err == nil {
		end := "null"
		if limited {
			end = fmt.Sprint(stopped.Seconds())
		}
		_, err = fmt.Fprintf(w, "\n],\"stopped_s\":%s}\n", end)
	}
	return stopped, limited, err
}

// PrintFindings lists the jobs worth a look as json or a table, with the command that shows one of them.
func (s *Simulation) PrintFindings(w io.Writer, findings []Finding, format string, command func(job string) string) error {
	if format == "json" {
		type entry struct {
			Find  Interest `json:"find"`
			Job   string   `json:"job,omitempty"`
			Words string   `json:"words,omitempty"`
			Jobs  int64    `json:"jobs"`
		}
		var entries []entry
		for _, f := range findings {
			entries = append(entries, entry{f.Interest, f.Name, f.Words, f.Jobs})
		}
		return writeJSON(w, struct {
			header
			Findings []entry `json:"findings"`
		}{s.header(), entries})
	}
	fmt.Fprintf(w, "%s under %s with seed %d: jobs worth a look\n\n", s.Scenario().Name, s.Policy(), s.Seed())
	var rows [][]string
	example := ""
	for _, f := range findings {
		row := []string{string(f.Interest), fmt.Sprint(f.Jobs), "none", ""}
		if f.Job != 0 {
			row[2], row[3] = f.Name, f.Words
			if example == "" {
				example = f.Name
			}
		}
		rows = append(rows, row)
	}
	err := text.WriteCells(w, []string{"--find", "jobs", "job", "what it is"}, rows, 4, text.Text)
	if err == nil && example != "" {
		_, err = fmt.Fprintf(w, "\nits life: %s\n", command(example))
	}
	return err
}
