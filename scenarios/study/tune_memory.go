package study

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// memory keeps what has been observed in a file, so that a search that was interrupted goes on where it was: asked the
// same, which it is in the same order, it simulates nothing again. The nil memory keeps nothing.
type memory struct {
	mutex sync.Mutex
	path  string
	file  *os.File
	known map[string][]observation
}

// memoryLine is one line of the file. Numbers are text: some are infinite.
type memoryLine struct {
	Tune string       `json:"tune,omitempty"` // of the first line: which search it is
	Ask  string       `json:"ask,omitempty"`
	Seen []memorySeen `json:"seen,omitempty"`
}

type memorySeen struct {
	Goal   string   `json:"goal"`
	Slacks []string `json:"slacks"`
	Open   []bool   `json:"open"`
}

// openMemory reads what the file at a path knows of a search; what it knows of another one is dropped, as is a line that
// was not finished.
func openMemory(path, search string) (*memory, error) {
	m := &memory{path: path, known: map[string][]observation{}}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	whole := []byte{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<26)
	for first := true; lines.Scan(); first = false {
		var line memoryLine
		if json.Unmarshal(lines.Bytes(), &line) != nil || first && line.Tune != search {
			break
		}
		if !first {
			m.known[line.Ask] = readSeen(line.Seen)
		}
		whole = append(append(whole, lines.Bytes()...), '\n')
	}
	if len(whole) == 0 {
		begin, err := json.Marshal(memoryLine{Tune: search})
		if err != nil {
			return nil, err
		}
		whole = append(begin, '\n')
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		return nil, err
	}
	m.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	return m, err
}

func (a *ask) name(policy string) string {
	return fmt.Sprintf("%d %d-%d %s", a.setting, a.from, a.to, policy)
}

// recall returns what is known of an ask.
func (m *memory) recall(policy string, a *ask) ([]observation, bool) {
	if m == nil {
		return nil, false
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	seen, known := m.known[a.name(policy)]
	return seen, known
}

// keep writes what was observed.
func (m *memory) keep(policy string, a *ask, seen []observation) error {
	if m == nil {
		return nil
	}
	line := memoryLine{Ask: a.name(policy)}
	for i := range seen {
		o := memorySeen{Goal: asText(seen[i].goal), Open: seen[i].open}
		for _, s := range seen[i].slacks {
			o.Slacks = append(o.Slacks, asText(s))
		}
		line.Seen = append(line.Seen, o)
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.known[line.Ask] = seen
	_, err = m.file.Write(append(text, '\n'))
	return err
}

// close ends the file, which nobody needs after a search that is done.
func (m *memory) close(done bool) error {
	if m == nil {
		return nil
	}
	err := m.file.Close()
	if done && err == nil {
		err = os.Remove(m.path)
	}
	return err
}

func asText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func readSeen(all []memorySeen) []observation {
	var seen []observation
	for _, s := range all {
		goal, _ := strconv.ParseFloat(s.Goal, 64) // asText wrote it
		o := observation{goal: goal, open: s.Open}
		for _, text := range s.Slacks {
			slack, _ := strconv.ParseFloat(text, 64)
			o.slacks = append(o.slacks, slack)
		}
		seen = append(seen, o)
	}
	return seen
}
