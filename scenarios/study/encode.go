package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"qsim/results"
	"qsim/results/plain"
)

// format is the version of the format of a sweep's shard files. It changes with results.Sweep and results.Cell.
const format = 3

// origin identifies the sweep that a file belongs to, as files may be copied elsewhere.
type origin struct {
	Config  string `json:"config"`  // hash of the sweep
	Version string `json:"version"` // version of the program that computed it
}

func originOf(s *results.Sweep) origin { return origin{s.ConfigHash, s.Version} }

// header is the first line of a shard's file: it describes the sweep and the shard.
type header struct {
	Format int `json:"format"`
	Shard  int `json:"shard"`
	Of     int `json:"of"`
	origin
	Cells int                   `json:"cells"`         // number of cells of the whole sweep
	Sweep packed[results.Sweep] `json:"sweep"`         // sweep without cells
	YAML  string                `json:"scenario_yaml"` // unchanged scenario, resolved
}

// line is the result of one cell: a file of its own while a shard is computed, then a line of the shard file.
type line struct {
	origin
	Cell packed[results.Cell] `json:"cell"`
}

// readLine parses the stored result of one cell of the sweep s, which has size cells. It fails for a line that is
// damaged or of another sweep.
func readLine(s *results.Sweep, size int, text []byte) (*results.Cell, error) {
	var l line
	if err := unseal(text, &l); err != nil {
		return nil, fmt.Errorf("read a cell: %w", err)
	}
	cell := &l.Cell.Value
	switch {
	case l.origin != originOf(s):
		return nil, fmt.Errorf("it is of config %s, version %s", l.Config, l.Version)
	case cell.Index < 0 || cell.Index >= size || len(cell.Rows) != len(s.Policies):
		return nil, fmt.Errorf("read a cell: cell %d with %d policies is not of a sweep of %d cells with %d", cell.Index,
			len(cell.Rows), size, len(s.Policies))
	}
	for i := range cell.Rows {
		if n := len(cell.Rows[i].Estimates); n != len(s.Queries) {
			return nil, fmt.Errorf("read cell %d: it has %d metrics, not %d", cell.Index, n, len(s.Queries))
		}
	}
	return cell, nil
}

// packed is a value within a JSON file, as a text in gob format: that has infinite and missing numbers, which JSON
// lacks, and is made from the type of the value alone.
type packed[T any] struct{ Value T }

// MarshalJSON returns the value in gob format, as JSON has bytes.
func (p packed[T]) MarshalJSON() ([]byte, error) {
	var encoded bytes.Buffer
	if err := gob.NewEncoder(&encoded).Encode(p.Value); err != nil {
		return nil, err
	}
	return json.Marshal(encoded.Bytes())
}

// UnmarshalJSON reads what MarshalJSON returns.
func (p *packed[T]) UnmarshalJSON(text []byte) error {
	var encoded []byte
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(encoded)).Decode(&p.Value)
}

// sealBegin begins the seal, the last member of every line's JSON object: the first hex digits of a hash of the text
// before it, by which an altered or damaged line is detected.
const (
	sealBegin  = `,"sum":"`
	sealEnd    = `"}`
	sealDigits = 16
)

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sealDigits/2])
}

// sealed returns an object as a line of JSON with a checksum, without a line end.
func sealed(v any) []byte {
	text := plain.Must(json.Marshal(v)) // numbers are packed or whole, and so always encode
	text = text[:len(text)-1]           // without the closing brace
	return append(text, sealBegin+sumOf(text)+sealEnd...)
}

// unseal decodes a line of JSON made by sealed into v; it returns an error if the checksum is missing or wrong, or if
// the line has a field that v lacks.
func unseal(line []byte, v any) error {
	line = bytes.TrimRight(line, " \t\r\n")
	at := len(line) - len(sealBegin) - sealDigits - len(sealEnd)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sealBegin)) || !bytes.HasSuffix(line, []byte(sealEnd)) {
		return errors.New("the line is not whole: it has no checksum")
	}
	text := line[:at]
	if string(line[at+len(sealBegin):len(line)-len(sealEnd)]) != sumOf(text) {
		return errors.New("the line is damaged: it does not have its checksum")
	}
	decoder := json.NewDecoder(bytes.NewReader(append(bytes.Clone(text), '}')))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
