package imports

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// lines reads what Sidekiq leaves behind, line by line: payloads as JSON, and its log, in
// the formats Pretty and JSON of lib/sidekiq/logger.rb, with whatever a collector of logs
// put before each line. Lines of any other sort are skipped.
type lines struct {
	text    *bufio.Reader
	window  *watched
	name    string
	file    int
	line    int64
	columns layout
	failed  map[string]string // by process and thread: the job that failed there last
	buffer  []byte
}

// logLine is one line of a log about a job.
type logLine struct {
	at      string // when
	job     string
	class   string
	what    string // start, done, fail or error
	elapsed string // seconds; of done and fail
	cause   string // class of the exception; of error
}

func newLines(text *bufio.Reader, w *watched, name string, file int, columns layout) *lines {
	return &lines{text: text, window: w, name: name, file: file, columns: columns, failed: map[string]string{}}
}

// pretty matches a line of the log: 2026-01-31T09:30:00.123Z pid=7 tid=abc class=A jid=1
// elapsed=0.2 INFO: done.
var (
	pretty = regexp.MustCompile(`(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) pid=(\d+) tid=(\S+) ?(.*?) ?(DEBUG|INFO|WARN|ERROR|FATAL): (.*)$`)
	raised = regexp.MustCompile(`^([A-Z][\w:]*): `)
)

func (l *lines) next(r *row) error {
	for {
		l.window.reset()
		text, err := l.readLine()
		if len(text) == 0 && err != nil {
			return err
		}
		l.line++
		*r = row{at: placeOf(l.file, l.line)}
		found, bad := l.parse(r, strings.TrimSpace(string(clean(text))))
		if bad != nil {
			return &LineError{l.name, l.line, bad}
		}
		if found {
			return nil
		}
	}
}

func (l *lines) readLine() ([]byte, error) {
	l.buffer = l.buffer[:0]
	for {
		part, err := l.text.ReadSlice('\n')
		l.buffer = append(l.buffer, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.buffer) > 0:
			return l.buffer, nil
		}
		return l.buffer, err
	}
}

// parse reports whether the line is about a job.
func (l *lines) parse(r *row, text string) (found bool, err error) {
	if strings.HasPrefix(text, "{") {
		var object map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			return false, err
		}
		if _, isLog := object["lvl"]; isLog {
			return l.parseJSON(r, object), nil
		}
		fillRow(r, object, l.columns)
		return r.text[id] != "", nil
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
	r.log = l.event(m[1], m[2]+" "+m[3], context, m[6])
	return r.log != nil, nil
}

func (l *lines) parseJSON(r *row, object map[string]any) bool {
	context := map[string]string{}
	if inner, ok := object["ctx"].(map[string]any); ok {
		for _, key := range []string{"class", "jid", "elapsed"} {
			context[key] = spelled(inner[key])
		}
	}
	r.log = l.event(spelled(object["ts"]), spelled(object["pid"])+" "+spelled(object["tid"]), context, spelled(object["msg"]))
	return r.log != nil
}

// event is what a message says. The exception stands in a message of its own, after that of
// the failure, from the same thread.
func (l *lines) event(at, thread string, context map[string]string, message string) *logLine {
	e := &logLine{at: at, job: context["jid"], class: context["class"], elapsed: context["elapsed"]}
	switch {
	case e.job != "" && (message == "start" || message == "done" || message == "fail"):
		if e.what = message; message == "fail" {
			l.failed[thread] = e.job
		}
		return e
	case l.failed[thread] != "":
		if m := raised.FindStringSubmatch(message); m != nil {
			e.what, e.cause, e.job = "error", m[1], l.failed[thread]
			delete(l.failed, thread)
			return e
		}
	}
	return nil
}
