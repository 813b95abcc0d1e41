package imports

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// riverError is one element of river_job.errors: rivertype.AttemptError. At is when the
// attempt began, not when it failed (job_executor.go: At: e.start).
type riverError struct {
	At      time.Time `json:"at"`
	Attempt int32     `json:"attempt"`
	Error   string    `json:"error"`
}

// addRiver makes a record of each attempt that river_job tells of: the last one in columns
// of its own, those that failed in errors. scheduled_at is when the last attempt was due, or
// while the job waits for another, when that one is.
func (r *reader) addRiver(one *row) error {
	last, err := r.plain(one)
	if err != nil {
		return err
	}
	list, err := riverErrors(one.text[failures])
	if err != nil {
		return fmt.Errorf("errors: %w", err)
	}
	number := last.number
	waits := last.state == stateWaiting || last.state == stateReady
	for i := range list {
		e := &list[i]
		rec := last
		rec.number, rec.started, rec.finished, rec.due, rec.state = e.Attempt, moment(e.At.UnixNano()), unknown, unknown, stateFailed
		rec.failure = uint16(max(1, r.kinds.of(kindOfError(e.Error))))
		rec.check += uint32(i + 1)
		if e.Attempt == number {
			rec.started, rec.node = later(last.started, rec.started), last.node
			if !waits {
				rec.finished, rec.state, rec.due = last.finished, last.state, last.due
			}
		}
		if e.At.Nanosecond() != 0 {
			r.coarse = false
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

func later(a, b moment) moment {
	if !a.known() || b.known() && b > a {
		return b
	}
	return a
}

// riverErrors reads errors as JSON, or as PostgreSQL writes an array of jsonb.
func riverErrors(text string) (list []riverError, err error) {
	text = strings.TrimSpace(text)
	switch {
	case empty(text), text == "{}":
		return nil, nil
	case text[0] == '[':
		err = json.Unmarshal([]byte(text), &list)
		return list, err
	}
	elements, err := arrayElements(text)
	if err != nil {
		return nil, err
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

// arrayElements splits {"...","..."} where a backslash guards the next character: PostgreSQL
// documentation, section 8.15.6.
func arrayElements(text string) (elements []string, err error) {
	bad := fmt.Errorf("%s is no array of JSON", shorten(text))
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, bad
	}
	rest := text[1 : len(text)-1]
	for rest != "" {
		if rest[0] != '"' {
			return nil, bad
		}
		var b strings.Builder
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' {
				i++
			}
			if i < len(rest) {
				b.WriteByte(rest[i])
			}
		}
		if i >= len(rest) {
			return nil, bad
		}
		elements = append(elements, b.String())
		rest = strings.TrimPrefix(rest[i+1:], ",")
	}
	return elements, nil
}

// addLog makes a record of a line of Sidekiq's log.
func (r *reader) addLog(one *row) error {
	e := one.log
	rec := record{at: one.at, enqueued: unknown, due: unknown, started: unknown, finished: unknown, key: keyOf(e.job)}
	at, _, err := r.moments.read(e.at)
	if err != nil {
		return err
	}
	if at%1e9 != 0 {
		r.coarse = false
	}
	r.withID = true
	rec.class = uint16(r.labels.of(e.class))
	switch e.what {
	case "start":
		rec.sort, rec.started = ofStart, at
	case "error":
		rec.sort, rec.finished = ofCause, at
		rec.failure = uint16(max(1, r.kinds.of(kindOfError(e.cause))))
	default:
		rec.sort, rec.finished, rec.state = ofEnd, at, stateDone
		if e.what == "fail" {
			rec.state, rec.failure = stateFailed, uint16(max(1, r.kinds.of("error")))
		}
		if elapsed, err := time.ParseDuration(e.elapsed + "s"); err == nil {
			rec.started = at - moment(elapsed)
		}
	}
	return r.keep(rec)
}
