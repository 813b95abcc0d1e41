package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

func (c *chrome) process(id int, name string) {
	c.event("M", id, 0, 0, "process_name", `,"args":`+c.object("name", name))
	c.event("M", id, 0, 0, "process_sort_index", `,"args":{"sort_index":`+strconv.Itoa(id)+`}`)
}

func (c *chrome) thread(process, thread int, name string) {
	c.event("M", process, thread, 0, "thread_name", `,"args":`+c.object("name", name))
	c.event("M", process, thread, 0, "thread_sort_index", `,"args":{"sort_index":`+strconv.Itoa(thread)+`}`)
}

// span writes a stretch of a track.
func (c *chrome) span(s *slice, to time.Duration, name, arguments string) {
	if arguments != "" {
		arguments = `,"args":` + arguments
	}
	c.event("X", s.process, s.thread, s.from, name, `,"dur":`+microseconds(max(0, to-s.from))+arguments)
}

// event writes one line of the trace; more is further fields, each behind a comma.
func (c *chrome) event(phase string, process, thread int, at time.Duration, name, more string) {
	quoted, _ := json.Marshal(name) // of a string
	c.line(`{"ph":"%s","pid":%d,"tid":%d,"ts":%s,"name":%s%s}`, phase, process, thread, microseconds(at), quoted, more)
}

func (c *chrome) line(format string, arguments ...any) {
	separator := ",\n"
	if c.lines < 2 {
		separator = "\n" // the head of the document, and what follows it
	}
	if c.lines == 0 {
		separator = ""
	}
	c.lines++
	c.write(separator + fmt.Sprintf(format, arguments...))
}

func (c *chrome) write(text string) {
	if c.err == nil {
		_, c.err = c.out.WriteString(text)
	}
}

// object writes names and values in turn.
func (c *chrome) object(pairs ...string) string {
	text := "{"
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			text += ","
		}
		name, _ := json.Marshal(pairs[i]) // of strings
		value, _ := json.Marshal(pairs[i+1])
		text += string(name) + ":" + string(value)
	}
	return text + "}"
}

// microseconds writes a time as traces have it, exactly.
func microseconds(d time.Duration) string {
	text := strconv.FormatInt(int64(d/1000), 10)
	if rest := d % 1000; rest != 0 {
		text += fmt.Sprintf(".%03d", rest)
	}
	return text
}
