package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

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
func sealed(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1] // without the closing brace
	return append(text, sealBegin+sumOf(text)+sealEnd...), nil
}

// unseal reads a line that sealed made into v; it returns an error if the checksum is missing or wrong, or if v has not
// all fields of the line.
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
