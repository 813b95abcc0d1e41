package imports

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// riverError is one element of river_job.errors: rivertype.AttemptError. At is when the attempt began, not when it
// failed (job_executor.go: At: e.start).
type riverError struct {
	At      time.Time `json:"at"`
	Attempt int32     `json:"attempt"`
	Error   string    `json:"error"`
}

// addRiver adds a record for each attempt in a row of river_job: the last attempt has columns of its own, failed ones
// are in errors. scheduled_at is when the last attempt was due, or, while the job waits, when the next one is due.
func (r *reader) addRiver(last record, errors string) error {
	list, err := riverErrors(errors)
	if err != nil {
		return fmt.Errorf("errors: %w", err)
	}
	number := last.number
	waits := last.state == stateWaiting
	for i := range list {
		e := &list[i]
		rec := last
		rec.number, rec.started, rec.finished, rec.due = e.Attempt, timestamp(e.At.UnixNano()), unknown, unknown
		rec.state, rec.failure = stateFailed, r.kindOf(e.Error)
		rec.check += uint32(i + 1)
		r.sharpen(rec.started)
		if e.Attempt == number {
			rec.started, rec.node = max(last.started, rec.started), last.node
			if !waits {
				rec.finished, rec.state, rec.due = last.finished, last.state, last.due
			}
		}
		if err := r.keep(rec); err != nil {
			return err
		}
		if e.Attempt == number && !waits {
			return nil
		}
	}
	switch {
	case waits && number > 0:
		// What is recorded of the last attempt is its error; the next one has a due time.
		last.number, last.started, last.finished, last.node = number+1, unknown, unknown, 0
	case waits:
		last.started, last.finished = unknown, unknown
	case number > 1 && len(list) > 0 && last.due < last.enqueued:
		last.due = unknown
	}
	last.check--
	return r.keep(last)
}

// riverErrors parses the column errors of river_job: JSON, or PostgreSQL's text of an array of jsonb.
func riverErrors(text string) (list []riverError, err error) {
	text = strings.TrimSpace(text)
	switch {
	case empty(text), text == "{}":
		return nil, nil
	case text[0] == '[':
		err = json.Unmarshal([]byte(text), &list)
		return list, err
	}
	// PostgreSQL prints an array as {"...","..."}, with \" and \\ in its elements (documentation, section 8.15.6), which
	// in brackets is one of JSON.
	var elements []string
	inner, ended := strings.CutSuffix(text[1:], "}")
	if err := json.Unmarshal([]byte("["+inner+"]"), &elements); err != nil || !ended || text[0] != '{' {
		return nil, fmt.Errorf("%s is no array of JSON", quoted(text))
	}
	for _, element := range elements {
		var e riverError
		if err := json.Unmarshal([]byte(element), &e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// lines reads files of Sidekiq line by line: job payloads as JSON, and its log, in the formats Pretty and JSON of
// lib/sidekiq/logger.rb, with any prefix that a log collector added. Other lines are skipped.
type lines struct {
	*input
	line   int64
	failed map[string]string // latest failed job by process and thread
}

// pretty matches a line of Sidekiq's log: 2026-01-31T09:30:00.123Z pid=7 tid=abc class=A jid=1 elapsed=0.2 INFO: done.
var (
	pretty = regexp.MustCompile(`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) pid=(\d+) tid=(\S+) ?(.*?) ?` +
		`(DEBUG|INFO|WARN|ERROR|FATAL): (.*)$`)
	raised = regexp.MustCompile(`^([A-Z][\w:]*): `)
)

func (l *lines) next(r *row) error {
	for {
		l.begin()
		text, err := l.text.ReadString('\n')
		if len(text) == 0 && err != nil {
			return err
		}
		l.line++
		*r = row{at: posOf(l.number, l.line)}
		if found, err := l.parse(r, trimmed(text)); err != nil {
			return l.bad(l.line, err)
		} else if found {
			return nil
		}
	}
}

// parse reads a job's record (row) from a line of an imported log, and reports whether the line is about a job.
func (l *lines) parse(r *row, text string) (found bool, err error) {
	if strings.HasPrefix(text, "{") {
		var object map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			return false, err
		}
		if _, isLog := object["lvl"]; !isLog {
			fillRow(r, object, l.columns)
			return r.text[id] != "", nil
		}
		context, _ := object["ctx"].(map[string]any)
		thread := spelled(object["pid"]) + " " + spelled(object["tid"])
		return l.event(r, spelled(object["ts"]), thread, context, spelled(object["msg"])), nil
	}
	m := pretty.FindStringSubmatch(text)
	if m == nil {
		return false, nil
	}
	context := map[string]any{}
	for _, pair := range strings.Fields(m[4]) {
		key, value, _ := strings.Cut(pair, "=")
		context[key] = value
	}
	return l.event(r, m[1], m[2]+" "+m[3], context, m[6]), nil
}

// event fills a row from a message of Sidekiq's log, and reports whether the message is about a job. An exception has a
// message of its own, after that of the failure, from the same thread.
func (l *lines) event(r *row, at, thread string, context map[string]any, message string) bool {
	r.text[id], r.text[class] = spelled(context["jid"]), spelled(context["class"])
	switch m := raised.FindStringSubmatch(message); {
	case r.text[id] != "" && message == "start":
		r.sort, r.text[started] = ofStart, at
	case r.text[id] != "" && (message == "done" || message == "fail"):
		r.sort, r.text[finished], r.text[took], r.text[state] = ofEnd, at, spelled(context["elapsed"]), message
		if message == "fail" {
			r.text[failure], l.failed[thread] = "error", r.text[id]
		}
	case m != nil && l.failed[thread] != "":
		r.sort, r.text[finished], r.text[failure], r.text[id] = ofCause, at, m[1], l.failed[thread]
		delete(l.failed, thread)
	}
	return r.sort != 0
}
