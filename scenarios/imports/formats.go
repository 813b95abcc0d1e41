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
	waits := last.state == stateWaiting || last.state == stateReady
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

// arrayElement matches the next quoted element of an array that PostgreSQL prints as {"...","..."}, in which a
// backslash escapes the next character: PostgreSQL documentation, section 8.15.6.
var arrayElement = regexp.MustCompile(`(?s)^"((?:[^"\\]|\\.)*)",?`)

// guarded matches a backslash escape.
var guarded = regexp.MustCompile(`(?s)\\(.)`)

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
	bad := fmt.Errorf("%s is no array of JSON", shorten(text))
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, bad
	}
	for rest := text[1 : len(text)-1]; rest != ""; {
		m := arrayElement.FindStringSubmatch(rest)
		if m == nil {
			return nil, bad
		}
		var e riverError
		if err := json.Unmarshal([]byte(guarded.ReplaceAllString(m[1], "$1")), &e); err != nil {
			return nil, err
		}
		list, rest = append(list, e), rest[len(m[0]):]
	}
	return list, nil
}

func (r *reader) addLog(one *row) error {
	e := one.log
	rec := blank(one.at)
	at, _, err := r.timestamps.read(e.at)
	if err != nil {
		return err
	}
	r.sharpen(at)
	rec.key, rec.class = keyOf(e.job), uint16(r.labels.of(e.class))
	switch e.what {
	case "start":
		rec.sort, rec.started = ofStart, at
	case "error":
		rec.sort, rec.finished, rec.failure = ofCause, at, r.kindOf(e.cause)
	default:
		rec.sort, rec.finished, rec.state = ofEnd, at, stateDone
		if e.what == "fail" {
			rec.state, rec.failure = stateFailed, r.kindOf("error")
		}
		if elapsed, err := time.ParseDuration(e.elapsed + "s"); err == nil {
			rec.started = at - timestamp(elapsed)
		}
	}
	return r.keep(rec)
}
