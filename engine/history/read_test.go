package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"qsim/engine"
)

// Read reads the calls that a Recorder wrote, in the order in which they began. process names the
// history in reports. An incomplete last line, of a process killed while writing, is skipped: a
// call not yet made, or an answer not yet read.
func Read(from io.Reader, process string) ([]Call, error) {
	var calls []Call
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err == nil {
			calls, err = readEntry(calls, line, process)
		}
		if err != nil {
			return nil, fmt.Errorf("read history of %s: line %d: %w", process, number, err)
		}
	}
}

// readEntry adds a line to the calls before it.
func readEntry(calls []Call, line []byte, process string) ([]Call, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err
	}
	if e.Op != "" {
		if e.Number != uint64(len(calls))+1 {
			return nil, fmt.Errorf("call %d after %d calls", e.Number, len(calls))
		}
		return append(calls, Call{Process: process, Number: e.Number, Op: e.Op, Began: e.At, Ended: engine.Never, TTL: e.TTL,
			Batch: engine.BatchID{Engine: e.Engine, Seq: e.Seq}, Role: e.Role, Kept: e.Kept, Items: e.Items}), nil
	}
	if e.Number == 0 || e.Number > uint64(len(calls)) {
		return nil, fmt.Errorf("the answer to call %d after %d calls", e.Number, len(calls))
	}
	if e.Answer > Answered {
		return nil, fmt.Errorf("answer %d", uint8(e.Answer))
	}
	c := &calls[e.Number-1]
	c.Answer, c.Error, c.Granted = e.Answer, e.Error, e.Granted
	if e.Answer != Unknown {
		c.Ended = e.At
	}
	if e.Items != nil {
		c.Items = e.Items
	}
	return calls, nil
}
