package trace

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"qsim/results/text"
)

// header identifies the simulation of a trace: scenario, policy and seed.
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

// PrintHistory writes the history of a job as json, as a table, or in words for any other format.
func (s *Simulation) PrintHistory(w io.Writer, history *JobHistory, format string, width int) error {
	switch format {
	case "json":
		return writeJSON(w, document{header: s.header(), Life: history})
	case "table":
		return s.writeAttempts(w, history, width)
	}
	return s.WriteHistory(w, history, width)
}

// PrintWindow writes the events in a window of time as json, as a table, or in words for any other format. It reports
// where the window ended early because of its limit.
func (s *Simulation) PrintWindow(ctx context.Context, w io.Writer, o WindowOptions, format string, width int) (stopped time.Duration, limited bool, err error) {
	inJSON, table := format == "json", format == "table"
	emit := func(f Fact) error { return writeFact(w, &f, table, width) }
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
		fmt.Fprintln(w, factHeader())
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

// PrintFindings lists the extreme jobs of a run as json or a table, with the command that shows one of them.
func (s *Simulation) PrintFindings(w io.Writer, findings []Finding, format string, width int, command func(job string) string) error {
	if format == "json" {
		return writeJSON(w, document{header: s.header(), Findings: findings})
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
	err := text.WriteCells(w, []string{"--find", "jobs", "job", "what it is"}, rows, 4, text.TableOptions{Width: width})
	if err == nil && example != "" {
		_, err = fmt.Fprintf(w, "\nits history: %s\n", command(example))
	}
	return err
}

// The schema is made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchema$ . -rewrite

//go:embed trace.schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of a trace as JSON. The caller must not change it.
func Schema() []byte { return schema }
