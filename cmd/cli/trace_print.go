package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"qsim/cmd/ui"
	"qsim/results/text"
	"qsim/scenarios/trace"
)

// print answers what the flags ask.
func (t *tracer) print(ctx context.Context, messages *ui.Console) error {
	f := t.flags
	if f.find != "" {
		if err := t.find(ctx, messages); err != nil {
			return err
		}
	}
	switch {
	case f.format == "chrome":
		if t.window.Job != 0 && f.find == "" {
			if err := t.there(ctx); err != nil {
				return err
			}
		}
		stopped, limited, err := t.sim.Chrome(ctx, t.window, t.out)
		if limited && err == nil {
			messages.Note("the trace ends at %s, after --limit %d lines", trace.Clock(stopped), t.window.Limit)
		}
		return err
	case t.window.Job != 0 && t.all:
		return t.printLife(ctx)
	case !t.all:
		return t.printWindow(ctx, messages)
	}
	return t.printFindings(ctx)
}

// find chooses the job that --find asks for and says which it is.
func (t *tracer) find(ctx context.Context, messages *ui.Console) error {
	findings, err := t.sim.Find(ctx)
	if err != nil {
		return err
	}
	for _, found := range findings {
		if string(found.Interest) != t.flags.find {
			continue
		}
		if found.Job == 0 {
			return ui.UsageError("--find %s: there is no such job under %s with seed %d", t.flags.find, t.sim.Policy(), t.sim.Seed())
		}
		messages.Note("%s: %s %s%s", found.Interest, found.Name, found.Words, ofJobs(&found))
		t.window.Job = found.Job
		return nil
	}
	panic("qsim: an interest without a finding")
}

// ofJobs says how many there are besides.
func ofJobs(found *trace.Finding) string {
	switch {
	case found.Interest == trace.WorstWait:
		return fmt.Sprintf("; there are %d jobs", found.Jobs)
	case found.Jobs > 1:
		return fmt.Sprintf("; it is one of %d such jobs", found.Jobs)
	}
	return "; it is the only such job"
}

// there fails if the run has no such job.
func (t *tracer) there(ctx context.Context) error {
	life, err := t.sim.Job(ctx, t.window.Job)
	if err == nil && life == nil {
		return t.noSuchJob()
	}
	return err
}

func (t *tracer) printLife(ctx context.Context) error {
	life, err := t.sim.Job(ctx, t.window.Job)
	if life == nil {
		if err == nil {
			err = t.noSuchJob()
		}
		return err
	}
	var failed error
	switch t.flags.format {
	case "json":
		failed = t.writeJSON(struct {
			traced
			Life *trace.JobHistory `json:"life"`
		}{t.traced(), life})
	case "table":
		failed = t.sim.WriteAttempts(t.out, life, t.width)
	default:
		failed = t.sim.WriteHistory(t.out, life, t.width)
	}
	if err == nil { // one that broke an invariant has a life up to there
		err = failed
	}
	return err
}

// traced says in JSON which simulation it is.
type traced struct {
	Version  int    `json:"version"`
	Scenario string `json:"scenario"`
	Policy   string `json:"policy"`
	Seed     uint64 `json:"seed"`
}

func (t *tracer) traced() traced {
	return traced{1, t.sim.Scenario().Name, t.sim.Policy(), t.sim.Seed()}
}

func (t *tracer) writeJSON(v any) error {
	encoder := json.NewEncoder(t.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func (t *tracer) printWindow(ctx context.Context, messages *ui.Console) error {
	inJSON, table := t.flags.format == "json", t.flags.format == "table"
	emit := func(f trace.Fact) error { return trace.WriteFact(t.out, &f, table, t.width) }
	switch {
	case inJSON:
		head, err := json.Marshal(t.traced())
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%s,\"from_s\":%v,\"to_s\":%v,\"events\":[", head[:len(head)-1], t.window.From.Seconds(), t.window.To.Seconds())
		separator := "\n"
		emit = func(f trace.Fact) error {
			line, err := json.Marshal(f)
			if err == nil {
				_, err = fmt.Fprintf(t.out, "%s%s", separator, line)
			}
			separator = ",\n"
			return err
		}
	case table:
		fmt.Fprintln(t.out, trace.FactHeader())
	}
	stopped, limited, err := t.sim.Window(ctx, t.window, emit)
	if inJSON && err == nil {
		end := "null"
		if limited {
			end = fmt.Sprint(stopped.Seconds())
		}
		_, err = fmt.Fprintf(t.out, "\n],\"stopped_s\":%s}\n", end)
	}
	if limited && err == nil {
		messages.Note("there is more from %s on: these were the first %d; --limit NUMBER shows so many", trace.Clock(stopped), t.window.Limit)
	}
	return err
}

// printFindings lists the jobs worth a look, each with the command that shows it.
func (t *tracer) printFindings(ctx context.Context) error {
	findings, err := t.sim.Find(ctx)
	if err != nil {
		return err
	}
	if t.flags.format == "json" {
		type entry struct {
			Find  trace.Interest `json:"find"`
			Job   string         `json:"job,omitempty"`
			Words string         `json:"words,omitempty"`
			Jobs  int64          `json:"jobs"`
		}
		var entries []entry
		for _, f := range findings {
			entries = append(entries, entry{f.Interest, f.Name, f.Words, f.Jobs})
		}
		return t.writeJSON(struct {
			traced
			Findings []entry `json:"findings"`
		}{t.traced(), entries})
	}
	fmt.Fprintf(t.out, "%s under %s with seed %d: jobs worth a look\n\n", t.sim.Scenario().Name, t.sim.Policy(), t.sim.Seed())
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
	if err := text.WriteCells(t.out, []string{"--find", "jobs", "job", "what it is"}, rows, 4, text.Text); err != nil {
		return err
	}
	if example == "" {
		return nil
	}
	_, err = io.WriteString(t.out, "\nits life: "+t.commandLine("--job", example)+"\n")
	return err
}

// commandLine is the command that repeats this trace with other flags.
func (t *tracer) commandLine(more ...string) string {
	words := []string{"qsim", "trace", openable(t.name)}
	for _, set := range t.flags.set {
		words = append(words, "--set", set)
	}
	words = append(words, "--policy", t.sim.Policy(), "--seed", fmt.Sprint(t.sim.Seed()))
	return shellLine(append(words, more...))
}
