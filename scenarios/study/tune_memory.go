package study

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// memory stores a search's observations in a file, so that an interrupted search, which makes the same requests in the
// same order, resumes without repeating simulations. The nil memory stores nothing.
type memory struct {
	mutex sync.Mutex
	path  string
	file  *os.File
	known map[string][]observation
}

// memoryLine is one line of the file in which a search stores its observations.
type memoryLine struct {
	Tune string `json:"tune,omitempty"` // hash of the search, in the first line
	Ask  string `json:"ask,omitempty"`
	Seen []byte `json:"seen,omitempty"` // observations in gob format, which allows infinite numbers
}

// openMemory reads the stored observations of a search from a file; an unfinished line, or observations of another
// search, are dropped.
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
		var seen []observation
		if json.Unmarshal(lines.Bytes(), &line) != nil || first && line.Tune != search ||
			!first && gob.NewDecoder(bytes.NewReader(line.Seen)).Decode(&seen) != nil {
			break
		}
		m.known[line.Ask] = seen // the first line, a header, has no observations
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

// recall returns the stored observations for a request; false if the file lacks them.
func (m *memory) recall(policy string, a *ask) ([]observation, bool) {
	if m == nil {
		return nil, false
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	seen, known := m.known[a.name(policy)]
	return seen, known
}

// keep appends the observations for a request to the file.
func (m *memory) keep(policy string, a *ask, seen []observation) error {
	if m == nil {
		return nil
	}
	var encoded bytes.Buffer
	if err := gob.NewEncoder(&encoded).Encode(seen); err != nil {
		return err
	}
	line := memoryLine{Ask: a.name(policy), Seen: encoded.Bytes()}
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

// close closes the file of stored observations, and removes it if the search is done.
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
