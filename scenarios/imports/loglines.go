package imports

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// lines reads files of Sidekiq line by line: job payloads as JSON, and its log, in the formats Pretty and JSON of
// lib/sidekiq/logger.rb, with any prefix that a log collector added. Other lines are skipped.
type lines struct {
	*input
	line   int64
	failed map[string]string // latest failed job by process and thread
	buffer []byte
}

// logLine is one line of a Sidekiq log about a job.
type logLine struct {
	at      string // time of the line
	job     string
	class   string
	what    string // start, done, fail or error
	elapsed string // seconds; of done and fail
	cause   string // class of the exception; of error
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
		text, err := l.readLine()
		if len(text) == 0 && err != nil {
			return err
		}
		l.line++
		*r = row{at: posOf(l.number, l.line)}
		if found, err := l.parse(r, trimmed(string(text))); err != nil {
			return l.bad(l.line, err)
		} else if found {
			return nil
		}
	}
}

func (l *lines) readLine() ([]byte, error) {
	l.buffer = l.buffer[:0]
	for {
		part, err := l.text.ReadSlice('\n')
		l.buffer = append(l.buffer, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(l.buffer) > 0 {
			err = nil
		}
		return l.buffer, err
	}
}

// parse fills r from a line of text, and reports whether the line is about a job.
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
		of := func(key string) string { return spelled(context[key]) }
		r.log = l.event(spelled(object["ts"]), spelled(object["pid"])+" "+spelled(object["tid"]), of, spelled(object["msg"]))
		return r.log != nil, nil
	}
	m := pretty.FindStringSubmatch(text)
	if m == nil {
		return false, nil
	}
	context := map[string]string{}
	for _, pair := range strings.Fields(m[4]) {
		key, value, _ := strings.Cut(pair, "=")
		context[key] = value
	}
	r.log = l.event(m[1], m[2]+" "+m[3], func(key string) string { return context[key] }, m[6])
	return r.log != nil, nil
}

// event returns the meaning of a log message; nil: it is not about a job. An exception has a message of its own, after
// that of the failure, from the same thread.
func (l *lines) event(at, thread string, context func(key string) string, message string) *logLine {
	e := &logLine{at: at, job: context("jid"), class: context("class"), elapsed: context("elapsed")}
	if e.job != "" && (message == "start" || message == "done" || message == "fail") {
		if e.what = message; message == "fail" {
			l.failed[thread] = e.job
		}
		return e
	}
	m := raised.FindStringSubmatch(message)
	if m == nil || l.failed[thread] == "" {
		return nil
	}
	e.what, e.cause, e.job = "error", m[1], l.failed[thread]
	delete(l.failed, thread)
	return e
}
