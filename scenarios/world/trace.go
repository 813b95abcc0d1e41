package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// trace reads arrivals from a file line by line, in constant memory.
type trace struct {
	file     io.ReadCloser
	name     string
	lines    *bufio.Scanner
	number   int // number of the latest line, from 1
	seconds  float64
	start    engine.Time
	stop     engine.Time
	levels   levels
	share    float64 // share of the lines that arrive, in [0, 1]
	draws    classDraws
	tenantOf func(name string) engine.TenantID // ID of a tenant by name; 0: there is no such tenant
	index    uint64
	over     bool
	err      error // reason why the trace ended early, if not nil
}

func newTrace(file io.ReadCloser, name string, start, stop engine.Time, factors levels, draws classDraws) *trace {
	return &trace{file: file, name: name, lines: bufio.NewScanner(file), start: start, stop: stop, levels: factors,
		share: 1, draws: draws}
}

func (t *trace) next() (arrival, bool) {
	for !t.over {
		if !t.lines.Scan() {
			t.number++
			t.end(t.lines.Err())
			break
		}
		t.number++
		a, err := t.parse()
		switch {
		case err != nil:
			t.end(err)
		case a.at >= t.stop:
			t.end(nil)
		case a.count > 0:
			a.index = t.index
			t.index += a.count
			return a, true
		}
	}
	return arrival{}, false
}

// parse parses the latest line of the trace as an arrival.
func (t *trace) parse() (arrival, error) {
	seconds, tenant, err := spec.TraceLine(t.lines.Text())
	if err != nil {
		return arrival{}, err
	}
	if seconds < t.seconds {
		return arrival{}, errors.New("it is earlier than the line before")
	}
	t.seconds = seconds
	a := arrival{at: t.start.Add(scenarios.Duration(float64(seconds*1e9) + 0.5).Std())}
	if tenant != "" {
		if a.tenant = t.tenantOf(tenant); a.tenant == 0 {
			return arrival{}, fmt.Errorf("there is no tenant %s", quantity.Quote(tenant))
		}
	}
	factor, _ := t.levels.now(float64(a.at))
	factor = float64(factor * t.share)
	a.count = uint64(factor)
	if rest := factor - float64(a.count); rest > 0 && t.draws.uniform(uint64(t.number), drawAccept) < rest {
		a.count++
	}
	return a, nil
}

// end closes the trace's file and stores the error, if there was one.
func (t *trace) end(err error) {
	t.over = true
	if err != nil {
		t.err = fmt.Errorf("file %s, line %d: %w", quantity.Quote(t.name), t.number, err)
	}
	t.file.Close() // it was only read
}

// Close closes the trace's file, even before its end.
func (t *trace) Close() error {
	if !t.over {
		t.end(nil)
	}
	return nil
}
